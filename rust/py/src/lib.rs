//! The thin binding that becomes `ngramscope._core`: it converts, detaches from the interpreter and maps errors.
use pyo3::prelude::*;

/// The compiled core of ngramscope.
#[pymodule]
fn _core(_m: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
