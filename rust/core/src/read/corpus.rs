//! One pass over the sources: hands out blocks to threads, and sums up what they found.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use super::block::{Block, Payload};
use super::error::{FileFault, ReadError};
use super::keys::Keys;
use super::open;
use super::origin::Origin;
use super::part::{self, Part};
use super::position::Position;
use super::raw::Meter;
use super::report::{BadRecord, ReadReport, SAMPLES};
use super::slot::{Outcome, Reader, Slot, State, lock};
use super::tally::{Crossing, Limits, Tally};
use super::{ReadOptions, Source};

/// What parsing a record needs to know.
pub(super) struct Context {
    pub keys: Keys,
    pub ids: bool,
    pub max_record_bytes: usize,
}

/// One pass over sources. Threads share it by reference: each pulls blocks with [`Corpus::next_block`] and parses them with
/// [`Block::for_each`]; one calls [`Corpus::finish`] when all are done.
pub struct Corpus {
    slots: Vec<Slot>,
    options: ReadOptions,
    context: Context,
    limits: Mutex<Limits>,
    /// Sources before this one are done.
    first: AtomicUsize,
    handed_out: AtomicU64,
    turn: AtomicUsize,
    bytes: Arc<AtomicU64>,
}

impl Corpus {
    /// Prepares a pass. Files that are missing or have changed since they were found are an error here already, unless
    /// `max_bad_files` allows them.
    pub fn open(sources: Vec<Source>, options: ReadOptions) -> Result<Corpus, ReadError> {
        Corpus::open_at(sources, options, &Position::default())
    }

    /// [`Corpus::open`], to go on from where another pass over the same sources, read in the same way, had come to: blocks that it
    /// has handed out are not handed out again (but empty ones in their place), and the report has them.
    pub fn open_at(
        sources: Vec<Source>,
        options: ReadOptions,
        position: &Position,
    ) -> Result<Corpus, ReadError> {
        let mut limits = Limits::new(options.max_bad_records, options.max_bad_files);
        for &(source, block, bad) in &position.bad {
            limits.add_records((source, block), bad);
        }
        let slots = (0..).zip(sources).map(|(number, source)| {
            let begun = position.sources.get(&number);
            Slot::new(source, begun)
        });
        Corpus::of_slots(slots.collect(), options, limits)
    }

    /// Prepares a pass over parts of files. Digests are not computed, and a part whose records all lack the text's key is
    /// no error of its own.
    pub fn open_parts(parts: Vec<Part>, options: ReadOptions) -> Result<Corpus, ReadError> {
        let options = ReadOptions {
            digests: false,
            ..options
        };
        let limits = Limits::new(options.max_bad_records, options.max_bad_files);
        Corpus::of_slots(
            parts.into_iter().map(Slot::of_part).collect(),
            options,
            limits,
        )
    }

    fn of_slots(
        slots: Vec<Slot>,
        options: ReadOptions,
        limits: Limits,
    ) -> Result<Corpus, ReadError> {
        options.check()?;
        if slots.is_empty() {
            return Err(ReadError::NoInput {
                why: "no source was given".to_owned(),
            });
        }
        let context = Context {
            keys: options.keys(),
            ids: options.ids,
            max_record_bytes: options.max_record_bytes,
        };
        let done = slots
            .iter()
            .filter(|slot| slot.done.load(Ordering::Relaxed));
        let bytes_done = done.map(|slot| lock(&slot.result).bytes).sum();
        let corpus = Corpus {
            slots,
            limits: Mutex::new(limits),
            context,
            options,
            first: AtomicUsize::new(0),
            handed_out: AtomicU64::new(0),
            turn: AtomicUsize::new(0),
            bytes: Arc::new(AtomicU64::new(bytes_done)),
        };
        for (source, slot) in corpus.slots.iter().enumerate() {
            if let Origin::File(file) = &slot.origin
                && let Err(fault) = open::unchanged(file)
            {
                let mut reader = lock(&slot.reader);
                corpus.fail(source, &mut reader, fault, None);
            }
        }
        match corpus.error() {
            Some(error) => Err(error),
            None => Ok(corpus),
        }
    }

