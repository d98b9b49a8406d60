//! What a pass over the sources found: counts that add up, and the first records that could not be used.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Reason;

/// How many unusable records of a source are listed one by one.
pub const SAMPLES: usize = 5;

/// A record that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRecord {
    /// 0-based number of the record in its source.
    pub position: u64,
    /// 1-based line (row, for tables) in the source, or in the archive's member.
    pub line: u64,
    /// The member, where the source is an archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Why.
    pub reason: Reason,
    /// What exactly: place of the error, keys seen, the limit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What was read from one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Name of the source, without host-specific prefix.
    pub name: String,
    /// Bytes of the file (compressed, if it is).
    pub bytes: u64,
    /// BLAKE3 digest of these bytes, in hexadecimal; absent when not asked for, or when they could not all be read.
    pub blake3: Option<String>,
    /// Records found, usable or not.
    pub records: u64,
    /// Records with usable text.
    pub documents: u64,
    /// Records without, by reason. `records = documents + sum(unusable)`.
    pub unusable: BTreeMap<Reason, u64>,
    /// Why the source was not read to its end, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The first unusable records (null texts apart), at most [`SAMPLES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<BadRecord>,
}

impl SourceReport {
    /// Records that count against `max_bad_records`.
    pub fn bad_records(&self) -> u64 {
        self.unusable
            .iter()
            .filter(|(reason, _)| reason.is_bad())
            .map(|(_, count)| count)
            .sum()
    }

    /// Whether the counts add up.
    pub fn adds_up(&self) -> bool {
        self.records == self.documents + self.unusable.values().sum::<u64>()
    }
}

/// What was read from all sources, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReport {
    /// One entry a source.
    pub sources: Vec<SourceReport>,
    /// Sum over the sources.
    pub bytes: u64,
    /// Sum over the sources.
    pub records: u64,
    /// Sum over the sources.
    pub documents: u64,
    /// Sum over the sources, by reason.
    pub unusable: BTreeMap<Reason, u64>,
    /// Records that count against `max_bad_records`.
    pub bad_records: u64,
    /// Sources that are marked incomplete.
    pub bad_files: u64,
    /// Whether [`Corpus::stop`](super::Corpus::stop) ended the pass early.
    pub stopped: bool,
}

impl ReadReport {
    /// Sums up the sources.
    pub fn new(sources: Vec<SourceReport>, stopped: bool) -> ReadReport {
        let mut report = ReadReport {
            stopped,
            ..ReadReport::default()
        };
        for source in &sources {
            report.bytes += source.bytes;
            report.records += source.records;
            report.documents += source.documents;
            for (&reason, &count) in &source.unusable {
                *report.unusable.entry(reason).or_default() += count;
            }
            report.bad_records += source.bad_records();
            report.bad_files += u64::from(source.incomplete.is_some());
        }
        report.sources = sources;
        report
    }

    /// Whether the counts add up, in every source and in total.
    pub fn adds_up(&self) -> bool {
        self.sources.iter().all(SourceReport::adds_up)
            && self.records == self.documents + self.unusable.values().sum::<u64>()
            && self.records == self.sources.iter().map(|s| s.records).sum::<u64>()
    }

    /// Whether anything was left out that a strict run would have refused.
    pub fn partial(&self) -> bool {
        self.bad_records > 0 || self.bad_files > 0
    }
}
