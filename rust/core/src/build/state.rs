//! What is known of an unfinished build: `state.json` in its folder, replaced as a whole by every checkpoint.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::BuildOptions;
use super::layout::Layout;
use super::walk::Inserted;
use super::written::Written;
use crate::error::{Error, Result};
use crate::manifest::WordSettings;
use crate::read::{InputFile, Position, ReadOptions, ReadReport};
use crate::sketch::Sketch;

const FORMAT: &str = "ngramscope-build-state";
const VERSION: u32 = 1;
/// How many changes a message lists.
const LISTED: usize = 3;

/// An unfinished build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    format: String,
    format_version: u32,
    /// What decides the index, as options are spelled.
    settings: BTreeMap<String, String>,
    pub inputs: Vec<Input>,
    /// Geometry and memory for passes, once they are known.
    pub planned: Option<Planned>,
    /// Of the first pass over the inputs.
    pub report: Option<ReadReport>,
    /// Inserting passes that are done, and what the last one counted.
    pub passes: u32,
    pub inserted: Inserted,
    pub written: Written,
    /// Where the pass after those stands; before `planned`, the counting one.
    pub checkpoint: Option<Checkpoint>,
    /// Number of the last checkpoint.
    pub last: u64,
    /// All is written, and the files are getting their final names.
    pub commit: Option<Commit>,
}

/// A file to index, as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    name: String,
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: i64,
}

/// What was decided before inserting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    pub layout: Layout,
    pub memory: u64,
}

/// A consistent cut through a pass: exactly the blocks of `position` have been counted or inserted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Names the files of the ranges.
    pub number: u64,
    pub position: Position,
    pub inserted: Inserted,
    /// Of a counting pass.
    pub sketches: Option<Vec<Sketch>>,
}

/// The last step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    pub content_id: String,
    /// Final names, in the order of sets and shards.
    pub files: Vec<String>,
}

impl State {
    /// A build that has not begun.
    pub fn new(options: &BuildOptions, inputs: Vec<Input>) -> State {
        State {
            format: FORMAT.into(),
            format_version: VERSION,
            settings: settings(options),
            inputs,
            planned: None,
            report: None,
            passes: 0,
            inserted: Inserted::default(),
            written: Written::default(),
            checkpoint: None,
            last: 0,
            commit: None,
        }
    }

    /// Nothing would be lost with it.
    pub fn is_empty(&self) -> bool {
        self.checkpoint.is_none() && self.passes == 0 && self.report.is_none()
    }

    /// The file's text: one line of JSON, and its checksum.
    pub fn to_text(&self) -> String {
        let json = serde_json::to_string(self).expect("plain data always serialises");
        format!("{json}\n{:016x}\n", xxh3_64(json.as_bytes()))
    }

    /// Reads the file's text.
    pub fn from_text(text: &str, path: &Path) -> Result<State> {
        let damaged = |why: &str| Error::StateDamaged {
            path: path.to_path_buf(),
            why: why.into(),
        };
        let mut lines = text.lines();
        let json = lines.next().unwrap_or_default();
        if lines.next() != Some(format!("{:016x}", xxh3_64(json.as_bytes())).as_str()) {
            return Err(damaged("the state's checksum is wrong"));
        }
        #[derive(Deserialize)]
        struct Version {
            format: String,
            format_version: u32,
        }
        let version: Version =
            serde_json::from_str(json).map_err(|cause| damaged(&cause.to_string()))?;
        if (version.format.as_str(), version.format_version) != (FORMAT, VERSION) {
            return Err(damaged("another version of ngramscope has begun it"));
        }
        serde_json::from_str(json).map_err(|cause| damaged(&cause.to_string()))
    }

    /// In what this build, as it was begun, differs from `now`; empty if in nothing.
    pub fn changes(&self, now: &State) -> String {
        let settings = now.settings.iter().filter_map(|(option, now)| {
            let then = self.settings.get(option).map_or("not set", String::as_str);
            (then != now).then(|| format!("{option} is {now}, but was {then}"))
        });
        let then: BTreeMap<&str, &Input> = by_name(&self.inputs);
        let found = by_name(&now.inputs);
        let inputs = now.inputs.iter().filter_map(|now| {
            let name = &now.name;
            match then.get(name.as_str()) {
                None => Some(format!("the input {name} is new")),
                Some(then) if then.bytes != now.bytes => Some(format!(
                    "the input {name} has {} bytes, but had {}",
                    now.bytes, then.bytes
                )),
                Some(then) if then.modified != now.modified => Some(format!(
                    "the input {name} has been modified (it has another time)"
                )),
                Some(_) => None,
            }
        });
        let gone = self.inputs.iter().filter_map(|then| {
            let name = &then.name;
            (!found.contains_key(name.as_str())).then(|| format!("the input {name} is missing"))
        });
        list(settings.chain(inputs).chain(gone).collect())
    }

