//! Parts of an index, or indexes of more data that were built alike, to one index: the bits are united, the counts added.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::insert::{MemoryRange, Ranges, Store};
use super::layout::Layout;
use super::plan::{Plan, SetPlan};
use super::walk::{Inserted, InsertedKeys};
use super::write::in_parallel;
use super::{Assembly, BuildSummary};
use crate::error::{Error, Result};
use crate::filter::{FilterKind, block_of};
use crate::manifest::{Counts, KeySet, Manifest, PartOf};
use crate::pass::{Progress, Tick};
use crate::query::{self, OpenSet, Part};
use crate::read::ReadReport;
use crate::shard::Shard;

/// Bytes united at a time: a stop is noticed between two such pieces.
const PIECE_BYTES: u64 = 16 << 20;

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
/// been built at once with the same plan.
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
fn unite(
    parts: &[Part],
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
    let mut pieces = Vec::new();
    for range in ranges.ranges.iter().flatten() {
        let step = match range.store {
            Store::Blocked { .. } => PIECE_BYTES / range.geometry.block_bytes(),
            Store::Exact { .. } => (range.window.blocks.end - range.window.blocks.start)
                .div_ceil(256)
                .max(1),
        };
        let mut start = range.window.blocks.start;
        while start < range.window.blocks.end {
            let end = range.window.blocks.end.min(start + step);
            pieces.push((range, start..end));
            start = end;
        }
    }
    progress.bytes_total = pieces.len() as u64;
    let done = AtomicU64::new(0);
    in_parallel(
        pieces.len(),
        threads,
        &done,
        &mut progress,
        tick,
        &|piece| {
            let (range, blocks) = &pieces[piece];
            let n = plan.sets[range.window.set].n;
            for part in parts {
                let set = part.open_set(n).expect("checked: all have the same n");
                match set.kind {
                    FilterKind::Blocked => unite_blocks(range, set, blocks.clone()),
                    FilterKind::Exact => unite_keys(range, set, blocks.clone()),
                }
            }
            Ok(1)
        },
    )
}

/// The shards that have blocks of a range, and which of them.
fn overlapping(
    set: &OpenSet,
    blocks: std::ops::Range<u64>,
) -> impl Iterator<Item = (&Shard, std::ops::Range<u64>)> {
    set.shards.iter().filter_map(move |shard| {
        let range = &shard.header().range;
        let both = blocks.start.max(range.start)..blocks.end.min(range.end);
        (both.start < both.end).then_some((shard, both))
    })
}

fn unite_blocks(range: &MemoryRange, set: &OpenSet, blocks: std::ops::Range<u64>) {
    for (shard, blocks) in overlapping(set, blocks) {
        let block_words = range.geometry.block_words();
        let first = (blocks.start - shard.header().range.start) as usize * block_words;
        let count = (blocks.end - blocks.start) as usize * block_words;
        // SAFETY: pieces do not overlap, so no other thread is at these blocks.
        unsafe { range.unite(blocks.start, &shard.words()[first..first + count]) };
    }
}

fn unite_keys(range: &MemoryRange, set: &OpenSet, blocks: std::ops::Range<u64>) {
    for (shard, blocks) in overlapping(set, blocks) {
        let keys = shard.words();
        let place =
            |block: u64| keys.partition_point(|&key| block_of(key, set.geometry.blocks) < block);
        range.add_keys(&keys[place(blocks.start)..place(blocks.end)]);
    }
}
