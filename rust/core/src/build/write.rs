//! Filled ranges to temporary shard files, and what there is to say about each set.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::blocked::FillCounts;
use crate::filter::exact::KEY_RANGES;
use crate::filter::math::{
    Geometry, blocked_rate, collision_rate, keys_from_fill, single_keys_from_fills,
};
use crate::manifest::{KeySet, SecondTier, ShardEntry};
use crate::memory::disk_free;
use crate::shard::{CHUNK_BYTES, CHUNK_WORDS, Header, ShardWriter};
use crate::sketch::KeptSketch;

use super::insert::{MemoryRange, Ranges, Store};
use super::plan::{Plan, SetPlan, Window};
use super::walk::{Inserted, InsertedKeys};
use crate::pass::{Progress, Tick};

/// Payload written at once: a stop is noticed between two such pieces.
pub(super) const PIECE_BYTES: u64 = 16 << 20;
/// A rate beyond this multiple of the wish is an error.
const OVERFULL: f64 = 1.05;

/// Writes all sets of a plan.
pub struct Writer<'a> {
    pub(super) plan: &'a Plan,
    pub(super) folder: PathBuf,
    pub(super) shards: Vec<Vec<OpenShard>>,
    /// By set and tier.
    pub(super) fills: Vec<Vec<FillCounts>>,
    /// By set: keys of an exact set that stand there twice.
    pub(super) repeated: Vec<u64>,
}

/// A shard being written.
pub(super) struct OpenShard {
    pub file: ShardWriter,
    pub checksums: Vec<u64>,
    /// Exact sets: keys that do not fill a chunk yet, and bytes written.
    pub tail: Vec<u64>,
    pub written: u64,
}

impl OpenShard {
    /// Appends sorted keys, a whole number of chunks at a time.
    fn append(&mut self, keys: &[u64], last: bool) -> Result<()> {
        self.tail.extend_from_slice(keys);
        let whole = if last {
            self.tail.len()
        } else {
            self.tail.len() / CHUNK_WORDS * CHUNK_WORDS
        };
        for piece in self.tail[..whole].chunks(PIECE_BYTES as usize / 8) {
            self.checksums
                .extend(self.file.write_chunks(self.written, bytes_of(piece))?);
            self.written += piece.len() as u64 * 8;
        }
        self.tail.drain(..whole);
        Ok(())
    }
}

/// A piece of a blocked range: which shard, and which of its blocks.
pub(super) struct Piece {
    pub set: usize,
    pub shard: usize,
    pub first_block: u64,
    pub blocks: u64,
}

