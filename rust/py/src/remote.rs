//! Sources that Python brings: the objects that `ngramscope.corpus.remote.find` makes of a name with a scheme (`https://...`).
//!
//! Python works on threads of its own and is asked again and again whether something has come, so that a slow server does not
//! outlive Ctrl-C.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ngramscope_core::read::{FileFault, ReadError, Remote, Wanted};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::read_to_python;

/// How long Python may wait for bytes before it says that there are none yet, in seconds.
const WAIT: f64 = 0.05;

/// The objects for `name`, or none if it is the name of a file: one for each file that the name stands for.
pub fn find(
    py: Python<'_>,
    name: &str,
    wanted: &Wanted,
    stop: &Arc<AtomicBool>,
) -> PyResult<Option<Vec<Arc<dyn Remote>>>> {
    if !name.contains("://") {
        return Ok(None);
    }
    let found: Vec<Bound<'_, PyAny>> = py
        .import("ngramscope.corpus.remote")?
        .call_method1("find", (name,))?
        .extract()?;
    let mut sources: Vec<Arc<dyn Remote>> = Vec::new();
    for object in &found {
        let below: PathBuf = object.getattr("below")?.extract()?;
        if !wanted.takes(&below) {
            continue;
        }
        let remote = PyRemote {
            name: object.getattr("name")?.extract()?,
            bytes: object.getattr("size")?.extract()?,
            at_any_place: object.getattr("ranges")?.extract()?,
            object: object.clone().unbind(),
            stop: Arc::clone(stop),
        };
        sources.push(Arc::new(remote));
    }
    if sources.is_empty() {
        let why = format!(
            "of {} files in {name}, include and exclude patterns leave none",
            found.len()
        );
        return Err(read_to_python(py, ReadError::NoInput { why }));
    }
    Ok(Some(sources))
}

struct PyRemote {
    object: Py<PyAny>,
    name: String,
    bytes: Option<u64>,
    at_any_place: bool,
    stop: Arc<AtomicBool>,
}

impl PyRemote {
    /// Begins a transfer: all bytes, or so many from a place.
    fn transfer(&self, part: Option<(u64, usize)>) -> io::Result<Transfer> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let chunks = match part {
                None => object.call_method0("stream"),
                Some((offset, length)) => object.call_method1("part", (offset, length)),
            };
            Ok(Transfer {
                chunks: chunks.map_err(|error| fault(py, &error))?.unbind(),
                chunk: Vec::new(),
                at: 0,
                ended: false,
                stop: Arc::clone(&self.stop),
            })
        })
    }
}

impl Remote for PyRemote {
    fn name(&self) -> &str {
        &self.name
    }

    fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    fn at_any_place(&self) -> bool {
        self.at_any_place
    }

    fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.transfer(None)?))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.transfer(Some((offset, out.len())))?.read_exact(out)
    }
}

/// Bytes on their way.
struct Transfer {
    chunks: Py<PyAny>,
    chunk: Vec<u8>,
    at: usize,
    ended: bool,
    stop: Arc<AtomicBool>,
}

impl Transfer {
    /// Takes the next chunk; an empty one is the end.
    fn next(&mut self) -> io::Result<()> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                // Not `Interrupted`: readers retry on that.
                return Err(io::Error::other("stopped"));
            }
            let came = Python::attach(|py| {
                let next = self.chunks.bind(py).call_method1("next", (WAIT,));
                match next.and_then(|next| Ok(next.extract::<Option<Bound<'_, PyBytes>>>()?)) {
                    Ok(None) => Ok(false),
                    Ok(Some(bytes)) => {
                        self.chunk.clear();
                        self.chunk.extend_from_slice(bytes.as_bytes());
                        self.at = 0;
                        Ok(true)
                    }
                    Err(error) => Err(fault(py, &error)),
                }
            })?;
            if came {
                return Ok(());
            }
        }
    }
}

impl Read for Transfer {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() && !self.ended {
            self.next()?;
            self.ended = self.chunk.is_empty();
        }
        let from = &self.chunk[self.at..];
        let got = from.len().min(out.len());
        out[..got].copy_from_slice(&from[..got]);
        self.at += got;
        Ok(got)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        // An error would be one of ending early, which nobody waits for.
        let _ = Python::try_attach(|py| self.chunks.bind(py).call_method0("close").map(drop));
    }
}

/// What Python raised, as the core's fault: `ngramscope.corpus.remote.ChangedError` tells of other bytes than before.
fn fault(py: Python<'_>, error: &PyErr) -> io::Error {
    let text = error.value(py).to_string();
    let changed = error
        .get_type(py)
        .name()
        .is_ok_and(|name| name == "ChangedError");
    FileFault::from(if changed {
        io::Error::from(FileFault::Changed(text))
    } else {
        io::Error::other(text)
    })
    .into()
}
