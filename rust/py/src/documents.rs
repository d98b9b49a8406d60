//! Texts of a corpus, and digests of files, for what Python does with them.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use ngramscope_core::error::Error;
use ngramscope_core::pass::Progress as CoreProgress;
use ngramscope_core::read::{Block, Corpus, digest_file};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::build::{sources, to_json};
use crate::error::read_to_python;
use crate::options::ReadArguments;
use crate::watch::{Watch, run, step};

/// One pass over a corpus: an iterator of lists of texts, then a report.
#[pyclass(frozen, name = "Documents", module = "ngramscope._core")]
pub struct PyDocuments {
    pass: Mutex<Pass>,
}

struct Pass {
    /// None once the last texts are out.
    corpus: Option<Corpus>,
    block: Block,
    watch: Watch,
    documents: u64,
    bytes_total: u64,
    started: Instant,
    report: Option<String>,
}

#[pymethods]
impl PyDocuments {
    #[new]
    #[pyo3(signature = (paths, read, progress = None))]
    fn open(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        read: ReadArguments,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyDocuments> {
        let mut watch = Watch::new(progress);
        let sources = sources(py, &paths, &read, None, &mut watch)?;
        let mut to_core = read.to_core(false);
        to_core.stop = watch.stop_flag();
        let corpus = py
            .detach(|| Corpus::open(sources, to_core))
            .map_err(|error| read_to_python(py, error))?;
        let pass = Pass {
            bytes_total: corpus.bytes_total(),
            corpus: Some(corpus),
            block: Block::new(),
            watch,
            documents: 0,
            started: Instant::now(),
            report: None,
        };
        Ok(PyDocuments {
            pass: Mutex::new(pass),
        })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        let Ok(mut pass) = self.pass.try_lock() else {
            return Err(PyRuntimeError::new_err(
                "another thread is reading from this corpus",
            ));
        };
        let Pass {
            corpus,
            block,
            watch,
            documents,
            bytes_total,
            started,
            report,
        } = &mut *pass;
        let Some(open) = corpus.as_ref() else {
            return Ok(None);
        };
        let at = CoreProgress {
            documents: *documents,
            ..step("read", open.bytes_read(), *bytes_total, *started)
        };
        let texts = run(
            py,
            watch,
            || at.clone(),
            |_| {
                Ok(open.next_block(block).then(|| {
                    let mut texts = Vec::new();
                    block.for_each(open, |record| {
                        texts.extend(record.text.ok().map(str::to_owned))
                    });
                    texts
                }))
            },
        );
        match texts {
            Ok(Some(texts)) => {
                *documents += texts.len() as u64;
                Ok(Some(texts))
            }
            Ok(None) => {
                if let Some(finished) = corpus.take() {
                    let read = py
                        .detach(|| finished.finish())
                        .map_err(|error| read_to_python(py, error))?;
                    *report = Some(to_json(&read)?);
                }
                Ok(None)
            }
            Err(error) => {
                *corpus = None;
                Err(error)
            }
        }
    }

    /// What was read and left out, as JSON.
    fn report(&self) -> PyResult<String> {
        let pass = self.pass.try_lock().ok();
        pass.and_then(|pass| pass.report.clone())
            .ok_or_else(|| PyRuntimeError::new_err("the report comes after the last texts"))
    }
}

/// BLAKE3 digest of the bytes of a file, in hexadecimal.
#[pyfunction]
#[pyo3(signature = (path, *, progress = None))]
pub fn digest(py: Python<'_>, path: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let started = Instant::now();
    let mut watch = Watch::new(progress);
    run(
        py,
        &mut watch,
        || step("verify", 0, 0, started),
        |stop| match digest_file(&path, stop) {
            Ok(digest) => Ok(digest),
            Err(_) if stop.load(Ordering::Relaxed) => Err(Error::Interrupted),
            Err(cause) => Err(Error::Io {
                path: path.clone(),
                action: "read",
                cause,
            }),
        },
    )
}