impl<'a> Writer<'a> {
    /// Creates the files of `plan` under the names that `place` gives them, told their number among all; `folder` is for messages.
    pub fn new(
        plan: &'a Plan,
        folder: &Path,
        place: &dyn Fn(String, usize) -> PathBuf,
    ) -> Result<Writer<'a>> {
        let mut shards = Vec::new();
        let mut all = 0..;
        for set in &plan.sets {
            let open = (0..set.shards.len()).zip(&mut all).map(|(number, of_all)| {
                Ok(OpenShard {
                    file: ShardWriter::create(&place(file_name(set, number), of_all))?,
                    checksums: vec![0; set.chunks(number) as usize],
                    tail: Vec::new(),
                    written: 0,
                })
            });
            shards.push(open.collect::<Result<Vec<_>>>()?);
        }
        Ok(Writer {
            plan,
            folder: folder.to_path_buf(),
            shards,
            fills: no_fills(plan),
            repeated: vec![0; plan.sets.len()],
        })
    }

    /// Temporary paths in the order of the manifest's shards.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.shards
            .iter()
            .flatten()
            .map(|shard| shard.file.path().to_path_buf())
            .collect()
    }

    /// Writes the ranges of one pass; their memory is given back, unless they are to be kept.
    pub fn write(
        &mut self,
        ranges: &Ranges,
        keep: bool,
        threads: usize,
        pass: u32,
        tick: Tick<'_>,
    ) -> Result<()> {
        let mut progress = Progress {
            pass,
            passes: self.plan.passes.len() as u32,
            ..Progress::of("write")
        };
        let blocked: Vec<&MemoryRange> = ranges
            .ranges
            .iter()
            .flatten()
            .filter(|range| matches!(range.store, Store::Blocked { .. }))
            .collect();
        let full = self.write_blocked(&blocked, keep, threads, &mut progress, tick);
        full.map_err(|error| self.disk_full(error))?;
        for range in ranges.ranges.iter().flatten() {
            if let Store::Exact { .. } = range.store {
                self.write_exact(range, keep, threads, &mut progress, tick)
                    .map_err(|error| self.disk_full(error))?;
            }
        }
        Ok(())
    }

    fn write_blocked(
        &mut self,
        ranges: &[&MemoryRange],
        keep: bool,
        threads: usize,
        progress: &mut Progress,
        tick: Tick<'_>,
    ) -> Result<()> {
        let pieces: Vec<Piece> = ranges
            .iter()
            .flat_map(|range| pieces(&range.window, &self.plan.sets[range.window.set]))
            .collect();
        let bytes = |piece: &Piece| piece.blocks * self.plan.sets[piece.set].geometry.block_bytes();
        progress.bytes_total = pieces.iter().map(bytes).sum();
        let results = Mutex::new(Vec::new());
        let fills = Mutex::new(no_fills(self.plan));
        let done = AtomicU64::new(0);
        in_parallel(pieces.len(), threads, &done, progress, tick, &|number| {
            let piece = &pieces[number];
            let set = &self.plan.sets[piece.set];
            let range = ranges
                .iter()
                .find(|range| range.window.set == piece.set)
                .expect("pieces are cut from ranges");
            let Store::Blocked { words, .. } = &range.store else {
                unreachable!("only blocked ranges")
            };
            let block_words = set.geometry.block_words();
            let start = (piece.first_block - range.window.blocks.start) as usize * block_words;
            let place = start..start + piece.blocks as usize * block_words;
            let payload = &words.as_slice()[place.clone()];
            let offset =
                (piece.first_block - set.shards[piece.shard].start) * set.geometry.block_bytes();
            let checksums = self.shards[piece.set][piece.shard]
                .file
                .write_chunks(offset, bytes_of(payload))?;
            let tiers = set.geometry.tiers as usize;
            let mut counts = vec![FillCounts::default(); tiers];
            for (tier, counts) in counts.iter_mut().enumerate() {
                counts.add(payload, tier, tiers);
            }
            if !keep {
                // The system's file cache can take over the memory at once: a build needs the filter once, not twice.
                // SAFETY: pieces do not overlap, and this one is not read again.
                unsafe { words.release(place) };
            }
            add_fills(
                &mut fills.lock().unwrap_or_else(|p| p.into_inner())[piece.set],
                &counts,
            );
            results.lock().unwrap_or_else(|p| p.into_inner()).push((
                piece.set,
                piece.shard,
                (offset / CHUNK_BYTES) as usize,
                checksums,
            ));
            Ok(bytes(piece))
        })?;
        for (set, shard, chunk, checksums) in
            results.into_inner().unwrap_or_else(|p| p.into_inner())
        {
            self.shards[set][shard].checksums[chunk..chunk + checksums.len()]
                .copy_from_slice(&checksums);
        }
        let fills = fills.into_inner().unwrap_or_else(|p| p.into_inner());
        self.fills
            .iter_mut()
            .zip(&fills)
            .for_each(|(all, pass)| add_fills(all, pass));
        Ok(())
    }

    fn write_exact(
        &mut self,
        range: &MemoryRange,
        keep: bool,
        threads: usize,
        progress: &mut Progress,
        tick: Tick<'_>,
    ) -> Result<()> {
        let Store::Exact { regions, .. } = &range.store else {
            unreachable!("only exact ranges")
        };
        let done = AtomicU64::new(0);
        progress.bytes_total = regions.len() as u64;
        in_parallel(regions.len(), threads, &done, progress, tick, &|number| {
            regions[number]
                .lock()
                .unwrap_or_else(|p| p.into_inner())
                .settle(range.geometry.tiers);
            Ok(1)
        })?;
        let set = &self.plan.sets[range.window.set];
        let shards = &mut self.shards[range.window.set];
        for region in regions {
            let mut region = region.lock().unwrap_or_else(|p| p.into_inner());
            let pairs = region.keys.windows(2);
            let repeated = pairs.filter(|pair| pair[0] == pair[1]).count();
            self.repeated[range.window.set] += repeated as u64;
            let mut rest = &region.keys[..];
            while let Some(&key) = rest.first() {
                let block = crate::filter::block_of(key, KEY_RANGES);
                let number = set.shards.partition_point(|shard| shard.end <= block);
                let end = rest.partition_point(|&key| {
                    crate::filter::block_of(key, KEY_RANGES) < set.shards[number].end
                });
                shards[number].append(&rest[..end], false)?;
                rest = &rest[end..];
            }
            if !keep {
                region.keys = Vec::new();
            }
            if tick(progress) == ControlFlow::Break(()) {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// Completes the files and describes the sets.
    pub fn finish(&mut self, inserted: Inserted) -> Result<Vec<KeySet>> {
        let mut sets = Vec::new();
        for ((index, set), inserted) in self.plan.sets.iter().enumerate().zip(inserted.sets) {
            let mut entries = Vec::new();
            let mut keys = 0;
            for (number, shard) in self.shards[index].iter_mut().enumerate() {
                let range = set.shards[number].clone();
                if set.kind == FilterKind::Exact {
                    shard
                        .append(&[], true)
                        .map_err(|error| disk_full(error, &self.folder, self.plan.disk_bytes))?;
                    keys += shard.written / 8;
                }
                let payload_bytes = match set.kind {
                    FilterKind::Blocked => (range.end - range.start) * set.geometry.block_bytes(),
                    FilterKind::Exact => shard.written,
                };
                let header = Header {
                    kind: set.kind,
                    n: set.n,
                    k: set.geometry.k,
                    shard: number as u32,
                    shards: set.shards.len() as u32,
                    blocks: set.geometry.blocks,
                    range: range.clone(),
                    payload_bytes,
                    tiers: set.geometry.tiers,
                };
                let checksum = shard
                    .file
                    .finish(&header, &shard.checksums)
                    .map_err(|error| disk_full(error, &self.folder, self.plan.disk_bytes))?;
                entries.push(ShardEntry {
                    file: String::new(),
                    first_block: range.start,
                    blocks: range.end - range.start,
                    bytes: header.file_bytes(),
                    checksum: format!("{checksum:016x}"),
                });
            }
            keys -= self.repeated[index];
            sets.push(self.describe(index, inserted, keys, entries));
        }
        Ok(sets)
    }

    fn describe(
        &self,
        index: usize,
        inserted: InsertedKeys,
        keys: u64,
        shards: Vec<ShardEntry>,
    ) -> KeySet {
        let set = &self.plan.sets[index];
        let base = KeySet {
            n: set.n,
            kind: set.kind,
            occurrences: inserted.occurrences,
            distinct: Some(keys as f64),
            sizing: None,
            blocks: set.geometry.blocks,
            k: set.geometry.k,
            target_rate: None,
            fill: None,
            rate: collision_rate(keys as f64),
            measured_rate: collision_rate(keys as f64),
            overfull: false,
            sketch: inserted.sketch,
            second_tier: (set.geometry.tiers == 2).then(|| SecondTier {
                insertions: inserted.insertions,
                distinct: Some(self.repeated[index] as f64),
                fill: None,
                measured_rate: collision_rate(self.repeated[index] as f64),
            }),
            shards,
        };
        if set.kind == FilterKind::Exact {
            return base;
        }
        let fills = &self.fills[index];
        let fill = fills[0].fill();
        let keys = keys_from_fill(fill, set.geometry);
        let collisions = collision_rate(keys.unwrap_or(0.0));
        let rate = keys.map_or(1.0, |keys| {
            blocked_rate(keys / set.geometry.blocks as f64, set.geometry.k) + collisions
        });
        KeySet {
            // The fill knows better, until it knows nothing.
            distinct: keys.or_else(|| base.sketch.as_ref().map(KeptSketch::estimate)),
            sizing: Some(set.sizing.clone()),
            target_rate: Some(self.plan.target_rate),
            fill: Some(fill),
            rate,
            measured_rate: (fills[0].rate(set.geometry.k) + collisions).min(1.0),
            second_tier: base.second_tier.map(|tier| {
                let twice = fills[1].fill();
                let single = single_keys_from_fills(fill, twice, set.geometry);
                let distinct = keys
                    .zip(single)
                    .map(|(all, single)| (all - single).max(0.0));
                SecondTier {
                    distinct,
                    fill: Some(twice),
                    measured_rate: (fills[1].rate(set.geometry.k)
                        + collision_rate(distinct.unwrap_or(0.0)))
                    .min(1.0),
                    ..tier
                }
            }),
            overfull: rate > OVERFULL * self.plan.target_rate,
            ..base
        }
    }

    /// Brings all files to the disk.
    pub fn sync(&self, tick: Tick<'_>) -> Result<()> {
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let files: Vec<&ShardWriter> = self
            .shards
            .iter()
            .flatten()
            .map(|shard| &shard.file)
            .collect();
        let mut progress = Progress {
            bytes_total: files.len() as u64,
            ..Progress::of("sync")
        };
        let result = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                files
                    .iter()
                    .try_for_each(|file| file.sync(&|| stop.load(Relaxed)))
            });
            while !thread.is_finished() {
                std::thread::sleep(Duration::from_millis(20));
                progress.seconds = begun.elapsed().as_secs_f64();
                if tick(&progress) == ControlFlow::Break(()) {
                    stop.store(true, Relaxed);
                }
            }
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        if stop.load(Relaxed) {
            return Err(Error::Interrupted);
        }
        result.map_err(|error| self.disk_full(error))
    }

    pub(super) fn disk_full(&self, error: Error) -> Error {
        disk_full(error, &self.folder, self.plan.disk_bytes)
    }
}

