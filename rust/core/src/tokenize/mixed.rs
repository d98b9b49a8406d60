//! The part of the `uax29` cut for text outside ASCII: the automaton of [`super::rules`], a character a step.
//!
//! What a character does is computed, not branched on, as its length and its breaking or not are hard to foretell.

use super::bounds::Bounds;
use super::lanes::Lanes;
use super::property::{Class, class_number_at};
use super::rules::Row;

/// The automaton amid a text.
#[derive(Clone, Copy)]
pub struct Machine {
    row: Row,
    /// Start of the segment; only used while it is white space.
    segment: usize,
    /// Position of the last mark that may begin a segment.
    pending: usize,
}

impl Machine {
    /// Takes over at `position`; before it there is nothing, or at least two ASCII bytes of which the first may be the text's start.
    pub fn enter(text: &str, position: usize) -> Machine {
        let bytes = text.as_bytes();
        let Some(index) = position.checked_sub(1) else {
            return Machine {
                row: Row::START,
                segment: 0,
                pending: 0,
            };
        };
        let before = if index == 0 { 0 } else { bytes[index - 1] };
        debug_assert!(before < 0x80 && bytes[index] < 0x80);
        let row = Row::after_ascii(before, bytes[index], bytes[position]);
        // A run of spaces is one segment, and a mark that follows makes it a word: find its start. Every run is walked once.
        let segment = if bytes[index] == b' ' && bytes[position] == b' ' {
            start_of_spaces(text, position)
        } else {
            position
        };
        Machine {
            row,
            segment,
            pending: 0,
        }
    }
}

/// Start of the run of WSegSpace characters that ends at `end`.
fn start_of_spaces(text: &str, end: usize) -> usize {
    let start = text[..end]
        .trim_end_matches(|character| Class::of(character) == Class::WSegSpace)
        .len();
    #[cfg(test)]
    super::uax29::work::add(end - start);
    start
}

/// ASCII bytes that must follow one before the automaton hands back: leaving it for a single space would cost more than it saves.
const HAND_BACK: u32 = 16;

/// Bits i of which all of the bits i to i + [`HAND_BACK`] are set.
#[inline(always)]
fn long_runs(bits: u64) -> u64 {
    let two = bits & bits >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    let sixteen = eight & eight >> 8;
    sixteen & bits >> HAND_BACK
}

/// Letters directly after a letter: after one ALetter another changes nothing, so the automaton can do without it. Finds those of
/// ASCII and the main letters of some scripts; what it misses is walked.
#[inline(always)]
fn inner_letters<L: Lanes>(lanes: L) -> u64 {
    let one = lanes.folded().between(b'a', b'z');
    let (mut two, mut three) = (0, 0);
    // Bytes that begin a character and have a second byte in a range; a second byte beyond the group is in none.
    if lanes.between(0xC3, 0xDF) != 0 {
        let latin_1 =
            lanes.between(0x80, 0x96) | lanes.between(0x98, 0xB6) | lanes.between(0xB8, 0xBF);
        let greek = lanes.equal(0xCE) & lanes.between(0xA3, 0xBF) >> 1
            | lanes.equal(0xCF) & lanes.between(0x80, 0xB5) >> 1;
        let arabic = lanes.equal(0xD8) & lanes.between(0xA0, 0xBF) >> 1
            | lanes.equal(0xD9) & lanes.between(0x80, 0x8A) >> 1;
        // U+0100 to U+017F, U+0400 to U+047F.
        two = lanes.between(0xC4, 0xC5)
            | lanes.between(0xD0, 0xD1)
            | lanes.equal(0xC3) & latin_1 >> 1
            | greek
            | arabic;
    }
    if lanes.between(0xEA, 0xED) != 0 {
        // Hangul syllables from U+AC00 to U+D77F.
        let outer = lanes.equal(0xEA) & lanes.between(0xB0, 0xBF) >> 1
            | lanes.equal(0xED) & lanes.between(0x80, 0x9D) >> 1;
        three = lanes.between(0xEB, 0xEC) | outer;
    }
    (one | two | three) & (one << 1 | two << 2 | three << 3)
}

