//! The `uax29` cut: ASCII by bit masks of 64 bytes at a time, everything else by the automaton of [`super::rules`].
//!
//! In ASCII text a boundary depends on the two bytes before it and the two after it, so the masks below decide 64 of them at
//! once. A character outside ASCII can change the boundaries from one byte before it on (by the look-ahead of WB6 and WB12) and as
//! long as the rules remember it; the automaton takes over at the first such position and hands back once its state depends
//! on an ASCII byte alone. Positions are decided once, in order, by one of the two.

use super::bounds::Bounds;
use super::lanes::Lanes;
use super::property::{Class, class_number};
use super::rules::Row;

/// ASCII bytes that must follow before the automaton hands back: leaving it for a single space would cost more than it saves.
const HAND_BACK: usize = 16;

/// How far a text has been cut.
pub struct Cursor {
    /// Boundaries before this byte are decided.
    position: usize,
    /// Set while the automaton decides.
    machine: Option<Machine>,
    done: bool,
}

/// The automaton amid a text.
#[derive(Clone, Copy)]
struct Machine {
    row: Row,
    /// The segment so far is a word: it has a character that is not white space, and its start is in the batch.
    is_word: bool,
    /// Start of the segment; only used while it is white space.
    segment: usize,
    /// Position of the last mark that may begin a segment.
    pending: usize,
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
            Some(machine) => cut_any(cursor, machine, text, bounds),
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

fn is_white_space(byte: u8) -> bool {
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
            cursor.machine = Some(Machine::enter(text, cursor.position, bounds.is_open()));
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

impl Machine {
    /// Takes over at `position`; before it there is nothing, or at least two ASCII bytes of which the first may be the text's start.
    fn enter(text: &str, position: usize, is_word: bool) -> Machine {
        let bytes = text.as_bytes();
        let Some(index) = position.checked_sub(1) else {
            return Machine {
                row: Row::START,
                is_word: false,
                segment: 0,
                pending: 0,
            };
        };
        let before = if index == 0 { 0 } else { bytes[index - 1] };
        debug_assert!(before < 0x80 && bytes[index] < 0x80);
        debug_assert_eq!(is_word, !is_white_space(bytes[index]));
        let row = Row::after_ascii(before, bytes[index], bytes[position]);
        // A run of spaces is one segment, and a mark that follows makes it a word: find its start. Every run is walked once.
        let segment = if bytes[index] == b' ' && bytes[position] == b' ' {
            start_of_spaces(text, position)
        } else {
            position
        };
        Machine {
            row,
            is_word,
            segment,
            pending: 0,
        }
    }
}

/// Start of the run of WSegSpace characters that ends at `end`.
fn start_of_spaces(text: &str, end: usize) -> usize {
    text[..end]
        .trim_end_matches(|character| Class::of(character) == Class::WSegSpace)
        .len()
}

/// Cuts any text until enough ASCII follows, the batch is full or the text ends.
#[inline(always)]
fn cut_any(cursor: &mut Cursor, machine: Machine, text: &str, bounds: &mut Bounds) {
    let bytes = text.as_bytes();
    let mut position = cursor.position;
    let Machine {
        mut row,
        mut is_word,
        mut segment,
        mut pending,
    } = machine;
    while !bounds.is_full() {
        if position == bytes.len() {
            if row.is_pending() {
                bounds.push_end(pending, true);
                bounds.push_start(pending, true);
            }
            bounds.push_end(position, is_word);
            cursor.done = true;
            return;
        }
        // SAFETY: `position` is a character's start within the text.
        let (character, length) = unsafe { decode(bytes, position) };
        let step = row.step(class_number(character));
        if step.breaks_pending() {
            bounds.push_end(pending, true);
            bounds.push_start(pending, true);
        }
        // The segment that was there goes on as a word, or a new word starts: at this character, or where white space began
        // that only now turns out to belong to a word.
        let goes_on = is_word & !step.breaks();
        bounds.push_end(position, is_word & step.breaks());
        segment = if step.breaks() { position } else { segment };
        is_word = goes_on | step.is_visible();
        bounds.push_start(segment, is_word & !goes_on);
        pending = if step.sets_pending() {
            position
        } else {
            pending
        };
        row = step.row();
        position += length;
        if length == 1 && row.is_plain() && is_ascii_ahead(bytes, position) {
            cursor.position = position;
            cursor.machine = None;
            return;
        }
    }
    cursor.position = position;
    cursor.machine = Some(Machine {
        row,
        is_word,
        segment,
        pending,
    });
}

#[inline(always)]
fn is_ascii_ahead(bytes: &[u8], position: usize) -> bool {
    bytes
        .get(position..position + HAND_BACK)
        .is_some_and(<[u8]>::is_ascii)
}

/// The character at `position` and its length.
///
/// # Safety
///
/// `bytes` is UTF-8 and a character starts at `position`.
#[inline(always)]
unsafe fn decode(bytes: &[u8], position: usize) -> (char, usize) {
    // SAFETY: the first byte tells how many follow, and in UTF-8 they do; their payload is a character's code.
    unsafe {
        let byte = |index: usize| u32::from(*bytes.get_unchecked(position + index));
        let low = |index: usize| byte(index) & 0x3F;
        let first = byte(0);
        let (code, length) = match first {
            0..0x80 => (first, 1),
            0..0xE0 => ((first & 0x1F) << 6 | low(1), 2),
            0..0xF0 => ((first & 0x0F) << 12 | low(1) << 6 | low(2), 3),
            _ => (
                (first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3),
                4,
            ),
        };
        (char::from_u32_unchecked(code), length)
    }
}