/// For each set and tier.
fn no_fills(plan: &Plan) -> Vec<Vec<FillCounts>> {
    let of_tiers = |geometry: Geometry| vec![FillCounts::default(); geometry.tiers as usize];
    plan.sets.iter().map(|set| of_tiers(set.geometry)).collect()
}

/// Adds counts tier by tier.
fn add_fills(all: &mut [FillCounts], more: &[FillCounts]) {
    all.iter_mut()
        .zip(more)
        .for_each(|(all, more)| all.merge(more));
}

/// Says "the disk is full" in our words, with what would be needed.
fn disk_full(error: Error, folder: &Path, needed: u64) -> Error {
    match error {
        Error::Io { cause, .. }
            if matches!(
                cause.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            ) =>
        {
            Error::DiskFull {
                path: folder.to_path_buf(),
                needed,
                free: disk_free(folder).unwrap_or(0),
            }
        }
        other => other,
    }
}

/// Cuts a range at shard borders and then every [`PIECE_BYTES`], counted from the shard's first block so that chunks stay whole.
pub(super) fn pieces(window: &Window, set: &SetPlan) -> Vec<Piece> {
    let blocks = &window.blocks;
    let piece_blocks = PIECE_BYTES / set.geometry.block_bytes();
    let mut pieces = Vec::new();
    for (number, shard) in set.shards.iter().enumerate() {
        let (mut start, end) = (blocks.start.max(shard.start), blocks.end.min(shard.end));
        while start < end {
            let next =
                end.min(shard.start + ((start - shard.start) / piece_blocks + 1) * piece_blocks);
            pieces.push(Piece {
                set: window.set,
                shard: number,
                first_block: start,
                blocks: next - start,
            });
            start = next;
        }
    }
    pieces
}

