//! How far a pass has come, so that another process can go on from there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::Tally;

/// How far a pass has come; from [`Corpus::position`](super::Corpus::position), for [`Corpus::open_at`](super::Corpus::open_at).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The sources that were begun, by their number.
    pub(super) sources: BTreeMap<usize, SourcePosition>,
    /// Source, block, and how many records of it cannot be used.
    pub(super) bad: Vec<(usize, u64, u64)>,
}

/// How far a source has been read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SourcePosition {
    pub blocks: u64,
    pub records: u64,
    pub tally: Tally,
    /// It was read to its end, without a fault.
    pub whole: bool,
    /// So many bytes of it have this digest; no digest where none was asked for.
    pub bytes: u64,
    pub blake3: Option<String>,
}

impl Position {
    /// Records with usable text so far.
    pub fn documents(&self) -> u64 {
        let sources = self.sources.values();
        sources.map(|source| source.tally.documents).sum()
    }

    /// Number of a source, and which digest its first so many bytes had.
    pub fn digests(&self) -> impl Iterator<Item = (usize, u64, &str)> {
        self.sources.iter().filter_map(|(&number, source)| {
            let digest = source.blake3.as_deref()?;
            Some((number, source.bytes, digest))
        })
    }
}
