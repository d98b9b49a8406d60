//! The passes of a build over its sources: counting and inserting.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::filter::FilterKind;
use crate::filter::math::blocked_fill;
use crate::ngram::NgramHasher;
use crate::pass::{self, Pass, Progress, Tick};
use crate::read::{Block, Corpus, ReadReport};
use crate::sketch::{KeptSketch, Sketch};
use crate::tokenize::Tokenizer;

use super::BuildOptions;
use super::checkpoint::{Checkpoints, Held};
use super::distinct::DocumentKeys;
use super::insert::{Buffers, Ranges};
use super::output::Rereadable;
use super::partial::Partial;
use super::plan::Plan;
use super::state::Checkpoint;

/// Reads the sources, as often as asked.
pub struct Walk<'a> {
    pub sources: &'a Rereadable,
    pub options: &'a BuildOptions,
    pub threads: usize,
    /// Of the first pass, which computes the digests.
    pub report: Option<ReadReport>,
}

/// Totals of an inserting pass; every pass over the whole corpus has the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inserted {
    /// For each n.
    pub sets: Vec<InsertedKeys>,
    pub words: u64,
}

/// Keys of one n that were inserted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InsertedKeys {
    pub occurrences: u64,
    /// Distinct n-grams of each document, summed up; counted for two tiers only.
    pub insertions: u64,
    /// Their sketch; `None` when a merged index has none.
    pub sketch: Option<KeptSketch>,
}

/// Where a thread's keys go.
trait Sink {
    fn keys(&mut self, set: usize, keys: &[u64]);
    /// Puts what it has collected to where all threads' keys are.
    fn settle(&mut self, totals: &mut Inserted);
}

/// Ranges that a thread fills, and sketches of what it has inserted.
struct Filling<'a> {
    buffers: Buffers<'a>,
    sketches: Vec<KeptSketch>,
}

impl Sink for Filling<'_> {
    fn keys(&mut self, set: usize, keys: &[u64]) {
        self.sketches[set].insert(keys);
        self.buffers.push(set, keys);
    }

    fn settle(&mut self, totals: &mut Inserted) {
        self.buffers.flush();
        for (total, own) in totals.sets.iter_mut().zip(&self.sketches) {
            total.sketch.get_or_insert_default().merge(own);
        }
    }
}

/// Sketches of a thread, and of all threads.
struct Counting<'a> {
    own: Vec<Sketch>,
    all: &'a Mutex<Vec<Sketch>>,
}