/// Runs `work(0..count)` on several threads; it returns how much is done by it. The caller's thread ticks.
pub fn in_parallel(
    count: usize,
    threads: usize,
    done: &AtomicU64,
    progress: &mut Progress,
    tick: Tick<'_>,
    work: &(dyn Fn(usize) -> Result<u64> + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let begun = Instant::now();
    let mut interrupted = false;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(count))
            .map(|_| {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        let number = next.fetch_add(1, Relaxed);
                        if number >= count {
                            break;
                        }
                        match work(number) {
                            Ok(amount) => drop(done.fetch_add(amount, Relaxed)),
                            Err(error) => {
                                stop.store(true, Relaxed);
                                failure
                                    .lock()
                                    .unwrap_or_else(|p| p.into_inner())
                                    .get_or_insert(error);
                            }
                        }
                    }
                })
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
            progress.bytes_done = done.load(Relaxed);
            progress.seconds = begun.elapsed().as_secs_f64();
            if !interrupted && tick(progress) == ControlFlow::Break(()) {
                interrupted = true;
                stop.store(true, Relaxed);
            }
        }
    });
    match failure.into_inner().unwrap_or_else(|p| p.into_inner()) {
        Some(error) => Err(error),
        None if interrupted => Err(Error::Interrupted),
        None => Ok(()),
    }
}

/// Name of a file that is being written.
pub(super) fn file_name(set: &SetPlan, number: usize) -> String {
    format!("n{}-{number}.ngs", set.n)
}

/// Words as bytes (the format is little-endian, as is every supported platform).
pub(super) fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: any u64 is eight initialised bytes; the slice covers exactly the words.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }
}
