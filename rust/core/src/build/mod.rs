//! Corpus to index directory: count, size, insert range by range, write, commit.
//!
//! ```text
//! sources ──count──▶ distinct n-grams ──plan──▶ geometry, shards, passes
//! for each pass:  sources ──insert──▶ one contiguous range of blocks in memory ──write──▶ temporary shard files
//! then:           sync ─▶ rename shards ─▶ rename index.json (the commit) ─▶ remove what the old index.json named
//! ```

mod assembly;
mod checkpoint;
mod distinct;
mod insert;
mod layout;
mod merge;
mod output;
mod partial;
mod plan;
mod planning;
mod probe;
mod sample;
mod state;
mod walk;
mod write;
mod written;

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::manifest::{Counts, FORMAT_NAME, Manifest, PartOf, ReadingSettings, WordSettings};
use crate::pass::{self, Tick};
use crate::read::{InputFile, ReadOptions, ReadReport, Source};
use crate::shard::FORMAT_VERSION;
use crate::tokenize::WordRule;

pub use assembly::check_output;
pub use layout::{Layout, PLAN_FORMAT, PLAN_VERSION, SetLayout};
pub use merge::{MergeOptions, merge};
pub use partial::unfinished;
pub use plan::{MAX_SHARDS, MINIMUM_MEMORY};
pub use planning::{BuildPlan, count, layout, plan, plan_sized};
pub use probe::insertion_rate;
pub use sample::{GROUPS, Sample, SampledSet, sample};

use assembly::Assembly;
use partial::Partial;
use plan::Plan;
use state::Planned;

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
    /// Keep what has been done in `OUT.partial` while the build is unfinished, and go on from there; `None`: an interrupted build
    /// leaves nothing.
    pub resume: Option<Resume>,
}

/// How an unfinished build is kept and continued.
#[derive(Clone, Debug)]
pub struct Resume {
    /// Compare what had been read of the inputs with its digests, not only their sizes and times.
    pub verify_inputs: bool,
    /// The interval between two checkpoints is at least so many times what the last one took: they take less than one part in so many.
    pub interval: f64,
}

impl Default for Resume {
    fn default() -> Resume {
        Resume {
            verify_inputs: false,
            interval: 20.0,
        }
    }
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
    /// Where the unfinished build was that this one has continued.
    pub resumed: Option<String>,
    /// Times, of this process alone.
    pub seconds: Seconds,
}

/// Builds an index of `sources` in the folder `out`.
///
/// Either the whole index appears under `out`, or `out` is as it was before; with [`BuildOptions::resume`] the folder `OUT.partial` holds
/// an unfinished build, which the same call continues, and without, such a folder is an error. Errors of the sources are those of the first bad record
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
    let (sources, partial, stale) = match &options.resume {
        Some(resume) => {
            let files = only_files(sources)?;
            let partial = Partial::open(out, &options, resume, &files)?;
            let files = partial.in_order(files);
            if resume.verify_inputs {
                partial.verify_inputs(&files, pass::threads(options.threads), tick)?;
            }
            if let Some(complete) = complete(&partial, out)? {
                partial.finish();
                return Ok(complete);
            }
            let sources = files.into_iter().map(Source::File).collect();
            (sources, Some(partial), Vec::new())
        }
        None => (sources, None, Partial::refuse(out)?),
    };
    let mut assembly = Assembly::open(out, options.force, options.threads, partial)?;
    assembly.stale.extend(stale);
    let sources = output::Rereadable::new(sources, options.spool, &assembly.output, tick)?;
    let state = assembly.partial.as_ref().map(Partial::state);
    let mut walk = walk::Walk {
        sources: &sources,
        options: &options,
        threads: assembly.threads,
        report: state.and_then(|state| state.report.clone()),
    };
    let plan = match state.and_then(|state| state.planned.as_ref()) {
        Some(planned) => {
            let plan = Plan::of_layout(&planned.layout, Some(planned.memory));
            if state.is_some_and(|state| (state.passes as usize) < plan.passes.len()) {
                plan.check_memory(options.memory)?;
            }
            plan
        }
        None => plan_of(&options, &sources, &mut walk, &mut assembly, tick)?,
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
        |ranges, pass, mut partial, tick| {
            let inserted = walk.insert(&plan, ranges, pass, partial.as_deref_mut(), tick)?;
            if let Some(partial) = partial {
                partial.note(|state| state.report.clone_from(&walk.report));
            }
            Ok(inserted)
        },
    )?;
    let report = walk.report.take().unwrap_or_default();
    let manifest = manifest(&options, &report, filled.words);
    assembly.commit(filled, manifest, report, tick)
}

/// Chooses the geometry, which may need a first pass.
fn plan_of(
    options: &BuildOptions,
    sources: &output::Rereadable,
    walk: &mut walk::Walk<'_>,
    assembly: &mut Assembly,
    tick: Tick<'_>,
) -> Result<Plan> {
    let plan = match &options.layout {
        Some(layout) => Plan::of_layout(layout, options.memory),
        None if options.expected_ngrams.is_some() => Plan::new(options, None)?,
        None => {
            sources.require_rereadable(
                "the number of distinct n-grams is counted in a first reading: give --expected-ngrams",
            )?;
            let begun = Instant::now();
            let (counted, _) = walk.count(assembly.partial.as_mut(), tick)?;
            assembly.seconds.count = begun.elapsed().as_secs_f64();
            Plan::new(options, Some(&counted))?
        }
    };
    if let Some(partial) = &mut assembly.partial {
        let planned = Planned {
            layout: Layout::of_plan(&plan, options),
            memory: plan.memory,
        };
        partial.save(|state| {
            state.planned = Some(planned);
            state.report.clone_from(&walk.report);
            state.checkpoint = None;
        })?;
    }
    Ok(plan)
}

/// The sources, if all can be read again after a stop.
fn only_files(sources: Vec<Source>) -> Result<Vec<InputFile>> {
    let file = |source| {
        match source {
        Source::File(file) => Ok(file),
        Source::Remote(remote) => Err(Error::Option {
            option: "--resume",
            value: remote.name().to_owned(),
            advice: "what comes over a network may change between two runs without being noticed; fetch it to files first"
                .into(),
        }),
        Source::Stream(name, _) => Err(Error::Option {
            option: "--resume",
            value: name,
            advice: "what can be read only once cannot be read again after a stop (--spool does not help: the copy would be \
                     unfinished too); write it to a file first"
                .into(),
        }),
    }
    };
    sources.into_iter().map(file).collect()
}

/// What came out of a build that was interrupted between its last step and the removal of its state.
fn complete(partial: &Partial, out: &Path) -> Result<Option<BuildSummary>> {
    let state = partial.state();
    let Some(commit) = &state.commit else {
        return Ok(None);
    };
    let manifest = match Manifest::read(out) {
        Ok(manifest) if manifest.content_id == commit.content_id => manifest,
        _ => return Ok(None),
    };
    let shards = manifest.sets.iter().flat_map(|set| &set.shards);
    Ok(Some(BuildSummary {
        index_bytes: shards.map(|shard| shard.bytes).sum(),
        manifest,
        report: state.report.clone().unwrap_or_default(),
        passes: state.passes,
        warnings: Vec::new(),
        resumed: Some(state.progress()),
        seconds: Seconds::default(),
    }))
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
