//! A sample of a corpus, from which its size is predicted: parts drawn from all over the files, in a pass of their own.
//!
//! Every record is in the sample with the same probability. The sampled parts are divided at random into groups, and for every n-gram
//! it is noted which groups have it; so the number of distinct n-grams is known for every union of groups, which shows how it
//! grows with the text, and how much that depends on which text it is.

use std::ops::{ControlFlow, Range};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hash::finalize;
use crate::pass::{self, Progress, Tick};
use crate::read::{self, Access, Corpus, InputFile, Part, ReadOptions, ReadReport};

use super::BuildOptions;
use super::plan::check_options;
use super::walk::Worker;

/// Groups of a sample: as many as fit into one word of bits.
pub const GROUPS: usize = 64;
/// Parts of uncompressed lines: many, and so small that records which lie beside each other do not make up the sample ...
const WINDOWS: u64 = 4096;
/// ... but not so small that finding them takes longer than reading them.
const WINDOW_BYTES: Range<u64> = 4 << 10..256 << 10;
/// What can be read only from a beginning is read further, since the first bytes compress worse than the others: so many windows,
/// and at least so many bytes, in which every decoder has given something.
const DEPTH: u64 = 16;
const LEAST_DEPTH: u64 = 1 << 20;
/// With fewer parts than this for each group, blocks of parts are divided among the groups.
const PARTS_A_GROUP: usize = 4;
/// Bytes of such a block, at least and at most; so that there are enough of them in a small sample.
const BLOCK_BYTES: Range<u64> = 4 << 10..64 << 10;
const BLOCKS_A_GROUP: u64 = 8;
/// About so many n-gram occurrences are remembered for each n, chosen by key.
const REMEMBERED: u64 = 8 << 20;

/// What a sample had.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// Files of the corpus, and how many of them the sample has text of.
    pub files: u64,
    /// See `files`.
    pub files_read: u64,
    /// Of these, how many could be read only from the beginning of the file (or of a row group).
    pub files_from_beginning: u64,
    /// Parts that were read.
    pub parts: u64,
    /// Bytes of all files.
    pub bytes_total: u64,
    /// Bytes that the sample stands for.
    pub bytes_read: u64,
    /// Documents, by group.
    pub documents: Vec<u64>,
    /// Words, by group.
    pub words: Vec<u64>,
    /// Bytes of text, by group.
    pub text_bytes: Vec<u64>,
    /// For each n, ascending.
    pub sets: Vec<SampledSet>,
    /// What was left out; sources of which nothing was are not listed.
    pub report: ReadReport,
    /// Threads that read.
    pub threads: u64,
    /// Seconds that they took.
    pub seconds: f64,
}

/// The n-grams of a sample.
#[derive(Clone, Debug, Serialize)]
pub struct SampledSet {
    /// n-gram length.
    pub n: u32,
    /// n-gram occurrences, by group.
    pub occurrences: Vec<u64>,
    /// Share of all distinct n-grams that was looked at below, chosen by key.
    pub share: f64,
    /// Number of distinct n-grams that occur in exactly `k + 1` groups.
    pub in_groups: Vec<u64>,
    /// For each group: the same of those that occur in it.
    pub of_group: Vec<Vec<u64>>,
}