    /// Pulls the next block; any number of threads may call this at the same time. `false`: there is nothing left, or the
    /// pass ends early, with an error that [`Corpus::finish`] returns or because of [`Corpus::stop`].
    pub fn next_block(&self, block: &mut Block) -> bool {
        loop {
            if self.options.stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some((source, mut reader)) = self.reader() else {
                return false;
            };
            if self.cut(source, &mut reader, block) {
                return true;
            }
        }
    }

    /// How far the pass has come. Every block that was handed out must have been through [`Block::for_each`], and no thread may be at
    /// [`Corpus::next_block`].
    pub fn position(&self) -> Position {
        let begun = |(source, slot): (usize, &Slot)| Some((source, slot.position()?));
        let bad = lock(&self.limits).bad_records();
        Position {
            sources: self.slots.iter().enumerate().filter_map(begun).collect(),
            bad,
        }
    }

    /// Hands out no more blocks.
    pub fn stop(&self) {
        self.options.stop.store(true, Ordering::Relaxed);
    }

    /// Whether `finish` will return an error.
    pub fn failed(&self) -> bool {
        lock(&self.limits).crossing().is_some()
    }

    /// Bytes read so far, of the files as they are (compressed); for progress.
    pub fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes of all sources together; those that do not tell count as 0.
    pub fn bytes_total(&self) -> u64 {
        self.slots
            .iter()
            .filter_map(|slot| slot.origin.bytes())
            .sum()
    }

    /// The name of a source.
    pub fn name(&self, source: usize) -> &str {
        self.slots.get(source).map_or("", |slot| &slot.name)
    }

    /// Ends the pass. Its error is the first in input order, whatever the threads did; every block must have been through
    /// [`Block::for_each`].
    pub fn finish(self) -> Result<ReadReport, ReadError> {
        if let Some(error) = self.error() {
            return Err(error);
        }
        let stopped = self.options.stop.load(Ordering::Relaxed);
        let sources = self.slots.into_iter().map(Slot::report).collect();
        let report = ReadReport::new(sources, stopped);
        debug_assert!(report.adds_up());
        Ok(report)
    }

    /// Locks the reader of a source that is not done: one that nobody holds if possible.
    fn reader(&self) -> Option<(usize, MutexGuard<'_, Reader>)> {
        loop {
            let window = self.window();
            for &source in &window {
                match self.slots[source].reader.try_lock() {
                    Ok(reader) => return Some((source, reader)),
                    Err(TryLockError::Poisoned(poisoned)) => {
                        return Some((source, poisoned.into_inner()));
                    }
                    Err(TryLockError::WouldBlock) => {}
                }
            }
            if window.is_empty() {
                return None;
            }
            let source = window[self.turn.fetch_add(1, Ordering::Relaxed) % window.len()];
            let reader = lock(&self.slots[source].reader);
            // It may have ended while we waited; then look again.
            if !matches!(reader.state, State::Done) {
                return Some((source, reader));
            }
        }
    }

    /// The first `parallel_files` sources that are not done.
    fn window(&self) -> Vec<usize> {
        let mut first = self.first.load(Ordering::Relaxed);
        while self
            .slots
            .get(first)
            .is_some_and(|slot| slot.done.load(Ordering::Acquire))
        {
            first += 1;
        }
        self.first.fetch_max(first, Ordering::Relaxed);
        let open = (first..self.slots.len())
            .filter(|&source| !self.slots[source].done.load(Ordering::Acquire));
        open.take(self.options.parallel_files).collect()
    }

