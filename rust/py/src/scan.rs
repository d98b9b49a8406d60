//! Scans: candidates in memory, a corpus streams by.

use std::path::PathBuf;
use std::sync::Arc;

use ngramscope_core::pass::{Progress, Stop, stop_at};
use ngramscope_core::query::Index;
use ngramscope_core::read::Corpus;
use ngramscope_core::scan::{Found, Scan, ScanOptions, ScanScore};
use ngramscope_core::tokenize::WordMode;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::batch::{OverlapBatch, signed};
use crate::build::{sources, to_json};
use crate::error::{read_to_python, to_python};
use crate::index::{PyIndex, name, path};
use crate::options::{QueryArguments, ReadArguments, RuleArguments, ScanArguments};
use crate::watch::{Watch, run};

/// A finished scan: rows of the candidates, batch by batch.
#[pyclass(frozen, name = "Scan", module = "ngramscope._core")]
pub struct PyScan {
    scan: Scan,
    names: Vec<String>,
    paths: Vec<PathBuf>,
    corpus_names: Vec<String>,
    fields: usize,
}

/// Columns of a scan beside those of an overlap table.
#[pyclass(frozen, get_all, module = "ngramscope._core")]
pub struct ScanBatch {
    /// Occurrences whose n-gram is in a document that is not the candidate's own.
    loo_hits: Py<PyArray1<i64>>,
    /// Documents of the candidate's own.
    own_documents: Py<PyArray1<i64>>,
    /// Those with exactly its text.
    exact_duplicates: Py<PyArray1<i64>>,
    /// Documents that share most: (source, position, line, id, shared, tested, own, duplicate) each.
    sources: Vec<Vec<Document>>,
    /// For each occurrence how often its n-gram occurs in the corpus.
    occurrences: Vec<Vec<u64>>,
    /// For each occurrence in how many documents.
    documents: Vec<Vec<u64>>,
}

type Document = (usize, u64, u64, Option<String>, u64, u64, bool, bool);

#[pymethods]
impl PyScan {
    /// Holds `candidates` and streams `corpus` by. With `index`, n-grams that it lacks are taken for absent, and its word rule holds.
    #[new]
    #[pyo3(signature = (candidates, corpus, read, corpus_read, rule, query, scan, index = None, progress = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all of them by name on the Python side"
    )]
    fn run(
        py: Python<'_>,
        candidates: Vec<PathBuf>,
        corpus: Vec<PathBuf>,
        read: ReadArguments,
        corpus_read: ReadArguments,
        rule: RuleArguments,
        query: QueryArguments,
        scan: ScanArguments,
        index: Option<PyRef<'_, PyIndex>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyScan> {
        let rule = rule.to_core(py)?;
        let index: Option<Arc<Index>> = index.map(|index| index.core());
        let ns = match &index {
            Some(index) => index
                .choose_ns(&query.n)
                .map_err(|error| to_python(py, error))?,
            None => query.n.clone(),
        };
        let ids = rule.mode == WordMode::Ids;
        let mut watch = Watch::new(progress);
        let candidates = sources(py, &candidates, &read, None, &mut watch)?;
        let corpus = sources(py, &corpus, &corpus_read, None, &mut watch)?;
        let names = candidates.iter().map(name).collect();
        let paths = candidates.iter().filter_map(path).collect();
        let corpus_names = corpus.iter().map(name).collect();
        let query = query.to_core(ns);
        let threads = ngramscope_core::pass::threads(query.threads);
        let open = |sources, read: &ReadArguments| {
            let mut read = read.to_core(ids);
            read.parallel_files = threads;
            Corpus::open(sources, read).map_err(|error| read_to_python(py, error))
        };
        let fields = read.fields();
        let (candidates, corpus) = (open(candidates, &read)?, open(corpus, &corpus_read)?);
        let options: ScanOptions = scan.to_core(query, rule);
        let outcome = py.detach(|| {
            let only = |n: u32, keys: &mut Vec<u64>, stop: Stop<'_>| match &index {
                Some(index) => index.retain(n, keys, stop),
                None => Ok(()),
            };
            Scan::run(
                candidates,
                corpus,
                options,
                index.is_some().then_some(&only),
                &mut |step| watch.tick(step),
            )
        });
        let scan = match (watch.take(), outcome) {
            (Some(raised), _) => return Err(raised),
            (None, outcome) => outcome.map_err(|error| to_python(py, error))?,
        };
        Ok(PyScan {
            scan,
            names,
            paths,
            corpus_names,
            fields,
        })
    }

    /// Names of the candidates' files.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Their paths.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    /// Names of the corpus's files.
    #[getter]
    fn corpus_sources(&self) -> Vec<String> {
        self.corpus_names.clone()
    }

    /// How many candidates there are, usable or not.
    fn __len__(&self) -> usize {
        self.scan.len()
    }

    /// Where the batch of candidates ends that begins with number `start`.
    fn batch_end(&self, start: usize) -> usize {
        self.scan.batch_end(start)
    }

    /// Rows of candidates `start` to `end`, one for each n.
    fn rows(
        &self,
        py: Python<'_>,
        start: usize,
        end: usize,
    ) -> PyResult<(OverlapBatch, ScanBatch)> {
        let end = end.min(self.scan.len());
        let rows = run(
            py,
            &mut Watch::new(None),
            || Progress::of("rows"),
            |stop| self.scan.rows(start.min(end)..end, &stop_at(stop)),
        )?;
        let (rows, scores): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Ok((
            OverlapBatch::new(py, rows, self.fields),
            ScanBatch::new(py, scores),
        ))
    }

    /// What was read of the candidates and of the corpus, as JSON.
    fn reports(&self) -> PyResult<(String, String)> {
        Ok((
            to_json(self.scan.candidates_report())?,
            to_json(&self.scan.corpus_report)?,
        ))
    }
}

impl ScanBatch {
    fn new(py: Python<'_>, scores: Vec<ScanScore>) -> ScanBatch {
        let count = |of: fn(&ScanScore) -> u64| {
            PyArray1::from_iter(py, scores.iter().map(|score| signed(of(score)))).unbind()
        };
        let document = |found: &Found| {
            (
                found.source,
                found.position,
                found.line,
                found.id.clone(),
                found.shared,
                found.tested,
                found.own,
                found.duplicate,
            )
        };
        ScanBatch {
            loo_hits: count(|score| score.loo_hits),
            own_documents: count(|score| score.own_documents),
            exact_duplicates: count(|score| score.exact_duplicates),
            sources: scores
                .iter()
                .map(|score| score.sources.iter().map(document).collect())
                .collect(),
            occurrences: scores
                .iter()
                .map(|score| score.occurrences.clone())
                .collect(),
            documents: scores.into_iter().map(|score| score.documents).collect(),
        }
    }
}
