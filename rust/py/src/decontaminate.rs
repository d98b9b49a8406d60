//! Texts judged against a reference.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ngramscope_core::decontaminate::{
    Decontamination, Items, Part, Reference, RowFormat, Settings,
};
use ngramscope_core::error::Error;
use ngramscope_core::pass::Progress as CoreProgress;
use ngramscope_core::read::{Corpus, ReadOptions, Source, container};
use ngramscope_core::tokenize::WordMode;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::build::{sources, to_json};
use crate::error::{read_to_python, to_python, usage};
use crate::index::{PyIndex, name, path};
use crate::options::{DecontaminationArguments, ReadArguments, RuleArguments};
use crate::watch::{Watch, run, step};

/// One pass over texts: an iterator of parts, then a report.
#[pyclass(frozen, name = "Decontamination", module = "ngramscope._core")]
pub struct PyDecontamination {
    names: Vec<String>,
    paths: Vec<PathBuf>,
    reference_names: Vec<String>,
    fields: Vec<String>,
    n: u32,
    pass: Mutex<Pass>,
}

struct Pass {
    /// None once the last part is out.
    run: Option<Decontamination>,
    watch: Watch,
    report: Option<String>,
    reference: String,
    unprotected: Vec<Unprotected>,
    documents: u64,
    bytes_total: u64,
    started: Instant,
}

/// An item of the reference that protects nothing: source, line, id, words, reason.
type Unprotected = (usize, u64, Option<String>, u64, &'static str);

/// A block of texts, judged.
#[pyclass(frozen, get_all, module = "ngramscope._core")]
pub struct DecontaminatedPart {
    /// Number of the source.
    source: usize,
    /// The rows as JSON Lines.
    rows: Py<PyBytes>,
    /// The records written out again, if they are not rows of a table.
    clean: Option<Py<PyBytes>>,
    /// For each contaminated record: position, rule, removal, code points removed, its new text if it is a cut row of a table.
    contaminated: Vec<Contaminated>,
    /// Records, and those that cannot be judged, by reason.
    records: u64,
    unjudged: Vec<&'static str>,
    /// Code points removed.
    removed: u64,
}

type Contaminated = (u64, &'static str, Option<&'static str>, Option<String>);

#[pymethods]
impl PyDecontamination {
    /// Reads the reference, counts documents if the rules ask for it, and opens the texts.
    #[new]
    #[pyo3(signature = (texts, read, rules, rule, *, remove, evidence, all_rows, clean, threads = None, reference = None,
                        reference_read = None, index = None, progress = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all of them by name on the Python side"
    )]
    fn open(
        py: Python<'_>,
        texts: Vec<PathBuf>,
        read: ReadArguments,
        rules: DecontaminationArguments,
        rule: RuleArguments,
        remove: &str,
        evidence: usize,
        all_rows: bool,
        clean: bool,
        threads: Option<usize>,
        reference: Option<Vec<PathBuf>>,
        reference_read: Option<ReadArguments>,
        index: Option<PyRef<'_, PyIndex>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyDecontamination> {
        let rule = rule.to_core(py)?;
        let ids = rule.mode == WordMode::Ids;
        let settings = Settings {
            evidence,
            all_rows,
            rewrite: clean,
            threads,
            ..rules.to_core(py, rule, remove)?
        };
        let mut watch = Watch::new(progress);
        let fail = |error| to_python(py, error);
        let texts = sources(py, &texts, &read, None, &mut watch)?;
        let names = texts.iter().map(name).collect();
        let paths = texts.iter().filter_map(path).collect();
        let again: Option<Vec<Source>> = settings.max_documents.map(|_| copies(&texts)).transpose().map_err(|name| {
            usage(
                py,
                &format!("--max-documents: {name} can be read only once, but documents are counted in a first reading; give a file"),
            )
        })?;
        let open = |sources, read: ReadOptions| {
            Corpus::open(sources, read).map_err(|error| read_to_python(py, error))
        };
        let with = |read: &ReadArguments| ReadOptions {
            parallel_files: ngramscope_core::pass::threads(threads),
            fields: Vec::new(),
            ..read.to_core(ids)
        };
        let mut reference_names = Vec::new();
        let (mut reference_report, mut unprotected) = ("null".to_string(), Vec::new());
        let reference = match (reference, index) {
            (Some(paths), _) => {
                let read_as = reference_read.as_ref().unwrap_or(&read);
                let found = sources(py, &paths, read_as, None, &mut watch)?;
                reference_names = found.iter().map(name).collect();
                let corpus = open(found, with(read_as))?;
                let counting = again.map(|again| open(again, with(&read))).transpose()?;
                let outcome = py.detach(|| {
                    let mut items = Items::read(corpus, &settings, &mut |step| watch.tick(step))?;
                    if let Some(corpus) = counting {
                        items.count_documents(corpus, &settings, &mut |step| watch.tick(step))?;
                    }
                    Ok::<_, Error>(items)
                });
                let items = match watch.take() {
                    Some(raised) => return Err(raised),
                    None => outcome.map_err(fail)?,
                };
                unprotected = items
                    .list
                    .iter()
                    .filter_map(|item| {
                        let why = item.unprotected?;
                        Some((item.source, item.line, item.id.clone(), item.words, why))
                    })
                    .collect();
                reference_report = to_json(&serde_json::json!({
                    "read": items.report,
                    "items": items.list.len(),
                    "ngrams": items.set.table.len(),
                    "common_ngrams": items.common(),
                }))?;
                Reference::Exact(Box::new(items))
            }
            (None, Some(index)) => Reference::index(index.core(), &settings).map_err(fail)?,
            (None, None) => {
                return Err(usage(
                    py,
                    "no reference: give --reference FILES or --index DIR",
                ));
            }
        };
        let fields = read.field_names().to_vec();
        let corpus = open(
            texts,
            ReadOptions {
                stop: watch.stop_flag(),
                ..read.to_core(ids)
            },
        )?;
        Ok(PyDecontamination {
            names,
            paths,
            reference_names,
            fields,
            n: settings.units.n,
            pass: Mutex::new(Pass {
                bytes_total: corpus.bytes_total(),
                run: Some(Decontamination::new(corpus, reference, settings)),
                watch,
                report: None,
                reference: reference_report,
                unprotected,
                documents: 0,
                started: Instant::now(),
            }),
        })
    }

    /// Names of the texts' sources.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Paths of those that are files.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    /// Names of the reference's sources.
    #[getter]
    fn reference_sources(&self) -> Vec<String> {
        self.reference_names.clone()
    }

    /// What was read of the reference, as JSON; null for an index.
    #[getter]
    fn reference_report(&self) -> String {
        self.pass().reference.clone()
    }

    /// Items of the reference that protect nothing: source, line, id, words, reason.
    #[getter]
    fn unprotected(&self) -> Vec<Unprotected> {
        self.pass().unprotected.clone()
    }

    /// The next parts, their rows with ids and evidence as JSON texts if `flat`; None at the end.
    fn next_parts(&self, py: Python<'_>, flat: bool) -> PyResult<Option<Vec<DecontaminatedPart>>> {
        let mut pass = self.pass();
        let Pass {
            run: open,
            watch,
            report,
            documents,
            bytes_total,
            started,
            ..
        } = &mut *pass;
        let Some(running) = open.as_mut() else {
            return Ok(None);
        };
        let at = CoreProgress {
            documents: *documents,
            ..step(
                "decontaminate",
                running.bytes_read(),
                *bytes_total,
                *started,
            )
        };
        let format = RowFormat {
            n: self.n,
            sources: if self.names.len() > 1 {
                &self.names
            } else {
                &[]
            },
            reference_sources: &self.reference_names,
            fields: &self.fields,
            flat,
        };
        let outcome = run(
            py,
            watch,
            || at.clone(),
            |stop| {
                let parts = running.next_parts(&|| stop.load(Ordering::Relaxed))?;
                let written = parts.map(|parts| {
                    let rows = |part: &Part| {
                        let mut lines = Vec::new();
                        for row in &part.rows {
                            format.write(row, running.reference(), &mut lines);
                        }
                        lines
                    };
                    parts
                        .into_iter()
                        .map(|part| (rows(&part), part))
                        .collect::<Vec<_>>()
                });
                Ok(written)
            },
        );
        match outcome {
            Ok(Some(parts)) => {
                let parts: Vec<DecontaminatedPart> = parts
                    .into_iter()
                    .map(|(lines, part)| DecontaminatedPart::new(py, &lines, part))
                    .collect();
                *documents += parts.iter().map(|part| part.records).sum::<u64>();
                Ok(Some(parts))
            }
            Ok(None) => {
                if let Some(finished) = open.take() {
                    let read = py
                        .detach(|| finished.finish())
                        .map_err(|error| to_python(py, error))?;
                    *report = Some(to_json(&read)?);
                }
                Ok(None)
            }
            Err(error) => {
                *open = None;
                Err(error)
            }
        }
    }

    /// What was read of the texts, as JSON.
    fn report(&self) -> PyResult<String> {
        self.pass()
            .report
            .clone()
            .ok_or_else(|| PyRuntimeError::new_err("the report comes after the last part"))
    }
}

