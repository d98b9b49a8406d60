//! Counting of records, and which error is the first whatever the threads did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::ReadError;
use super::reason::Reason;
use super::report::{BadRecord, SAMPLES};

/// What one block, or all blocks of a source so far, had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub documents: u64,
    pub unusable: BTreeMap<Reason, u64>,
    /// The bad records with the lowest positions, at most [`SAMPLES`].
    pub samples: Vec<BadRecord>,
    /// Keys of the first record without the text's, with its position.
    pub missing: Option<(u64, Vec<String>)>,
    /// Whether any record had the text's key.
    pub saw_key: bool,
    /// Keys of the record that is sampled next.
    #[serde(skip)]
    pending: Option<Vec<String>>,
}

impl Tally {
    /// Counts a record.
    pub fn count(&mut self, reason: Option<Reason>) {
        match reason {
            None => {
                self.documents += 1;
                self.saw_key = true;
            }
            Some(reason) => {
                *self.unusable.entry(reason).or_default() += 1;
                self.saw_key |= matches!(
                    reason,
                    Reason::NullText | Reason::TextNotAString | Reason::TextNotIntegerList
                );
            }
        }
    }

    /// Whether the next bad record is to be listed. Records come in order, so the first ones are those to keep.
    pub fn wants(&self, reason: Reason) -> bool {
        self.samples.len() < SAMPLES || (reason == Reason::MissingText && self.missing.is_none())
    }

    /// Notes the keys of the record that [`Tally::sample`] is called for next.
    pub fn missing(&mut self, keys: Vec<String>) {
        self.pending = Some(keys);
    }

    /// Lists a bad record.
    pub fn sample(
        &mut self,
        position: u64,
        line: u64,
        member: Option<&str>,
        reason: Reason,
        detail: String,
    ) {
        if let Some(keys) = self.pending.take()
            && self.missing.is_none()
        {
            self.missing = Some((position, keys));
        }
        if self.samples.len() < SAMPLES {
            self.samples.push(BadRecord {
                position,
                line,
                member: member.map(str::to_owned),
                reason,
                detail,
            });
        }
    }

    pub fn records(&self) -> u64 {
        self.documents + self.unusable.values().sum::<u64>()
    }

    pub fn bad(&self) -> u64 {
        self.unusable
            .iter()
            .filter(|(reason, _)| reason.is_bad())
            .map(|(_, count)| count)
            .sum()
    }

    /// Adds what another block had. The result does not depend on the order of blocks.
    pub fn add(&mut self, other: Tally) {
        self.documents += other.documents;
        for (reason, count) in other.unusable {
            *self.unusable.entry(reason).or_default() += count;
        }
        self.samples.extend(other.samples);
        self.samples.sort_by_key(|record| record.position);
        self.samples.truncate(SAMPLES);
        self.saw_key |= other.saw_key;
        self.missing = match (self.missing.take(), other.missing) {
            (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
            (a, b) => a.or(b),
        };
    }
}

/// A place in the order of all blocks: source, block.
pub(super) type Place = (usize, u64);

/// Decides when a pass is over its limits, and where it first was.
///
/// Threads find errors in any order. The one that counts is the first in input order, so when one is found, all blocks
/// before it are still read, and none behind it is begun. With limits above 0 the same holds for the first error beyond
/// the limit: among the errors seen so far, sorted by place, the one number `limit + 1` can only move forward.
pub(super) struct Limits {
    max_records: u64,
    max_files: u64,
    records: BTreeMap<Place, u64>,
    records_seen: u64,
    /// Files that cannot be used, or not to their end.
    pub files: BTreeMap<Place, ReadError>,
    /// Errors that no limit allows.
    fatal: BTreeMap<Place, ReadError>,
    stop_at: Option<Place>,
}

/// Which limit was passed first.
pub(super) enum Crossing {
    Records,
    Files,
    Fatal(ReadError),
}

impl Limits {
    pub fn new(max_records: u64, max_files: u64) -> Limits {
        Limits {
            max_records,
            max_files,
            records: BTreeMap::new(),
            records_seen: 0,
            files: BTreeMap::new(),
            fatal: BTreeMap::new(),
            stop_at: None,
        }
    }

    /// Whether this block may be read.
    pub fn allows(&self, place: Place) -> bool {
        self.stop_at.is_none_or(|stop| place <= stop)
    }

    pub fn add_records(&mut self, place: Place, bad: u64) {
        if bad > 0 && self.allows(place) {
            *self.records.entry(place).or_default() += bad;
            self.records_seen = self.records_seen.saturating_add(bad);
            self.update();
        }
    }

    /// Bad records so far, as (source, block, records).
    pub fn bad_records(&self) -> Vec<(usize, u64, u64)> {
        self.records
            .iter()
            .map(|(&(source, block), &bad)| (source, block, bad))
            .collect()
    }

    pub fn add_file(&mut self, place: Place, error: ReadError) {
        self.files.insert(place, error);
        self.update();
    }

    pub fn add_fatal(&mut self, place: Place, error: ReadError) {
        self.fatal.insert(place, error);
        self.update();
    }

    fn records_crossing(&self) -> Option<Place> {
        if self.records_seen <= self.max_records {
            return None;
        }
        let mut sum = 0u64;
        self.records.iter().find_map(|(&place, &bad)| {
            sum = sum.saturating_add(bad);
            (sum > self.max_records).then_some(place)
        })
    }

    fn files_crossing(&self) -> Option<Place> {
        let allowed = usize::try_from(self.max_files).unwrap_or(usize::MAX);
        self.files.keys().nth(allowed).copied()
    }

    fn update(&mut self) {
        let places = [
            self.records_crossing(),
            self.files_crossing(),
            self.fatal.keys().next().copied(),
        ];
        self.stop_at = places.into_iter().flatten().min();
    }

    /// The first crossing in input order, if there is one.
    pub fn crossing(&self) -> Option<(Place, Crossing)> {
        let stop = self.stop_at?;
        if self.records_crossing() == Some(stop) {
            return Some((stop, Crossing::Records));
        }
        if self.files_crossing() == Some(stop) {
            return Some((stop, Crossing::Files));
        }
        self.fatal
            .get(&stop)
            .map(|error| (stop, Crossing::Fatal(error.clone())))
    }
}
