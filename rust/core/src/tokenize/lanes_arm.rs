//! [`Lanes`] in NEON registers, which every 64-bit ARM processor that Rust's standard targets allow has.

use std::arch::aarch64::*;

use super::lanes::Lanes;

/// NEON.
#[derive(Clone, Copy)]
pub struct Neon([uint8x16_t; 4]);

/// One bit a byte of four vectors whose bytes are 0 or 255.
#[inline(always)]
fn collect([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: reads the 16 weights; NEON is part of the target.
    unsafe {
        let weights = vld1q_u8(WEIGHTS.as_ptr());
        let (a, b) = (vandq_u8(a, weights), vandq_u8(b, weights));
        let (c, d) = (vandq_u8(c, weights), vandq_u8(d, weights));
        // Three pairwise sums leave eight bytes of eight bits each.
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

impl Lanes for Neon {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let from = bytes.as_ptr();
        // SAFETY: four times 16 bytes are the 64; NEON is part of the target.
        Neon(unsafe {
            [
                vld1q_u8(from),
                vld1q_u8(from.add(16)),
                vld1q_u8(from.add(32)),
                vld1q_u8(from.add(48)),
            ]
        })
    }

    #[inline(always)]
    fn folded(mut self) -> Self {
        for vector in &mut self.0 {
            // SAFETY: NEON is part of the target.
            *vector = unsafe { vorrq_u8(*vector, vdupq_n_u8(0x20)) };
        }
        self
    }

    #[inline(always)]
    fn equal(mut self, byte: u8) -> u64 {
        for vector in &mut self.0 {
            // SAFETY: NEON is part of the target.
            *vector = unsafe { vceqq_u8(*vector, vdupq_n_u8(byte)) };
        }
        collect(self.0)
    }

    #[inline(always)]
    fn between(mut self, first: u8, last: u8) -> u64 {
        for vector in &mut self.0 {
            // SAFETY: NEON is part of the target.
            *vector = unsafe {
                vcleq_u8(
                    vsubq_u8(*vector, vdupq_n_u8(first)),
                    vdupq_n_u8(last - first),
                )
            };
        }
        collect(self.0)
    }

    #[inline(always)]
    fn non_ascii(mut self) -> u64 {
        for vector in &mut self.0 {
            // SAFETY: NEON is part of the target.
            *vector = unsafe { vcgeq_u8(*vector, vdupq_n_u8(0x80)) };
        }
        collect(self.0)
    }

    #[inline(always)]
    fn character_starts(mut self) -> u64 {
        for vector in &mut self.0 {
            // As signed numbers, the others are the least.
            // SAFETY: NEON is part of the target.
            *vector = unsafe { vcgtq_s8(vreinterpretq_s8_u8(*vector), vdupq_n_s8(0xBFu8 as i8)) };
        }
        collect(self.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::tokenize::lanes::tests::assert_answers;

    #[test]
    fn neon_answers() {
        assert_answers::<super::Neon>();
    }
}