/// Bytes of a group and the rest of a character that begins in it.
const GROUP: usize = 64 + 3;

/// Cuts any text from `position` on, until enough ASCII follows, the batch is full or the text ends. Returns how far it came, and the
/// automaton if it is to go on there.
#[inline(always)]
pub fn cut<L: Lanes>(
    mut position: usize,
    mut machine: Machine,
    text: &str,
    bounds: &mut Bounds,
) -> (usize, Option<Machine>) {
    let bytes = text.as_bytes();
    let mut copy = [0; GROUP];
    while position < bytes.len() {
        if bounds.is_full() {
            return (position, Some(machine));
        }
        let rest = &bytes[position..];
        let group = rest.first_chunk::<GROUP>().unwrap_or_else(|| {
            copy[..rest.len()].copy_from_slice(rest);
            &copy
        });
        let lanes = L::load(group.first_chunk().unwrap_or(&[0; 64]));
        #[cfg(test)]
        super::uax29::work::add(GROUP);
        let inside = if rest.len() < 64 {
            (1 << rest.len()) - 1
        } else {
            u64::MAX
        };
        let mut characters = lanes.character_starts() & inside;
        let mut exits = long_runs(!lanes.non_ascii() & inside);
        let last = characters.ilog2() as usize;
        characters &= !inner_letters(lanes);
        while exits != 0 {
            // All characters up to and with the next one at which the automaton may hand back.
            let exit = exits.trailing_zeros();
            let until = characters & (u64::MAX >> (63 - exit));
            machine.walk(group, until, position, bounds);
            if machine.row.is_plain() {
                return (position + exit as usize + 1, None);
            }
            characters &= !until;
            exits &= exits - 1;
        }
        machine.walk(group, characters, position, bounds);
        position += last + length_of(group[last]);
    }
    let mut tail = bounds.tail();
    if machine.row.is_pending() {
        tail.push_end(machine.pending, true);
        tail.push_start(machine.pending, true);
    }
    tail.push_end(position, machine.row.is_word());
    tail.finish();
    (position, None)
}

impl Machine {
    /// Feeds the characters that start at the bits of `characters` in `group`, which is at `position` in the text.
    #[inline(always)]
    fn walk(
        &mut self,
        group: &[u8; GROUP],
        mut characters: u64,
        position: usize,
        bounds: &mut Bounds,
    ) {
        let Machine {
            mut row,
            mut segment,
            mut pending,
        } = *self;
        let mut tail = bounds.tail();
        while characters != 0 {
            let index = characters.trailing_zeros() as usize;
            characters &= characters - 1;
            let at = position + index;
            // SAFETY: `index` is below 64 and a character of the text starts there.
            let step = row.step(unsafe { class_number_at(group, index) });
            row = step.row();
            if step.breaks_pending() {
                tail.push_end(pending, true);
                tail.push_start(pending, true);
            }
            segment = if step.breaks() { at } else { segment };
            pending = if step.sets_pending() { at } else { pending };
            tail.push_end(at, step.ends_word());
            // Where white space began that only now turns out to belong to a word, or here.
            tail.push_start(segment, step.starts_word());
        }
        tail.finish();
        *self = Machine {
            row,
            segment,
            pending,
        };
    }
}

/// Length of the character whose first byte is `first`.
fn length_of(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::lanes::Scalar;

    #[test]
    fn inner_letters_are_letters() {
        let mut count = 0;
        for character in '\0'..=char::MAX {
            let length = character.len_utf8();
            let mut group = [b'.'; 64];
            for place in [0, length, 64 - length] {
                character.encode_utf8(&mut group[place..]);
            }
            let inner = inner_letters(Scalar::load(&group));
            assert!(inner == 0 || inner == 1 << length, "{character:?}");
            if inner != 0 {
                assert_eq!(Class::of(character), Class::ALetter, "{character:?}");
                count += 1;
            }
        }
        assert!(count > 11_000, "{count}");
    }
}