    /// Cuts the next block of a source; `false` if it has none, which ends it.
    fn cut(&self, source: usize, reader: &mut Reader, block: &mut Block) -> bool {
        let place = (source, reader.blocks);
        if !lock(&self.limits).allows(place) {
            // The pass has failed before this place; what is behind does not matter.
            reader.state = State::Done;
            self.slots[source].done.store(true, Ordering::Release);
            return false;
        }
        if let State::Waiting(_) = reader.state {
            let State::Waiting(waiting) = std::mem::replace(&mut reader.state, State::Done) else {
                return false;
            };
            let opened = match &self.slots[source].part {
                None => open::open(waiting, &self.options, &self.bytes),
                Some(part) => {
                    part::open(part, &self.options, &self.bytes).map_err(|fault| (fault, None))
                }
            };
            match opened.and_then(|opened| {
                let digest = self.digest_before(source, opened.sequential)?;
                Ok((opened, digest))
            }) {
                Ok((opened, digest)) => {
                    let open::Opened {
                        cutter,
                        meter,
                        sequential,
                    } = opened;
                    reader.state = State::Open {
                        cutter,
                        meter,
                        sequential,
                        digest,
                    };
                }
                Err((fault, meter)) => {
                    self.fail(source, reader, fault, meter.as_deref());
                    return false;
                }
            }
        }
        let State::Open {
            cutter,
            meter,
            sequential,
            digest,
        } = &mut reader.state
        else {
            return false;
        };
        block.member = None;
        match cutter.next(block) {
            Ok(true) => {
                block.source = source;
                block.number = reader.blocks;
                block.first_position = reader.records;
                block.sequence = self.handed_out.fetch_add(1, Ordering::Relaxed);
                reader.blocks += 1;
                reader.records += block.records;
                if reader.blocks <= reader.known.blocks {
                    block.payload = Payload::Empty;
                    if reader.blocks == reader.known.blocks
                        && reader.records != reader.known.records
                    {
                        let meter = Arc::clone(meter);
                        self.fail(source, reader, cut_otherwise(), Some(&meter));
                        return false;
                    }
                }
                true
            }
            Ok(false) if reader.blocks < reader.known.blocks => {
                let meter = Arc::clone(meter);
                self.fail(source, reader, cut_otherwise(), Some(&meter));
                false
            }
            Ok(false) => {
                let (meter, sequential, digest) = (Arc::clone(meter), *sequential, digest.take());
                self.end(source, reader, &meter, sequential, digest);
                false
            }
            Err(fault) => {
                let meter = Arc::clone(meter);
                self.fail(source, reader, fault, Some(&meter));
                false
            }
        }
    }

    /// The digest of a file that is not read front to back, where one is wanted; taken before anything of it is used, so that a pass
    /// that is stopped in the middle knows what it has read.
    fn digest_before(
        &self,
        source: usize,
        sequential: bool,
    ) -> Result<Option<String>, (FileFault, Option<Arc<Meter>>)> {
        let origin = &self.slots[source].origin;
        match origin {
            Origin::File(_) if !sequential && self.options.digests => {
                let digest = origin.digest(&self.options.stop);
                digest.map_err(|fault| (fault, None))
            }
            _ => Ok(None),
        }
    }

    /// Notes the end of a source, whose digest may be known.
    fn end(
        &self,
        source: usize,
        reader: &mut Reader,
        meter: &Meter,
        sequential: bool,
        digest: Option<String>,
    ) {
        let slot = &self.slots[source];
        let read = sequential.then(|| meter.bytes());
        let digest = slot.origin.unchanged(read).and_then(|()| {
            if sequential || !self.options.digests {
                Ok(meter.digest())
            } else if digest.is_some() {
                Ok(digest)
            } else {
                slot.origin.digest(&self.options.stop)
            }
        });
        let digest = match digest {
            Ok(digest) => digest,
            Err(fault) => {
                self.fail(source, reader, fault, Some(meter));
                return;
            }
        };
        let mut outcome = lock(&slot.result);
        outcome.bytes = slot.bytes().unwrap_or(meter.bytes());
        outcome.blake3 = digest;
        self.close(source, reader, outcome);
    }

