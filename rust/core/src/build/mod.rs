//! Corpus to index directory: count, size, insert range by range, write, commit.
//!
//! ```text
//! sources ──count──▶ distinct n-grams ──plan──▶ geometry, shards, passes
//! for each pass:  sources ──insert──▶ one contiguous range of blocks in memory ──write──▶ temporary shard files
//! then:           sync ─▶ rename shards ─▶ rename index.json (the commit) ─▶ remove what the old index.json named
//! ```

mod insert;
mod output;
mod plan;
mod walk;
mod write;

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::manifest::{Counts, FORMAT_NAME, KeySet, Manifest, ReadingSettings, WordSettings};
use crate::pass::{self, Tick};
use crate::read::{ReadOptions, ReadReport, Source};
use crate::shard::FORMAT_VERSION;
use crate::tokenize::{UNICODE_VERSION, WordRule};

pub use plan::{MAX_SHARDS, MINIMUM_MEMORY};

/// What to build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// n-gram lengths, each at least 1; one set of keys is made for each.
    pub ns: Vec<u32>,
    /// How text becomes words.
    pub rule: WordRule,
    /// Kind of set.
    pub kind: FilterKind,
    /// False-positive rate wished for, in (0, 1).
    pub filter_fpr: f64,
    /// Distinct n-grams (for each n) to size for; `None`: estimated in a first pass.
    pub expected_ngrams: Option<u64>,
    /// Files for each n; `None`: by size.
    pub shards: Option<u32>,
    /// Worker threads; `None`: all processors.
    pub threads: Option<usize>,
    /// Bytes that filter ranges may take at a time; `None`: 80 % of what the system leaves.
    pub memory: Option<u64>,
    /// Replace an existing index.
    pub force: bool,
    /// Keep a filter whose rate came out over 1.05 times the wish.
    pub accept_overfull: bool,
    /// Keep a compressed temporary copy of sources that can be read only once.
    pub spool: bool,
    /// Name to store.
    pub name: Option<String>,
    /// Mark the index as a demo.
    pub demo: bool,
    /// How to read.
    pub read: ReadOptions,
}

/// Seconds of each phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// First pass (0 when sized by a given number).
    pub count: f64,
    /// All inserting passes.
    pub insert: f64,
    /// Writing to the file system's cache.
    pub write: f64,
    /// Bringing it to the disk.
    pub sync: f64,
    /// All of it.
    pub total: f64,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct BuildSummary {
    /// The index.
    pub manifest: Manifest,
    /// What was read, with examples of what was left out.
    pub report: ReadReport,
    /// Inserting passes.
    pub passes: u32,
    /// Bytes of the index on disk.
    pub index_bytes: u64,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Times.
    pub seconds: Seconds,
}

/// Builds an index of `sources` in the folder `out`.
///
/// Either the whole index appears under `out`, or `out` is as it was before. Errors of the sources are those of the first bad record
/// in file and line order, whatever the threads.
pub fn build(
    sources: Vec<Source>,
    out: &Path,
    options: &BuildOptions,
    tick: Tick<'_>,
) -> Result<BuildSummary> {
    let started = Instant::now();
    let options = plan::check_options(options)?;
    let threads = pass::threads(options.threads);
    let mut output = output::Output::open(out, options.force)?;
    let mut warnings = output.stale_files();
    let mut seconds = Seconds::default();

    let sources = output::Rereadable::new(sources, options.spool, &output, tick)?;
    let mut walk = walk::Walk {
        sources: &sources,
        options: &options,
        threads,
        report: None,
    };

    let counted = if options.expected_ngrams.is_none() {
        sources.require_rereadable()?;
        let begun = Instant::now();
        let counted = walk.count(tick)?;
        seconds.count = begun.elapsed().as_secs_f64();
        Some(counted)
    } else {
        None
    };
    let plan = plan::Plan::new(&options, counted.as_deref(), out)?;
    warnings.extend(plan.announcements());
    if plan.passes.len() > 1 {
        sources.require_rereadable()?;
    }

    let mut writer = write::Writer::new(&plan, &output)?;
    let mut occurrences = vec![0; options.ns.len()];
    let mut words = 0;
    for (number, pass) in plan.passes.iter().enumerate() {
        let begun = Instant::now();
        let ranges = insert::Ranges::new(&plan, pass)?;
        let inserted = walk.insert(&plan, &ranges, number as u32 + 1, tick)?;
        (occurrences, words) = (inserted.occurrences, inserted.words);
        let written = Instant::now();
        seconds.insert += (written - begun).as_secs_f64();
        writer.write(ranges, threads, number as u32 + 1, tick)?;
        seconds.write += written.elapsed().as_secs_f64();
    }

    let sets = writer.finish(&occurrences)?;
    for set in sets.iter().filter(|set| set.overfull) {
        let error = overfull(set);
        if !options.accept_overfull {
            return Err(error);
        }
        warnings.push(error.to_string());
    }
    let report = walk.report.take().unwrap_or_default();
    let mut manifest = manifest(&options, sets, &report, words);
    manifest.seal()?;

    let begun = Instant::now();
    writer.sync(tick)?;
    output.commit(&manifest, &writer.paths())?;
    seconds.sync = begun.elapsed().as_secs_f64();
    seconds.total = started.elapsed().as_secs_f64();
    if manifest.sets.iter().all(|set| set.occurrences == 0) {
        warnings.push("the index is EMPTY: no document has an n-gram of these lengths, so every candidate will have an overlap of 0".into());
    }
    let index_bytes = manifest
        .sets
        .iter()
        .flat_map(|set| &set.shards)
        .map(|shard| shard.bytes)
        .sum();
    Ok(BuildSummary {
        manifest,
        report,
        passes: plan.passes.len() as u32,
        index_bytes,
        warnings,
        seconds,
    })
}

fn overfull(set: &KeySet) -> Error {
    Error::Overfull {
        n: set.n,
        sized_for: set.sizing.as_ref().map_or(0, |sizing| sizing.sized_for),
        real: set.distinct.map_or_else(
            || format!("more than {}", set.blocks * 512),
            |count| format!("{count:.0}"),
        ),
        fill: set.fill.unwrap_or(1.0),
        rate: set.rate,
        target: set.target_rate.unwrap_or(0.0),
    }
}

fn manifest(
    options: &BuildOptions,
    sets: Vec<KeySet>,
    report: &ReadReport,
    words: u64,
) -> Manifest {
    let mut sources = report.sources.clone();
    sources.sort_by(|a, b| (&a.name, a.bytes, &a.blake3).cmp(&(&b.name, b.bytes, &b.blake3)));
    let mut counts = Counts {
        words,
        ..Counts::default()
    };
    for source in &sources {
        counts.records += source.records;
        counts.documents += source.documents;
        for (reason, count) in &source.unusable {
            *counts.unusable.entry(*reason).or_default() += count;
        }
    }
    Manifest {
        format: FORMAT_NAME.into(),
        format_version: FORMAT_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").into(),
        content_id: String::new(),
        name: options.name.clone(),
        demo: options.demo,
        partial: report.partial(),
        words: WordSettings {
            rule: options.rule.clone(),
            unicode: UNICODE_VERSION.into(),
        },
        hash: crate::hash::HASH_ID.into(),
        counting_unit: "occurrence".into(),
        tiers: 1,
        minimum_n: None,
        reading: ReadingSettings {
            text_key: options.read.text_key.clone(),
            text_lines: options.read.text_lines,
            max_record_bytes: options.read.max_record_bytes as u64,
        },
        counts,
        sets,
        sources,
    }
}
