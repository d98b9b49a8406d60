//! Searches for single bytes, several at a time.
//!
//! SSE2 is part of every x86-64 processor, so it needs no dispatch; elsewhere eight bytes in a register do. Tests compare
//! both with the obvious loop.

/// Bytes that [`backslash`] looks at.
pub(super) const WIDTH: usize = 16;

/// First byte at or after `at` that is special inside a string: a quote, a backslash, a control character.
#[inline]
pub(super) fn special(line: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = line.get(at..).and_then(|rest| rest.first_chunk::<WIDTH>()) {
        match special_in(chunk) {
            Some(offset) => return at + offset,
            // A constant step, which the processor runs ahead with: adding what was found, 16 or less, would make every
            // load wait for the search before it.
            None => at += WIDTH,
        }
    }
    while let Some(&byte) = line.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// Where the first special byte is.
#[cfg(target_arch = "x86_64")]
#[inline]
fn special_in(chunk: &[u8; WIDTH]) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 belongs to the architecture, and the load, which needs no alignment, reads the 16 bytes of `chunk`.
    let mask = unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
        // There is no unsigned comparison: a byte is at most 0x1f if the smaller of both is itself.
        let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)) as u32
    };
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

/// Where the first backslash is.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn backslash(chunk: &[u8; WIDTH]) -> Option<usize> {
    use std::arch::x86_64::*;
    // SAFETY: as above.
    let mask = unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8))) as u32
    };
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::backslash;
#[cfg(not(target_arch = "x86_64"))]
use portable::special_in;

/// The same in a register of eight bytes. In each test a byte may be flagged wrongly only above one that is flagged rightly
/// (the subtraction borrows upwards), so the lowest flag is exact.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::WIDTH;

    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;

    pub(in super::super) fn special_in(chunk: &[u8; WIDTH]) -> Option<usize> {
        first(chunk, |word| {
            zeros(word ^ (ONES * b'"' as u64))
                | zeros(word ^ (ONES * b'\\' as u64))
                | (word.wrapping_sub(ONES * 0x20) & !word)
        })
    }

    pub(in super::super) fn backslash(chunk: &[u8; WIDTH]) -> Option<usize> {
        first(chunk, |word| zeros(word ^ (ONES * b'\\' as u64)))
    }

    fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word
    }

    fn first(chunk: &[u8; WIDTH], flags: impl Fn(u64) -> u64) -> Option<usize> {
        for (at, half) in chunk.chunks_exact(8).enumerate() {
            let word = half
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
            let flags = flags(word) & HIGH;
            if flags != 0 {
                return Some(at * 8 + (flags.trailing_zeros() / 8) as usize);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes with many special ones and their neighbours among them.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            any::<u8>(),
            prop::sample::select(
                &[
                    b'"', b'!', b'#', b'\\', b'[', b']', 0x1f, 0x20, 0, 0x80, 0xa2
                ][..]
            ),
            Just(b'x'),
        ];
        prop::collection::vec(byte, 0..70)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn both_ways_find_the_first(bytes in bytes(), from in 0usize..70) {
            let from = from.min(bytes.len());
            let is_special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
            let naive = bytes[from..].iter().position(is_special).map_or(bytes.len(), |at| at + from);
            prop_assert_eq!(special(&bytes, from), naive);
            for chunk in bytes.windows(WIDTH).filter_map(|window| window.first_chunk::<WIDTH>()) {
                let naive = chunk.iter().position(is_special);
                prop_assert_eq!(special_in(chunk), naive);
                prop_assert_eq!(portable::special_in(chunk), naive);
                let naive = chunk.iter().position(|&byte| byte == b'\\');
                prop_assert_eq!(backslash(chunk), naive);
                prop_assert_eq!(portable::backslash(chunk), naive);
            }
        }
    }
}
