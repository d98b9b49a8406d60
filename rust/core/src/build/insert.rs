//! The ranges of the sets that are in memory during a pass, filled by many threads without losing a key.
//!
//! A range is divided into regions. A thread collects keys in a small buffer for each region and applies a full buffer
//! under the region's lock with plain writes: the lines of one region stay in cache and in one huge page, and nothing is atomic.
//! (Atomic ORs for each key, without buffers, reached a third of this rate.)

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::filter::blocked;
use crate::filter::math::Geometry;
use crate::filter::{FilterKind, block_of, exact};
use crate::memory::Words;

use super::plan::{Plan, Window};

/// Keys a thread collects for one region.
const BUFFER_KEYS: usize = 256;
/// Bytes of a region: small enough that its pages stay in the translation cache while a buffer is applied (2 MiB, one huge page,
/// takes a third longer where a virtual machine's pages are small underneath) ...
const REGION_BYTES: u64 = 512 << 10;
/// ... but not so small that the buffers of a large filter outgrow them.
const MAX_REGIONS: u64 = 8192;
/// Small filters are divided too, so that threads do not wait for one lock.
const MIN_REGIONS: u64 = 16;
/// Keys of an exact region before repeats are first removed.
const FIRST_DEDUP: usize = 1 << 14;

/// One range of one set.
pub struct MemoryRange {
    pub window: Window,
    pub geometry: Geometry,
    /// Blocks of a region are `1 << shift`.
    shift: u32,
    regions: usize,
    pub store: Store,
}

/// Where the keys go.
pub enum Store {
    /// A filter's blocks; a lock for each region.
    Blocked { words: Words, locks: Vec<Mutex<()>> },
    /// An exact set's keys by region, with repeats; `held` counts the places taken for them.
    Exact {
        regions: Vec<Mutex<ExactRegion>>,
        held: AtomicU64,
    },
}

/// Keys of one region and the length at which repeats are removed next (two tiers keep one of them).
#[derive(Default)]
pub struct ExactRegion {
    pub keys: Vec<u64>,
    limit: usize,
}

impl ExactRegion {
    /// Sorts and removes repeats that say nothing.
    pub fn settle(&mut self, tiers: u32) {
        exact::settle(&mut self.keys, tiers);
        self.limit = (self.keys.len() * 2).max(FIRST_DEDUP);
    }
}

/// All ranges of a pass.
pub struct Ranges {
    /// By set: its range in this pass, if any.
    pub ranges: Vec<Option<MemoryRange>>,
    memory: u64,
}

impl Ranges {
    /// Takes the memory for a pass.
    pub fn new(plan: &Plan, pass: &[Window]) -> Result<Ranges> {
        let mut ranges: Vec<Option<MemoryRange>> = plan.sets.iter().map(|_| None).collect();
        for window in pass {
            let set = &plan.sets[window.set];
            ranges[window.set] = Some(MemoryRange::new(
                set.kind,
                set.geometry,
                Window {
                    set: window.set,
                    blocks: window.blocks.clone(),
                },
                set.sizing.sized_for,
            )?);
        }
        Ok(Ranges {
            ranges,
            memory: plan.memory,
        })
    }

    /// A thread's buffers.
    pub fn buffers(&self) -> Buffers<'_> {
        Buffers {
            of_set: self
                .ranges
                .iter()
                .map(|range| range.as_ref().map(RangeBuffers::new))
                .collect(),
        }
    }

    /// Whether an exact set outgrew the memory allowed, which the number it was sized for did not foretell.
    pub fn check_memory(&self) -> Result<()> {
        let held: u64 = self.ranges.iter().flatten().map(MemoryRange::held).sum();
        if held > self.memory {
            return Err(Error::NoRoom {
                needed: held,
                available: self.memory,
                place: "--memory".into(),
                detail: "keys of an exact set".into(),
                advice: "--expected-ngrams was too small; leave it out or raise it".into(),
            });
        }
        Ok(())
    }
}

impl MemoryRange {
    fn new(
        kind: FilterKind,
        geometry: Geometry,
        window: Window,
        sized_for: u64,
    ) -> Result<MemoryRange> {
        let blocks = window.blocks.end - window.blocks.start;
        let region_blocks = match kind {
            FilterKind::Blocked => (REGION_BYTES / geometry.block_bytes())
                .max(blocks.div_ceil(MAX_REGIONS))
                .min(blocks.div_ceil(MIN_REGIONS)),
            FilterKind::Exact => {
                let keys = u128::from(sized_for) * u128::from(blocks) / u128::from(geometry.blocks);
                let regions = (keys as u64 * 8 / REGION_BYTES).clamp(MIN_REGIONS, MAX_REGIONS);
                blocks.div_ceil(regions)
            }
        };
        let shift = region_blocks.max(1).next_power_of_two().trailing_zeros();
        let regions = ((blocks.max(1) - 1) >> shift) as usize + 1;
        let store = match kind {
            FilterKind::Blocked => {
                let words =
                    Words::zeroed(blocks as usize * geometry.block_words()).map_err(|_| {
                        Error::NoRoom {
                            needed: blocks * geometry.block_bytes(),
                            available: crate::memory::available().unwrap_or(0),
                            place: "memory".into(),
                            detail: "a range of the filter".into(),
                            advice: "give a smaller --memory".into(),
                        }
                    })?;
                Store::Blocked {
                    words,
                    locks: (0..regions).map(|_| Mutex::new(())).collect(),
                }
            }
            FilterKind::Exact => Store::Exact {
                regions: (0..regions)
                    .map(|_| {
                        Mutex::new(ExactRegion {
                            keys: Vec::new(),
                            limit: FIRST_DEDUP,
                        })
                    })
                    .collect(),
                held: AtomicU64::new(0),
            },
        };
        Ok(MemoryRange {
            window,
            geometry,
            shift,
            regions,
            store,
        })
    }

