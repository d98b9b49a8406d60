//! What can go wrong in building and reading an index. Reading corpora has its own [`ReadError`].

use std::io;
use std::path::{Path, PathBuf};

use crate::read::ReadError;
use crate::tokenize::SimdError;

/// Result of this crate's operations.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller should make of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// An option's value, or a combination of options, that cannot be.
    Usage,
    /// A corpus or candidate file.
    Input,
    /// A damaged, unknown or contradicting index.
    Index,
    /// The system: disk, memory, permissions.
    System,
    /// The caller asked to stop.
    Interrupted,
}

/// An error, with the values that a message needs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A corpus or candidate file could not be read or used.
    #[error(transparent)]
    Read(#[from] ReadError),

    /// The environment asks for processor instructions that there are not.
    #[error(transparent)]
    Simd(#[from] SimdError),

    /// An option has a value outside its range.
    #[error("{option}: {value} is not possible; {advice}")]
    Option {
        /// Name of the option as the command line spells it.
        option: &'static str,
        /// What was given.
        value: String,
        /// What would be possible.
        advice: String,
    },

    /// A source can be read once only, and building needs several readings.
    #[error(
        "{source_name} can be read only once, but {why}, or --spool to keep a compressed temporary copy"
    )]
    ReadOnce {
        /// The source.
        source_name: String,
        /// Why it would be read again, and what would help.
        why: String,
    },

    /// No index yet, or the folder holds something else.
    #[error("{}: no index here ({why}); build one with `ngramscope build-index`, or name another with --index or NGRAMSCOPE_INDEX", path.display())]
    NoIndex {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        why: String,
    },

    /// The output holds an index already.
    #[error("{}: holds an index already; use --force to replace it, or --out for another place", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },

    /// The output is a folder with other things in it, or not a folder.
    #[error("{}: {why}; choose a new or empty folder with --out", path.display())]
    OutputUnusable {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// Another process builds here.
    #[error("{}: another process is building this index (it holds the lock file); wait for it or choose another --out", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },

    /// An unfinished build is there, and nothing was said of it.
    #[error("{}: holds an unfinished build ({progress}); --resume continues it, removing this folder gives it up", path.display())]
    Unfinished {
        /// The folder of its state.
        path: PathBuf,
        /// How far it has come.
        progress: String,
    },

    /// An unfinished build was begun with other inputs or settings.
    #[error(
        "{}: the unfinished build here cannot be continued: {changes}; give what it was begun with, or remove this folder to \
         start anew", path.display()
    )]
    Changed {
        /// The folder of its state.
        path: PathBuf,
        /// What differs.
        changes: String,
    },

    /// The state of an unfinished build is not what it has to be.
    #[error("{}: the unfinished build cannot be continued: {why}; remove its folder to start anew", path.display())]
    StateDamaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },

    /// A file of an index is not what it has to be.
    #[error("{}: damaged index file: {why}; restore it from a copy or build the index again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },

    /// An index that is in memory was replaced or removed on the disk.
    #[error("{}: the index was replaced or removed since it was opened; open it again", path.display())]
    Replaced {
        /// The file that is gone.
        path: PathBuf,
    },

    /// An index of another format version.
    #[error("{}: index format version {found}, but this ngramscope reads version {known}; {}", path.display(),
        if *found > *known { "use a newer ngramscope" } else { "build the index again" })]
    Version {
        /// The file.
        path: PathBuf,
        /// Version in the file.
        found: u64,
        /// Version of this program.
        known: u64,
    },

    /// What is asked contradicts the index.
    #[error("{}: {what} {asked} was asked for, but the index has {has}", path.display())]
    Mismatch {
        /// The index.
        path: PathBuf,
        /// The setting.
        what: &'static str,
        /// Value asked for.
        asked: String,
        /// Value of the index.
        has: String,
    },

    /// More distinct n-grams came than the filter was sized for.
    #[error(
        "the filter for n = {n} is over-full: sized for {sized_for} n-grams, about {real} came; {fill:.3} of its bits are set and \
         {rate:.6} of absent n-grams would count as found, not {target}; leave out --expected-ngrams so that they are counted \
         first, or give about {real}; --accept-overfull keeps such a filter"
    )]
    Overfull {
        /// n-gram length.
        n: u32,
        /// Count the filter was sized for.
        sized_for: u64,
        /// Estimated real count ("more than N" when no bit is left).
        real: String,
        /// Share of bits set.
        fill: f64,
        /// Resulting false-positive rate.
        rate: f64,
        /// The rate asked for.
        target: f64,
    },

    /// The index does not fit.
    #[error(
        "the index needs {} ({detail}), but {place} has {}; {advice}", human_bytes(*needed as f64), human_bytes(*available as f64)
    )]
    NoRoom {
        /// Bytes needed.
        needed: u64,
        /// Bytes there are.
        available: u64,
        /// Which resource, of what.
        place: String,
        /// What the bytes are for.
        detail: String,
        /// What to do.
        advice: String,
    },

    /// Reading or writing a file failed.
    #[error("{}: cannot {action}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        #[source]
        cause: io::Error,
    },

    /// The disk is full.
    #[error("{}: the disk is full ({} needed in all, {} free); nothing was replaced, and what was half written is removed", path.display(),
        human_bytes(*needed as f64), human_bytes(*free as f64))]
    DiskFull {
        /// Where.
        path: PathBuf,
        /// Bytes that the whole index, and its checkpoints, need.
        needed: u64,
        /// Bytes free.
        free: u64,
    },

    /// A plan file is not what it has to be.
    #[error("{}: not a plan that can be used: {why}; make it again with `ngramscope plan`", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },

    /// Two indexes that were not built alike.
    #[error(
        "{}: cannot be merged with {}: {what} is {ours} here and {theirs} there; build both with the same options and the same \
         --plan, --like or --expected-ngrams", path.display(), first.display()
    )]
    Unmergeable {
        /// One index.
        path: PathBuf,
        /// The other.
        first: PathBuf,
        /// What differs.
        what: &'static str,
        /// Its value in one.
        ours: String,
        /// Its value in the other.
        theirs: String,
    },

    /// Two parts have read the same file.
    #[error(
        "{}: cannot be taken together with {}: both have read {source_name}, which would count twice; leave one of them out",
        path.display(), other.display()
    )]
    CommonSource {
        /// One index.
        path: PathBuf,
        /// The other.
        other: PathBuf,
        /// The source.
        source_name: String,
    },

    /// Parts are missing.
    #[error("parts are missing: {missing}; build and name them too")]
    MissingParts {
        /// Their numbers.
        missing: String,
    },

    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What the caller should make of it.
    pub fn category(&self) -> Category {
        match self {
            Error::Read(error) if error.is_usage() => Category::Usage,
            Error::Read(_) => Category::Input,
            Error::Simd(_)
            | Error::Option { .. }
            | Error::ReadOnce { .. }
            | Error::Exists { .. }
            | Error::Unfinished { .. }
            | Error::Changed { .. }
            | Error::OutputUnusable { .. } => Category::Usage,
            Error::NoIndex { .. }
            | Error::Damaged { .. }
            | Error::StateDamaged { .. }
            | Error::Replaced { .. }
            | Error::Plan { .. }
            | Error::Unmergeable { .. }
            | Error::CommonSource { .. }
            | Error::Version { .. }
            | Error::Mismatch { .. } => Category::Index,
            Error::MissingParts { .. } => Category::Usage,
            Error::Overfull { .. }
            | Error::NoRoom { .. }
            | Error::Io { .. }
            | Error::DiskFull { .. }
            | Error::Locked { .. } => Category::System,
            Error::Interrupted => Category::Interrupted,
        }
    }

    /// Wraps the system's answer to an action on a file.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |cause| Error::Io {
            path,
            action,
            cause,
        }
    }
}

/// `1.50 GiB` and the like.
pub fn human_bytes(bytes: f64) -> String {
    let mut value = bytes;
    for unit in ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] {
        if value < 1024.0 || unit == "PiB" {
            return if unit == "bytes" {
                format!("{value} {unit}")
            } else {
                format!("{value:.2} {unit}")
            };
        }
        value /= 1024.0;
    }
    unreachable!("the last unit returns")
}
