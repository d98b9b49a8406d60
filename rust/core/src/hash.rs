//! The hash of words and n-grams: fixed, specified, the same on every platform.
//!
//! 1. **Word**: XXH3-64 with seed 0 of the word's UTF-8 bytes (specification: xxHash `doc/xxhash_spec.md`).
//! 2. **n-gram** of words with hashes `h_0 .. h_{n-1}`: the polynomial `H = Σ h_i · M^(n-1-i) mod 2^64`, [`MULTIPLIER`] = M.
//!    Words are hashed before they are combined, so "ab cd" never meets "abc d". M ≡ 3 (mod 8), so that `M^d - 1` has few factors
//!    of two and swapping words at distance d collides with probability of at most 2^-59.
//! 3. **Key**: `H` through [`finalize`], a bijection of 64 bits. The low bits of `H` are weak; every bit of a key is usable.
//!
//! A key is split by [`crate::filter`]: block from the high half of `key × B`, bits within the block from [`remix`].

use xxhash_rust::xxh3::xxh3_64;

/// Name of this hash in index headers; another hash gets another name.
pub const HASH_ID: &str = "xxh3-64/poly/mix13";

/// M of the n-gram polynomial: odd, ≡ 3 (mod 8), bits of both values spread evenly.
pub const MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;

/// Hash of one word.
#[inline(always)]
pub fn word_hash(word: &[u8]) -> u64 {
    xxh3_64(word)
}

/// Bijective finaliser that turns a polynomial value into a key (Stafford's "Mix13", the finaliser of SplitMix64).
#[inline(always)]
pub const fn finalize(mut h: u64) -> u64 {
    h = (h ^ (h >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    h ^ (h >> 31)
}

/// Second mix of all 64 bits of a key, independent of the high bits that chose the block.
#[inline(always)]
pub const fn remix(key: u64) -> u64 {
    let h = (key ^ (key >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (h ^ (h >> 29)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by an independent implementation (the Python package xxhash and the formulas of `docs/index-format.md`).
    #[test]
    fn golden_vectors() {
        assert_eq!(word_hash(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(word_hash(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(remix(0xfc25_0c28_9aa8_8f54), 0xfb99_1d7e_d0f1_0cd5);
    }
}
