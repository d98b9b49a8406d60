//! XXH3-64 of many short words.
//!
//! XXH3 takes another formula for 1 to 3, 4 to 8 and 9 to 16 bytes, and the lengths of words are not to be foretold: a branch on
//! them goes wrong every other word, which costs more than the whole hash. Here the formulas for up to eight bytes are both
//! computed and one result is chosen without a branch; only longer words, of which prose has one in ten, take one. The values
//! are those of [`word_hash`], bit for bit.

use std::ops::Range;

use crate::hash::word_hash;

// XXH3's default secret, first 56 bytes, combined as seed 0 needs it.
const SECRET: [u64; 7] = [
    0xBE4B_A423_396C_FEB8,
    0x1CAD_21F7_2C81_017C,
    0xDB97_9083_E96D_D4DE,
    0x1F67_B3B7_A4A4_4072,
    0x78E5_C0CC_4EE6_79CB,
    0x2172_FFCC_7DD0_5A82,
    0x8E24_43F7_7446_08B8,
];
pub const FLIP_1_TO_3: u64 = (SECRET[0] & 0xFFFF_FFFF) ^ (SECRET[0] >> 32);
pub const FLIP_4_TO_8: u64 = SECRET[1] ^ SECRET[2];
const FLIP_9_TO_16: [u64; 2] = [SECRET[3] ^ SECRET[4], SECRET[5] ^ SECRET[6]];

/// Multipliers of the formula for 1 to 3 bytes.
pub const TINY_PRIMES: [u64; 2] = [0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9];
/// Multiplier of the formula for 4 to 8 bytes.
pub const SHORT_PRIME: u64 = 0x9FB2_1C65_1E98_DF25;

/// Hashes the words that begin at `starts` and end at `ends`: in order, not empty, within `text`.
#[inline(always)]
pub fn hash_words(text: &[u8], starts: &[usize], ends: &[usize], hashes: &mut [u64]) {
    for index in hash_edges(text, starts, ends, hashes) {
        // SAFETY: `hash_edges` returns such words only.
        hashes[index] = unsafe { hash_word(text, starts[index], ends[index]) };
    }
}

/// Hashes the words that are too near to the start or the end of the text for [`hash_word`], and returns the numbers of the others.
#[inline(always)]
pub fn hash_edges(
    text: &[u8],
    starts: &[usize],
    ends: &[usize],
    hashes: &mut [u64],
) -> Range<usize> {
    assert!(starts.len() == ends.len() && starts.len() == hashes.len());
    debug_assert!(
        starts
            .iter()
            .zip(ends)
            .all(|(start, end)| start < end && *end <= text.len())
    );
    // Words are in order, so these are few and at both ends of the batch, if there are any.
    let first = ends.iter().position(|&end| end >= 8).unwrap_or(ends.len());
    let fits = |&start: &usize| start + 8 <= text.len();
    let last = starts
        .iter()
        .rposition(fits)
        .map_or(first, |index| (index + 1).max(first));
    for index in (0..first).chain(last..starts.len()) {
        hashes[index] = word_hash(&text[starts[index]..ends[index]]);
    }
    first..last
}

/// Hash of one word.
///
/// # Safety
///
/// `start < end <= text.len()`, `end >= 8` and `start + 8 <= text.len()`.
#[inline(always)]
pub unsafe fn hash_word(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    // SAFETY: the caller's promise.
    let (first, last) = unsafe { (read(text, start), read(text, end - 8)) };
    match length {
        0..=8 => up_to_8(first, last, length as u64),
        9..=16 => from_9_to_16(first, last, length as u64),
        _ => word_hash(&text[start..end]),
    }
}

/// # Safety
///
/// `at + 8 <= text.len()`.
#[inline(always)]
unsafe fn read(text: &[u8], at: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { u64::from_le(text.as_ptr().add(at).cast::<u64>().read_unaligned()) }
}

/// `first`: eight bytes from the word's start on; `last`: eight bytes up to its end.
#[inline(always)]
fn up_to_8(first: u64, last: u64, length: u64) -> u64 {
    // 1 to 3 bytes: first, middle and last of them, and the length.
    let middle = (first >> ((8 * (length >> 1)) & 63)) & 0xFF;
    let tiny = ((first & 0xFF) << 16 | middle << 24 | last >> 56 | length << 8) ^ FLIP_1_TO_3;
    let mut a = tiny.wrapping_mul(TINY_PRIMES[0]);
    a = (a ^ (a >> 29)).wrapping_mul(TINY_PRIMES[1]);
    a ^= a >> 32;
    // 4 to 8 bytes: the first four and the last four.
    let both = (last >> 32).wrapping_add(first << 32) ^ FLIP_4_TO_8;
    let mut b = (both ^ both.rotate_left(49) ^ both.rotate_left(24)).wrapping_mul(SHORT_PRIME);
    b = (b ^ ((b >> 35).wrapping_add(length))).wrapping_mul(SHORT_PRIME);
    b ^= b >> 28;
    let is_tiny = u64::from(length < 4).wrapping_neg();
    a & is_tiny | b & !is_tiny
}

#[inline(always)]
fn from_9_to_16(first: u64, last: u64, length: u64) -> u64 {
    let (low, high) = (first ^ FLIP_9_TO_16[0], last ^ FLIP_9_TO_16[1]);
    let product = u128::from(low) * u128::from(high);
    let mut a = length
        .wrapping_add(low.swap_bytes())
        .wrapping_add(high)
        .wrapping_add(product as u64 ^ (product >> 64) as u64);
    a = (a ^ (a >> 37)).wrapping_mul(0x1656_6791_9E37_79F9);
    a ^ (a >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::SimdPath;

    /// Hashes the words with every code path.
    fn assert_hashes(text: &[u8], starts: &[usize], ends: &[usize]) {
        let wanted: Vec<u64> = starts
            .iter()
            .zip(ends)
            .map(|(&start, &end)| word_hash(&text[start..end]))
            .collect();
        for path in SimdPath::available() {
            let mut hashes = vec![0; starts.len()];
            // SAFETY: the path is available.
            unsafe { (path.kernels().hash)(text, starts, ends, &mut hashes) };
            assert_eq!(hashes, wanted, "{path}: {starts:?} {ends:?}");
        }
    }

    fn text(length: u32) -> Vec<u8> {
        (0..length)
            .map(|index| (index.wrapping_mul(0x9E37_79B1) >> 24) as u8)
            .collect()
    }

    /// All lengths, at every place in the text: its start and end are where the eight-byte reads do not fit.
    #[test]
    fn single_words_hash_as_xxh3() {
        let text = text(120);
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                assert_hashes(&text, &[start], &[end]);
            }
        }
    }

    /// Batches of all sizes, so that every word is once in a whole vector and once in the rest.
    #[test]
    fn batches_hash_as_xxh3() {
        let text = text(3000);
        for count in 0..60 {
            for longest in [1, 3, 8, 9, 16, 40] {
                let (mut starts, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
                for index in 0..count {
                    starts.push(at);
                    ends.push(at + 1 + index * 7 % longest);
                    at = ends[index] + index % 3;
                }
                assert_hashes(&text[..at], &starts, &ends);
                assert_hashes(&text, &starts, &ends);
            }
        }
    }
}
