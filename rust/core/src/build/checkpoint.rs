//! Checkpoints of a pass: when, and what they hold. All threads rest between two blocks while one is written, so that it is a consistent
//! cut: a block of input is in it wholly or not at all.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::insert::Ranges;
use super::partial::Partial;
use super::plan::Plan;
use super::state::Checkpoint;
use super::walk::Inserted;
use super::write::Writer;
use crate::error::Result;
use crate::pass::{Rest, Tick};
use crate::read::Corpus;
use crate::sketch::Sketch;

/// Bytes a second that the first checkpoint is expected to be written at; the next ones go by what the last one took.
const EXPECTED_RATE: f64 = 200e6;
/// What the smallest one is expected to take.
const EXPECTED_LEAST: f64 = 0.01;

/// What a pass has collected.
#[derive(Clone, Copy)]
pub enum Held<'a> {
    /// Counting: a sketch for each n.
    Sketches(&'a Mutex<Vec<Sketch>>),
    /// Inserting: the ranges in memory, and a plan of which they are everything.
    Ranges(&'a Plan, &'a Ranges),
}

/// Writes a checkpoint now and then.
pub struct Checkpoints<'a> {
    partial: &'a mut Partial,
    held: Held<'a>,
    totals: &'a Mutex<Inserted>,
    threads: usize,
    begun: Instant,
    /// When the last one was complete, and what it took.
    last: Instant,
    cost: Duration,
    /// Written to files, not yet to the disk.
    unsaved: Option<(Checkpoint, Option<Writer<'a>>)>,
}

impl<'a> Checkpoints<'a> {
    /// Checkpoints of one pass; `totals` are complete while threads rest.
    pub fn new(
        partial: &'a mut Partial,
        held: Held<'a>,
        totals: &'a Mutex<Inserted>,
        threads: usize,
    ) -> Checkpoints<'a> {
        let bytes = match held {
            Held::Sketches(_) => 0,
            Held::Ranges(cut, _) => cut.checkpoint_bytes() / 2,
        };
        let seconds = EXPECTED_LEAST + bytes as f64 / EXPECTED_RATE;
        let now = Instant::now();
        Checkpoints {
            partial,
            held,
            totals,
            threads,
            begun: now,
            last: now,
            cost: Duration::from_secs_f64(seconds),
            unsaved: None,
        }
    }
}

impl Rest for Checkpoints<'_> {
    fn due(&mut self) -> bool {
        self.begun = Instant::now();
        let interval = self.cost.as_secs_f64() * self.partial.interval();
        (self.begun - self.last).as_secs_f64() >= interval
    }

    fn at_rest(&mut self, corpus: &Corpus, tick: Tick<'_>) -> Result<()> {
        let number = self.partial.next();
        let mut checkpoint = Checkpoint {
            number,
            position: corpus.position(),
            inserted: self
                .totals
                .lock()
                .unwrap_or_else(|p| p.into_inner())
                .clone(),
            sketches: None,
        };
        let mut files = None;
        match self.held {
            Held::Sketches(sketches) => {
                let sketches = sketches.lock().unwrap_or_else(|p| p.into_inner());
                checkpoint.sketches = Some(sketches.clone());
            }
            Held::Ranges(cut, ranges) => {
                let place = |name: String, _| self.partial.of_checkpoint(number, &name);
                let mut writer = Writer::new(cut, self.partial.folder(), &place)?;
                writer.write(ranges, true, self.threads, 1, tick)?;
                writer.finish(checkpoint.inserted.clone())?;
                files = Some(writer);
            }
        }
        self.unsaved = Some((checkpoint, files));
        Ok(())
    }

    fn after(&mut self, tick: Tick<'_>) -> Result<()> {
        if let Some((checkpoint, files)) = self.unsaved.take() {
            if let Some(files) = files {
                files.sync(tick)?;
            }
            self.partial
                .save(|state| state.checkpoint = Some(checkpoint))?;
        }
        self.last = Instant::now();
        self.cost = self.last - self.begun;
        Ok(())
    }
}
