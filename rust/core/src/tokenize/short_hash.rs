//! XXH3-64 of many short words.
//!
//! XXH3 takes another formula for 1 to 3, 4 to 8 and 9 to 16 bytes, and the lengths of words are not to be foretold: a branch on
//! them goes wrong every other word, which costs more than the whole hash. Here the formulas for up to eight bytes are both
//! computed and one result is chosen without a branch; only longer words, of which prose has one in ten, take one. The values
//! are those of [`word_hash`], bit for bit.

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
const FLIP_1_TO_3: u64 = (SECRET[0] & 0xFFFF_FFFF) ^ (SECRET[0] >> 32);
const FLIP_4_TO_8: u64 = SECRET[1] ^ SECRET[2];
const FLIP_9_TO_16: [u64; 2] = [SECRET[3] ^ SECRET[4], SECRET[5] ^ SECRET[6]];

/// Hashes the words that begin at `starts` and end at `ends`, which are not empty and lie within `text`.
#[inline(always)]
pub fn hash_words(text: &[u8], starts: &[usize], ends: &[usize], hashes: &mut [u64]) {
    for ((&start, &end), hash) in starts.iter().zip(ends).zip(hashes) {
        let length = end - start;
        *hash = if length <= 16 && end >= 8 && start + 8 <= text.len() && end <= text.len() {
            // SAFETY: eight bytes from `start` on and eight bytes before `end` are within the text by the line above.
            let (first, last) = unsafe { (read(text, start), read(text, end - 8)) };
            if length <= 8 {
                up_to_8(first, last, length as u64)
            } else {
                from_9_to_16(first, last, length as u64)
            }
        } else {
            word_hash(&text[start..end])
        };
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
    let is_tiny = length < 4;
    // 1 to 3 bytes: first, middle and last of them, and the length.
    let middle = (first >> (8 * (length >> 1) & 63)) & 0xFF;
    let tiny = ((first & 0xFF) << 16 | middle << 24 | last >> 56 | length << 8) ^ FLIP_1_TO_3;
    let mut a = (tiny ^ (tiny >> 33)).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    a = (a ^ (a >> 29)).wrapping_mul(0x1656_67B1_9E37_79F9);
    a ^= a >> 32;
    // 4 to 8 bytes: the first four and the last four.
    let both = (last >> 32).wrapping_add(first << 32) ^ FLIP_4_TO_8;
    let mut b =
        (both ^ both.rotate_left(49) ^ both.rotate_left(24)).wrapping_mul(0x9FB2_1C65_1E98_DF25);
    b = (b ^ ((b >> 35).wrapping_add(length))).wrapping_mul(0x9FB2_1C65_1E98_DF25);
    b ^= b >> 28;
    if is_tiny { a } else { b }
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

    /// All lengths, at every place in the text: its start and end are where the eight-byte reads do not fit.
    #[test]
    fn values_are_those_of_xxh3() {
        let text: Vec<u8> = (0..120u32)
            .map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8)
            .collect();
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                let mut hash = [0];
                hash_words(&text, &[start], &[end], &mut hash);
                assert_eq!(hash[0], word_hash(&text[start..end]), "{start}..{end}");
            }
        }
    }
}
