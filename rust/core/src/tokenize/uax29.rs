//! The `uax29` cut: ASCII by bit masks of 64 bytes at a time, everything else by the automaton of [`super::rules`].
//!
//! In ASCII text a boundary depends on the two bytes before it and the two after it, so the masks below decide 64 of them at
//! once. A character outside ASCII can change the boundaries from one byte before it on (by the look-ahead of WB6 and WB12) and as
//! long as the rules remember it; the automaton takes over at the first such position and hands back once its state depends
//! on an ASCII byte alone. Positions are decided once, in order, by one of the two.

use super::bounds::Bounds;
use super::lanes::Lanes;
use super::mixed::{self, Machine};

/// How far a text has been cut.
pub struct Cursor {
    /// Boundaries before this byte are decided.
    position: usize,
    /// Set while the automaton decides.
    machine: Option<Machine>,
    done: bool,
}

impl Cursor {
    pub fn new() -> Cursor {
        Cursor {
            position: 0,
            machine: None,
            done: false,
        }
    }

    /// True once all words have been added.
    pub fn is_done(&self) -> bool {
        self.done
    }
}

/// Adds words to the batch until it is full or the text ends.
#[inline(always)]
pub fn fill<L: Lanes>(cursor: &mut Cursor, text: &str, bounds: &mut Bounds) {
    while !cursor.done && !bounds.is_full() {
        match cursor.machine {
            None => cut_ascii::<L>(cursor, text, bounds),
            Some(machine) => {
                let (position, left) = mixed::cut::<L>(cursor.position, machine, text, bounds);
                cursor.position = position;
                cursor.done = left.is_none() && position == text.len();
                cursor.machine = left;
            }
        }
    }
}

/// Classes of 64 bytes, a bit each.
#[derive(Clone, Copy, Default)]
struct Masks {
    letter: u64,
    digit: u64,
    /// Letter, digit or underscore: these join one another.
    joining: u64,
    /// Joins letters on both sides: MidLetter, MidNumLet, Single_Quote.
    mid_letter: u64,
    /// Joins digits on both sides: MidNum, MidNumLet, Single_Quote.
    mid_number: u64,
    white_space: u64,
    non_ascii: u64,
}

impl Masks {
    /// Of the bytes from `position` on; past the end of the text there are zero bytes.
    #[inline(always)]
    fn at<L: Lanes>(bytes: &[u8], position: usize) -> Masks {
        let Some(rest) = bytes.get(position..) else {
            return Masks::default();
        };
        match rest.first_chunk::<64>() {
            Some(group) => Masks::of::<L>(group),
            None => {
                let mut group = [0; 64];
                group[..rest.len()].copy_from_slice(rest);
                Masks::of::<L>(&group)
            }
        }
    }

    #[inline(always)]
    fn of<L: Lanes>(group: &[u8; 64]) -> Masks {
        #[cfg(test)]
        work::add(64);
        let lanes = L::load(group);
        let letter = lanes.folded().between(b'a', b'z');
        let digit = lanes.between(b'0', b'9');
        let mid_both = lanes.equal(b'.') | lanes.equal(b'\'');
        Masks {
            letter,
            digit,
            joining: letter | digit | lanes.equal(b'_'),
            mid_letter: mid_both | lanes.equal(b':'),
            mid_number: mid_both | lanes.equal(b',') | lanes.equal(b';'),
            white_space: lanes.equal(b' ') | lanes.between(b'\t', b'\r'),
            non_ascii: lanes.non_ascii(),
        }
    }
}

/// What the masks of a group need to know of the byte before it: 0 or 1 each.
#[derive(Clone, Copy)]
struct Carry {
    letter: u64,
    digit: u64,
    joining: u64,
    white_space: u64,
    /// The byte before is a mark that joins its neighbours.
    joined_mid: u64,
}

impl Carry {
    /// Before the group at `position`.
    fn before(bytes: &[u8], position: usize) -> Carry {
        let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
        let Some(index) = position.checked_sub(1) else {
            // Nothing ends at the start of the text, as after white space.
            return Carry {
                letter: 0,
                digit: 0,
                joining: 0,
                white_space: 1,
                joined_mid: 0,
            };
        };
        let (before, last, next) = (
            if index == 0 { 0 } else { at(index - 1) },
            at(index),
            at(position),
        );
        let joins_letters = matches!(last, b'.' | b'\'' | b':')
            && before.is_ascii_alphabetic()
            && next.is_ascii_alphabetic();
        let joins_digits = matches!(last, b'.' | b'\'' | b',' | b';')
            && before.is_ascii_digit()
            && next.is_ascii_digit();
        Carry {
            letter: last.is_ascii_alphabetic().into(),
            digit: last.is_ascii_digit().into(),
            joining: (last.is_ascii_alphanumeric() || last == b'_').into(),
            white_space: is_white_space(last).into(),
            joined_mid: (joins_letters || joins_digits).into(),
        }
    }
}

