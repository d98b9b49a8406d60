//! The thin binding that becomes `ngramscope._core`: it converts, detaches from the interpreter and maps errors.

mod batch;
mod build;
mod decontaminate;
mod documents;
mod error;
mod index;
mod logits;
mod options;
mod remote;
mod scan;
mod stream;
mod text;
mod watch;

use ngramscope_core::filter::FilterKind;
use ngramscope_core::points::CodePoints;
use ngramscope_core::read::ReadOptions;
use ngramscope_core::shard::FORMAT_VERSION;
use ngramscope_core::tokenize::Tokenizer;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Bounds of the words of `text`, in code points.
#[pyfunction]
fn words(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    rule: options::RuleArguments,
) -> PyResult<Vec<(u64, u64)>> {
    let rule = rule.to_core(py)?;
    let text = text::to_utf8(text)?;
    let mut spans = Vec::new();
    let mut tokenizer =
        Tokenizer::try_new(rule).map_err(|cause| error::to_python(py, cause.into()))?;
    py.detach(|| tokenizer.spans(&text, &mut spans));
    let mut points = CodePoints::new(&text);
    Ok(spans
        .iter()
        .map(|span| (points.at(span.start), points.at(span.end)))
        .collect())
}

/// The compiled core of ngramscope.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let reading = ReadOptions::default();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FORMAT_VERSION", FORMAT_VERSION)?;
    module.add(
        "WORD_MODES",
        PyTuple::new(py, options::WORD_MODES.map(|(name, _)| name))?,
    )?;
    module.add(
        "NORMALIZATIONS",
        PyTuple::new(py, options::NORMALIZATIONS.map(|(name, _)| name))?,
    )?;
    module.add(
        "FILTER_KINDS",
        PyTuple::new(py, FilterKind::ALL.map(FilterKind::name))?,
    )?;
    for (name, names) in [
        ("UNITS", options::UNITS.map(|(name, _)| name).as_slice()),
        ("CUTS", &options::CUTS.map(|(name, _)| name)),
        ("REMOVALS", &options::MODES.map(|(name, _)| name)),
    ] {
        module.add(name, PyTuple::new(py, names)?)?;
    }
    module.add("MAX_N", ngramscope_core::ngram::MAX_N)?;
    module.add("MAX_SHARDS", ngramscope_core::build::MAX_SHARDS)?;
    module.add("MAX_RECORD_SIZE", reading.max_record_bytes)?;
    module.add("MAX_WINDOW_LOG", reading.max_window_log)?;
    module.add("MAX_COLUMN_CHUNK", reading.max_column_chunk_bytes)?;
    module.add_class::<index::PyIndex>()?;
    module.add_class::<index::PyOverlapStream>()?;
    module.add_class::<batch::OverlapBatch>()?;
    module.add_class::<scan::PyScan>()?;
    module.add_class::<scan::ScanBatch>()?;
    module.add_class::<decontaminate::PyDecontamination>()?;
    module.add_class::<decontaminate::DecontaminatedPart>()?;
    module.add_class::<documents::PyDocuments>()?;
    module.add_class::<documents::DocumentBatch>()?;
    module.add_class::<watch::Progress>()?;
    module.add_function(wrap_pyfunction!(documents::digest, module)?)?;
    module.add_function(wrap_pyfunction!(build::build_index, module)?)?;
    module.add_function(wrap_pyfunction!(build::plan_index, module)?)?;
    module.add_function(wrap_pyfunction!(build::plan_sized, module)?)?;
    module.add_function(wrap_pyfunction!(build::sample_corpus, module)?)?;
    module.add_function(wrap_pyfunction!(build::insertion_rate, module)?)?;
    module.add_function(wrap_pyfunction!(build::merge_indexes, module)?)?;
    module.add_function(wrap_pyfunction!(build::find, module)?)?;
    module.add_function(wrap_pyfunction!(build::check_output, module)?)?;
    module.add_function(wrap_pyfunction!(build::count, module)?)?;
    module.add_function(wrap_pyfunction!(build::layout, module)?)?;
    module.add_function(wrap_pyfunction!(decontaminate::container_of, module)?)?;
    module.add_function(wrap_pyfunction!(build::unfinished, module)?)?;
    module.add_function(wrap_pyfunction!(logits::logit_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(words, module)?)
}