    fn held(&self) -> u64 {
        match &self.store {
            Store::Blocked { .. } => 0,
            Store::Exact { held, .. } => held.load(Relaxed) * 8,
        }
    }

    /// Adds the bits of blocks from `first_block` on.
    ///
    /// # Safety
    /// This is a blocked range that has these blocks, and no other thread is at them.
    pub unsafe fn unite(&self, first_block: u64, blocks: &[u64]) {
        let Store::Blocked { words, .. } = &self.store else {
            unreachable!("a blocked range")
        };
        let start = (first_block - self.window.blocks.start) as usize * self.geometry.block_words();
        // SAFETY: the caller vouches for the place.
        let ours =
            unsafe { std::slice::from_raw_parts_mut(words.as_ptr().add(start), blocks.len()) };
        blocked::unite(ours, blocks, self.geometry.tiers);
    }

    /// Adds sorted keys, all of which lie in this range.
    pub fn add_keys(&self, keys: &[u64]) {
        let region = |key: u64| {
            (block_of(key, self.geometry.blocks) - self.window.blocks.start) >> self.shift
        };
        for same in keys.chunk_by(|&a, &b| region(a) == region(b)) {
            self.apply(region(same[0]) as usize, same);
        }
    }

    /// Applies keys of one region.
    fn apply(&self, region: usize, keys: &[u64]) {
        match &self.store {
            Store::Blocked { words, locks } => {
                let _held = locks[region]
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                // SAFETY: the blocks of all keys lie in this region of the range; the region's lock is held.
                unsafe {
                    blocked::insert_batch(
                        words.as_ptr(),
                        self.window.blocks.start,
                        keys,
                        self.geometry,
                    )
                }
            }
            Store::Exact { regions, held } => {
                let mut region = regions[region]
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                let before = region.keys.capacity() as u64;
                region.keys.extend_from_slice(keys);
                if region.keys.len() >= region.limit {
                    region.settle(self.geometry.tiers);
                }
                held.fetch_add(
                    (region.keys.capacity() as u64).wrapping_sub(before),
                    Relaxed,
                );
            }
        }
    }
}

/// Keys that one thread has collected.
pub struct Buffers<'a> {
    of_set: Vec<Option<RangeBuffers<'a>>>,
}

struct RangeBuffers<'a> {
    range: &'a MemoryRange,
    /// Buffers of all regions, one after the other, in huge pages: they are written in random order.
    keys: Words,
    lens: Vec<u16>,
}

impl<'a> RangeBuffers<'a> {
    fn new(range: &'a MemoryRange) -> Self {
        let keys = Words::zeroed(range.regions * BUFFER_KEYS).expect("at most 16 MiB");
        RangeBuffers {
            range,
            keys,
            lens: vec![0; range.regions],
        }
    }

    fn push(&mut self, keys: &[u64]) {
        let MemoryRange {
            window,
            geometry,
            shift,
            ..
        } = self.range;
        let (start, blocks, whole) = (
            window.blocks.start,
            window.blocks.end - window.blocks.start,
            geometry.blocks,
        );
        let buffers = self.keys.as_mut_slice();
        for &key in keys {
            let block = block_of(key, whole).wrapping_sub(start);
            if block >= blocks {
                continue;
            }
            let region = (block >> shift) as usize;
            let len = &mut self.lens[region];
            let buffer = &mut buffers[region * BUFFER_KEYS..][..BUFFER_KEYS];
            buffer[*len as usize] = key;
            *len += 1;
            if *len as usize == BUFFER_KEYS {
                *len = 0;
                self.range.apply(region, buffer);
            }
        }
    }
}

impl Buffers<'_> {
    /// Adds keys of set `set`; those outside its range are passed over.
    pub fn push(&mut self, set: usize, keys: &[u64]) {
        if let Some(buffers) = &mut self.of_set[set] {
            buffers.push(keys);
        }
    }

    /// Applies what is still held.
    pub fn flush(&mut self) {
        for buffers in self.of_set.iter_mut().flatten() {
            for (region, len) in buffers.lens.iter_mut().enumerate() {
                if *len > 0 {
                    let keys = &buffers.keys.as_slice()[region * BUFFER_KEYS..][..*len as usize];
                    buffers.range.apply(region, keys);
                    *len = 0;
                }
            }
        }
    }
}