    /// Notes that a source cannot be read further.
    fn fail(&self, source: usize, reader: &mut Reader, fault: FileFault, meter: Option<&Meter>) {
        let slot = &self.slots[source];
        let place = (source, reader.blocks);
        let mut outcome = lock(&slot.result);
        outcome.incomplete = Some(fault.to_string());
        outcome.bytes = slot
            .bytes()
            .unwrap_or_else(|| meter.map_or(0, Meter::bytes));
        if self.options.digests
            && self.options.max_bad_files > 0
            && let Origin::File(_) = slot.origin
        {
            // The digest names the file as it is, damage included; there is none if it cannot even be read.
            outcome.blake3 = slot.origin.digest(&self.options.stop).ok().flatten();
        }
        let file = slot.path.clone();
        match fault {
            FileFault::NoColumn { key, seen } => {
                lock(&self.limits).add_fatal(place, ReadError::MissingKey { file, key, seen });
            }
            FileFault::Changed(_) => {
                lock(&self.limits).add_fatal(place, ReadError::File { file, fault })
            }
            _ => lock(&self.limits).add_file(place, ReadError::File { file, fault }),
        }
        self.close(source, reader, outcome);
    }

    fn close(&self, source: usize, reader: &mut Reader, mut outcome: MutexGuard<'_, Outcome>) {
        reader.state = State::Done;
        outcome.blocks = Some(reader.blocks);
        self.slots[source].done.store(true, Ordering::Release);
        self.check_keys(source, &outcome);
    }

    /// Takes in what a block had. Called by [`Block::for_each`].
    pub(super) fn merge(&self, source: usize, number: u64, tally: Tally) {
        let Some(slot) = self.slots.get(source) else {
            return;
        };
        let bad = tally.bad();
        if bad > 0 {
            lock(&self.limits).add_records((source, number), bad);
        }
        let mut outcome = lock(&slot.result);
        outcome.tally.add(tally);
        outcome.merged += 1;
        self.check_keys(source, &outcome);
    }

    /// A source that is wholly read and whose records all lack the text's key was read with the wrong key: zero documents
    /// would read as success.
    fn check_keys(&self, source: usize, outcome: &Outcome) {
        let all = outcome.blocks == Some(outcome.merged);
        if !all || outcome.tally.saw_key || self.slots[source].part.is_some() {
            return;
        }
        if let Some((_, seen)) = &outcome.tally.missing {
            let error = ReadError::MissingKey {
                file: self.slots[source].path.clone(),
                key: self.context.keys.text().to_owned(),
                seen: seen.clone(),
            };
            lock(&self.limits).add_fatal((source, u64::MAX), error);
        }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The first error in input order.
    fn error(&self) -> Option<ReadError> {
        let limits = lock(&self.limits);
        let (place, crossing) = limits.crossing()?;
        Some(match crossing {
            Crossing::Fatal(error) => error,
            Crossing::Files if self.options.max_bad_files == 0 => limits.files.get(&place)?.clone(),
            Crossing::Files => {
                let first = limits
                    .files
                    .range(..=place)
                    .take(SAMPLES)
                    .map(|(_, error)| error.to_string());
                ReadError::TooManyBadFiles {
                    limit: self.options.max_bad_files,
                    first: first.collect(),
                }
            }
            Crossing::Records => {
                // Blocks behind the place may have been read too, on some thread; what they had is not reported. Up to the
                // place everything has been read, so the first `limit + 1` bad records are known.
                let wanted = usize::try_from(self.options.max_bad_records)
                    .unwrap_or(usize::MAX)
                    .saturating_add(1)
                    .min(SAMPLES);
                let mut first: Vec<(String, BadRecord)> = Vec::new();
                for slot in &self.slots[..=place.0] {
                    let outcome = lock(&slot.result);
                    first.extend(
                        outcome
                            .tally
                            .samples
                            .iter()
                            .map(|record| (slot.path.clone(), record.clone())),
                    );
                }
                first.truncate(wanted);
                if self.options.max_bad_records == 0 {
                    let (file, record) = first.into_iter().next()?;
                    return Some(ReadError::BadRecord { file, record });
                }
                ReadError::TooManyBadRecords {
                    limit: self.options.max_bad_records,
                    first,
                }
            }
        })
    }
}

/// A source that was begun by another pass is not cut into the same blocks again.
fn cut_otherwise() -> FileFault {
    FileFault::Changed("other records than the unfinished build had read".to_owned())
}
