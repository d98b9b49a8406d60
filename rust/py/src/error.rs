//! Errors of the core as the exceptions of `ngramscope.errors`.

use ngramscope_core::error::{Category, Error};
use ngramscope_core::read::ReadError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The exception for `error`.
pub fn to_python(py: Python<'_>, error: Error) -> PyErr {
    let class = match error.category() {
        Category::Usage => "UsageError",
        Category::Input => "InputError",
        Category::Index if matches!(error, Error::Mismatch { .. }) => "MismatchError",
        Category::Index => "IndexFormatError",
        Category::System => "ResourceError",
        Category::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    raise(py, class, &error.to_string())
}

/// The exception for an error of reading.
pub fn read_to_python(py: Python<'_>, error: ReadError) -> PyErr {
    to_python(py, Error::Read(error))
}

/// A `UsageError`.
pub fn usage(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "UsageError", message)
}

/// The classes live in Python, where they are documented and typed; they are looked up when one is needed.
fn raise(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let error = || {
        let class = py.import("ngramscope.errors")?.getattr(class)?;
        class.call1((PyString::new(py, message),))
    };
    match error() {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}
