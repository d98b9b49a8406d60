//! One pass over a corpus with several threads, while the caller's thread reports progress and listens for a stop.

use std::ops::ControlFlow;
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::read::{Block, Corpus};

/// How often the caller hears of progress and is asked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Where long work stands.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Progress {
    /// What is being done, as `count`, `insert`, `write`, `sync`.
    pub phase: &'static str,
    /// Reading pass over the sources, from 1.
    pub pass: u32,
    /// How many passes there are; more than one when memory holds only a part of the filter.
    pub passes: u32,
    /// Documents in this pass so far.
    pub documents: u64,
    /// Bytes done in this phase: of the files as they are on disk, or of the index.
    pub bytes_done: u64,
    /// Bytes of this phase in all; 0 when not known.
    pub bytes_total: u64,
    /// n-gram occurrences (of all n) in this pass so far.
    pub ngrams: u64,
    /// Share of the filter's bits set as far as occurrences tell (an upper bound); null where there is no filter.
    pub fill: Option<f64>,
    /// Seconds since this phase began.
    pub seconds: f64,
}

impl Progress {
    /// The beginning of a phase that is done in one pass.
    pub fn of(phase: &'static str) -> Progress {
        Progress {
            phase,
            pass: 1,
            passes: 1,
            ..Progress::default()
        }
    }
}

/// Called about twenty times a second on the caller's thread; `Break` stops the work.
pub type Tick<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// Asked by long work at least ten times a second: an error when it is to end.
pub type Stop<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// Items of large arrays that are worked on between two questions to [`Stop`].
pub const STEP: usize = 1 << 20;

/// A [`Stop`] once `flag` is set.
pub fn stop_at(flag: &AtomicBool) -> impl Fn() -> Result<()> + Sync + '_ {
    || match flag.load(Relaxed) {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}

/// Runs `work` on a thread of its own while the caller's thread ticks.
pub fn aside<T: Send>(
    phase: &'static str,
    tick: Tick<'_>,
    work: impl FnOnce(Stop<'_>) -> Result<T> + Send,
) -> Result<T> {
    let (done, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let caller = std::thread::current();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _end = WhenDropped(|| {
                done.store(true, Release);
                caller.unpark();
            });
            work(&stop_at(&stop))
        });
        while !done.load(Acquire) {
            std::thread::park_timeout(TICK);
            let progress = Progress {
                phase,
                seconds: started.elapsed().as_secs_f64(),
                ..Progress::default()
            };
            if !stop.load(Relaxed) && tick(&progress).is_break() {
                stop.store(true, Relaxed);
            }
        }
        let outcome = worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        stop_at(&stop)().and(outcome)
    })
}

/// `count` values, made in steps: memory for billions of them takes its time.
pub fn filled<T>(count: usize, value: impl Fn() -> T, stop: Stop<'_>) -> Result<Vec<T>> {
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        stop()?;
        all.resize_with(count.min(all.len() + STEP), &value);
    }
    Ok(all)
}

/// Something to be done now and then during a pass, while no thread is at a block.
pub trait Rest {
    /// Whether it is time.
    fn due(&mut self) -> bool;
    /// All threads rest between two blocks, and have settled what they had.
    fn at_rest(&mut self, corpus: &Corpus, tick: Tick<'_>) -> Result<()>;
    /// The threads are at work again.
    fn after(&mut self, tick: Tick<'_>) -> Result<()>;
}

/// A thread's view of a pass.
pub struct Pass<'a> {
    corpus: &'a Corpus,
    documents: AtomicU64,
    ngrams: AtomicU64,
    stop: AtomicBool,
    /// Threads are to rest at their next block.
    pause: AtomicBool,
    resting: Mutex<usize>,
    go_on: Condvar,
    finished: AtomicUsize,
    caller: std::thread::Thread,
}

impl Pass<'_> {
    /// Calls `each` with block after block until none is left or the work is to stop; it returns the documents and n-grams it had.
    pub fn for_each_block(&self, mut each: impl FnMut(&mut Block, &Corpus) -> (u64, u64)) {
        self.for_each_block_settling(&mut (), |(), block, corpus| each(block, corpus), |()| {});
    }

    /// [`Pass::for_each_block`] for a pass with rests: `settle` puts what the thread has collected in `state` to where the one who
    /// rests finds it, before each rest and at the end.
    pub fn for_each_block_settling<S>(
        &self,
        state: &mut S,
        mut each: impl FnMut(&mut S, &mut Block, &Corpus) -> (u64, u64),
        mut settle: impl FnMut(&mut S),
    ) {
        let mut block = Block::new();
        loop {
            if self.pause.load(Acquire) {
                settle(state);
                self.rest();
            }
            if self.stop.load(Relaxed) || !self.corpus.next_block(&mut block) {
                break;
            }
            let (documents, ngrams) = each(state, &mut block, self.corpus);
            self.documents.fetch_add(documents, Relaxed);
            self.ngrams.fetch_add(ngrams, Relaxed);
        }
        settle(state);
    }

    fn resting(&self) -> MutexGuard<'_, usize> {
        self.resting.lock().unwrap_or_else(|p| p.into_inner())
    }

    fn rest(&self) {
        let mut resting = self.resting();
        *resting += 1;
        self.caller.unpark();
        while self.pause.load(Acquire) {
            resting = self.go_on.wait(resting).unwrap_or_else(|p| p.into_inner());
        }
        *resting -= 1;
    }

    /// Ends a pause.
    fn resume(&self) {
        let _resting = self.resting();
        self.pause.store(false, Relaxed);
        self.go_on.notify_all();
    }

    fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.corpus.stop();
    }
}