impl Sink for Counting<'_> {
    fn keys(&mut self, set: usize, keys: &[u64]) {
        self.own[set].insert(keys);
    }

    fn settle(&mut self, _totals: &mut Inserted) {
        let mut all = lock(self.all);
        all.iter_mut()
            .zip(&self.own)
            .for_each(|(all, own)| all.merge(own));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Text to keys on one thread.
pub struct Worker {
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    /// n-grams of each n.
    pub occurrences: Vec<u64>,
    pub words: u64,
    /// For two tiers: the keys of the document at hand.
    document: Option<DocumentKeys>,
    /// For two tiers: distinct keys of each document, summed up.
    insertions: Vec<u64>,
}

impl Worker {
    /// `by_document`: each distinct key of a document is emitted once.
    pub fn new(options: &BuildOptions, by_document: bool) -> Worker {
        Worker {
            tokenizer: Tokenizer::new(options.rule.clone()),
            hasher: NgramHasher::new(&options.ns),
            occurrences: vec![0; options.ns.len()],
            words: 0,
            document: by_document.then(|| DocumentKeys::new(options.ns.len())),
            insertions: vec![0; options.ns.len()],
        }
    }

    /// Hands the keys of a document to `emit`, with the number of their set.
    pub fn document(&mut self, text: &str, mut emit: impl FnMut(usize, &[u64])) {
        let Worker {
            tokenizer,
            hasher,
            occurrences,
            words,
            document,
            insertions,
        } = self;
        hasher.start();
        tokenizer.hash_words(text, |hashes| {
            hasher.push(hashes, |set, keys| {
                occurrences[set] += keys.len() as u64;
                match document {
                    Some(held) => held.push(set, keys),
                    None => emit(set, keys),
                }
            });
        });
        if let Some(held) = document {
            held.finish(|set, keys| {
                insertions[set] += keys.len() as u64;
                emit(set, keys);
            });
        }
        *words += hasher.words();
    }

    /// Feeds `sink` with the keys of block after block until none is left, and `totals` with what is counted.
    fn feed(&mut self, pass: &Pass<'_>, sink: &mut dyn Sink, totals: &Mutex<Inserted>) {
        let each = |(worker, sink): &mut (&mut Worker, &mut dyn Sink),
                    block: &mut Block,
                    corpus: &Corpus| {
            let before: u64 = worker.occurrences.iter().sum();
            let mut documents = 0;
            block.for_each(corpus, |record| {
                if let Ok(text) = record.text {
                    documents += 1;
                    worker.document(text, |set, keys| sink.keys(set, keys));
                }
            });
            (documents, worker.occurrences.iter().sum::<u64>() - before)
        };
        pass.for_each_block_settling(&mut (self, sink), each, |(worker, sink)| {
            let mut totals = lock(totals);
            sink.settle(&mut totals);
            worker.settle(&mut totals);
        });
    }

    /// Moves its counts to `totals`.
    fn settle(&mut self, totals: &mut Inserted) {
        totals.words += std::mem::take(&mut self.words);
        for (set, total) in totals.sets.iter_mut().enumerate() {
            total.occurrences += std::mem::take(&mut self.occurrences[set]);
            total.insertions += std::mem::take(&mut self.insertions[set]);
        }
    }
}

impl Walk<'_> {
    /// Sketches the distinct n-grams of each n, and counts them all; what `partial` has of it is not counted again.
    pub fn count(
        &mut self,
        partial: Option<&mut Partial>,
        tick: Tick<'_>,
    ) -> Result<(Vec<Sketch>, Inserted)> {
        let ns = self.options.ns.len();
        let start = partial.as_ref().and_then(|partial| partial.checkpoint());
        let sketches = match &start {
            Some(Checkpoint {
                sketches: Some(sketches),
                ..
            }) => sketches.clone(),
            _ => vec![Sketch::default(); ns],
        };
        let all = Mutex::new(sketches);
        let progress = Progress::of("count");
        let held = Held::Sketches(&all);
        let totals = self.pass(
            progress,
            false,
            &|_| None,
            tick,
            start,
            partial,
            held,
            || Counting {
                own: vec![Sketch::default(); ns],
                all: &all,
            },
        )?;
        let sketches = all.into_inner().unwrap_or_else(|p| p.into_inner());
        Ok((sketches, totals))
    }

    /// Inserts the n-grams that fall into `ranges`; what `partial` has of this pass is not inserted again.
    pub fn insert(
        &mut self,
        plan: &Plan,
        ranges: &Ranges,
        pass: u32,
        partial: Option<&mut Partial>,
        tick: Tick<'_>,
    ) -> Result<Inserted> {
        let mut progress = Progress {
            pass,
            passes: plan.passes.len() as u32,
            ..Progress::of("insert")
        };
        let start = partial.as_ref().and_then(|partial| partial.checkpoint());
        if let (Some(partial), Some(start)) = (&partial, &start) {
            partial.load(start, plan, ranges, self.threads, &mut progress, tick)?;
        }
        let sets = plan.sets.len() as f64;
        let largest = plan
            .sets
            .iter()
            .max_by_key(|set| set.geometry.blocks)
            .filter(|set| set.kind == FilterKind::Blocked);
        let fill =
            |ngrams: u64| largest.map(|set| blocked_fill(ngrams as f64 / sets, set.geometry));
        let mut tick = |progress: &Progress| match ranges.check_memory() {
            Ok(()) => tick(progress),
            Err(_) => ControlFlow::Break(()),
        };
        let cut = plan.of_pass(pass);
        let held = Held::Ranges(&cut, ranges);
        let sink = || Filling {
            buffers: ranges.buffers(),
            sketches: vec![KeptSketch::default(); plan.sets.len()],
        };
        let by_document = self.options.tiers == 2;
        let inserted = self.pass(
            progress,
            by_document,
            &fill,
            &mut tick,
            start,
            partial,
            held,
            sink,
        );
        // First what stopped the pass.
        ranges.check_memory()?;
        inserted
    }

    /// Reads the sources from `start` on; every thread has a sink.
    #[allow(clippy::too_many_arguments)] // each of the two passes sets them all
    fn pass<S: Sink>(
        &mut self,
        progress: Progress,
        by_document: bool,
        fill: &dyn Fn(u64) -> Option<f64>,
        tick: Tick<'_>,
        start: Option<Checkpoint>,
        partial: Option<&mut Partial>,
        held: Held<'_>,
        sink: impl Fn() -> S + Sync,
    ) -> Result<Inserted> {
        let mut read = self.options.read.clone();
        read.parallel_files = self.threads;
        read.digests = self.report.is_none();
        read.stop = Default::default(); // one that a stopped build has left set would end this one too
        let Checkpoint {
            position, inserted, ..
        } = start.unwrap_or_default();
        let corpus = Corpus::open_at(self.sources.take()?, read, &position)?;
        let mut totals = inserted;
        totals
            .sets
            .resize_with(self.options.ns.len(), Default::default);
        let totals = Mutex::new(totals);
        let progress = Progress {
            bytes_total: self.sources.total_bytes(),
            documents: position.documents(),
            ngrams: lock(&totals).sets.iter().map(|set| set.occurrences).sum(),
            ..progress
        };
        let (options, threads) = (self.options, self.threads);
        let mut checkpoints =
            partial.map(|partial| Checkpoints::new(partial, held, &totals, threads));
        let rest = checkpoints.as_mut().map(|each| each as &mut dyn pass::Rest);
        pass::run_with_rests(&corpus, threads, progress, fill, tick, rest, |pass| {
            Worker::new(options, by_document).feed(pass, &mut sink(), &totals);
        })?;
        let report = corpus.finish()?;
        self.report.get_or_insert(report);
        Ok(totals.into_inner().unwrap_or_else(|p| p.into_inner()))
    }
}
