//! The core's tick as Python sees it: signals are looked after, progress is shown, an exception stops the work.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ngramscope_core::error::Error;
use ngramscope_core::pass::Progress as CoreProgress;
use pyo3::prelude::*;

use crate::error::to_python;

/// Where long work stands.
#[pyclass(frozen, get_all, module = "ngramscope._core")]
pub struct Progress {
    /// `find`, `spool`, `choose`, `sample`, `count`, `insert`, `write`, `sync`, `load`, `verify`, `score` or `arrange`.
    phase: &'static str,
    /// Reading pass, from 1.
    pass_number: u32,
    /// Inserting passes.
    passes: u32,
    /// Documents so far.
    documents: u64,
    /// Bytes done in this phase.
    bytes_done: u64,
    /// Bytes of this phase in all; 0 when not known.
    bytes_total: u64,
    /// n-gram occurrences so far.
    ngrams: u64,
    /// Share of bits set at most.
    fill: Option<f64>,
    /// Seconds since the phase began.
    seconds: f64,
}

/// Runs Python's side of a tick, and remembers what it raised.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    stop: Arc<AtomicBool>,
    raised: Option<PyErr>,
}

impl Watch {
    /// A watch that calls `progress`, if there is one.
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch {
            progress,
            stop: Arc::default(),
            raised: None,
        }
    }

    /// Set when the work has to stop; readers that wait for a pipe look at it.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// One tick.
    pub fn tick(&mut self, step: &CoreProgress) -> ControlFlow<()> {
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.call1(py, (Progress::from(step),))?;
            }
            Ok(())
        });
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised.get_or_insert(error);
                self.stop.store(true, Ordering::Relaxed);
                ControlFlow::Break(())
            }
        }
    }

    /// What Python raised in a tick, which explains the core's "interrupted".
    pub fn take(&mut self) -> Option<PyErr> {
        self.raised.take()
    }
}

impl From<&CoreProgress> for Progress {
    fn from(step: &CoreProgress) -> Progress {
        Progress {
            phase: step.phase,
            pass_number: step.pass,
            passes: step.passes,
            documents: step.documents,
            bytes_done: step.bytes_done,
            bytes_total: step.bytes_total,
            ngrams: step.ngrams,
            fill: step.fill,
            seconds: step.seconds,
        }
    }
}

/// How often the interpreter is asked while a worker runs.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own, detached from the interpreter, while the calling thread ticks: only there does Python deliver
/// signals. `work` asks the flag it is given; `step` describes the progress.
pub fn run<T: Send>(
    py: Python<'_>,
    watch: &mut Watch,
    step: impl Fn() -> CoreProgress + Sync,
    work: impl FnOnce(&AtomicBool) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let stop = watch.stop_flag();
    let (ours, outcome) = py.detach(|| {
        let (done, finished) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let outcome = work(&stop);
                drop(done);
                outcome
            });
            while finished.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                // After a first exception the worker only needs time to notice.
                if watch.raised.is_none() {
                    let _ = watch.tick(&step());
                }
            }
            (watch.take(), worker.join())
        })
    });
    match (ours, outcome) {
        (Some(raised), _) => Err(raised),
        (None, Ok(result)) => result.map_err(|error| to_python(py, error)),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Work of one pass that began at `started`.
pub fn step(
    phase: &'static str,
    bytes_done: u64,
    bytes_total: u64,
    started: Instant,
) -> CoreProgress {
    CoreProgress {
        bytes_done,
        bytes_total,
        seconds: started.elapsed().as_secs_f64(),
        ..CoreProgress::of(phase)
    }
}
