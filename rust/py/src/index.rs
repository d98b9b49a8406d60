//! Indexes: open, ask, verify.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use ngramscope_core::error::Error;
use ngramscope_core::pass::Progress as CoreProgress;
use ngramscope_core::query::{Index, OverlapStream, QueryOptions, Row, null_reason};
use ngramscope_core::read::{Corpus, Source};
use ngramscope_core::tokenize::WordMode;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::batch::OverlapBatch;
use crate::build::{Stream, sources, to_json};
use crate::error::{read_to_python, to_python};
use crate::options::{QueryArguments, ReadArguments};
use crate::text::to_utf8;
use crate::watch::{Watch, run, step};

/// Reason of a text that is not there.
const NULL_TEXT: &str = "null_text";

/// One or several index folders, mapped.
#[pyclass(frozen, name = "Index", module = "ngramscope._core")]
pub struct PyIndex {
    index: Arc<Index>,
}

#[pymethods]
impl PyIndex {
    #[new]
    fn open(py: Python<'_>, paths: Vec<PathBuf>, load: bool) -> PyResult<PyIndex> {
        let mut index = py
            .detach(|| Index::open(&paths))
            .map_err(|error| to_python(py, error))?;
        if load {
            let started = Instant::now();
            run(
                py,
                &mut Watch::new(None),
                || step("load", 0, 0, started),
                |stop| index.load(&|| stop.load(Ordering::Relaxed)),
            )?;
        }
        Ok(PyIndex {
            index: Arc::new(index),
        })
    }

    /// The manifests as JSON, in the order of the paths.
    #[getter]
    fn manifests(&self) -> Vec<String> {
        self.index
            .manifests()
            .map(|manifest| manifest.to_json())
            .collect()
    }

    /// The folders of these manifests.
    #[getter]
    fn folders(&self) -> Vec<PathBuf> {
        self.index.folders().map(PathBuf::from).collect()
    }

    /// Tiers that all of the indexes have.
    #[getter]
    fn tiers(&self) -> u32 {
        self.index.tiers()
    }

    /// Estimated number of distinct n-grams of length `n` that the indexes have together; None when that cannot be told.
    fn distinct(&self, n: u32) -> Option<f64> {
        self.index.distinct(n)
    }

    /// Rows for `texts`; None has no overlap.
    fn overlap(
        &self,
        py: Python<'_>,
        texts: Vec<Option<Bound<'_, PyString>>>,
        options: QueryArguments,
    ) -> PyResult<OverlapBatch> {
        let options = self.choose(py, &options)?;
        let utf8: Vec<Option<Cow<'_, str>>> = texts
            .iter()
            .map(|text| text.as_ref().map(to_utf8).transpose())
            .collect::<PyResult<_>>()?;
        let present: Vec<&str> = utf8.iter().flatten().map(AsRef::as_ref).collect();
        let started = Instant::now();
        let scores = run(
            py,
            &mut Watch::new(None),
            || step("score", 0, 0, started),
            |stop| {
                self.index
                    .overlap(&present, &options, &|| stop.load(Ordering::Relaxed))
            },
        )?;
        let mut scores = scores.into_iter();
        let mut rows = Vec::with_capacity(utf8.len() * options.ns.len());
        for (position, text) in utf8.iter().enumerate() {
            for &n in &options.ns {
                let score = text.as_ref().and_then(|_| scores.next());
                let reason = score.as_ref().map_or(Some(NULL_TEXT), null_reason);
                let mut score = score.unwrap_or_default();
                score.n = n;
                let position = position as u64;
                rows.push(Row {
                    source: 0,
                    position,
                    line: position + 1,
                    id: None,
                    fields: Vec::new(),
                    score,
                    null_reason: reason,
                });
            }
        }
        Ok(OverlapBatch::new(py, rows, 0))
    }

    /// Rows for the records of files, batch by batch.
    #[pyo3(signature = (paths, read, options, progress = None, stream = None))]
    fn overlap_files(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        read: ReadArguments,
        options: QueryArguments,
        progress: Option<Py<PyAny>>,
        stream: Option<Stream>,
    ) -> PyResult<PyOverlapStream> {
        let options = self.choose(py, &options)?;
        let mut watch = Watch::new(progress);
        let sources = sources(py, &paths, &read, stream, &mut watch)?;
        let names = sources.iter().map(name).collect();
        let paths = sources.iter().filter_map(path).collect();
        let bytes_total = sources
            .iter()
            .map(Source::bytes)
            .sum::<Option<u64>>()
            .unwrap_or(0);
        let mut to_core = read.to_core(self.index.rule().mode == WordMode::Ids);
        to_core.parallel_files = 1; // rows come in input order
        to_core.stop = watch.stop_flag();
        to_core.block_bytes = 6 << 20; // about a million n-grams, which are looked up together
        let (fields, lengths) = (to_core.fields.len(), options.ns.len() as u64);
        let corpus = py
            .detach(|| Corpus::open(sources, to_core))
            .map_err(|error| read_to_python(py, error))?;
        let pass = Pass {
            stream: Some(OverlapStream::new(corpus, options)),
            watch,
            report: None,
            documents: 0,
            bytes_total,
            fields,
            lengths,
            started: Instant::now(),
        };
        Ok(PyOverlapStream {
            index: Arc::clone(&self.index),
            names,
            paths,
            pass: Mutex::new(pass),
        })
    }

