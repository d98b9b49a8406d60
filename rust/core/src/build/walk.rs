//! The passes of a build over its sources: counting and inserting.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::filter::FilterKind;
use crate::filter::math::blocked_fill;
use crate::ngram::NgramHasher;
use crate::pass::{self, Pass, Progress, Tick};
use crate::read::{Corpus, ReadReport};
use crate::sketch::{KeptSketch, Sketch};
use crate::tokenize::Tokenizer;

use super::BuildOptions;
use super::distinct::DocumentKeys;
use super::insert::Ranges;
use super::output::Rereadable;
use super::plan::Plan;

/// Reads the sources, as often as asked.
pub struct Walk<'a> {
    pub sources: &'a Rereadable,
    pub options: &'a BuildOptions,
    pub threads: usize,
    /// Of the first pass, which computes the digests.
    pub report: Option<ReadReport>,
}

/// Totals of an inserting pass; every pass over the whole corpus has the same.
pub struct Inserted {
    /// For each n.
    pub sets: Vec<InsertedKeys>,
    pub words: u64,
}

/// Keys of one n that were inserted.
pub struct InsertedKeys {
    pub occurrences: u64,
    /// Distinct n-grams of each document, summed up; counted for two tiers only.
    pub insertions: u64,
    /// Their sketch; `None` when a merged index has none.
    pub sketch: Option<KeptSketch>,
}

/// Text to keys on one thread.
struct Worker {
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    occurrences: Vec<u64>,
    words: u64,
    /// For two tiers: the keys of the document at hand.
    document: Option<DocumentKeys>,
    /// For two tiers: distinct keys of each document, summed up.
    insertions: Vec<u64>,
}

impl Worker {
    /// `by_document`: each distinct key of a document is emitted once.
    fn new(options: &BuildOptions, by_document: bool) -> Worker {
        Worker {
            tokenizer: Tokenizer::new(options.rule.clone()),
            hasher: NgramHasher::new(&options.ns),
            occurrences: vec![0; options.ns.len()],
            words: 0,
            document: by_document.then(|| DocumentKeys::new(options.ns.len())),
            insertions: vec![0; options.ns.len()],
        }
    }

    fn document(&mut self, text: &str, mut emit: impl FnMut(usize, &[u64])) {
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

    /// Feeds `emit` with the keys of block after block until none is left.
    fn feed(&mut self, pass: &Pass<'_>, emit: &mut dyn FnMut(usize, &[u64])) {
        pass.for_each_block(|block, corpus| {
            let before: u64 = self.occurrences.iter().sum();
            let mut documents = 0;
            block.for_each(corpus, |record| {
                if let Ok(text) = record.text {
                    documents += 1;
                    self.document(text, &mut *emit);
                }
            });
            (documents, self.occurrences.iter().sum::<u64>() - before)
        });
    }
}

impl Walk<'_> {
    /// Sketches the distinct n-grams of each n.
    pub fn count(&mut self, tick: Tick<'_>) -> Result<Vec<Sketch>> {
        let ns = self.options.ns.len();
        let progress = Progress::of("count");
        let sketches = self.pass(progress, false, &|_| None, tick, |documents| {
            let mut sketches = vec![Sketch::default(); ns];
            documents(&mut |set, keys: &[u64]| sketches[set].insert(keys));
            sketches
        })?;
        let mut sketches = sketches.into_iter().map(|(sketch, _)| sketch);
        let mut all = sketches
            .next()
            .unwrap_or_else(|| vec![Sketch::default(); ns]);
        sketches.for_each(|more| {
            all.iter_mut()
                .zip(&more)
                .for_each(|(sum, sketch)| sum.merge(sketch))
        });
        Ok(all)
    }

    /// Inserts the n-grams that fall into `ranges`.
    pub fn insert(
        &mut self,
        plan: &Plan,
        ranges: &Ranges,
        pass: u32,
        tick: Tick<'_>,
    ) -> Result<Inserted> {
        let progress = Progress {
            pass,
            passes: plan.passes.len() as u32,
            ..Progress::of("insert")
        };
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
        let by_document = self.options.tiers == 2;
        let workers = self.pass(progress, by_document, &fill, &mut tick, |documents| {
            let mut buffers = ranges.buffers();
            let mut sketches = vec![KeptSketch::default(); plan.sets.len()];
            documents(&mut |set, keys: &[u64]| {
                sketches[set].insert(keys);
                buffers.push(set, keys);
            });
            buffers.flush();
            sketches
        });
        // First what stopped the pass.
        ranges.check_memory()?;
        let workers = workers?;
        let total = |set: usize| {
            let mut sketch = KeptSketch::default();
            workers
                .iter()
                .for_each(|(sketches, _)| sketch.merge(&sketches[set]));
            InsertedKeys {
                occurrences: workers
                    .iter()
                    .map(|(_, worker)| worker.occurrences[set])
                    .sum(),
                insertions: workers
                    .iter()
                    .map(|(_, worker)| worker.insertions[set])
                    .sum(),
                sketch: Some(sketch),
            }
        };
        Ok(Inserted {
            sets: (0..plan.sets.len()).map(total).collect(),
            words: workers.iter().map(|(_, worker)| worker.words).sum(),
        })
    }

    /// Runs `work` on every thread; it is given a function that feeds it the keys of all documents this thread gets.
    fn pass<T: Send>(
        &mut self,
        progress: Progress,
        by_document: bool,
        fill: &dyn Fn(u64) -> Option<f64>,
        tick: Tick<'_>,
        work: impl Fn(&mut dyn FnMut(&mut dyn FnMut(usize, &[u64]))) -> T + Sync,
    ) -> Result<Vec<(T, Worker)>> {
        let mut read = self.options.read.clone();
        read.parallel_files = self.threads;
        read.digests = self.report.is_none();
        read.stop = Default::default(); // one that a stopped build has left set would end this one too
        let corpus = Corpus::open(self.sources.take()?, read)?;
        let progress = Progress {
            bytes_total: self.sources.total_bytes(),
            ..progress
        };
        let options = self.options;
        let results = pass::run(&corpus, self.threads, progress, fill, tick, |pass| {
            let mut worker = Worker::new(options, by_document);
            let result = work(&mut |emit| worker.feed(pass, emit));
            (result, worker)
        })?;
        let report = corpus.finish()?;
        self.report.get_or_insert(report);
        Ok(results)
    }
}
