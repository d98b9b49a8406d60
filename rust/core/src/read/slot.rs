//! A source of a pass: how it is being read, and what is known of it so far.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Source;
use super::cut::Cut;
use super::origin::Origin;
use super::part::Part;
use super::position::SourcePosition;
use super::raw::Meter;
use super::report::SourceReport;
use super::tally::Tally;

/// A source and what is known of it.
pub(super) struct Slot {
    /// For messages: the path as found. For reports and ids: the name.
    pub path: String,
    pub name: String,
    pub origin: Origin,
    /// What to read of the file, if not all of it.
    pub part: Option<Part>,
    pub reader: Mutex<Reader>,
    pub done: AtomicBool,
    pub result: Mutex<Outcome>,
}

pub(super) struct Reader {
    pub state: State,
    pub blocks: u64,
    pub records: u64,
    /// What an earlier pass had read already.
    pub known: Known,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub blocks: u64,
    pub records: u64,
}

pub(super) enum State {
    Waiting(Source),
    Open {
        cutter: Box<dyn Cut>,
        meter: Arc<Meter>,
        sequential: bool,
        /// Of the whole file, where it is not read front to back.
        digest: Option<String>,
    },
    Done,
}

#[derive(Default)]
pub(super) struct Outcome {
    pub tally: Tally,
    pub merged: u64,
    /// Number of blocks, once the end was seen.
    pub blocks: Option<u64>,
    pub bytes: u64,
    pub blake3: Option<String>,
    pub incomplete: Option<String>,
}

impl Slot {
    /// A source that is not read yet, or as far as `begun` says.
    pub fn new(source: Source, begun: Option<&SourcePosition>) -> Slot {
        let name = source.name().to_owned();
        let path = match &source {
            Source::File(file) => file.path.display().to_string(),
            _ => name.clone(),
        };
        let origin = Origin::of(&source);
        let mut reader = Reader {
            state: State::Waiting(source),
            blocks: 0,
            records: 0,
            known: Known::default(),
        };
        let mut outcome = Outcome::default();
        let mut whole = false;
        if let Some(begun) = begun {
            whole = begun.whole;
            outcome.tally = begun.tally.clone();
            outcome.merged = begun.blocks;
            outcome.bytes = begun.bytes;
            outcome.blake3 = begun.blake3.clone();
            if whole {
                reader.state = State::Done;
                outcome.blocks = Some(begun.blocks);
            }
            reader.known = Known {
                blocks: begun.blocks,
                records: begun.records,
            };
        }
        Slot {
            path,
            name,
            origin,
            part: None,
            reader: Mutex::new(reader),
            done: AtomicBool::new(whole),
            result: Mutex::new(outcome),
        }
    }

    /// A part of a file.
    pub fn of_part(part: Part) -> Slot {
        let mut slot = Slot::new(Source::File(part.file.clone()), None);
        if part.bytes.start > 0 {
            // Lines in messages count from here.
            slot.path += &format!(" (from byte {})", part.bytes.start);
        }
        slot.part = Some(part);
        slot
    }

    /// How many bytes it has, unless that shows in reading only.
    pub fn bytes(&self) -> Option<u64> {
        match self.part {
            Some(_) => None,
            None => self.origin.bytes(),
        }
    }

    /// How far it has been read; nothing where it has not been begun.
    pub fn position(&self) -> Option<SourcePosition> {
        let reader = lock(&self.reader);
        let outcome = lock(&self.result);
        let whole = self.done.load(Ordering::Relaxed) && outcome.incomplete.is_none();
        // Blocks that an earlier pass had read may not have been skipped yet.
        let blocks = reader.blocks.max(reader.known.blocks);
        debug_assert_eq!(blocks, outcome.merged, "a block is still being parsed");
        if blocks == 0 && !whole {
            return None;
        }
        let (bytes, blake3) = match &reader.state {
            State::Open {
                meter,
                sequential,
                digest,
                ..
            } if reader.blocks >= reader.known.blocks => match self.origin.bytes() {
                Some(bytes) if !sequential => (bytes, digest.clone()),
                _ => (meter.bytes(), meter.digest()),
            },
            _ => (outcome.bytes, outcome.blake3.clone()),
        };
        Some(SourcePosition {
            blocks,
            records: reader.records.max(reader.known.records),
            tally: outcome.tally.clone(),
            // One with a fault is read again as far, so that the fault is found again.
            whole,
            bytes,
            blake3,
        })
    }

    pub fn report(self) -> SourceReport {
        let outcome = self
            .result
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        SourceReport {
            name: self.name,
            bytes: outcome.bytes,
            blake3: outcome.blake3,
            records: outcome.tally.records(),
            documents: outcome.tally.documents,
            unusable: outcome.tally.unusable,
            incomplete: outcome.incomplete,
            samples: outcome.tally.samples,
        }
    }
}

/// No code that can panic runs while these are held by someone who would leave them half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
