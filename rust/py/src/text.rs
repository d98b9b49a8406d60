//! Python strings as UTF-8.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The text of `string`. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD, as it does in files.
pub fn to_utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = string.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = string
        .call_method1("encode", ("utf-16-le", "surrogatepass"))?
        .cast_into::<PyBytes>()?;
    let units = bytes
        .as_bytes()
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    Ok(Cow::Owned(
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    ))
}
