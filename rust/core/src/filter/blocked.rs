//! The blocked Bloom filter: one global array of blocks of 512 bits (eight little-endian 64-bit words, one cache line).
//!
//! ```text
//! key ──× B, high half──▶ block        key ──remix──▶ seven 9-bit positions ──remix──▶ seven more …   (k in all)
//! ```
//!
//! Insertion sets the k bits of one block, a query tests them: one cache line a key. The positions come from a remix of all 64 key
//! bits: the bits that chose the block are the same for all keys of a block and would be worth nothing alone.
//!
//! With two tiers a block has a second line, for bits that at least two insertions have set. An insertion with the bits `mask` does
//! `twice |= once & mask; once |= mask`: each bit counts its insertions as far as two. So neither their order matters nor how they
//! are divided among threads or parts, but each (document, distinct n-gram) has to come exactly once. Parts add up in the same way:
//! `twice = a2 | b2 | (a1 & b1); once = a1 | b1`.

use serde::{Deserialize, Serialize};

use super::math::Geometry;
use super::{FOUND, TWICE, block_of, prefetch, together};
use crate::hash::remix;

/// Words of a block's line, of which it has one for each tier.
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
    assert_eq!(
        words.len() as u64 * 8,
        geometry.blocks * geometry.block_bytes()
    );
    // SAFETY: the array holds every block of the geometry and is borrowed mutably.
    unsafe { insert_batch(words.as_mut_ptr(), 0, &[key], geometry) }
}

/// Whether all bits of `key` are set in an array that holds all blocks.
pub fn contains(words: &[u64], key: u64, geometry: Geometry) -> bool {
    assert_eq!(
        words.len() as u64 * 8,
        geometry.blocks * geometry.block_bytes()
    );
    let mut hit = [0];
    // SAFETY: the array holds every block of the geometry.
    unsafe { contains_batch(words.as_ptr(), 0, &[key], geometry, &mut hit) };
    hit[0] != 0
}

/// Calls `each(i, key, block)` for each of `keys` and its block, whose lines are asked for ahead of time.
#[inline(always)]
fn for_each_block<const TIERS: usize>(
    words: *const u64,
    first_block: u64,
    keys: &[u64],
    blocks: u64,
    mut each: impl FnMut(usize, u64, *const u64),
) {
    let block = |key: u64| {
        words.wrapping_add((block_of(key, blocks) - first_block) as usize * BLOCK_WORDS * TIERS)
    };
    let ask = |key: u64| {
        (0..TIERS).for_each(|tier| prefetch(block(key).wrapping_add(tier * BLOCK_WORDS)))
    };
    keys.iter().take(AHEAD).for_each(|&key| ask(key));
    for (i, &key) in keys.iter().enumerate() {
        if let Some(&next) = keys.get(i + AHEAD) {
            ask(next);
        }
        each(i, key, block(key));
    }
}

/// Sets the bits of `keys` in the blocks from `first_block` on, which begin at `words`.
///
/// # Safety
/// The block of every key lies at or after `first_block` in memory valid for writing, and no other thread touches these blocks.
pub unsafe fn insert_batch(words: *mut u64, first_block: u64, keys: &[u64], geometry: Geometry) {
    with_const_k!(geometry.k, K => if geometry.tiers == 1 {
        for_each_block::<1>(words, first_block, keys, geometry.blocks, |_, key, block| {
            positions::<K>(key, |word, bit| {
                // SAFETY: the caller vouches for the block; `word` is below BLOCK_WORDS.
                unsafe { *block.cast_mut().add(word) |= 1 << bit };
            });
        });
    } else {
        for_each_block::<2>(words, first_block, keys, geometry.blocks, |_, key, block| {
            // SAFETY: the caller vouches for the block.
            let (once, twice) = unsafe {
                let once = block.cast_mut().cast::<[u64; BLOCK_WORDS]>();
                (&mut *once, &mut *once.add(1))
            };
            // One after the other: a key may choose a bit several times, which is no second insertion.
            positions::<K>(key, |word, bit| twice[word] |= once[word] & (1 << bit));
            positions::<K>(key, |word, bit| once[word] |= 1 << bit);
        });
    });
}

/// Adds what is known of `keys[i]` to `hits[i]` ([`FOUND`], [`TWICE`]), in the blocks from `first_block` on, which begin at `words`.
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
    // All positions are tested, without a branch: on lines that are in cache a wrong guess costs more than the tests it saves.
    with_const_k!(geometry.k, K => if geometry.tiers == 1 {
        for_each_block::<1>(words, first_block, keys, geometry.blocks, |i, key, block| {
            let mut all = 1;
            // SAFETY: the caller vouches for the block; `word` is below BLOCK_WORDS.
            positions::<K>(key, |word, bit| all &= unsafe { *block.add(word) } >> bit);
            hits[i] |= (all & 1) as u8 * FOUND;
        });
    } else {
        for_each_block::<2>(words, first_block, keys, geometry.blocks, |i, key, block| {
            let (mut once, mut twice) = (1, 1);
            positions::<K>(key, |word, bit| {
                // SAFETY: as above, for both lines.
                unsafe {
                    once &= *block.add(word) >> bit;
                    twice &= *block.add(BLOCK_WORDS + word) >> bit;
                }
            });
            hits[i] = together(hits[i], (once & 1) as u8 * FOUND + (twice & 1) as u8 * TWICE);
        });
    });
}

/// Adds blocks of `tiers` tiers to others.
pub fn unite(ours: &mut [u64], theirs: &[u64], tiers: u32) {
    if tiers == 1 {
        ours.iter_mut()
            .zip(theirs)
            .for_each(|(ours, theirs)| *ours |= theirs);
        return;
    }
    let blocks = ours
        .chunks_exact_mut(2 * BLOCK_WORDS)
        .zip(theirs.chunks_exact(2 * BLOCK_WORDS));
    for (ours, theirs) in blocks {
        let (once, twice) = ours.split_at_mut(BLOCK_WORDS);
        let (their_once, their_twice) = theirs.split_at(BLOCK_WORDS);
        for word in 0..BLOCK_WORDS {
            twice[word] |= their_twice[word] | (once[word] & their_once[word]);
            once[word] |= their_once[word];
        }
    }
}

/// Counts how many blocks have 0, 1, … 512 bits set: all that is needed for fill and rate, and independent of the order of summation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FillCounts(Vec<u64>);

impl Default for FillCounts {
    fn default() -> Self {
        FillCounts(vec![0; 513])
    }
}

impl FillCounts {
    /// Adds tier number `tier` of the blocks in `words`, which have `tiers`.
    pub fn add(&mut self, words: &[u64], tier: usize, tiers: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the feature was just detected.
            return unsafe { self.add_popcnt(words, tier, tiers) };
        }
        self.add_portable(words, tier, tiers);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn add_popcnt(&mut self, words: &[u64], tier: usize, tiers: usize) {
        self.add_portable(words, tier, tiers);
    }

    #[inline(always)]
    fn add_portable(&mut self, words: &[u64], tier: usize, tiers: usize) {
        for block in words.chunks_exact(BLOCK_WORDS * tiers) {
            let line = &block[tier * BLOCK_WORDS..][..BLOCK_WORDS];
            self.0[line.iter().map(|w| w.count_ones()).sum::<u32>() as usize] += 1;
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
