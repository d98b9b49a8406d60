//! Everything that can go wrong while reading, as data. Messages name the file (and line) and say what to do.

use std::fmt;
use std::io;

use super::report::BadRecord;

/// Why reading failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Nothing to read was found.
    #[error("nothing to read: {why}")]
    NoInput {
        /// What was looked for and what was found instead.
        why: String,
    },
    /// An option has a value that makes no sense.
    #[error("--{option}: {value:?} is not possible; {why}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The value given.
        value: String,
        /// What is wrong, and what is accepted.
        why: String,
    },
    /// A file cannot be used, or only in part.
    #[error("{file}: {fault}")]
    File {
        /// The file, as it was found.
        file: String,
        /// What is wrong with it.
        fault: FileFault,
    },
    /// A record cannot be used and none may be left out.
    #[error(
        "{}: {}; --max-bad-records N leaves up to N such records out, and lists them",
        place(file, record),
        sentence(record)
    )]
    BadRecord {
        /// The file, as it was found.
        file: String,
        /// Which record, and why.
        record: BadRecord,
    },
    /// More records than allowed cannot be used.
    #[error(
        "more than {limit} records cannot be used (the limit is --max-bad-records {limit}); the first: {}",
        list(first)
    )]
    TooManyBadRecords {
        /// The limit.
        limit: u64,
        /// The first of them (at most five), with their files.
        first: Vec<(String, BadRecord)>,
    },
    /// More files than allowed cannot be used.
    #[error("more than {limit} files cannot be used (the limit is --max-bad-files {limit}); the first: {}", first.join("; "))]
    TooManyBadFiles {
        /// The limit.
        limit: u64,
        /// The first of them, with what is wrong.
        first: Vec<String>,
    },
    /// A source has records, and none has the key of the text.
    #[error(
        "{file}: no record has the text key {key:?}; keys seen: {}; name the right one with --text-key",
        keys(seen)
    )]
    MissingKey {
        /// The file, as it was found.
        file: String,
        /// The key that was wanted.
        key: String,
        /// Keys of its first record.
        seen: Vec<String>,
    },
}

impl ReadError {
    /// Whether the call itself was wrong (an option's value), not the data.
    pub fn is_usage(&self) -> bool {
        matches!(self, ReadError::Option { .. })
    }
}

/// What is wrong with a file. Its text holds no path, so that it can stand in an index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// The system would not let us read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is not what its format promises: cut, corrupt, or something else after its end.
    #[error("damaged {format}: {detail}")]
    Damaged {
        /// The format.
        format: &'static str,
        /// What does not fit.
        detail: String,
    },
    /// It is sound, perhaps, but not something that is read here.
    #[error("{what}; {advice}")]
    Refused {
        /// What it is.
        what: String,
        /// What to do about it.
        advice: String,
    },
    /// It is a table without the text's column.
    #[error("no column {key:?}; columns: {}", seen.join(", "))]
    NoColumn {
        /// The column that was wanted.
        key: String,
        /// The columns that are there.
        seen: Vec<String>,
    },
    /// It is not the file that was found before.
    #[error("changed while it was in use ({0}); start again when it no longer changes")]
    Changed(String),
}

impl FileFault {
    pub(super) fn damaged(format: &'static str, detail: impl Into<String>) -> FileFault {
        FileFault::Damaged {
            format,
            detail: detail.into(),
        }
    }

    pub(super) fn refused(what: impl Into<String>, advice: impl Into<String>) -> FileFault {
        FileFault::Refused {
            what: what.into(),
            advice: advice.into(),
        }
    }
}

/// Decoders sit behind [`io::Read`], so a fault travels inside an [`io::Error`] and is taken out again here.
impl From<io::Error> for FileFault {
    fn from(error: io::Error) -> FileFault {
        match error.downcast::<FileFault>() {
            Ok(fault) => fault,
            Err(error) => FileFault::Unreadable(error.to_string()),
        }
    }
}

impl From<FileFault> for io::Error {
    fn from(fault: FileFault) -> io::Error {
        io::Error::other(fault)
    }
}

fn place(file: &str, record: &BadRecord) -> String {
    match &record.member {
        Some(member) => format!("{file}/{member}:{}", record.line),
        None => format!("{file}:{}", record.line),
    }
}

fn sentence(record: &BadRecord) -> String {
    match record.detail.as_str() {
        "" => format!("{} ({})", record.reason, record.reason.code()),
        detail => format!("{} ({}): {detail}", record.reason, record.reason.code()),
    }
}

fn list(records: &[(String, BadRecord)]) -> String {
    let each: Vec<String> = records
        .iter()
        .map(|(file, record)| format!("{}: {}", place(file, record), sentence(record)))
        .collect();
    each.join("; ")
}

fn keys(seen: &[String]) -> impl fmt::Display {
    if seen.is_empty() {
        "none".to_owned()
    } else {
        seen.join(", ")
    }
}
