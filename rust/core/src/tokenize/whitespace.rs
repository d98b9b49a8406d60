//! The `whitespace` cut: runs of characters that are not White_Space.

use super::bounds::Bounds;
use super::lanes::Lanes;
use super::property::is_white_space;

/// How far a text has been cut.
pub struct Cursor {
    /// Multiple of 64: boundaries before this byte are decided.
    position: usize,
    /// The byte before is white space, or there is none: 0 or 1.
    after_space: u64,
    /// Bytes of the next group that belong to white space begun before it.
    spill: u64,
    done: bool,
}

impl Cursor {
    pub fn new() -> Cursor {
        Cursor {
            position: 0,
            after_space: 1,
            spill: 0,
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
    let bytes = text.as_bytes();
    while !cursor.done && !bounds.is_full() {
        let rest = &bytes[cursor.position..];
        let lanes = match rest.first_chunk::<64>() {
            Some(group) => L::load(group),
            None => {
                // White space past the end of the text ends the last word.
                let mut group = [b' '; 64];
                group[..rest.len()].copy_from_slice(rest);
                cursor.done = true;
                L::load(&group)
            }
        };
        let mut space = lanes.equal(b' ') | lanes.between(b'\t', b'\r') | cursor.spill;
        cursor.spill = 0;
        if lanes.non_ascii() != 0 {
            // White space outside ASCII begins with one of these bytes.
            let mut leads =
                lanes.equal(0xC2) | lanes.equal(0xE1) | lanes.equal(0xE2) | lanes.equal(0xE3);
            while leads != 0 {
                let index = leads.trailing_zeros();
                leads &= leads - 1;
                let character = text[cursor.position + index as usize..].chars().next();
                if let Some(character) = character.filter(|&character| is_white_space(character)) {
                    let wide = u128::from(u64::MAX >> (64 - character.len_utf8())) << index;
                    space |= wide as u64;
                    cursor.spill |= (wide >> 64) as u64;
                }
            }
        }
        let after_space = space << 1 | cursor.after_space;
        bounds.push_bits(cursor.position, !space & after_space, space & !after_space);
        cursor.after_space = space >> 63;
        cursor.position += 64;
    }
}
