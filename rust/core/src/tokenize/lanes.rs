//! Questions to 64 bytes at once, answered with one bit a byte. Bit 0 is the first byte.
//!
//! The word rules are written once, against [`Lanes`]; each processor's vectors answer the same questions.

/// 64 bytes in some processor's registers.
pub trait Lanes: Copy {
    /// Reads the bytes.
    fn load(bytes: &[u8; 64]) -> Self;
    /// Each byte with bit 0x20 set: ASCII capitals become small letters.
    fn folded(self) -> Self;
    /// Bytes equal to `byte`.
    fn equal(self, byte: u8) -> u64;
    /// Bytes from `first` to `last`, which are both ASCII or both not.
    fn between(self, first: u8, last: u8) -> u64;
    /// Bytes of 0x80 and above.
    fn non_ascii(self) -> u64;
    /// Bytes that begin a character: all but 0x80 to 0xBF.
    fn character_starts(self) -> u64;
}

/// Plain 64-bit arithmetic, eight bytes at a time; for every processor.
#[derive(Clone, Copy)]
pub struct Scalar([u64; 8]);

const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const HIGH: u64 = 0x8080_8080_8080_8080;

const fn repeat(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

impl Scalar {
    /// Collects the highest bit of each byte of `f(word)`.
    #[inline(always)]
    fn collect(self, f: impl Fn(u64) -> u64) -> u64 {
        let mut bits = 0;
        for (i, &word) in self.0.iter().enumerate() {
            // Bit 8i+7 times 2^(7j) lands on bit 56+i where i + j = 7; no two products meet, so nothing carries.
            let byte = (f(word) & HIGH).wrapping_mul(0x0002_0408_1020_4081) >> 56;
            bits |= byte << (8 * i);
        }
        bits
    }
}

impl Lanes for Scalar {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let mut words = [0; 8];
        for (word, chunk) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*chunk);
        }
        Scalar(words)
    }

    #[inline(always)]
    fn folded(self) -> Self {
        let mut words = self.0;
        for word in &mut words {
            *word |= repeat(0x20);
        }
        Scalar(words)
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        self.collect(|word| {
            let difference = word ^ repeat(byte);
            !(((difference & LOW) + LOW) | difference)
        })
    }

    #[inline(always)]
    fn between(self, first: u8, last: u8) -> u64 {
        debug_assert!(first <= last && (first < 0x80) == (last < 0x80));
        let same_half = if last < 0x80 { !0 } else { 0 };
        self.collect(|word| {
            let low = word & LOW;
            let at_least_first = low + repeat(0x80 - (first & 0x7F));
            let above_last = low + repeat(0x7F - (last & 0x7F));
            at_least_first & !above_last & (word ^ same_half)
        })
    }

    #[inline(always)]
    fn non_ascii(self) -> u64 {
        self.collect(|word| word)
    }
    #[inline(always)]
    fn character_starts(self) -> u64 {
        self.collect(|word| !word | word << 1)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// For every byte and every question.
    pub fn assert_answers<L: Lanes>() {
        for start in [0, 64, 128, 192] {
            let bytes: [u8; 64] = std::array::from_fn(|index| (start + index) as u8);
            let lanes = L::load(&bytes);
            let mask = |is: &dyn Fn(u8) -> bool| {
                (0..64).fold(0, |bits, index| bits | u64::from(is(bytes[index])) << index)
            };
            assert_eq!(lanes.non_ascii(), mask(&|byte| byte >= 0x80));
            assert_eq!(
                lanes.character_starts(),
                mask(&|byte| !(0x80..0xC0).contains(&byte))
            );
            for first in 0..=255 {
                assert_eq!(lanes.equal(first), mask(&|byte| byte == first));
                assert_eq!(
                    lanes.folded().equal(first),
                    mask(&|byte| byte | 0x20 == first)
                );
                for last in first..=first | 0x7F {
                    assert_eq!(
                        lanes.between(first, last),
                        mask(&|byte| (first..=last).contains(&byte)),
                        "{first} {last}"
                    );
                }
            }
        }
    }

    #[test]
    fn scalar_answers() {
        assert_answers::<Scalar>();
    }
}