    /// How far it has come, in words.
    pub fn progress(&self) -> String {
        let documents = |checkpoint: &Checkpoint| checkpoint.position.documents();
        let documents = self.checkpoint.as_ref().map_or(0, documents);
        match &self.planned {
            _ if self.commit.is_some() => "all is written".into(),
            None => format!("{documents} documents counted"),
            Some(_) => format!(
                "{} done, {documents} documents of the next",
                match self.passes {
                    1 => "1 pass".into(),
                    passes => format!("{passes} passes"),
                }
            ),
        }
    }
}

impl Input {
    /// What is kept of a file.
    pub fn of(file: &InputFile) -> Input {
        let nanoseconds = match file.modified.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos)
            }
        };
        Input {
            name: file.name.clone(),
            bytes: file.bytes,
            modified: nanoseconds,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

/// At most [`LISTED`] of these, and how many more there are.
pub fn list(mut changes: Vec<String>) -> String {
    let more = changes.len().saturating_sub(LISTED);
    changes.truncate(LISTED);
    if more > 0 {
        changes.push(format!("and {more} more"));
    }
    changes.join("; ")
}

fn by_name(inputs: &[Input]) -> BTreeMap<&str, &Input> {
    let pairs = inputs.iter().map(|input| (input.name.as_str(), input));
    pairs.collect()
}

/// Everything that decides the index, or into which blocks the inputs are cut. New options do not compile before they are put here, or
/// among those that may change.
fn settings(options: &BuildOptions) -> BTreeMap<String, String> {
    let BuildOptions {
        ns,
        rule,
        kind,
        filter_fpr,
        expected_ngrams,
        shards,
        threads: _,
        memory: _,
        force: _,
        accept_overfull: _,
        spool: _,
        name,
        demo,
        layout,
        tiers,
        part,
        read,
        resume: _,
    } = options;
    let ReadOptions {
        text_key,
        id_key: _,
        fields: _,
        text_lines,
        ids: _,
        max_record_bytes,
        max_window_log,
        max_column_chunk_bytes,
        max_bad_records: _,
        max_bad_files: _,
        digests: _,
        parallel_files: _,
        block_bytes,
        stop: _,
    } = read;
    let number = |value: Option<u64>| value.map_or("not set".into(), |value| value.to_string());
    let lengths: Vec<String> = ns.iter().map(u32::to_string).collect();
    let layout = layout.as_ref().map_or("not set".into(), |layout| {
        blake3::hash(layout.to_json().as_bytes()).to_hex()[..16].to_string()
    });
    let part = part.map_or("not set".into(), |part| {
        format!("{}/{}", part.part, part.of)
    });
    let settings = [
        (
            "the version of ngramscope",
            env!("CARGO_PKG_VERSION").into(),
        ),
        ("--n", lengths.join(", ")),
        ("--words", WordSettings::of(rule).to_string()),
        ("--filter", kind.name().into()),
        ("--filter-fpr", filter_fpr.to_string()),
        ("--expected-ngrams", number(*expected_ngrams)),
        ("--shards", number(shards.map(u64::from))),
        ("--tiers", tiers.to_string()),
        ("--name", name.clone().unwrap_or("not set".into())),
        ("the mark of a demonstration", demo.to_string()),
        ("the geometry of --plan or --like", layout),
        ("--part", part),
        ("--text-key", text_key.clone()),
        ("--text-lines", text_lines.to_string()),
        ("--max-record-size", max_record_bytes.to_string()),
        ("--max-window-log", max_window_log.to_string()),
        ("--max-column-chunk", max_column_chunk_bytes.to_string()),
        ("the size of blocks", block_bytes.to_string()),
    ];
    settings
        .map(|(name, value)| (name.to_string(), value))
        .into()
}
