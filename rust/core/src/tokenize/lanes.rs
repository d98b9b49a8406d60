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
    /// Bytes from `first` to `last`, both ASCII.
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
        debug_assert!(first <= last && last < 0x80);
        self.collect(|word| {
            let ascii = word & LOW;
            let at_least_first = ascii + repeat(0x80 - first);
            let above_last = ascii + repeat(0x7F - last);
            at_least_first & !above_last & !word
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