/// Reads about `bytes` bytes of `files`, drawn by `seed`, and counts. The whole of the files may be no less than that.
pub fn sample(
    files: &[InputFile],
    bytes: u64,
    seed: u64,
    options: &BuildOptions,
    tick: Tick<'_>,
) -> Result<Sample> {
    let options = check_options(options)?;
    let mut reading = options.read.clone();
    let threads = pass::threads(options.threads);
    reading.parallel_files = threads;
    reading.block_bytes =
        (bytes / GROUPS as u64 / BLOCKS_A_GROUP).clamp(BLOCK_BYTES.start, BLOCK_BYTES.end) as usize;
    reading.stop = Default::default();
    let chosen = choose(files, bytes, seed, &reading, tick)?;
    if chosen.parts.is_empty() {
        return Err(nothing());
    }
    let by_part = chosen.parts.len() >= GROUPS * PARTS_A_GROUP;
    let group = |part: usize, block: u64| {
        let block = if by_part { 0 } else { block + 1 };
        (finalize(seed ^ finalize(part as u64 ^ block << 32)) % GROUPS as u64) as usize
    };
    // Compressed text is up to about four times as long.
    let skipped = (bytes / REMEMBERED).next_power_of_two().trailing_zeros();

    let parts = chosen.parts.len() as u64;
    let corpus = Corpus::open_parts(chosen.parts, reading)?;
    let progress = Progress {
        bytes_total: chosen.bytes,
        ..Progress::of("sample")
    };
    let started = std::time::Instant::now();
    let work = |pass: &pass::Pass<'_>| {
        let mut worker = Worker::new(&options, false);
        let mut tally = Tally::new(options.ns.len());
        pass.for_each_block(|block, corpus| {
            let group = group(block.source(), block.first_position());
            let before: u64 = worker.occurrences.iter().sum();
            let mut documents = 0;
            block.for_each(corpus, |record| {
                if let Ok(text) = record.text {
                    documents += 1;
                    tally.document(&mut worker, text, group, skipped);
                }
            });
            (documents, worker.occurrences.iter().sum::<u64>() - before)
        });
        tally
    };
    let tallies = pass::run(&corpus, threads, progress, &|_| None, tick, work)?;
    let seconds = started.elapsed().as_secs_f64();
    let mut report = corpus.finish()?;
    report
        .sources
        .retain(|source| !source.unusable.is_empty() || source.incomplete.is_some());
    if report.documents == 0 {
        return Err(nothing());
    }
    let all = Tally::sum(tallies, options.ns.len());
    Ok(Sample {
        files: files.len() as u64,
        files_read: chosen.files,
        files_from_beginning: chosen.from_beginning,
        parts,
        bytes_total: files.iter().map(|file| file.bytes).sum(),
        bytes_read: report.bytes,
        documents: all.documents,
        words: all.words,
        text_bytes: all.text_bytes,
        sets: all
            .sets
            .into_iter()
            .zip(&options.ns)
            .map(|(set, &n)| set.finish(n, skipped))
            .collect(),
        report,
        threads: threads as u64,
        seconds,
    })
}

fn nothing() -> Error {
    Error::Option {
        option: "--sample",
        value: "so little".into(),
        advice: "no document begins in what was drawn; give more, or --count to read everything"
            .into(),
    }
}

/// What to read.
struct Chosen {
    parts: Vec<Part>,
    bytes: u64,
    files: u64,
    from_beginning: u64,
}

/// Draws parts. The files' bytes, one after the other, are cut into equal stretches, each with a window at a random place.
fn choose(
    files: &[InputFile],
    bytes: u64,
    seed: u64,
    reading: &ReadOptions,
    tick: Tick<'_>,
) -> Result<Chosen> {
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let bytes = bytes.min(total);
    let width = (bytes / WINDOWS)
        .clamp(WINDOW_BYTES.start, WINDOW_BYTES.end)
        .min(bytes.max(1));
    let count = bytes / width;
    let random = |number: u64| finalize(seed.wrapping_add(finalize(number)));
    let mut windows = (0..count)
        .map(|number| {
            let at =
                |number: u64| (u128::from(total) * u128::from(number) / u128::from(count)) as u64;
            let room = at(number + 1) - at(number) - width;
            let start =
                at(number) + ((u128::from(random(number)) * u128::from(room + 1)) >> 64) as u64;
            start..start + width
        })
        .peekable();
    let mut chosen = Chosen {
        parts: Vec::new(),
        bytes: 0,
        files: 0,
        from_beginning: 0,
    };
    // Chances of what is read from its beginning, added up: it is read whenever the sum passes a whole number.
    let mut chances = random(u64::MAX) as f64 / u64::MAX as f64;
    let mut first = 0;
    for (number, file) in files.iter().enumerate() {
        if number % 64 == 0 && tick(&Progress::of("choose")) == ControlFlow::Break(()) {
            return Err(Error::Interrupted);
        }
        let here = first..first + file.bytes;
        first = here.end;
        let mut drawn: Vec<Range<u64>> = Vec::new();
        while let Some(window) = windows.peek() {
            let part = window.start.max(here.start)..window.end.min(here.end);
            if !part.is_empty() {
                drawn.push(part.start - here.start..part.end - here.start);
            }
            if window.end > here.end {
                break;
            }
            windows.next();
        }
        if drawn.is_empty() {
            continue;
        }
        let before = chosen.parts.len();
        let mut take = |bytes| {
            chosen.parts.push(Part {
                file: file.clone(),
                bytes,
            })
        };
        match read::access(file, reading) {
            Access::Anywhere => drawn.into_iter().for_each(take),
            Access::Whole if drawn[0].start == 0 => take(0..file.bytes),
            Access::Whole => {}
            Access::FromBeginning(ranges) => {
                for range in ranges {
                    let length = range.end - range.start;
                    let inside = |part: &Range<u64>| {
                        part.end
                            .min(range.end)
                            .saturating_sub(part.start.max(range.start))
                    };
                    let depth = (DEPTH * width).max(LEAST_DEPTH).min(length);
                    chances += drawn.iter().map(inside).sum::<u64>() as f64 / depth.max(1) as f64;
                    let times = chances.floor();
                    chances -= times;
                    if times > 0.0 {
                        take(range.start..range.start + (depth * times as u64).min(length));
                    }
                }
                chosen.from_beginning += u64::from(chosen.parts.len() > before);
            }
        }
        chosen.files += u64::from(chosen.parts.len() > before);
    }
    chosen.bytes = chosen
        .parts
        .iter()
        .map(|part| part.bytes.end - part.bytes.start)
        .sum();
    Ok(chosen)
}

