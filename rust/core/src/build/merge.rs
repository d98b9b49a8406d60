//! Parts of an index, or indexes of more data that were built alike, to one index: the bits are united, the counts added.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::insert::{MemoryRange, Ranges, Store};
use super::layout::Layout;
use super::plan::{Plan, SetPlan};
use super::walk::{Inserted, InsertedKeys};
use super::write::{in_parallel, pieces};
use super::{Assembly, BuildSummary};
use crate::error::{Error, Result};
use crate::filter::block_of;
use crate::manifest::{Counts, KeySet, Manifest, PartOf};
use crate::pass::{Progress, Tick};
use crate::query::{self, OpenSet, Part};
use crate::read::ReadReport;
use crate::shard::{CHUNK_WORDS, Shard};

/// How to merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// Worker threads; `None`: all processors.
    pub threads: Option<usize>,
    /// Bytes that filter ranges may take at a time; `None`: 80 % of what the system leaves.
    pub memory: Option<u64>,
    /// Replace an existing index.
    pub force: bool,
    /// Keep a filter whose rate came out over 1.05 times the wish.
    pub accept_overfull: bool,
    /// Name to store; `None`: that of the parts, if they agree.
    pub name: Option<String>,
    /// Only some of the parts of a corpus are there: the result is to be merged with others.
    pub incomplete: bool,
}

/// Merges the indexes in the folders `parts` into one in the folder `out`. What was built in parts comes out byte for byte as if it had
/// been built at once with the same plan. Parts are compared with their checksums while they are read: damage is an error.
pub fn merge(
    parts: &[PathBuf],
    out: &Path,
    options: &MergeOptions,
    tick: Tick<'_>,
) -> Result<BuildSummary> {
    let parts: Vec<Part> = parts
        .iter()
        .map(|folder| Part::open(folder))
        .collect::<Result<_>>()?;
    check(&parts)?;
    if !options.incomplete {
        check_complete(&parts)?;
    }
    let first = &parts[0].manifest;
    let mut assembly = Assembly::open(out, options.force, options.threads, None)?;
    let plan = Plan::of_layout(&Layout::of_index(first), options.memory);
    let threads = assembly.threads;
    let filled = assembly.fill(
        &plan,
        options.accept_overfull,
        tick,
        |ranges, pass, _, tick| {
            unite(&parts, &plan, ranges, pass, threads, tick)?;
            let total = |set: &SetPlan| {
                let sets = || parts.iter().filter_map(|part| part.key_set(set.n));
                InsertedKeys {
                    occurrences: sets().map(|set| set.occurrences).sum(),
                    insertions: sets()
                        .filter_map(|set| set.second_tier.as_ref())
                        .map(|tier| tier.insertions)
                        .sum(),
                    sketch: KeySet::united_sketch(sets()),
                }
            };
            Ok(Inserted {
                sets: plan.sets.iter().map(total).collect(),
                words: 0,
            })
        },
    )?;
    let mut manifest = Manifest {
        sources: Vec::new(),
        counts: Counts::default(),
        part: None,
        name: options.name.clone().or_else(|| common_name(&parts)),
        ..first.clone()
    };
    for part in &parts {
        manifest.sources.extend_from_slice(&part.manifest.sources);
        manifest.counts.add(&part.manifest.counts);
        manifest.partial |= part.manifest.partial;
        manifest.demo |= part.manifest.demo;
    }
    manifest.sort_sources();
    let report = ReadReport::new(manifest.sources.clone(), false);
    assembly.commit(filled, manifest, report, tick)
}

fn common_name(parts: &[Part]) -> Option<String> {
    let name = parts[0].manifest.name.clone();
    name.filter(|_| {
        parts
            .iter()
            .all(|part| part.manifest.name == parts[0].manifest.name)
    })
}

/// Refuses what cannot be merged, by name.
fn check(parts: &[Part]) -> Result<()> {
    let Some((first, rest)) = parts.split_first() else {
        return Err(Error::Option {
            option: "merge",
            value: "nothing".into(),
            advice: "name at least one index".into(),
        });
    };
    for part in rest {
        let (ours, theirs) = (&part.manifest, &first.manifest);
        let layouts = (Layout::of_index(ours), Layout::of_index(theirs));
        let differs = |what: &'static str, ours: String, theirs: String| {
            Err(Error::Unmergeable {
                path: part.folder.clone(),
                first: first.folder.clone(),
                what,
                ours,
                theirs,
            })
        };
        if ours.words != theirs.words {
            return differs(
                "the word rule",
                ours.words.to_string(),
                theirs.words.to_string(),
            );
        }
        if ours.hash != theirs.hash {
            return differs("the hash", ours.hash.clone(), theirs.hash.clone());
        }
        if ours.tiers != theirs.tiers {
            return differs(
                "the number of tiers",
                ours.tiers.to_string(),
                theirs.tiers.to_string(),
            );
        }
        if ours.reading != theirs.reading {
            return differs(
                "the way of reading",
                format!("{:?}", ours.reading),
                format!("{:?}", theirs.reading),
            );
        }
        if layouts.0.ns() != layouts.1.ns() {
            return differs(
                "the n",
                format!("{:?}", layouts.0.ns()),
                format!("{:?}", layouts.1.ns()),
            );
        }
        for (ours, theirs) in layouts.0.sets.iter().zip(&layouts.1.sets) {
            let shape = |set: &super::layout::SetLayout| {
                format!(
                    "{} with {} blocks, {} bits a key, {} shards for n = {}",
                    set.kind.name(),
                    set.blocks,
                    set.k,
                    set.shards,
                    set.n
                )
            };
            if shape(ours) != shape(theirs) {
                return differs("the set", shape(ours), shape(theirs));
            }
        }
        if ours
            .sets
            .iter()
            .map(|set| set.target_rate)
            .ne(theirs.sets.iter().map(|set| set.target_rate))
        {
            return differs(
                "the target rate",
                layouts.0.target_rate.to_string(),
                layouts.1.target_rate.to_string(),
            );
        }
    }
    query::check_sources(parts)
}

