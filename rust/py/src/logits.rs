//! Statistics of tokens from logits.

use ngramscope_core::logits;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Statistics of each row's token, by name.
#[pyfunction]
pub fn logit_statistics<'py>(
    py: Python<'py>,
    logits: PyReadonlyArray2<'py, f32>,
    targets: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let [rows, width] = [logits.shape()[0], logits.shape()[1]];
    let values = logits
        .as_slice()
        .map_err(|_| PyValueError::new_err("logits are not contiguous"))?;
    let targets: Vec<usize> = targets
        .as_array()
        .iter()
        .map(|&target| usize::try_from(target).unwrap_or(usize::MAX))
        .collect();
    if targets.len() != rows || targets.iter().any(|&target| target >= width) {
        return Err(PyValueError::new_err(
            "targets are one token of the vocabulary a row",
        ));
    }
    let found = py.detach(|| logits::logit_statistics(values, &targets, threads));
    let columns = PyDict::new(py);
    let column = |name: &str, value: fn(&logits::LogitStatistics) -> f32| {
        columns.set_item(name, PyArray1::from_iter(py, found.iter().map(value)))
    };
    column("log_prob", |each| each.log_prob)?;
    column("mu", |each| each.mu)?;
    column("sigma", |each| each.sigma)?;
    column("top1_log_prob", |each| each.top1_log_prob)?;
    column("logsumexp", |each| each.logsumexp)?;
    let ranks = found.iter().map(|each| each.rank);
    columns.set_item("rank", PyArray1::from_iter(py, ranks))?;
    Ok(columns)
}
