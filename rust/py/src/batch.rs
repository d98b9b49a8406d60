//! Scores as columns.

use ngramscope_core::query::{DocumentScore, Row};
use numpy::PyArray1;
use pyo3::prelude::*;

/// Rows of an overlap table, one for each document and n: a column an attribute.
#[pyclass(frozen, get_all, module = "ngramscope._core")]
pub struct OverlapBatch {
    /// The ids as JSON texts.
    id: Vec<Option<String>>,
    /// Number of the record in its source, from 0.
    position: Py<PyArray1<i64>>,
    /// Number of the source.
    source: Py<PyArray1<i32>>,
    /// n-gram length.
    n: Py<PyArray1<i32>>,
    /// Words of the document.
    words: Py<PyArray1<i64>>,
    /// n-gram occurrences.
    ngrams: Py<PyArray1<i64>>,
    /// Occurrences found.
    hits: Py<PyArray1<i64>>,
    /// Distinct n-grams.
    distinct_ngrams: Py<PyArray1<i64>>,
    /// Distinct n-grams found.
    distinct_hits: Py<PyArray1<i64>>,
    /// Most consecutive occurrences found.
    longest_run: Py<PyArray1<i64>>,
    /// Occurrences of n-grams that at least two documents have (two tiers).
    twice_hits: Py<PyArray1<i64>>,
    /// Taken for a document of the corpus (two tiers).
    in_corpus: Py<PyArray1<bool>>,
    /// Occurrences of n-grams that another document has (two tiers).
    loo_hits: Py<PyArray1<i64>>,
    /// Why there is no overlap.
    null_reason: Vec<Option<&'static str>>,
    /// A 0 or 1 for each occurrence, or with two tiers a 2.
    flags: Vec<Option<String>>,
    /// Covered ranges of code points.
    spans: Vec<Vec<(u64, u64)>>,
    /// How many ranges there are in all.
    spans_total: Py<PyArray1<i64>>,
    /// Texts of distinct n-grams found.
    matches: Vec<Vec<String>>,
    /// Further fields as JSON texts: for each field a column.
    fields: Vec<Vec<Option<String>>>,
}

impl OverlapBatch {
    /// Columns of `rows`, with `fields` further fields each.
    pub fn new(py: Python<'_>, mut rows: Vec<Row>, fields: usize) -> OverlapBatch {
        let mut columns: Vec<Vec<Option<String>>> = (0..fields)
            .map(|_| Vec::with_capacity(rows.len()))
            .collect();
        for row in &mut rows {
            for (column, field) in columns.iter_mut().zip(row.fields.drain(..)) {
                column.push(field);
            }
        }
        let count = |of: fn(&DocumentScore) -> u64| {
            PyArray1::from_iter(py, rows.iter().map(|row| signed(of(&row.score)))).unbind()
        };
        OverlapBatch {
            position: PyArray1::from_iter(py, rows.iter().map(|row| signed(row.position))).unbind(),
            source: PyArray1::from_iter(py, rows.iter().map(|row| row.source as i32)).unbind(),
            n: PyArray1::from_iter(py, rows.iter().map(|row| row.score.n as i32)).unbind(),
            words: count(|score| score.words),
            ngrams: count(|score| score.ngrams),
            hits: count(|score| score.hits),
            distinct_ngrams: count(|score| score.distinct_ngrams),
            distinct_hits: count(|score| score.distinct_hits),
            longest_run: count(|score| score.longest_run),
            twice_hits: count(|score| score.twice_hits),
            in_corpus: PyArray1::from_iter(py, rows.iter().map(|row| row.score.in_corpus)).unbind(),
            loo_hits: count(DocumentScore::loo_hits),
            spans_total: count(|score| score.spans_total),
            null_reason: rows.iter().map(|row| row.null_reason).collect(),
            id: rows.iter_mut().map(|row| row.id.take()).collect(),
            flags: rows.iter_mut().map(|row| row.score.flags.take()).collect(),
            spans: rows
                .iter_mut()
                .map(|row| std::mem::take(&mut row.score.spans))
                .collect(),
            matches: rows
                .iter_mut()
                .map(|row| std::mem::take(&mut row.score.matches))
                .collect(),
            fields: columns,
        }
    }
}

/// Counts of anything that fits a machine fit 63 bits; numpy's own sums are signed.
pub fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
