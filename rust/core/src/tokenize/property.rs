//! Character classes that word breaking needs, looked up in the generated tables.

use super::tables::{BLOCK, BLOCK_RUNS, LETTERS};

/// A Word_Break value together with what else matters here: Extended_Pictographic, White_Space, "not assigned in 15.0".
///
/// Each variant stands for one letter of the generated tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Word_Break=Other.
    Other,
    /// Other, not assigned in this version of Unicode.
    OtherUnassigned,
    /// Other and Extended_Pictographic.
    Pictograph,
    /// Other and Extended_Pictographic, not assigned in this version of Unicode.
    PictographUnassigned,
    /// Other and White_Space: tab, no-break space, figure space.
    OtherSpace,
    /// Carriage return.
    Cr,
    /// Line feed.
    Lf,
    /// Other line ends.
    Newline,
    /// Combining marks and the like.
    Extend,
    /// Format characters.
    Format,
    /// Zero-width joiner.
    Zwj,
    /// Halves of flags.
    RegionalIndicator,
    /// Katakana.
    Katakana,
    /// Hebrew letters.
    HebrewLetter,
    /// Letters.
    ALetter,
    /// ALetter and Extended_Pictographic.
    ALetterPictograph,
    /// The apostrophe.
    SingleQuote,
    /// The quotation mark.
    DoubleQuote,
    /// Full stop and the like: within words and numbers.
    MidNumLet,
    /// Colon and the like: within words.
    MidLetter,
    /// Comma and the like: within numbers.
    MidNum,
    /// Digits.
    Numeric,
    /// Underscore and the like.
    ExtendNumLet,
    /// U+202F: ExtendNumLet and White_Space.
    ExtendNumLetSpace,
    /// Spaces that keep together.
    WSegSpace,
}

impl Class {
    /// All classes with their letters in the generated tables, in the order of their values.
    pub const ALL: [(Class, u8); 25] = [
        (Class::Other, b'.'),
        (Class::OtherUnassigned, b'u'),
        (Class::Pictograph, b'p'),
        (Class::PictographUnassigned, b'q'),
        (Class::OtherSpace, b'w'),
        (Class::Cr, b'c'),
        (Class::Lf, b'l'),
        (Class::Newline, b'n'),
        (Class::Extend, b'e'),
        (Class::Format, b'f'),
        (Class::Zwj, b'z'),
        (Class::RegionalIndicator, b'r'),
        (Class::Katakana, b'k'),
        (Class::HebrewLetter, b'h'),
        (Class::ALetter, b'A'),
        (Class::ALetterPictograph, b'P'),
        (Class::SingleQuote, b's'),
        (Class::DoubleQuote, b'd'),
        (Class::MidNumLet, b'm'),
        (Class::MidLetter, b'L'),
        (Class::MidNum, b'N'),
        (Class::Numeric, b'0'),
        (Class::ExtendNumLet, b'x'),
        (Class::ExtendNumLetSpace, b'y'),
        (Class::WSegSpace, b'S'),
    ];

    /// The class of a character.
    #[inline(always)]
    pub fn of(character: char) -> Class {
        Class::ALL[class_number(character) as usize].0
    }

    /// Extended_Pictographic.
    pub const fn is_pictograph(self) -> bool {
        matches!(
            self,
            Class::Pictograph | Class::PictographUnassigned | Class::ALetterPictograph
        )
    }

    /// White_Space.
    pub const fn is_white_space(self) -> bool {
        use Class::{Cr, ExtendNumLetSpace, Lf, Newline, OtherSpace, WSegSpace};
        matches!(
            self,
            OtherSpace | Cr | Lf | Newline | ExtendNumLetSpace | WSegSpace
        )
    }

    /// Not assigned in this version of Unicode (reserved Extended_Pictographic code points included).
    pub const fn is_unassigned(self) -> bool {
        matches!(self, Class::OtherUnassigned | Class::PictographUnassigned)
    }
}

const BLOCKS: usize = 0x11_0000 / BLOCK;

/// Stage one: block number of each run of [`BLOCK`] code points.
static INDEX: [u8; BLOCKS] = {
    let mut index = [0; BLOCKS];
    let (mut run, mut at) = (0, 0);
    while run < BLOCK_RUNS.len() {
        let end = at + BLOCK_RUNS[run + 1] as usize;
        while at < end {
            index[at] = BLOCK_RUNS[run] as u8;
            at += 1;
        }
        run += 2;
    }
    assert!(at == BLOCKS, "the runs must cover all code points");
    index
};

/// Stage two: class numbers of the distinct blocks.
static CLASSES: [u8; LETTERS.len()] = {
    let mut number = [u8::MAX; 256];
    let mut class = 0;
    while class < Class::ALL.len() {
        assert!(
            Class::ALL[class].0 as usize == class,
            "classes must be listed in order"
        );
        number[Class::ALL[class].1 as usize] = class as u8;
        class += 1;
    }
    let mut classes = [0; LETTERS.len()];
    let mut at = 0;
    while at < classes.len() {
        classes[at] = number[LETTERS[at] as usize];
        assert!(classes[at] != u8::MAX, "a letter without a class");
        at += 1;
    }
    classes
};

/// Number of a character's class: its place in [`Class::ALL`].
#[inline(always)]
pub fn class_number(character: char) -> u8 {
    let code = character as usize;
    // SAFETY: a char is below 0x110000, so `code / BLOCK` is below BLOCKS; INDEX holds numbers of blocks in CLASSES (the largest
    // possible one is checked when compiling, below).
    unsafe {
        let block = *INDEX.get_unchecked(code / BLOCK) as usize;
        *CLASSES.get_unchecked(block * BLOCK + code % BLOCK)
    }
}

const _: () = {
    let mut run = 0;
    while run < BLOCK_RUNS.len() {
        assert!((BLOCK_RUNS[run] as usize) < LETTERS.len() / BLOCK);
        run += 2;
    }
};

/// White_Space of the pinned Unicode version.
#[inline(always)]
pub fn is_white_space(character: char) -> bool {
    WHITE_SPACE_CLASSES >> class_number(character) & 1 != 0
}

const WHITE_SPACE_CLASSES: u32 = {
    let (mut bits, mut class) = (0, 0);
    while class < Class::ALL.len() {
        bits |= (Class::ALL[class].0.is_white_space() as u32) << class;
        class += 1;
    }
    bits
};

#[cfg(test)]
mod tests {
    use super::*;

    fn letters() -> Vec<u8> {
        (0..0x11_0000)
            .map(|code| {
                Class::ALL[CLASSES[INDEX[code / BLOCK] as usize * BLOCK + code % BLOCK] as usize].1
            })
            .collect()
    }

    /// The properties decide what a word is, in every index ever written: an edit of the tables must be seen.
    #[test]
    fn content_is_that_of_unicode_15() {
        let digest = blake3::hash(&letters()).to_hex();
        assert_eq!(
            digest.as_str(),
            "efd250e945374e89ed0b877b4c23440a453e742406a71da8fab21cc14b40daef"
        );
    }

    #[test]
    fn white_space_is_the_standard_librarys() {
        for character in ('\0'..=char::MAX).filter(|&c| is_white_space(c) != c.is_whitespace()) {
            panic!("{character:?} differs");
        }
    }
}
