//! The blocked Bloom filter: one global array of blocks of 512 bits (eight little-endian 64-bit words, one cache line).
//!
//! ```text
//! key ──× B, high half──▶ block        key ──remix──▶ seven 9-bit positions ──remix──▶ seven more …   (k in all)
//! ```
//!
//! Insertion sets the k bits of one block, a query tests them: one cache line a key. The positions come from a remix of all 64 key
//! bits: the bits that chose the block are the same for all keys of a block and would be worth nothing alone.

use super::math::Geometry;
use super::{block_of, prefetch};
use crate::hash::remix;

/// Words of a block.
pub const BLOCK_WORDS: usize = 8;
/// Nine-bit positions taken from one mixed word.
const POSITIONS: u32 = 7;
/// How many keys ahead lines are asked for: enough to cover a memory access, few enough to stay in the first-level cache.
const AHEAD: usize = 32;

/// Calls `visit(word, bit)` for each of the `K` positions of `key`.
#[inline(always)]
fn positions<const K: u32>(key: u64, mut visit: impl FnMut(usize, u32)) {
    let mut mixed = remix(key);
    let mut slices = mixed;
    for i in 0..K {
        if i > 0 && i % POSITIONS == 0 {
            mixed = remix(mixed);
            slices = mixed;
        }
        visit(((slices >> 6) & 7) as usize, (slices & 63) as u32);
        slices >>= 9;
    }
}

/// Runs `$body` with the constant `$K` equal to the run-time `$k`, so that the loops over positions unroll.
macro_rules! with_const_k {
    ($k:expr, $K:ident => $body:expr) => {
        with_const_k!(@arms $k, $K => $body; 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28)
    };
    (@arms $k:expr, $K:ident => $body:expr; $($value:literal)*) => {
        match $k {
            $($value => { const $K: u32 = $value; $body })*
            other => unreachable!("k = {other} is refused when a geometry is made or read"),
        }
    };
}

/// Sets the bits of `key` in an array that holds all blocks.
pub fn insert(words: &mut [u64], key: u64, geometry: Geometry) {
    assert_eq!(words.len() as u64, geometry.blocks * BLOCK_WORDS as u64);
    // SAFETY: the array holds every block of the geometry and is borrowed mutably.
    unsafe { insert_batch(words.as_mut_ptr(), 0, &[key], geometry) }
}

/// Whether all bits of `key` are set in an array that holds all blocks.
pub fn contains(words: &[u64], key: u64, geometry: Geometry) -> bool {
    assert_eq!(words.len() as u64, geometry.blocks * BLOCK_WORDS as u64);
    let mut hit = [0];
    // SAFETY: the array holds every block of the geometry.
    unsafe { contains_batch(words.as_ptr(), 0, &[key], geometry, &mut hit) };
    hit[0] != 0
}

/// Sets the bits of `keys` in the blocks from `first_block` on, which begin at `words`.
///
/// # Safety
/// The block of every key lies at or after `first_block` in memory valid for writing, and no other thread touches these blocks.
pub unsafe fn insert_batch(words: *mut u64, first_block: u64, keys: &[u64], geometry: Geometry) {
    with_const_k!(geometry.k, K => {
        let line = |key: u64| words.wrapping_add((block_of(key, geometry.blocks) - first_block) as usize * BLOCK_WORDS);
        keys.iter().take(AHEAD).for_each(|&key| prefetch(line(key)));
        for (i, &key) in keys.iter().enumerate() {
            if let Some(&next) = keys.get(i + AHEAD) {
                prefetch(line(next));
            }
            let block = line(key);
            positions::<K>(key, |word, bit| {
                // SAFETY: the caller vouches for the block; `word` is below BLOCK_WORDS.
                unsafe { *block.add(word) |= 1 << bit };
            });
        }
    });
}

/// Sets `hits[i]` to 1 where all bits of `keys[i]` are set (else leaves it), in the blocks from `first_block` on, which begin at `words`.
///
/// # Safety
/// The block of every key lies at or after `first_block` in memory valid for reading.
pub unsafe fn contains_batch(
    words: *const u64,
    first_block: u64,
    keys: &[u64],
    geometry: Geometry,
    hits: &mut [u8],
) {
    assert_eq!(keys.len(), hits.len());
    with_const_k!(geometry.k, K => {
        let line = |key: u64| words.wrapping_add((block_of(key, geometry.blocks) - first_block) as usize * BLOCK_WORDS);
        keys.iter().take(AHEAD).for_each(|&key| prefetch(line(key)));
        for (i, (&key, hit)) in keys.iter().zip(hits).enumerate() {
            if let Some(&next) = keys.get(i + AHEAD) {
                prefetch(line(next));
            }
            let block = line(key);
            // All positions are tested, without a branch: on lines that are in cache a wrong guess costs more than the tests it saves.
            let mut all = 1;
            // SAFETY: the caller vouches for the block; `word` is below BLOCK_WORDS.
            positions::<K>(key, |word, bit| all &= unsafe { *block.add(word) } >> bit);
            *hit |= (all & 1) as u8;
        }
    });
}

/// Counts how many blocks have 0, 1, … 512 bits set: all that is needed for fill and rate, and independent of the order of summation.
#[derive(Clone)]
pub struct FillCounts(Vec<u64>);

impl Default for FillCounts {
    fn default() -> Self {
        FillCounts(vec![0; 513])
    }
}

impl FillCounts {
    /// Adds the blocks of `words`.
    pub fn add(&mut self, words: &[u64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the feature was just detected.
            return unsafe { self.add_popcnt(words) };
        }
        self.add_portable(words);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn add_popcnt(&mut self, words: &[u64]) {
        self.add_portable(words);
    }

    #[inline(always)]
    fn add_portable(&mut self, words: &[u64]) {
        for block in words.chunks_exact(BLOCK_WORDS) {
            self.0[block.iter().map(|w| w.count_ones()).sum::<u32>() as usize] += 1;
        }
    }

    /// Takes in the counts of other blocks.
    pub fn merge(&mut self, other: &FillCounts) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Share of all bits that are set.
    pub fn fill(&self) -> f64 {
        let blocks: u64 = self.0.iter().sum();
        let set: u64 = self
            .0
            .iter()
            .enumerate()
            .map(|(bits, &count)| bits as u64 * count)
            .sum();
        if blocks == 0 {
            0.0
        } else {
            set as f64 / (blocks as f64 * 512.0)
        }
    }

    /// The rate at which this very filter answers yes to random keys: the mean of (set bits / 512)^k over its blocks.
    pub fn rate(&self, k: u32) -> f64 {
        let blocks: u64 = self.0.iter().sum();
        let sum: f64 = self
            .0
            .iter()
            .enumerate()
            .map(|(bits, &count)| count as f64 * libm::pow(bits as f64 / 512.0, f64::from(k)))
            .sum();
        if blocks == 0 {
            0.0
        } else {
            sum / blocks as f64
        }
    }
}
