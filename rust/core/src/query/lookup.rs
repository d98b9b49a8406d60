//! Many keys at a time: grouped by region of the filter, so that page walks and cache misses are shared, then scattered back.

use super::{Index, OpenSet};
use crate::error::Result;
use crate::filter::exact::KEY_RANGES;
use crate::filter::{FOUND, FilterKind, block_of, blocked, exact, together};
use crate::pass::{STEP, Stop};

/// Bytes of a region that keys are grouped by.
const REGION_BYTES: u64 = 512 << 10;
const MAX_REGIONS: u64 = 8192;
/// Most keys that are looked up together.
const PART_KEYS: usize = 1 << 23;
/// With fewer keys for each region than this, grouping costs more than it saves.
const MIN_KEYS_PER_REGION: u64 = 8;

/// Reusable space for [`Index::find`].
#[derive(Default)]
pub struct Scratch {
    ends: Vec<u32>,
    keys: Vec<u64>,
    places: Vec<u32>,
    hits: Vec<u8>,
}

impl Scratch {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.ends.capacity() + self.places.capacity()) * 4
            + self.keys.capacity() * 8
            + self.hits.capacity()
    }
}

impl Index {
    /// Sets `hits[i]` to 1 where an n-gram of length `n` with key `keys[i]` is in any of the indexes, else to 0.
    pub(crate) fn find(
        &self,
        n: u32,
        keys: &[u64],
        hits: &mut Vec<u8>,
        scratch: &mut Scratch,
        stop: &dyn Fn() -> bool,
    ) {
        self.find_tiers(n, keys, hits, scratch, stop);
        hits.iter_mut().for_each(|hit| *hit &= FOUND);
    }

    /// Sets `hits[i]` to what the indexes know of an n-gram of length `n` with key `keys[i]`: 0, or [`FOUND`], and with two tiers
    /// [`TWICE`](crate::filter::TWICE).
    pub(super) fn find_tiers(
        &self,
        n: u32,
        keys: &[u64],
        hits: &mut Vec<u8>,
        scratch: &mut Scratch,
        stop: &dyn Fn() -> bool,
    ) {
        hits.clear();
        hits.resize(keys.len(), 0);
        for set in self
            .parts
            .iter()
            .flat_map(|part| &part.sets)
            .filter(|set| set.n == n)
        {
            // Long batches (a single document of millions of words) go in parts: for the stop, and since places are 32-bit.
            for (keys, hits) in keys.chunks(PART_KEYS).zip(hits.chunks_mut(PART_KEYS)) {
                if !stop() {
                    set.find(keys, hits, scratch);
                }
            }
        }
        // What some of several indexes know of a second document is not known of all.
        if self.tiers() == 1 {
            hits.iter_mut().for_each(|hit| *hit &= FOUND);
        }
    }
}

impl Index {
    /// Removes the keys of n-grams of length `n` that are in none of the indexes.
    pub fn retain(&self, n: u32, keys: &mut Vec<u64>, stop: Stop<'_>) -> Result<()> {
        let (mut hits, mut scratch) = (Vec::new(), Scratch::default());
        let mut kept = 0;
        for start in (0..keys.len()).step_by(STEP) {
            stop()?;
            let end = keys.len().min(start + STEP);
            self.find(n, &keys[start..end], &mut hits, &mut scratch, &|| false);
            for (at, &hit) in (start..end).zip(&hits) {
                keys[kept] = keys[at];
                kept += usize::from(hit);
            }
        }
        keys.truncate(kept);
        Ok(())
    }
}

impl OpenSet {
    fn find(&self, keys: &[u64], hits: &mut [u8], scratch: &mut Scratch) {
        let bytes: u64 = self
            .shards
            .iter()
            .map(|shard| shard.header().payload_bytes)
            .sum();
        let regions = (bytes / REGION_BYTES).min(MAX_REGIONS);
        if regions < 8 || (keys.len() as u64) < regions * MIN_KEYS_PER_REGION {
            return self.probe(keys, hits);
        }
        // Regions are equal ranges of keys: both blocks and sorted keys lie in the order of their high bits.
        let shift = 64 - regions.ilog2();
        let Scratch {
            ends,
            keys: grouped,
            places,
            hits: grouped_hits,
        } = scratch;
        ends.clear();
        ends.resize(1 << regions.ilog2(), 0);
        keys.iter()
            .for_each(|key| ends[(key >> shift) as usize] += 1);
        let mut sum = 0;
        for end in ends.iter_mut() {
            (*end, sum) = (sum, sum + *end);
        }
        grouped.resize(keys.len(), 0);
        places.resize(keys.len(), 0);
        for (place, &key) in keys.iter().enumerate() {
            let end = &mut ends[(key >> shift) as usize];
            grouped[*end as usize] = key;
            places[*end as usize] = place as u32;
            *end += 1;
        }
        grouped_hits.clear();
        grouped_hits.resize(keys.len(), 0);
        self.probe(grouped, grouped_hits);
        for (&place, &hit) in places.iter().zip(grouped_hits.iter()) {
            let hits = &mut hits[place as usize];
            *hits = together(*hits, hit);
        }
    }

    /// Probes the keys in the order given.
    fn probe(&self, keys: &[u64], hits: &mut [u8]) {
        let blocks = if self.kind == FilterKind::Exact {
            KEY_RANGES
        } else {
            self.geometry.blocks
        };
        let mut start = 0;
        while start < keys.len() {
            let block = block_of(keys[start], blocks);
            let shard = &self.shards[self
                .shards
                .partition_point(|shard| shard.header().range.end <= block)];
            let range = &shard.header().range;
            let same = keys[start..]
                .iter()
                .take_while(|&&key| range.contains(&block_of(key, blocks)))
                .count();
            let (keys, hits) = (&keys[start..start + same], &mut hits[start..start + same]);
            match self.kind {
                // SAFETY: the blocks of these keys lie in this shard's range, which its payload holds (checked on opening).
                FilterKind::Blocked => unsafe {
                    blocked::contains_batch(
                        shard.words().as_ptr(),
                        range.start,
                        keys,
                        self.geometry,
                        hits,
                    )
                },
                FilterKind::Exact => {
                    let sorted = shard.words();
                    keys.iter()
                        .zip(hits)
                        .for_each(|(&key, hit)| *hit = together(*hit, exact::find(sorted, key)));
                }
            }
            start += same;
        }
    }
}
