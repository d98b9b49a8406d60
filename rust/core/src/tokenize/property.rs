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

/// Entries of [`CLASSES`] that follow those of the generated blocks: for each class a short block of nothing else.
const UNIFORM: usize = LETTERS.len();
const SHORT: usize = 64;

/// Stage two: class numbers of the distinct blocks, and the uniform ones.
static CLASSES: [u8; UNIFORM + Class::ALL.len() * SHORT] = {
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
    let mut classes = [0; UNIFORM + Class::ALL.len() * SHORT];
    let mut at = 0;
    while at < UNIFORM {
        classes[at] = number[LETTERS[at] as usize];
        assert!(classes[at] != u8::MAX, "a letter without a class");
        at += 1;
    }
    while at < classes.len() {
        classes[at] = ((at - UNIFORM) / SHORT) as u8;
        at += 1;
    }
    classes
};

const fn place(code: usize) -> usize {
    INDEX[code / BLOCK] as usize * BLOCK + code % BLOCK
}

/// Number of a character's class: its place in [`Class::ALL`].
#[inline(always)]
pub fn class_number(character: char) -> u8 {
    CLASSES[place(character as usize)]
}

/// Classes by the bytes of UTF-8: `CLASSES[SECOND[FIRST[first byte] + second byte % 64] + third byte % 64]`, whether or not a character
/// has so many bytes; what follows it then makes no difference. Characters of four bytes are left out.
static FIRST: [u16; 256] = {
    let mut first = [0; 256];
    let mut byte = 0;
    while byte < 0xF0 {
        first[byte] = match byte {
            0..0x80 => CLASSES[place(byte)] as u16,
            0xC0..0xE0 => (Class::ALL.len() + byte - 0xC0) as u16,
            0xE0..0xF0 => (Class::ALL.len() + 32 + byte - 0xE0) as u16,
            _ => 0,
        } * SHORT as u16;
        byte += 1;
    }
    first
};

static SECOND: [u16; (Class::ALL.len() + 32 + 16) * SHORT] = {
    let mut second = [0; (Class::ALL.len() + 32 + 16) * SHORT];
    let mut at = 0;
    while at < second.len() {
        let (row, byte) = (at / SHORT, at % SHORT);
        second[at] = if row < Class::ALL.len() {
            UNIFORM + row * SHORT
        } else if row < Class::ALL.len() + 32 {
            UNIFORM + CLASSES[place((row - Class::ALL.len()) << 6 | byte)] as usize * SHORT
        } else {
            place((row - Class::ALL.len() - 32) << 12 | byte << 6)
        } as u16;
        at += 1;
    }
    second
};
const _: () = assert!(CLASSES.len() <= u16::MAX as usize && BLOCK.is_multiple_of(SHORT));

/// Number of the class of the character that starts at `index`.
///
/// # Safety
///
/// A UTF-8 character starts at `index`, and `bytes` has four bytes from there on.
#[inline(always)]
pub unsafe fn class_number_at(bytes: &[u8], index: usize) -> u8 {
    // SAFETY: the bytes are there. FIRST is the start of a row of SECOND, whose entries are starts of 64 entries in CLASSES: rows for
    // all first bytes below 0xF0. Four bytes of a character encode a code point below 0x110000.
    unsafe {
        let byte = |offset: usize| *bytes.get_unchecked(index + offset) as usize;
        if byte(0) >= 0xF0 {
            let code = (byte(0) & 7) << 18
                | (byte(1) & 0x3F) << 12
                | (byte(2) & 0x3F) << 6
                | byte(3) & 0x3F;
            return *CLASSES
                .get_unchecked(*INDEX.get_unchecked(code / BLOCK) as usize * BLOCK + code % BLOCK);
        }
        let second =
            *SECOND.get_unchecked(*FIRST.get_unchecked(byte(0)) as usize + byte(1) % SHORT);
        *CLASSES.get_unchecked(second as usize + byte(2) % SHORT)
    }
}

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
            .map(|code| Class::ALL[CLASSES[place(code)] as usize].1)
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
        let differs = ('\0'..=char::MAX).find(|&c| is_white_space(c) != c.is_whitespace());
        assert_eq!(differs, None);
    }

    #[test]
    fn bytes_and_characters_have_the_same_classes() {
        for character in '\0'..=char::MAX {
            // What follows a character must make no difference.
            for after in [0x00, 0x7F, 0x80, 0xBF, 0xE3, 0xFF] {
                let mut bytes = [after; 7];
                character.encode_utf8(&mut bytes);
                // SAFETY: a character starts at 0.
                let found = unsafe { class_number_at(&bytes, 0) };
                assert_eq!(found, class_number(character), "{character:?}");
            }
        }
    }
}