/// Runs `work` on each of `threads` threads. `fill` tells a filter's fill from n-gram occurrences.
pub fn run<T: Send>(
    corpus: &Corpus,
    threads: usize,
    progress: Progress,
    fill: &dyn Fn(u64) -> Option<f64>,
    tick: Tick<'_>,
    work: impl Fn(&Pass<'_>) -> T + Sync,
) -> Result<Vec<T>> {
    run_with_rests(corpus, threads, progress, fill, tick, None, work)
}

/// [`run`], which now and then has all threads rest. What has been done of the pass already is in `progress`.
pub fn run_with_rests<T: Send>(
    corpus: &Corpus,
    threads: usize,
    mut progress: Progress,
    fill: &dyn Fn(u64) -> Option<f64>,
    tick: Tick<'_>,
    mut rest: Option<&mut dyn Rest>,
    work: impl Fn(&Pass<'_>) -> T + Sync,
) -> Result<Vec<T>> {
    let pass = Pass {
        corpus,
        documents: AtomicU64::new(progress.documents),
        ngrams: AtomicU64::new(progress.ngrams),
        stop: AtomicBool::new(false),
        pause: AtomicBool::new(false),
        resting: Mutex::new(0),
        go_on: Condvar::new(),
        finished: AtomicUsize::new(0),
        caller: std::thread::current(),
    };
    let started = Instant::now();
    let mut failure = None;
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let (pass, work) = (&pass, &work);
                scope.spawn(move || {
                    let _end = WhenDropped(|| {
                        pass.finished.fetch_add(1, AcqRel);
                        pass.caller.unpark();
                    });
                    work(pass)
                })
            })
            .collect();
        let finished = || pass.finished.load(Acquire);
        let mut tick = |_: &Progress| {
            progress.documents = pass.documents.load(Relaxed);
            progress.ngrams = pass.ngrams.load(Relaxed);
            progress.bytes_done = corpus.bytes_read();
            progress.fill = fill(progress.ngrams);
            progress.seconds = started.elapsed().as_secs_f64();
            let outcome = tick(&progress);
            if outcome.is_break() {
                pass.stop();
            }
            outcome
        };
        while finished() < threads.len() {
            std::thread::park_timeout(TICK);
            if tick(&Progress::default()).is_break() || failure.is_some() {
                continue;
            }
            if let Some(rest) = &mut rest
                && rest.due()
                && !corpus.failed()
            {
                pass.pause.store(true, Relaxed);
                while *pass.resting() + finished() < threads.len() {
                    std::thread::park_timeout(TICK);
                    let _ = tick(&Progress::default());
                }
                let go_on = WhenDropped(|| pass.resume());
                // A pass that has failed knows of sources behind its error only that they are not read.
                if finished() < threads.len() && !pass.stop.load(Relaxed) && !corpus.failed() {
                    let mut outcome = rest.at_rest(corpus, &mut tick);
                    drop(go_on);
                    if outcome.is_ok() {
                        outcome = rest.after(&mut tick);
                    }
                    if let Err(error) = outcome {
                        pass.stop();
                        failure = Some(error);
                    }
                }
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
    match failure {
        Some(error) => Err(error),
        None if pass.stop.load(Relaxed) => Err(Error::Interrupted),
        None => Ok(results),
    }
}

/// Blocks that a thread works on before [`next_in_order`] hands results over.
const BLOCKS_PER_BATCH: usize = 4;

/// Works on the next blocks of `corpus`, which has to deliver them in order (`parallel_files` 1): their results, in order. `None` at the
/// end, and when `finish` of the corpus will return an error, which says better than results that break off what is wrong.
pub fn next_in_order<W, T: Send>(
    corpus: &Corpus,
    asked_threads: Option<usize>,
    stop: &(dyn Fn() -> bool + Sync),
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &mut Block, &Corpus) -> T + Sync,
) -> Result<Option<Vec<T>>> {
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads(asked_threads) {
            scope.spawn(|| {
                let mut worker = worker();
                let mut block = Block::new();
                for _ in 0..BLOCKS_PER_BATCH {
                    if stop() || !corpus.next_block(&mut block) {
                        break;
                    }
                    let result = work(&mut worker, &mut block, corpus);
                    results
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner())
                        .push(((block.source(), block.first_position()), result));
                }
            });
        }
    });
    if stop() {
        corpus.stop();
        return Err(Error::Interrupted);
    }
    if corpus.failed() {
        return Ok(None);
    }
    let mut results = results
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(place, _)| *place);
    let results: Vec<T> = results.into_iter().map(|(_, result)| result).collect();
    Ok((!results.is_empty()).then_some(results))
}

/// All processors, unless the caller says otherwise.
pub fn threads(asked: Option<usize>) -> usize {
    asked
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
        .max(1)
}

/// Runs a closure at the end of a scope, also when it unwinds: the waiting caller must hear of a panic.
struct WhenDropped<F: FnMut()>(F);

impl<F: FnMut()> Drop for WhenDropped<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_aside_ends_when_the_caller_says_so() {
        let mut ticks = 0;
        let mut tick = |progress: &Progress| {
            assert_eq!(progress.phase, "arrange");
            ticks += 1;
            ControlFlow::Break(())
        };
        let outcome = aside("arrange", &mut tick, |stop| -> Result<()> {
            loop {
                stop()?;
                std::thread::yield_now();
            }
        });
        assert!(matches!(outcome, Err(Error::Interrupted)));
        assert_eq!(ticks, 1);
        let done = aside("arrange", &mut |_| ControlFlow::Continue(()), |_| Ok(7));
        assert_eq!(done.unwrap(), 7);
    }
}