/// What one thread, or all, counted.
struct Tally {
    documents: Vec<u64>,
    words: Vec<u64>,
    text_bytes: Vec<u64>,
    sets: Vec<SetTally>,
}

struct SetTally {
    occurrences: Vec<u64>,
    /// Key and group of every remembered occurrence.
    seen: Vec<(u64, u8)>,
}

impl Tally {
    fn new(sets: usize) -> Tally {
        let set = || SetTally {
            occurrences: vec![0; GROUPS],
            seen: Vec::new(),
        };
        Tally {
            documents: vec![0; GROUPS],
            words: vec![0; GROUPS],
            text_bytes: vec![0; GROUPS],
            sets: (0..sets).map(|_| set()).collect(),
        }
    }

    fn document(&mut self, worker: &mut Worker, text: &str, group: usize, skipped: u32) {
        let before = worker.words;
        worker.document(text, |set, keys| {
            let set = &mut self.sets[set];
            set.occurrences[group] += keys.len() as u64;
            let chosen = keys.iter().filter(|&&key| key.trailing_zeros() >= skipped);
            set.seen.extend(chosen.map(|&key| (key, group as u8)));
        });
        self.documents[group] += 1;
        self.words[group] += worker.words - before;
        self.text_bytes[group] += text.len() as u64;
    }

    fn sum(tallies: Vec<Tally>, sets: usize) -> Tally {
        let mut all = Tally::new(sets);
        let add = |sum: &mut [u64], more: &[u64]| {
            sum.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more)
        };
        for tally in tallies {
            add(&mut all.documents, &tally.documents);
            add(&mut all.words, &tally.words);
            add(&mut all.text_bytes, &tally.text_bytes);
            for (all, mut set) in all.sets.iter_mut().zip(tally.sets) {
                add(&mut all.occurrences, &set.occurrences);
                all.seen.append(&mut set.seen);
            }
        }
        all
    }
}

impl SetTally {
    fn finish(mut self, n: u32, skipped: u32) -> SampledSet {
        self.seen.sort_unstable();
        self.seen.dedup();
        let mut in_groups = vec![0; GROUPS];
        let mut of_group = vec![vec![0; GROUPS]; GROUPS];
        for same in self.seen.chunk_by(|a, b| a.0 == b.0) {
            let groups = same.len() - 1;
            in_groups[groups] += 1;
            same.iter()
                .for_each(|&(_, group)| of_group[usize::from(group)][groups] += 1);
        }
        SampledSet {
            n,
            occurrences: self.occurrences,
            share: libm::exp2(-f64::from(skipped)),
            in_groups,
            of_group,
        }
    }
}
