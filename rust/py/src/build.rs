//! Building.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use ngramscope_core::build;
use ngramscope_core::error::Error;
use ngramscope_core::manifest::Sizing;
use ngramscope_core::read::{self, Source, Wanted};
use ngramscope_core::sketch::Sketch;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;
use crate::options::{BuildArguments, MergeArguments, ReadArguments};
use crate::remote;
use crate::stream::{StoppableReader, is_readable};
use crate::watch::{Watch, run, step};

/// Standard input among the paths, and in messages and reports.
const STANDARD_INPUT: &str = "-";
const STANDARD_INPUT_NAME: &str = "standard input";

/// A descriptor to read JSON Lines from, and its name in messages.
pub type Stream = (i32, String);

/// Builds an index of `paths` and `stream` in the folder `out`; returns the summary as JSON.
#[pyfunction(name = "build")]
#[pyo3(signature = (paths, out, options, *, progress = None, stream = None))]
pub fn build_index(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    out: PathBuf,
    options: BuildArguments,
    progress: Option<Py<PyAny>>,
    stream: Option<Stream>,
) -> PyResult<String> {
    let mut watch = Watch::new(progress);
    let sources = sources(py, &paths, &options.read, stream, &mut watch)?;
    let options = options.to_core(py)?;
    let outcome = py.detach(|| build::build(sources, &out, &options, &mut |step| watch.tick(step)));
    finish(py, watch, outcome)
}

/// Counts the n-grams of `paths` and chooses the geometry of their index; returns it with what it takes as JSON.
#[pyfunction(name = "plan")]
#[pyo3(signature = (paths, options, *, progress = None))]
pub fn plan_index(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: BuildArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut watch = Watch::new(progress);
    let sources = sources(py, &paths, &options.read, None, &mut watch)?;
    let options = options.to_core(py)?;
    let outcome = py.detach(|| build::plan(sources, &options, &mut |step| watch.tick(step)));
    finish(py, watch, outcome)
}

/// Names and sizes of the files that are found under `paths`.
#[pyfunction]
#[pyo3(signature = (paths, read, *, progress = None))]
pub fn find(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: ReadArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, u64)>> {
    let found = sources(py, &paths, &read, None, &mut Watch::new(progress))?;
    let file = |source: &Source| match source {
        Source::File(file) => Some((file.name.clone(), file.bytes)),
        Source::Stream(..) | Source::Remote(_) => None,
    };
    Ok(found.iter().filter_map(file).collect())
}

/// Raises when no index can be built in the folder `out`; returns what the user should know of it.
#[pyfunction]
pub fn check_output(py: Python<'_>, out: PathBuf, force: bool) -> PyResult<Vec<String>> {
    build::check_output(&out, force).map_err(|error| error::to_python(py, error))
}

/// Sketches the distinct n-grams of `paths`, or of the part that the options name; returns the registers for each n.
#[pyfunction]
#[pyo3(signature = (paths, options, *, progress = None))]
pub fn count<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    options: BuildArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let mut watch = Watch::new(progress);
    let sources = sources(py, &paths, &options.read, None, &mut watch)?;
    let options = options.to_core(py)?;
    let outcome = py.detach(|| build::count(sources, &options, &mut |step| watch.tick(step)));
    match (watch.take(), outcome) {
        (Some(raised), _) => Err(raised),
        (None, Ok(sketches)) => Ok(sketches
            .iter()
            .map(|sketch| PyBytes::new(py, sketch.registers()))
            .collect()),
        (None, Err(error)) => Err(error::to_python(py, error)),
    }
}

/// The content of a plan file for a corpus of whose parts `count` has given the registers.
#[pyfunction]
pub fn layout(
    py: Python<'_>,
    counts: Vec<Vec<Vec<u8>>>,
    options: BuildArguments,
) -> PyResult<String> {
    let options = options.to_core(py)?;
    let sketches = |part: Vec<Vec<u8>>| part.into_iter().map(Sketch::of_registers).collect();
    let parts: Option<Vec<Vec<Sketch>>> = counts.into_iter().map(sketches).collect();
    let parts = parts.ok_or_else(|| error::usage(py, "these are no registers of a count"))?;
    let layout = build::layout(&parts, &options).map_err(|error| error::to_python(py, error))?;
    Ok(layout.to_json())
}

/// Chooses the geometry for the given numbers of n-grams, one for each n in ascending order: (predicted, to size for).
#[pyfunction]
pub fn plan_sized(
    py: Python<'_>,
    options: BuildArguments,
    ngrams: Vec<(f64, u64)>,
) -> PyResult<String> {
    let options = options.to_core(py)?;
    let sizing = |(ngrams, sized_for)| Sizing {
        method: "predicted".into(),
        ngrams,
        standard_error: None,
        sized_for,
    };
    let sizings: Vec<Sizing> = ngrams.into_iter().map(sizing).collect();
    let plan =
        build::plan_sized(&options, &sizings).map_err(|cause| error::to_python(py, cause))?;
    to_json(&plan)
}

