//! Corpus to index directory: count, size, insert range by range, write, commit.
//!
//! ```text
//! sources ──count──▶ distinct n-grams ──plan──▶ geometry, shards, passes
//! for each pass:  sources ──insert──▶ one contiguous range of blocks in memory ──write──▶ temporary shard files
//! then:           sync ─▶ rename shards ─▶ rename index.json (the commit) ─▶ remove what the old index.json named
//! ```

mod distinct;
mod insert;
mod layout;
mod merge;
mod output;
mod plan;
mod walk;
mod write;

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::manifest::{
    Counts, FORMAT_NAME, KeySet, Manifest, PartOf, ReadingSettings, WordSettings,
};
use crate::pass::{self, Tick};
use crate::read::{ReadOptions, ReadReport, Source};
use crate::shard::FORMAT_VERSION;
use crate::sketch::Sketch;
use crate::tokenize::WordRule;

pub use layout::{Layout, PLAN_FORMAT, PLAN_VERSION, SetLayout};
pub use merge::{MergeOptions, merge};
pub use plan::{MAX_SHARDS, MINIMUM_MEMORY};

use insert::Ranges;
use output::Output;
use plan::Plan;
use walk::Inserted;
use write::Writer;

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
    /// Build with this geometry, whatever the number of n-grams.
    pub layout: Option<Layout>,
    /// 1: which n-grams there are. 2: also which at least two documents have; twice the size.
    pub tiers: u32,
    /// Only a part of the files.
    pub part: Option<PartOf>,
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
    let options = plan::check_options(options)?;
    if let Some(layout) = &options.layout {
        layout.check(&options)?;
    }
    if options.part.is_some() && options.layout.is_none() && options.expected_ngrams.is_none() {
        return Err(Error::Option {
            option: "--part",
            value: "a part by itself".into(),
            advice: "parts must have the same size to be merged: give all of them the same --expected-ngrams, --plan or --like"
                .into(),
        });
    }
    let sources = match options.part {
        Some(part) => part.choose(sources)?,
        None => sources,
    };
    let mut assembly = Assembly::open(out, options.force, options.threads)?;
    let sources = output::Rereadable::new(sources, options.spool, &assembly.output, tick)?;
    let mut walk = walk::Walk {
        sources: &sources,
        options: &options,
        threads: assembly.threads,
        report: None,
    };
    let counted = if options.expected_ngrams.is_none() && options.layout.is_none() {
        sources.require_rereadable(
            "the number of distinct n-grams is counted in a first reading: give --expected-ngrams",
        )?;
        let begun = Instant::now();
        let counted = walk.count(tick)?;
        assembly.seconds.count = begun.elapsed().as_secs_f64();
        Some(counted)
    } else {
        None
    };
    let plan = match &options.layout {
        Some(layout) => Plan::of_layout(layout, options.memory),
        None => Plan::new(&options, counted.as_deref())?,
    };
    if plan.passes.len() > 1 {
        sources.require_rereadable(&format!(
            "the memory allowed makes {} passes: give more --memory",
            plan.passes.len()
        ))?;
    }
    let filled = assembly.fill(
        &plan,
        options.accept_overfull,
        tick,
        |ranges, pass, tick| walk.insert(&plan, ranges, pass, tick),
    )?;
    let report = walk.report.take().unwrap_or_default();
    let manifest = manifest(&options, &report, filled.words);
    assembly.commit(filled, manifest, report, tick)
}

/// The geometry that a build of `sources` would have, and what it would take.
#[derive(Clone, Debug, Serialize)]
pub struct BuildPlan {
    /// The geometry; as JSON, a plan file.
    pub layout: Layout,
    /// Bytes of the index, on disk and, less checksums, in memory.
    pub index_bytes: u64,
    /// Memory for filter ranges.
    pub memory: u64,
    /// Inserting passes with this memory.
    pub passes: u32,
    /// What was read, unless the number of n-grams was given.
    pub report: Option<ReadReport>,
    /// Seconds of counting.
    pub seconds: f64,
}