impl PyDecontamination {
    fn pass(&self) -> MutexGuard<'_, Pass> {
        self.pass.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DecontaminatedPart {
    fn new(py: Python<'_>, lines: &[u8], part: Part) -> DecontaminatedPart {
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
        DecontaminatedPart {
            source: part.source,
            rows: bytes(lines),
            clean: part.bytes.as_deref().map(bytes),
            records: part.records,
            unjudged: part.unjudged,
            removed: part.rows.iter().map(|row| row.verdict.removed).sum(),
            contaminated: part
                .rows
                .into_iter()
                .filter_map(|row| {
                    let why = row.verdict.why?;
                    let removal = row.verdict.removal.map(|removal| removal.name());
                    Some((row.position, why.name(), removal, row.text))
                })
                .collect(),
        }
    }
}

/// The sources once more; a name that can be read only once is the error.
fn copies(sources: &[Source]) -> Result<Vec<Source>, String> {
    sources
        .iter()
        .map(|source| match source {
            Source::File(file) => Ok(Source::File(file.clone())),
            Source::Remote(remote) => Ok(Source::Remote(remote.clone())),
            Source::Stream(name, _) => Err(name.clone()),
        })
        .collect()
}

/// What a file has to be written back as: parquet, arrow file, arrow stream, zip, the name of a compression, or plain.
#[pyfunction(name = "container")]
pub fn container_of(path: PathBuf) -> PyResult<&'static str> {
    Ok(container(&path)?)
}