/// Counts a sample of `size` of `paths`, drawn by `seed`; returns what it had as JSON. Nothing where there is no
/// more than that, or standard input, of which no sample can be drawn.
#[pyfunction(name = "sample")]
#[pyo3(signature = (paths, size, seed, options, *, progress = None))]
pub fn sample_corpus(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    size: SampleSize,
    seed: u64,
    options: BuildArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<String>> {
    let mut watch = Watch::new(progress);
    let sources = sources(py, &paths, &options.read, None, &mut watch)?;
    let options = options.to_core(py)?;
    if sources
        .iter()
        .any(|source| matches!(source, Source::Stream(..)))
    {
        return Ok(None);
    }
    let total: Option<u64> = sources.iter().map(Source::bytes).sum();
    let bytes = match (size, total) {
        (SampleSize::Bytes(bytes), _) => Some(bytes),
        (SampleSize::Share(share), total) => {
            total.map(|total| (total as f64 * share).ceil() as u64)
        }
    };
    if total.is_some_and(|total| bytes.is_some_and(|bytes| bytes >= total)) {
        return Ok(None);
    }
    let mut files = Vec::new();
    for source in sources {
        let Source::File(file) = source else {
            let advice = "only files of this machine can be sampled; give --count to read all of it, or --expected-ngrams";
            return Err(error::usage(py, &format!("{}: {advice}", source.name())));
        };
        files.push(file);
    }
    let bytes = bytes.expect("the size of files is known");
    let outcome =
        py.detach(|| build::sample(&files, bytes, seed, &options, &mut |step| watch.tick(step)));
    finish(py, watch, outcome).map(Some)
}

/// How much of a corpus a sample has.
#[derive(FromPyObject)]
pub enum SampleSize {
    /// Bytes of its files.
    Bytes(u64),
    /// A share of them.
    Share(f64),
}

/// n-gram occurrences that this machine inserts in a second with these options.
#[pyfunction]
pub fn insertion_rate(py: Python<'_>, options: BuildArguments) -> PyResult<f64> {
    let options = options.to_core(py)?;
    py.detach(|| build::insertion_rate(&options))
        .map_err(|cause| error::to_python(py, cause))
}

/// Merges the indexes in the folders `parts` into one in the folder `out`; returns the summary as JSON.
#[pyfunction(name = "merge")]
#[pyo3(signature = (parts, out, options, *, progress = None))]
pub fn merge_indexes(
    py: Python<'_>,
    parts: Vec<PathBuf>,
    out: PathBuf,
    options: MergeArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut watch = Watch::new(progress);
    let options = options.to_core();
    let outcome = py.detach(|| build::merge(&parts, &out, &options, &mut |step| watch.tick(step)));
    finish(py, watch, outcome)
}

/// The folder of the unfinished build of `out`, if there is one that ``--resume`` continues.
#[pyfunction]
pub fn unfinished(out: PathBuf) -> Option<String> {
    build::unfinished(&out).map(|folder| folder.display().to_string())
}

fn finish(
    py: Python<'_>,
    mut watch: Watch,
    outcome: ngramscope_core::Result<impl serde::Serialize>,
) -> PyResult<String> {
    match (watch.take(), outcome) {
        (Some(raised), _) => Err(raised),
        (None, Ok(summary)) => to_json(&summary),
        (None, Err(error)) => Err(error::to_python(py, error)),
    }
}

/// What `paths` stand for: remote sources, files, standard input; and `stream`.
pub fn sources(
    py: Python<'_>,
    paths: &[PathBuf],
    read: &ReadArguments,
    stream: Option<Stream>,
    watch: &mut Watch,
) -> PyResult<Vec<Source>> {
    let started = Instant::now();
    let (standard_input, files): (Vec<PathBuf>, Vec<PathBuf>) = paths
        .iter()
        .cloned()
        .partition(|path| path.as_os_str() == STANDARD_INPUT);
    if standard_input.len() > 1 {
        return Err(error::usage(
            py,
            "standard input (-) is named twice; it can be read once",
        ));
    }
    if !standard_input.is_empty() && !is_readable(0) {
        return Err(error::usage(
            py,
            "standard input is closed; give it a file or a pipe to read, or name files instead of -",
        ));
    }
    if paths.iter().any(|path| path.as_os_str().is_empty()) {
        return Err(error::usage(
            py,
            "a file name is empty; name a file or folder",
        ));
    }
    let mut sources = Vec::new();
    let mut local = Vec::new();
    let mut named = HashSet::new();
    let wanted = Wanted::new(&read.include, &read.exclude)
        .map_err(|error| error::read_to_python(py, error))?;
    for file in files {
        let name = file.to_string_lossy();
        if !named.insert(file.clone()) {
            continue; // a source is read once, however often it is named
        }
        match remote::find(py, &name, &wanted, &watch.stop_flag())? {
            Some(found) => sources.extend(found.into_iter().map(Source::Remote)),
            None => local.push(file),
        }
    }
    if !local.is_empty() {
        let found = run(
            py,
            watch,
            || step("find", 0, 0, started),
            |stop| {
                let stop = || stop.load(Ordering::Relaxed);
                Ok(read::discover_until(
                    &local,
                    &read.include,
                    &read.exclude,
                    &stop,
                )?)
            },
        )?;
        sources.extend(found.into_iter().map(Source::File));
    }
    let streams = standard_input
        .first()
        .map(|_| (0, STANDARD_INPUT_NAME.to_string()))
        .into_iter()
        .chain(stream);
    for (descriptor, name) in streams {
        let reader = StoppableReader::new(descriptor, watch.stop_flag()).map_err(|cause| {
            let path = Path::new(&name).to_path_buf();
            error::to_python(
                py,
                Error::Io {
                    path,
                    action: "read",
                    cause,
                },
            )
        })?;
        sources.push(Source::Stream(name, Box::new(reader)));
    }
    Ok(sources)
}

/// Plain data of the core as JSON text.
pub fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|cause| PyRuntimeError::new_err(cause.to_string()))
}
