//! What every way to an index has in common: ranges are filled pass by pass, written, described and committed.

use std::path::Path;
use std::time::Instant;

use super::insert::Ranges;
use super::output::Output;
use super::partial::Partial;
use super::plan::Plan;
use super::state::Commit;
use super::walk::Inserted;
use super::write::Writer;
use super::{BuildSummary, Seconds};
use crate::error::{Error, Result};
use crate::manifest::{KeySet, Manifest};
use crate::pass::{self, Tick};
use crate::read::ReadReport;

/// An index on its way.
pub struct Assembly {
    pub output: Output,
    pub partial: Option<Partial>,
    pub threads: usize,
    /// Files that an unfinished build had left and that are gone now.
    pub stale: Vec<String>,
    warnings: Vec<String>,
    resumed: Option<String>,
    pub seconds: Seconds,
    started: Instant,
}

/// All sets, written but not committed.
pub struct Filled<'a> {
    writer: Writer<'a>,
    sets: Vec<KeySet>,
    pub words: u64,
    passes: u32,
}

impl Assembly {
    /// Opens the output in the folder `out`, with the state of an unfinished build.
    pub fn open(
        out: &Path,
        force: bool,
        threads: Option<usize>,
        mut partial: Option<Partial>,
    ) -> Result<Assembly> {
        let mut output = Output::open(out, force)?;
        let mut stale = output.stale_files();
        let mut resumed = None;
        if let Some(partial) = &mut partial {
            partial.check_place(out)?;
            stale.extend(partial.stale_files());
            let state = partial.state();
            resumed = (!state.is_empty()).then(|| state.progress());
        }
        Ok(Assembly {
            threads: pass::threads(threads),
            output,
            partial,
            stale,
            warnings: Vec::new(),
            resumed,
            seconds: Seconds::default(),
            started: Instant::now(),
        })
    }

    /// Fills and writes the ranges of all passes that are left.
    pub fn fill<'p>(
        &mut self,
        plan: &'p Plan,
        accept_overfull: bool,
        tick: Tick<'_>,
        mut fill: impl FnMut(&Ranges, u32, Option<&mut Partial>, Tick<'_>) -> Result<Inserted>,
    ) -> Result<Filled<'p>> {
        let out = self.output.folder();
        plan.check_room(out, self.partial.as_ref().map(Partial::bytes))?;
        self.warnings.extend(plan.announcements());
        let mut done = 0;
        let mut inserted = Inserted::default();
        let mut writer = match &self.partial {
            None => Writer::new(plan, out, &|name, _| self.output.temporary(&name))?,
            Some(partial) => {
                let state = partial.state();
                let place = |name: String, number| partial.shard(&name, number, out);
                done = state.passes;
                if done == 0 {
                    Writer::new(plan, out, &place)?
                } else {
                    inserted = state.inserted.clone();
                    let written = (done, &state.written);
                    Writer::reopen(plan, out, &place, written, self.threads, tick)?
                }
            }
        };
        for (number, pass) in (1..).zip(&plan.passes).skip(done as usize) {
            let begun = Instant::now();
            let ranges = Ranges::new(plan, pass)?;
            inserted = fill(&ranges, number, self.partial.as_mut(), tick)?;
            let written = Instant::now();
            self.seconds.insert += (written - begun).as_secs_f64();
            writer.write(&ranges, false, self.threads, number, tick)?;
            self.seconds.write += written.elapsed().as_secs_f64();
            if let Some(partial) = &mut self.partial {
                writer.sync(tick)?;
                let written = writer.written()?;
                partial.save(|state| {
                    state.passes = number;
                    state.inserted = inserted.clone();
                    state.written = written;
                    state.checkpoint = None;
                })?;
            }
        }
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

    /// Gives the index its name.
    pub fn commit(
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
        let shards = manifest.sets.iter().flat_map(|set| &set.shards);
        let files: Vec<String> = shards.clone().map(|shard| shard.file.clone()).collect();
        let index_bytes = shards.map(|shard| shard.bytes).sum();
        if let Some(partial) = &mut self.partial {
            let content_id = manifest.content_id.clone();
            partial.save(|state| state.commit = Some(Commit { content_id, files }))?;
        }
        self.stale
            .extend(self.output.commit(&manifest, &filled.writer.paths())?);
        if let Some(partial) = self.partial {
            partial.finish();
        }
        self.seconds.sync = begun.elapsed().as_secs_f64();
        self.seconds.total = self.started.elapsed().as_secs_f64();
        if manifest.sets.iter().all(|set| set.occurrences == 0) {
            self.warnings.push("the index is EMPTY: no document has an n-gram of these lengths, so every candidate will have an overlap of 0".into());
        }
        self.warnings.splice(0..0, removed(&self.stale));
        Ok(BuildSummary {
            index_bytes,
            manifest,
            report,
            passes: filled.passes,
            warnings: self.warnings,
            resumed: self.resumed,
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

/// An error when no index can be built in the folder `out`, without the work of building one; returns what the user should know.
pub fn check_output(out: &Path, force: bool) -> Result<Vec<String>> {
    let mut stale = Partial::refuse(out)?;
    stale.extend(Output::open(out, force)?.stale_files());
    Ok(removed(&stale).into_iter().collect())
}

/// What the user should know of files that an unfinished build had left and that are gone now.
fn removed(stale: &[String]) -> Option<String> {
    let list = stale.join(", ");
    (!stale.is_empty()).then(|| format!("removed what an unfinished build had left: {list}"))
}
