//! [`Lanes`] in NEON registers, which every 64-bit ARM processor that Rust's standard targets allow has.

use std::arch::aarch64::*;

use super::lanes::Lanes;

/// NEON.
#[derive(Clone, Copy)]
pub struct Neon([uint8x16_t; 4]);

/// One bit a byte of four vectors whose bytes are 0 or 255.
#[inline(always)]
fn collect(masks: [uint8x16_t; 4]) -> u64 {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: reads the 16 weights; NEON is part of the target.
    unsafe {
        let weights = vld1q_u8(WEIGHTS.as_ptr());
        let [a, b, c, d] = masks.map(|mask| vandq_u8(mask, weights));
        // Three pairwise sums leave eight bytes of eight bits each.
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

impl Lanes for Neon {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: 16 bytes from each of the offsets 0, 16, 32 and 48 lie within the 64; NEON is part of the target.
        Neon([0, 16, 32, 48].map(|offset| unsafe { vld1q_u8(bytes.as_ptr().add(offset)) }))
    }

    #[inline(always)]
    fn folded(self) -> Self {
        // SAFETY: NEON is part of the target.
        Neon(self.0.map(|v| unsafe { vorrq_u8(v, vdupq_n_u8(0x20)) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: NEON is part of the target.
        collect(self.0.map(|v| unsafe { vceqq_u8(v, vdupq_n_u8(byte)) }))
    }

    #[inline(always)]
    fn between(self, first: u8, last: u8) -> u64 {
        // SAFETY: NEON is part of the target.
        collect(
            self.0.map(|v| unsafe {
                vcleq_u8(vsubq_u8(v, vdupq_n_u8(first)), vdupq_n_u8(last - first))
            }),
        )
    }

    #[inline(always)]
    fn non_ascii(self) -> u64 {
        // SAFETY: NEON is part of the target.
        collect(self.0.map(|v| unsafe { vcgeq_u8(v, vdupq_n_u8(0x80)) }))
    }
}
