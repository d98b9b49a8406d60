//! [`Lanes`] in SSE2, AVX2 and AVX-512 registers.
//!
//! The methods use instructions that the processor may lack, so these types must only be named inside functions that
//! [`super::simd`] compiles for, and calls on, processors which have them.

use std::arch::x86_64::*;

use super::lanes::Lanes;

/// SSE2, which every x86-64 processor has.
#[derive(Clone, Copy)]
pub struct Sse2([__m128i; 4]);

/// Joins the masks of quarters.
#[inline(always)]
fn quarters(masks: [i32; 4]) -> u64 {
    let [a, b, c, d] = masks.map(|mask| u64::from(mask as u16));
    a | b << 16 | c << 32 | d << 48
}

impl Lanes for Sse2 {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: 16 bytes from each of the offsets 0, 16, 32 and 48 lie within the 64; the load may be unaligned.
        Sse2(
            [0, 16, 32, 48]
                .map(|offset| unsafe { _mm_loadu_si128(bytes.as_ptr().add(offset).cast()) }),
        )
    }

    #[inline(always)]
    fn folded(self) -> Self {
        // SAFETY: see the head of this file.
        Sse2(
            self.0
                .map(|v| unsafe { _mm_or_si128(v, _mm_set1_epi8(0x20)) }),
        )
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: see the head of this file.
        quarters(
            self.0.map(|v| unsafe {
                _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(byte as i8)))
            }),
        )
    }

    #[inline(always)]
    fn between(self, first: u8, last: u8) -> u64 {
        // Moved so that `last` becomes 127, the greatest signed value, one comparison is enough.
        // SAFETY: see the head of this file.
        quarters(self.0.map(|v| unsafe {
            let moved = _mm_add_epi8(v, _mm_set1_epi8((0x7F - last) as i8));
            _mm_movemask_epi8(_mm_cmpgt_epi8(
                moved,
                _mm_set1_epi8((0x7E - (last - first)) as i8),
            ))
        }))
    }

    #[inline(always)]
    fn non_ascii(self) -> u64 {
        // SAFETY: see the head of this file.
        quarters(self.0.map(|v| unsafe { _mm_movemask_epi8(v) }))
    }
}

/// AVX2.
#[derive(Clone, Copy)]
pub struct Avx2(__m256i, __m256i);

impl Avx2 {
    #[inline(always)]
    fn collect(self, f: impl Fn(__m256i) -> __m256i) -> u64 {
        // SAFETY: see the head of this file.
        let [low, high] =
            [self.0, self.1].map(|v| u64::from(unsafe { _mm256_movemask_epi8(f(v)) } as u32));
        low | high << 32
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: both halves lie within the 64 bytes; the loads may be unaligned. Instructions: see the head of this file.
        unsafe {
            Avx2(
                _mm256_loadu_si256(bytes.as_ptr().cast()),
                _mm256_loadu_si256(bytes.as_ptr().add(32).cast()),
            )
        }
    }

    #[inline(always)]
    fn folded(self) -> Self {
        // SAFETY: see the head of this file.
        let fold = |v| unsafe { _mm256_or_si256(v, _mm256_set1_epi8(0x20)) };
        Avx2(fold(self.0), fold(self.1))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: see the head of this file.
        self.collect(|v| unsafe { _mm256_cmpeq_epi8(v, _mm256_set1_epi8(byte as i8)) })
    }

    #[inline(always)]
    fn between(self, first: u8, last: u8) -> u64 {
        // As in `Sse2::between`.
        // SAFETY: see the head of this file.
        self.collect(|v| unsafe {
            let moved = _mm256_add_epi8(v, _mm256_set1_epi8((0x7F - last) as i8));
            _mm256_cmpgt_epi8(moved, _mm256_set1_epi8((0x7E - (last - first)) as i8))
        })
    }

    #[inline(always)]
    fn non_ascii(self) -> u64 {
        self.collect(|v| v)
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
}
