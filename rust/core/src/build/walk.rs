//! One pass over the sources with all threads, while the caller's thread reports progress and listens for a stop.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::math::blocked_fill;
use crate::ngram::NgramHasher;
use crate::read::{Block, Corpus, ReadReport};
use crate::sketch::Sketch;
use crate::tokenize::Tokenizer;

use super::insert::Ranges;
use super::output::Rereadable;
use super::plan::Plan;
use super::{BuildOptions, Progress, Tick};

/// How often the caller hears of progress and is asked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// What threads share while they read.
#[derive(Default)]
struct Shared {
    documents: AtomicU64,
    ngrams: AtomicU64,
    stop: AtomicBool,
    finished: AtomicUsize,
}

/// Reads the sources, as often as asked.
pub struct Walk<'a> {
    pub sources: &'a Rereadable,
    pub options: &'a BuildOptions,
    pub threads: usize,
    /// Of the first pass, which computes the digests.
    pub report: Option<ReadReport>,
}

/// Totals of an inserting pass.
pub struct Inserted {
    /// n-grams of each n.
    pub occurrences: Vec<u64>,
    pub words: u64,
}

/// Text to keys on one thread.
struct Worker {
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    occurrences: Vec<u64>,
    words: u64,
}

impl Worker {
    fn new(options: &BuildOptions) -> Worker {
        Worker {
            tokenizer: Tokenizer::new(options.rule.clone()),
            hasher: NgramHasher::new(&options.ns),
            occurrences: vec![0; options.ns.len()],
            words: 0,
        }
    }

    fn document(&mut self, text: &str, mut emit: impl FnMut(usize, &[u64])) {
        let Worker {
            tokenizer,
            hasher,
            occurrences,
            words,
        } = self;
        hasher.start();
        tokenizer.hash_words(text, |hashes| {
            hasher.push(hashes, |set, keys| {
                occurrences[set] += keys.len() as u64;
                emit(set, keys);
            });
        });
        *words += hasher.words();
    }
}

impl Walk<'_> {
    /// Sketches the distinct n-grams of each n.
    pub fn count(&mut self, tick: Tick<'_>) -> Result<Vec<Sketch>> {
        let ns = self.options.ns.len();
        let progress = Progress {
            phase: "count",
            pass: 1,
            passes: 1,
            documents: 0,
            bytes_done: 0,
            bytes_total: 0,
            ngrams: 0,
            fill: None,
            seconds: 0.0,
        };
        let sketches = self.pass(progress, &|_| None, tick, |documents| {
            let mut sketches = vec![Sketch::default(); ns];
            documents(&mut |set, keys: &[u64]| {
                keys.iter().for_each(|&key| sketches[set].insert(key))
            });
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
            phase: "insert",
            pass,
            passes: plan.passes.len() as u32,
            documents: 0,
            bytes_done: 0,
            bytes_total: 0,
            ngrams: 0,
            fill: None,
            seconds: 0.0,
        };
        let sets = plan.sets.len() as f64;
        let largest = plan
            .sets
            .iter()
            .max_by_key(|set| set.geometry.blocks)
            .filter(|set| set.kind == FilterKind::Blocked);
        let fill =
            |ngrams: u64| largest.map(|set| blocked_fill(ngrams as f64 / sets, set.geometry));
        let workers = self.pass(progress, &fill, tick, |documents| {
            let mut buffers = ranges.buffers();
            documents(&mut |set, keys: &[u64]| buffers.push(set, keys));
            buffers.flush();
        })?;
        ranges.check_memory()?;
        let mut all = Inserted {
            occurrences: vec![0; plan.sets.len()],
            words: 0,
        };
        for (_, worker) in workers {
            all.words += worker.words;
            all.occurrences
                .iter_mut()
                .zip(&worker.occurrences)
                .for_each(|(sum, count)| *sum += count);
        }
        Ok(all)
    }

    /// Runs `work` on every thread; it is given a function that feeds it the keys of all documents this thread gets.
    fn pass<T: Send>(
        &mut self,
        mut progress: Progress,
        fill: &dyn Fn(u64) -> Option<f64>,
        tick: Tick<'_>,
        work: impl Fn(&mut dyn FnMut(&mut dyn FnMut(usize, &[u64]))) -> T + Sync,
    ) -> Result<Vec<(T, Worker)>> {
        let mut read = self.options.read.clone();
        read.parallel_files = self.threads;
        read.digests = self.report.is_none();
        let corpus = Corpus::open(self.sources.take()?, read)?;
        progress.bytes_total = self.sources.total_bytes();
        let shared = Shared::default();
        let started = Instant::now();
        let caller = std::thread::current();
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads)
                .map(|_| {
                    let (corpus, shared, work, options, caller) =
                        (&corpus, &shared, &work, self.options, caller.clone());
                    scope.spawn(move || {
                        let _end = WhenDropped(|| {
                            shared.finished.fetch_add(1, Relaxed);
                            caller.unpark();
                        });
                        let mut worker = Worker::new(options);
                        let result = work(&mut |emit| feed(corpus, shared, &mut worker, emit));
                        (result, worker)
                    })
                })
                .collect();
            while shared.finished.load(Relaxed) < threads.len() {
                std::thread::park_timeout(TICK);
                progress.documents = shared.documents.load(Relaxed);
                progress.ngrams = shared.ngrams.load(Relaxed);
                progress.bytes_done = corpus.bytes_read();
                progress.fill = fill(progress.ngrams);
                progress.seconds = started.elapsed().as_secs_f64();
                if tick(&progress) == ControlFlow::Break(()) {
                    shared.stop.store(true, Relaxed);
                    corpus.stop();
                }
            }
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        });
        if shared.stop.load(Relaxed) {
            return Err(Error::Interrupted);
        }
        let report = corpus.finish()?;
        self.report.get_or_insert(report);
        Ok(results)
    }
}

/// Feeds `emit` with the keys of block after block until none is left.
fn feed(
    corpus: &Corpus,
    shared: &Shared,
    worker: &mut Worker,
    emit: &mut dyn FnMut(usize, &[u64]),
) {
    let mut block = Block::new();
    while !shared.stop.load(Relaxed) && corpus.next_block(&mut block) {
        let before: u64 = worker.occurrences.iter().sum();
        let mut documents = 0;
        block.for_each(corpus, |record| {
            if let Ok(text) = record.text {
                documents += 1;
                worker.document(text, &mut *emit);
            }
        });
        shared.documents.fetch_add(documents, Relaxed);
        shared
            .ngrams
            .fetch_add(worker.occurrences.iter().sum::<u64>() - before, Relaxed);
    }
}

/// Runs a closure at the end of a scope, also when it unwinds: the waiting caller must hear of a panic.
struct WhenDropped<F: FnMut()>(F);

impl<F: FnMut()> Drop for WhenDropped<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
