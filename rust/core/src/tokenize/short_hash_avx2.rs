//! [`super::short_hash`] for four words at a time.
//!
//! As with the lanes, the functions must only be used inside functions compiled for processors that have AVX2, and no closure or
//! function value must stand between, as it would be compiled without AVX2.

use std::arch::x86_64::*;
use std::ops::Range;

use super::bounds::ROOM;
use super::short_hash::{
    FLIP_1_TO_3, FLIP_4_TO_8, SHORT_PRIME, TINY_PRIMES, hash_edges, hash_word,
};

/// Hashes the words that begin at `starts` and end at `ends`: in order, not empty, within `text`.
///
/// Words of up to eight bytes are hashed in vectors; longer ones get a wrong hash there and are set right afterwards, so that there
/// is no branch on a word's length.
#[inline(always)]
pub fn hash_words(text: &[u8], starts: &[usize], ends: &[usize], hashes: &mut [u64]) {
    assert!(starts.len() == ends.len() && starts.len() == hashes.len() && starts.len() <= ROOM);
    let Range { start, end } = hash_edges(text, starts, ends, hashes);
    let mut long = [0u16; ROOM];
    let mut long_count = 0;
    let whole = start + ((end - start) & !3);
    for index in (start..whole).step_by(4) {
        // SAFETY: `index + 4` is at most the length of all three, and `hash_edges` returns words with eight bytes of text from
        // their starts on and before their ends. Instructions: see the head of this file.
        let is_long = unsafe { hash_four(text, starts, ends, hashes, index) };
        for lane in 0..4 {
            // SAFETY: at most one entry a word is kept, and there are at most ROOM words.
            unsafe { *long.get_unchecked_mut(long_count) = (index + lane) as u16 };
            long_count += is_long >> lane & 1;
        }
    }
    for &index in &long[..long_count] {
        let index = usize::from(index);
        // SAFETY: as above.
        hashes[index] = unsafe { hash_word(text, starts[index], ends[index]) };
    }
    for index in whole..end {
        // SAFETY: as above.
        hashes[index] = unsafe { hash_word(text, starts[index], ends[index]) };
    }
}

/// Hashes four words and returns which of them are too long for that, a bit each.
///
/// # Safety
///
/// The processor has AVX2, the slices have four elements from `index` on, and eight bytes of text can be read from each of these
/// starts on and before each of these ends.
#[inline(always)]
unsafe fn hash_four(
    text: &[u8],
    starts: &[usize],
    ends: &[usize],
    hashes: &mut [u64],
    index: usize,
) -> usize {
    // SAFETY: the caller's promises.
    unsafe {
        let starts = starts.as_ptr().add(index);
        let ends = ends.as_ptr().add(index);
        let length = _mm256_sub_epi64(
            _mm256_loadu_si256(ends.cast()),
            _mm256_loadu_si256(starts.cast()),
        );
        let first = load_four(text.as_ptr(), starts);
        let last = load_four(text.as_ptr().wrapping_sub(8), ends);
        // 1 to 3 bytes: first, middle and last of them, and the length. The middle one is the first (of one) or the second.
        let byte = all(0xFF);
        let to_middle = _mm256_and_si256(_mm256_slli_epi64::<2>(length), all(8));
        let middle = _mm256_and_si256(_mm256_srlv_epi64(first, to_middle), byte);
        let outer = _mm256_or_si256(
            _mm256_slli_epi64::<16>(_mm256_and_si256(first, byte)),
            _mm256_srli_epi64::<56>(last),
        );
        let inner = _mm256_or_si256(
            _mm256_slli_epi64::<24>(middle),
            _mm256_slli_epi64::<8>(length),
        );
        let tiny = _mm256_xor_si256(_mm256_or_si256(outer, inner), all(FLIP_1_TO_3));
        // 4 to 8 bytes: the first four and the last four.
        let both = _mm256_or_si256(
            _mm256_srli_epi64::<32>(last),
            _mm256_slli_epi64::<32>(first),
        );
        let both = _mm256_xor_si256(both, all(FLIP_4_TO_8));
        let turned_49 =
            _mm256_or_si256(_mm256_slli_epi64::<49>(both), _mm256_srli_epi64::<15>(both));
        let turned_24 =
            _mm256_or_si256(_mm256_slli_epi64::<24>(both), _mm256_srli_epi64::<40>(both));
        let short = _mm256_xor_si256(both, _mm256_xor_si256(turned_49, turned_24));
        // From here on the formulas differ in their constants only, and in that the longer one adds the length.
        let is_short = _mm256_cmpgt_epi64(length, all(3));
        let hash = _mm256_blendv_epi8(tiny, short, is_short);
        let hash = multiply(hash, choose(TINY_PRIMES[0], SHORT_PRIME, is_short));
        let shifted = _mm256_srlv_epi64(hash, choose(29, 35, is_short));
        let hash = _mm256_xor_si256(
            hash,
            _mm256_add_epi64(shifted, _mm256_and_si256(length, is_short)),
        );
        let hash = multiply(hash, choose(TINY_PRIMES[1], SHORT_PRIME, is_short));
        let hash = _mm256_xor_si256(hash, _mm256_srlv_epi64(hash, choose(32, 28, is_short)));
        _mm256_storeu_si256(hashes.as_mut_ptr().add(index).cast(), hash);
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(length, all(8)))) as usize
    }
}

/// Eight bytes each from `base` plus each of four offsets.
///
/// # Safety
///
/// The processor has AVX2; the offsets and what they point to can be read.
#[inline(always)]
unsafe fn load_four(base: *const u8, offsets: *const usize) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let low = _mm_loadh_pd(
            _mm_load_sd(base.wrapping_add(*offsets).cast()),
            base.wrapping_add(*offsets.add(1)).cast(),
        );
        let offsets = offsets.add(2);
        let high = _mm_loadh_pd(
            _mm_load_sd(base.wrapping_add(*offsets).cast()),
            base.wrapping_add(*offsets.add(1)).cast(),
        );
        _mm256_castpd_si256(_mm256_set_m128d(high, low))
    }
}

/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn all(value: u64) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_set1_epi64x(value as i64) }
}

/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn choose(unset: u64, set: u64, mask: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_blendv_epi8(all(unset), all(set), mask) }
}

/// Products of 64-bit lanes, low halves.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn multiply(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let low = _mm256_mul_epu32(a, b);
        let left = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), b);
        let right = _mm256_mul_epu32(a, _mm256_srli_epi64::<32>(b));
        _mm256_add_epi64(low, _mm256_slli_epi64::<32>(_mm256_add_epi64(left, right)))
    }
}