/// Of parts i of k, all k have to be there.
fn check_complete(parts: &[Part]) -> Result<()> {
    let numbers: Vec<(&Part, PartOf)> = parts
        .iter()
        .filter_map(|part| part.manifest.part.map(|number| (part, number)))
        .collect();
    let Some((first, PartOf { of, .. })) = numbers.first().copied() else {
        return Ok(());
    };
    if let Some((other, number)) = numbers.iter().find(|(_, number)| number.of != of) {
        return Err(Error::Unmergeable {
            path: other.folder.clone(),
            first: first.folder.clone(),
            what: "the number of parts",
            ours: number.of.to_string(),
            theirs: of.to_string(),
        });
    }
    let missing: Vec<String> = (1..=of)
        .filter(|part| numbers.iter().all(|(_, number)| number.part != *part))
        .map(|part| format!("{part}/{of}"))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Error::MissingParts {
            missing: missing.join(", "),
        })
    }
}

/// Unites the sets of all parts in the ranges of a pass.
fn unite<'p>(
    parts: &'p [Part],
    plan: &Plan,
    ranges: &Ranges,
    number: u32,
    threads: usize,
    tick: Tick<'_>,
) -> Result<()> {
    let mut progress = Progress {
        pass: number,
        passes: plan.passes.len() as u32,
        ..Progress::of("merge")
    };
    let set_of = |part: &'p Part, range: &MemoryRange| {
        part.open_set(plan.sets[range.window.set].n)
            .expect("checked: all have the same n")
    };
    let mut work = Vec::new();
    for range in ranges.ranges.iter().flatten() {
        match range.store {
            Store::Blocked { .. } => {
                let pieces = pieces(&range.window, &plan.sets[range.window.set]);
                work.extend(pieces.into_iter().map(|piece| {
                    let end = piece.first_block + piece.blocks;
                    Work::Blocks(range, piece.first_block..end)
                }));
            }
            Store::Exact { .. } => {
                let shards = parts.iter().flat_map(|part| &set_of(part, range).shards);
                work.extend(shards.flat_map(|shard| {
                    (0..shard.chunks()).map(move |chunk| Work::Keys(range, shard, chunk))
                }));
            }
        }
    }
    progress.bytes_total = work.len() as u64;
    let done = AtomicU64::new(0);
    in_parallel(work.len(), threads, &done, &mut progress, tick, &|number| {
        match &work[number] {
            Work::Blocks(range, blocks) => parts
                .iter()
                .try_for_each(|part| unite_blocks(range, set_of(part, range), blocks))?,
            Work::Keys(range, shard, chunk) => unite_keys(range, shard, *chunk)?,
        }
        Ok(1)
    })
}

/// What a thread does between two looks at the stop. Chunks are taken whole: so each is compared with its checksum when it is read.
enum Work<'a> {
    /// Unites these blocks of all parts.
    Blocks(&'a MemoryRange, Range<u64>),
    /// Adds the keys of a chunk.
    Keys(&'a MemoryRange, &'a Shard, usize),
}

fn unite_blocks(range: &MemoryRange, set: &OpenSet, blocks: &Range<u64>) -> Result<()> {
    let block_words = range.geometry.block_words();
    let chunk_blocks = (CHUNK_WORDS / block_words) as u64;
    for shard in &set.shards {
        let of_shard = &shard.header().range;
        let (mut start, end) = (
            blocks.start.max(of_shard.start),
            blocks.end.min(of_shard.end),
        );
        while start < end {
            let number = (start - of_shard.start) / chunk_blocks;
            let first = of_shard.start + number * chunk_blocks;
            let next = end.min(first + chunk_blocks);
            let words = shard.chunk(number as usize)?;
            let place = |block: u64| (block - first) as usize * block_words;
            // SAFETY: pieces do not overlap, so no other thread is at these blocks.
            unsafe { range.unite(start, &words[place(start)..place(next)]) };
            start = next;
        }
    }
    Ok(())
}

/// Adds those keys of a chunk that lie in the range.
fn unite_keys(range: &MemoryRange, shard: &Shard, chunk: usize) -> Result<()> {
    let window = &range.window.blocks;
    let block = |key: u64| block_of(key, range.geometry.blocks);
    // Keys of damaged chunks come in any order; whatever it is, some pass has to compare them.
    let keys = shard.unchecked_chunk(chunk);
    let ends = [keys[0], keys[keys.len() - 1]].map(block);
    if ends[0].min(ends[1]) >= window.end || ends[0].max(ends[1]) < window.start {
        return Ok(());
    }
    let keys = shard.chunk(chunk)?;
    let place = |at: u64| keys.partition_point(|&key| block(key) < at);
    range.add_keys(&keys[place(window.start)..place(window.end)]);
    Ok(())
}
