//! [`Lanes`] in SSE2, AVX2 and AVX-512 registers.
//!
//! The methods use instructions that the processor may lack, so these types must only be named inside functions that
//! [`super::simd`] compiles for, and calls on, processors which have them. Closures and `array::map` are left out on purpose:
//! they are compiled without those instructions, and then called for every vector.

use std::arch::x86_64::*;

use super::lanes::Lanes;

/// SSE2, which every x86-64 processor has.
#[derive(Clone, Copy)]
pub struct Sse2([__m128i; 4]);

impl Lanes for Sse2 {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let from: *const __m128i = bytes.as_ptr().cast();
        // SAFETY: four times 16 bytes are the 64; the loads may be unaligned. Instructions: see the head of this file.
        Sse2(unsafe {
            [
                _mm_loadu_si128(from),
                _mm_loadu_si128(from.add(1)),
                _mm_loadu_si128(from.add(2)),
                _mm_loadu_si128(from.add(3)),
            ]
        })
    }

    #[inline(always)]
    fn folded(mut self) -> Self {
        for vector in &mut self.0 {
            // SAFETY: see the head of this file.
            *vector = unsafe { _mm_or_si128(*vector, _mm_set1_epi8(0x20)) };
        }
        self
    }

    #[inline(always)]
    fn equal(mut self, byte: u8) -> u64 {
        for vector in &mut self.0 {
            // SAFETY: see the head of this file.
            *vector = unsafe { _mm_cmpeq_epi8(*vector, _mm_set1_epi8(byte as i8)) };
        }
        self.non_ascii()
    }

    #[inline(always)]
    fn between(mut self, first: u8, last: u8) -> u64 {
        for vector in &mut self.0 {
            // Moved so that `last` becomes 127, the greatest signed value, one comparison is enough. Nothing wraps around to
            // between them, as both are in the same half.
            // SAFETY: see the head of this file.
            *vector = unsafe {
                let moved = _mm_add_epi8(*vector, _mm_set1_epi8(0x7Fu8.wrapping_sub(last) as i8));
                _mm_cmpgt_epi8(
                    moved,
                    _mm_set1_epi8(0x7Eu8.wrapping_sub(last - first) as i8),
                )
            };
        }
        self.non_ascii()
    }

    /// The highest bit of each byte.
    #[inline(always)]
    fn non_ascii(self) -> u64 {
        let mut bits = 0;
        for (quarter, &vector) in self.0.iter().enumerate() {
            // SAFETY: see the head of this file.
            bits |= u64::from(unsafe { _mm_movemask_epi8(vector) } as u16) << (16 * quarter);
        }
        bits
    }

    #[inline(always)]
    fn character_starts(mut self) -> u64 {
        for vector in &mut self.0 {
            // As signed numbers, the others are the least.
            // SAFETY: see the head of this file.
            *vector = unsafe { _mm_cmpgt_epi8(*vector, _mm_set1_epi8(0xBFu8 as i8)) };
        }
        self.non_ascii()
    }
}

/// AVX2.
#[derive(Clone, Copy)]
pub struct Avx2(__m256i, __m256i);

impl Lanes for Avx2 {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let from: *const __m256i = bytes.as_ptr().cast();
        // SAFETY: both halves lie within the 64 bytes; the loads may be unaligned. Instructions: see the head of this file.
        unsafe { Avx2(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))) }
    }

    #[inline(always)]
    fn folded(self) -> Self {
        // SAFETY: see the head of this file.
        unsafe {
            let bit = _mm256_set1_epi8(0x20);
            Avx2(_mm256_or_si256(self.0, bit), _mm256_or_si256(self.1, bit))
        }
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: see the head of this file.
        let equal = unsafe {
            let byte = _mm256_set1_epi8(byte as i8);
            Avx2(
                _mm256_cmpeq_epi8(self.0, byte),
                _mm256_cmpeq_epi8(self.1, byte),
            )
        };
        equal.non_ascii()
    }

    #[inline(always)]
    fn between(self, first: u8, last: u8) -> u64 {
        // As in `Sse2::between`.
        // SAFETY: see the head of this file.
        let inside = unsafe {
            let distance = _mm256_set1_epi8(0x7Fu8.wrapping_sub(last) as i8);
            let below = _mm256_set1_epi8(0x7Eu8.wrapping_sub(last - first) as i8);
            Avx2(
                _mm256_cmpgt_epi8(_mm256_add_epi8(self.0, distance), below),
                _mm256_cmpgt_epi8(_mm256_add_epi8(self.1, distance), below),
            )
        };
        inside.non_ascii()
    }

    /// The highest bit of each byte.
    #[inline(always)]
    fn non_ascii(self) -> u64 {
        // SAFETY: see the head of this file.
        let (low, high) = unsafe {
            (
                _mm256_movemask_epi8(self.0) as u32,
                _mm256_movemask_epi8(self.1) as u32,
            )
        };
        u64::from(low) | u64::from(high) << 32
    }

    #[inline(always)]
    fn character_starts(self) -> u64 {
        // As in `Sse2::character_starts`.
        // SAFETY: see the head of this file.
        let starts = unsafe {
            let last = _mm256_set1_epi8(0xBFu8 as i8);
            Avx2(
                _mm256_cmpgt_epi8(self.0, last),
                _mm256_cmpgt_epi8(self.1, last),
            )
        };
        starts.non_ascii()
    }
}

/// AVX-512BW.
#[derive(Clone, Copy)]
pub struct Avx512(__m512i);

impl Lanes for Avx512 {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: reads the 64 bytes; the load may be unaligned. Instructions: see the head of this file.
        Avx512(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn folded(self) -> Self {
        // SAFETY: see the head of this file.
        Avx512(unsafe { _mm512_or_si512(self.0, _mm512_set1_epi8(0x20)) })
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: see the head of this file.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    fn between(self, first: u8, last: u8) -> u64 {
        // SAFETY: see the head of this file.
        unsafe {
            let moved = _mm512_sub_epi8(self.0, _mm512_set1_epi8(first as i8));
            _mm512_cmple_epu8_mask(moved, _mm512_set1_epi8((last - first) as i8))
        }
    }

    #[inline(always)]
    fn non_ascii(self) -> u64 {
        // SAFETY: see the head of this file.
        unsafe { _mm512_movepi8_mask(self.0) }
    }

    #[inline(always)]
    fn character_starts(self) -> u64 {
        // As in `Sse2::character_starts`.
        // SAFETY: see the head of this file.
        unsafe { _mm512_cmpgt_epi8_mask(self.0, _mm512_set1_epi8(0xBFu8 as i8)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::SimdPath;
    use crate::tokenize::lanes::tests::assert_answers;

    #[test]
    fn sse2_answers() {
        assert_answers::<Sse2>();
    }

    #[test]
    fn avx2_answers() {
        if SimdPath::Avx2.is_available() {
            assert_answers::<Avx2>();
        } else {
            eprintln!("skipped: this processor lacks the instructions");
        }
    }

    #[test]
    fn avx512_answers() {
        if SimdPath::Avx512.is_available() {
            assert_answers::<Avx512>();
        } else {
            eprintln!("skipped: this processor lacks the instructions");
        }
    }
}
