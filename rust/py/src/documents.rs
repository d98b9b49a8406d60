//! Documents of a corpus, and digests of files, for what Python does with them.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use ngramscope_core::error::Error;
use ngramscope_core::pass::Progress as CoreProgress;
use ngramscope_core::read::{Block, Corpus, Record, digest_file};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::build::{sources, to_json};
use crate::error::read_to_python;
use crate::index::name;
use crate::options::ReadArguments;
use crate::watch::{Watch, run, step};

/// Documents with text that stand together in a source: a column an attribute.
#[pyclass(frozen, get_all, module = "ngramscope._core")]
#[derive(Default)]
pub struct DocumentBatch {
    /// The texts.
    text: Vec<String>,
    /// The ids as JSON texts.
    id: Vec<Option<String>>,
    /// Number of the record in its source, from 0; every record counts, usable or not.
    position: Vec<u64>,
    /// Line (table row) in its source, from 1.
    line: Vec<u64>,
    /// Number of the source.
    source: usize,
    /// Further fields as JSON texts: for each field a column.
    fields: Vec<Vec<Option<String>>>,
}

impl DocumentBatch {
    fn add(&mut self, record: &Record<'_>) {
        let Ok(text) = record.text else { return };
        self.text.push(text.to_owned());
        self.id.push(record.id.map(str::to_owned));
        self.position.push(record.position);
        self.line.push(record.line);
        for (column, field) in self.fields.iter_mut().zip(record.fields) {
            column.push(field.map(str::to_owned));
        }
    }
}

/// One pass over a corpus: an iterator of batches of documents, then a report.
#[pyclass(frozen, name = "Documents", module = "ngramscope._core")]
pub struct PyDocuments {
    pass: Mutex<Pass>,
    names: Vec<String>,
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
    fields: usize,
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
        let fields = to_core.fields.len();
        let names = sources.iter().map(name).collect();
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
            fields,
        };
        Ok(PyDocuments {
            pass: Mutex::new(pass),
            names,
        })
    }

    /// Names of the sources.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.names.clone()
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<DocumentBatch>> {
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
            fields,
        } = &mut *pass;
        let Some(open) = corpus.as_ref() else {
            return Ok(None);
        };
        let at = CoreProgress {
            documents: *documents,
            ..step("read", open.bytes_read(), *bytes_total, *started)
        };
        let batch = run(
            py,
            watch,
            || at.clone(),
            |_| {
                Ok(open.next_block(block).then(|| {
                    let mut batch = DocumentBatch {
                        source: block.source(),
                        fields: vec![Vec::new(); *fields],
                        ..DocumentBatch::default()
                    };
                    block.for_each(open, |record| batch.add(&record));
                    batch
                }))
            },
        );
        match batch {
            Ok(Some(batch)) => {
                *documents += batch.text.len() as u64;
                Ok(Some(batch))
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
            .ok_or_else(|| PyRuntimeError::new_err("the report comes after the last documents"))
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