    /// Compares all bytes with their checksums; returns what was read as JSON.
    #[pyo3(signature = (progress = None))]
    fn verify(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let shards = || {
            self.index
                .manifests()
                .flat_map(|manifest| &manifest.sets)
                .flat_map(|set| &set.shards)
        };
        let (files, bytes) = (shards().count(), shards().map(|shard| shard.bytes).sum());
        let done = AtomicU64::new(0);
        let started = Instant::now();
        run(
            py,
            &mut Watch::new(progress),
            || step("verify", done.load(Ordering::Relaxed), bytes, started),
            |stop| {
                self.index.verify(&mut |read| {
                    done.fetch_add(read, Ordering::Relaxed);
                    if stop.load(Ordering::Relaxed) {
                        Err(Error::Interrupted)
                    } else {
                        Ok(())
                    }
                })
            },
        )?;
        to_json(&serde_json::json!({ "sound": true, "files": files, "bytes": bytes }))
    }
}

impl PyIndex {
    /// The core's index.
    pub fn core(&self) -> Arc<Index> {
        Arc::clone(&self.index)
    }

    fn choose(&self, py: Python<'_>, options: &QueryArguments) -> PyResult<QueryOptions> {
        let ns = self
            .index
            .choose_ns(&options.n)
            .map_err(|error| to_python(py, error))?;
        Ok(options.to_core(ns))
    }
}

/// One pass over candidate files: an iterator of batches, then a report.
#[pyclass(frozen, name = "OverlapStream", module = "ngramscope._core")]
pub struct PyOverlapStream {
    index: Arc<Index>,
    names: Vec<String>,
    paths: Vec<PathBuf>,
    pass: Mutex<Pass>,
}

struct Pass {
    /// None once the last batch is out.
    stream: Option<OverlapStream>,
    watch: Watch,
    report: Option<String>,
    documents: u64,
    bytes_total: u64,
    fields: usize,
    /// How many n, and so rows a document.
    lengths: u64,
    started: Instant,
}

#[pymethods]
impl PyOverlapStream {
    /// Names of the inputs.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Paths of the inputs that are files.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<OverlapBatch>> {
        let mut pass = self.pass()?;
        let Pass {
            stream,
            watch,
            documents,
            bytes_total,
            started,
            fields,
            lengths,
            report,
        } = &mut *pass;
        let Some(open) = stream.as_mut() else {
            return Ok(None);
        };
        let lengths = *lengths;
        let at = CoreProgress {
            documents: *documents,
            ..step("score", open.bytes_read(), *bytes_total, *started)
        };
        let outcome = run(
            py,
            watch,
            || at.clone(),
            |stop| open.next_batch(&self.index, &|| stop.load(Ordering::Relaxed)),
        );
        match outcome {
            Ok(rows) if rows.is_empty() => {
                if let Some(finished) = stream.take() {
                    let read = py
                        .detach(|| finished.finish())
                        .map_err(|error| to_python(py, error))?;
                    *report = Some(to_json(&read)?);
                }
                Ok(None)
            }
            Ok(rows) => {
                *documents += rows.len() as u64 / lengths;
                Ok(Some(OverlapBatch::new(py, rows, *fields)))
            }
            Err(error) => {
                *stream = None;
                Err(error)
            }
        }
    }

    /// What was read and left out, as JSON.
    fn report(&self) -> PyResult<String> {
        self.pass()?
            .report
            .clone()
            .ok_or_else(|| PyRuntimeError::new_err("the report comes after the last table"))
    }
}

impl PyOverlapStream {
    /// The pass, unless another thread is at it: waiting for it here would hold up the interpreter.
    fn pass(&self) -> PyResult<MutexGuard<'_, Pass>> {
        match self.pass.try_lock() {
            Ok(pass) => Ok(pass),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is reading from this stream",
            )),
        }
    }
}

pub fn name(source: &Source) -> String {
    source.name().to_owned()
}

pub fn path(source: &Source) -> Option<PathBuf> {
    match source {
        Source::File(file) => Some(file.path.clone()),
        Source::Remote(_) | Source::Stream(..) => None,
    }
}