/// Counts the distinct n-grams of `sources`, unless their number is given, and chooses the geometry; builds nothing.
pub fn plan(sources: Vec<Source>, options: &BuildOptions, tick: Tick<'_>) -> Result<BuildPlan> {
    let options = plan::check_options(options)?;
    let started = Instant::now();
    let mut report = None;
    let counted = if options.expected_ngrams.is_none() {
        let sources = output::Rereadable::once(sources);
        let mut walk = walk::Walk {
            sources: &sources,
            options: &options,
            threads: pass::threads(options.threads),
            report: None,
        };
        let counted = walk.count(tick)?;
        report = walk.report;
        Some(counted)
    } else {
        None
    };
    let plan = Plan::new(&options, counted.as_deref())?;
    Ok(BuildPlan {
        layout: Layout::of_plan(&plan, &options),
        index_bytes: plan.disk_bytes,
        memory: plan.memory,
        passes: plan.passes.len() as u32,
        report,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Sketches of the distinct n-grams of `sources`, or of a part of them, one for each n: [`layout`] takes those of all parts.
pub fn count(sources: Vec<Source>, options: &BuildOptions, tick: Tick<'_>) -> Result<Vec<Sketch>> {
    let options = plan::check_options(options)?;
    let sources = match options.part {
        Some(part) => part.choose(sources)?,
        None => sources,
    };
    let mut walk = walk::Walk {
        sources: &output::Rereadable::once(sources),
        options: &options,
        threads: pass::threads(options.threads),
        report: None,
    };
    walk.count(tick)
}

/// The geometry that a build of a corpus would have, from the sketches of its parts.
pub fn layout(parts: &[Vec<Sketch>], options: &BuildOptions) -> Result<Layout> {
    let options = plan::check_options(options)?;
    let mut all = vec![Sketch::default(); options.ns.len()];
    for part in parts {
        for (sum, sketch) in all.iter_mut().zip(part) {
            sum.merge(sketch);
        }
    }
    Ok(Layout::of_plan(&Plan::new(&options, Some(&all))?, &options))
}

/// An error when no index can be built in the folder `out`, without the work of building one; returns what the user should know.
pub fn check_output(out: &Path, force: bool) -> Result<Vec<String>> {
    Ok(Output::open(out, force)?.stale_files())
}

/// What every way to an index has in common: ranges are filled pass by pass, written, described and committed.
struct Assembly {
    output: Output,
    threads: usize,
    warnings: Vec<String>,
    seconds: Seconds,
    started: Instant,
}

/// All sets, written but not committed.
struct Filled<'a> {
    writer: Writer<'a>,
    sets: Vec<KeySet>,
    words: u64,
    passes: u32,
}

impl Assembly {
    fn open(out: &Path, force: bool, threads: Option<usize>) -> Result<Assembly> {
        let mut output = Output::open(out, force)?;
        Ok(Assembly {
            threads: pass::threads(threads),
            warnings: output.stale_files(),
            output,
            seconds: Seconds::default(),
            started: Instant::now(),
        })
    }

    fn fill<'p>(
        &mut self,
        plan: &'p Plan,
        accept_overfull: bool,
        tick: Tick<'_>,
        mut fill: impl FnMut(&Ranges, u32, Tick<'_>) -> Result<Inserted>,
    ) -> Result<Filled<'p>> {
        plan.check_room(self.output.folder())?;
        self.warnings.extend(plan.announcements());
        let mut writer = Writer::new(plan, &self.output)?;
        let mut inserted = None;
        for (number, pass) in (1..).zip(&plan.passes) {
            let begun = Instant::now();
            let ranges = Ranges::new(plan, pass)?;
            inserted = Some(fill(&ranges, number, tick)?);
            let written = Instant::now();
            self.seconds.insert += (written - begun).as_secs_f64();
            writer.write(ranges, self.threads, number, tick)?;
            self.seconds.write += written.elapsed().as_secs_f64();
        }
        let inserted = inserted.expect("a plan has at least one pass");
        let words = inserted.words;
        let sets = writer.finish(inserted)?;
        for set in sets.iter().filter(|set| set.overfull) {
            let error = overfull(set);
            if !accept_overfull {
                return Err(error);
            }
            self.warnings.push(error.to_string());
        }
        Ok(Filled {
            writer,
            sets,
            words,
            passes: plan.passes.len() as u32,
        })
    }

    fn commit(
        mut self,
        filled: Filled<'_>,
        manifest: Manifest,
        report: ReadReport,
        tick: Tick<'_>,
    ) -> Result<BuildSummary> {
        let mut manifest = Manifest {
            sets: filled.sets,
            ..manifest
        };
        manifest.seal()?;
        let begun = Instant::now();
        filled.writer.sync(tick)?;
        self.output.commit(&manifest, &filled.writer.paths())?;
        self.seconds.sync = begun.elapsed().as_secs_f64();
        self.seconds.total = self.started.elapsed().as_secs_f64();
        if manifest.sets.iter().all(|set| set.occurrences == 0) {
            self.warnings.push("the index is EMPTY: no document has an n-gram of these lengths, so every candidate will have an overlap of 0".into());
        }
        let shards = manifest.sets.iter().flat_map(|set| &set.shards);
        Ok(BuildSummary {
            index_bytes: shards.map(|shard| shard.bytes).sum(),
            manifest,
            report,
            passes: filled.passes,
            warnings: self.warnings,
            seconds: self.seconds,
        })
    }
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

fn manifest(options: &BuildOptions, report: &ReadReport, words: u64) -> Manifest {
    let mut counts = Counts {
        words,
        ..Counts::default()
    };
    report
        .sources
        .iter()
        .for_each(|source| counts.add_source(source));
    let mut manifest = Manifest {
        format: FORMAT_NAME.into(),
        format_version: FORMAT_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").into(),
        content_id: String::new(),
        name: options.name.clone(),
        demo: options.demo,
        partial: report.partial(),
        part: options.part,
        words: WordSettings::of(&options.rule),
        hash: crate::hash::HASH_ID.into(),
        counting_unit: if options.tiers == 2 {
            "document"
        } else {
            "occurrence"
        }
        .into(),
        tiers: options.tiers,
        minimum_n: None,
        reading: ReadingSettings {
            text_key: options.read.text_key.clone(),
            text_lines: options.read.text_lines,
            max_record_bytes: options.read.max_record_bytes as u64,
        },
        counts,
        sets: Vec::new(),
        sources: report.sources.clone(),
    };
    manifest.sort_sources();
    manifest
}
