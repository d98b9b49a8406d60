//! The size of an index, before it is built: counted, of parts, or given.

use std::time::Instant;

use serde::Serialize;

use super::plan::{Plan, check_options};
use super::{BuildOptions, Layout, output, walk};
use crate::error::Result;
use crate::manifest::Sizing;
use crate::pass::{self, Tick};
use crate::read::{ReadReport, Source};
use crate::sketch::Sketch;

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
    /// Words that were counted, unless the number of n-grams was given.
    pub words: Option<u64>,
    /// n-gram occurrences of each n, likewise.
    pub occurrences: Option<Vec<u64>>,
    /// What was read, likewise.
    pub report: Option<ReadReport>,
    /// Seconds of counting.
    pub seconds: f64,
}

/// Counts the distinct n-grams of `sources`, unless their number is given, and chooses the geometry; builds nothing.
pub fn plan(sources: Vec<Source>, options: &BuildOptions, tick: Tick<'_>) -> Result<BuildPlan> {
    let options = check_options(options)?;
    let started = Instant::now();
    let (mut report, mut totals) = (None, None);
    let counted = if options.expected_ngrams.is_none() {
        let sources = output::Rereadable::once(sources);
        let mut walk = walk::Walk {
            sources: &sources,
            options: &options,
            threads: pass::threads(options.threads),
            report: None,
        };
        let (sketches, all) = walk.count(None, tick)?;
        report = walk.report;
        totals = Some(all);
        Some(sketches)
    } else {
        None
    };
    let plan = Plan::new(&options, counted.as_deref())?;
    Ok(BuildPlan {
        words: totals.as_ref().map(|all| all.words),
        occurrences: totals.map(|all| all.sets.iter().map(|set| set.occurrences).collect()),
        report,
        seconds: started.elapsed().as_secs_f64(),
        ..BuildPlan::of(&plan, &options)
    })
}

/// Sketches of the distinct n-grams of `sources`, or of a part of them, one for each n: [`layout`] takes those of all parts.
pub fn count(sources: Vec<Source>, options: &BuildOptions, tick: Tick<'_>) -> Result<Vec<Sketch>> {
    let options = check_options(options)?;
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
    Ok(walk.count(None, tick)?.0)
}

/// The geometry that a build of a corpus would have, from the sketches of its parts.
pub fn layout(parts: &[Vec<Sketch>], options: &BuildOptions) -> Result<Layout> {
    let options = check_options(options)?;
    let mut all = vec![Sketch::default(); options.ns.len()];
    for part in parts {
        for (sum, sketch) in all.iter_mut().zip(part) {
            sum.merge(sketch);
        }
    }
    Ok(Layout::of_plan(&Plan::new(&options, Some(&all))?, &options))
}

/// The geometry for so many n-grams of each n as `sizings` says, in ascending order of n.
pub fn plan_sized(options: &BuildOptions, sizings: &[Sizing]) -> Result<BuildPlan> {
    let options = check_options(options)?;
    let plan = Plan::sized(&options, sizings)?;
    Ok(BuildPlan::of(&plan, &options))
}

impl BuildPlan {
    fn of(plan: &Plan, options: &BuildOptions) -> BuildPlan {
        BuildPlan {
            layout: Layout::of_plan(plan, options),
            index_bytes: plan.disk_bytes,
            memory: plan.memory,
            passes: plan.passes.len() as u32,
            words: None,
            occurrences: None,
            report: None,
            seconds: 0.0,
        }
    }
}