pub(super) fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Cuts ASCII text until something else comes, the batch is full or the text ends.
#[inline(always)]
fn cut_ascii<L: Lanes>(cursor: &mut Cursor, text: &str, bounds: &mut Bounds) {
    let bytes = text.as_bytes();
    let mut position = cursor.position;
    let mut carry = Carry::before(bytes, position);
    let mut group = Masks::at::<L>(bytes, position);
    loop {
        let following = Masks::at::<L>(bytes, position + 64);
        // A mark joins two letters (WB6, WB7) or two digits (WB11, WB12): nothing before it, nothing after it is a boundary.
        let between_letters =
            (group.letter << 1 | carry.letter) & (group.letter >> 1 | following.letter << 63);
        let between_digits =
            (group.digit << 1 | carry.digit) & (group.digit >> 1 | following.digit << 63);
        let joined_mids = group.mid_letter & between_letters | group.mid_number & between_digits;
        // WB5, WB8 to WB10, WB13a, WB13b. CR LF and runs of spaces join as well, which no word shows.
        let joined = group.joining & (group.joining << 1 | carry.joining)
            | joined_mids
            | joined_mids << 1
            | carry.joined_mid;
        let starts = !joined & !group.white_space;
        let ends = !joined & !(group.white_space << 1 | carry.white_space);

        if group.non_ascii != 0 || following.non_ascii & 1 != 0 {
            let decided = group.non_ascii.trailing_zeros().saturating_sub(1);
            let keep = (1 << decided) - 1;
            bounds.push_bits(position, starts & keep, ends & keep);
            cursor.position = position + decided as usize;
            cursor.machine = Some(Machine::enter(text, cursor.position));
            return;
        }
        let rest = bytes.len() - position;
        if rest < 64 {
            // The zero bytes that fill the group are no words, but the first of them ends the last one.
            bounds.push_bits(
                position,
                starts & ((1 << rest) - 1),
                ends & (u64::MAX >> (63 - rest)),
            );
            cursor.done = true;
            return;
        }
        bounds.push_bits(position, starts, ends);
        carry = Carry {
            letter: group.letter >> 63,
            digit: group.digit >> 63,
            joining: group.joining >> 63,
            white_space: group.white_space >> 63,
            joined_mid: joined_mids >> 63,
        };
        group = following;
        position += 64;
        if bounds.is_full() {
            cursor.position = position;
            return;
        }
    }
}

/// Bytes looked at, so that a test can tell linear from quadratic without a clock.
#[cfg(test)]
pub(super) mod work {
    use std::cell::Cell;

    thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    pub fn add(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    pub fn take() -> usize {
        BYTES.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::{SimdPath, Span, Tokenizer, WordMode, WordRule};

    /// Texts that tempt to look far ahead or back, again and again.
    #[test]
    fn work_is_linear_in_the_length_of_any_text() {
        let marks = "\u{301}".repeat(100_000);
        let spaces = " ".repeat(100_000);
        let texts = [
            format!("a.{marks}"),
            format!("a.{marks}b"),
            "a.\u{301}".repeat(50_000),
            format!("{spaces}\u{301}"),
            format!("{spaces}\u{3000}").repeat(3),
            format!("{}\u{301}", " ".repeat(1000)).repeat(200),
            format!("\u{3000}{}\u{301}", " ".repeat(20)).repeat(9_000),
            // The automaton is entered and left again as often as can be.
            format!("{}é", "a".repeat(17)).repeat(10_000),
            format!("{}é", " ".repeat(18)).repeat(10_000),
            "🇩".repeat(50_000),
            "צ\"".repeat(50_000),
            "\u{200D}©".repeat(50_000),
            "a".repeat(200_000),
            "日".repeat(60_000),
        ];
        let rule = WordRule {
            mode: WordMode::Uax29,
            normalization: crate::tokenize::Normalization::None,
            lowercase: false,
        };
        let mut tokenizer = Tokenizer::with_path(rule, SimdPath::Scalar).unwrap();
        for text in texts {
            work::take();
            let mut spans: Vec<Span> = Vec::new();
            tokenizer.spans(&text, &mut spans);
            let work = work::take();
            let head: String = text.chars().take(30).collect();
            assert!(
                work <= 24 * text.len() + 1000,
                "{work} bytes looked at in {} of {head:?}",
                text.len()
            );
        }
    }
}
