//! A model of the published scheme, written from its description: words are the pieces between Unicode word
//! boundaries that are not all white space, a deque holds the last n words as `&str`, each of k independent
//! aHash states hashes the whole deque, and each hash sets one bit of one classic filter of 32-bit atomics.
//!
//! Where the description leaves a choice, the cheaper one is taken: k is the optimum rounded (the published tool
//! rounds up), n-grams are inserted without the look-up that precedes it there, input is not compressed.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use ngramscope_rivals::{Arguments, Outcome, Random, cpu_seconds, room};
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

struct Filter {
    words: Vec<AtomicU32>,
    states: Vec<ahash::RandomState>,
}

impl Filter {
    fn new(bytes: usize, hashers: usize, huge: bool) -> Filter {
        let mut words = room(bytes / 4, huge);
        words.resize_with(bytes / 4, || AtomicU32::new(0));
        let mut random = Random(7);
        let mut state = || {
            ahash::RandomState::with_seeds(
                random.bits(),
                random.bits(),
                random.bits(),
                random.bits(),
            )
        };
        let states = (0..hashers).map(|_| state()).collect();
        Filter { words, states }
    }

    fn bit(&self, hash: u64) -> (&AtomicU32, u32) {
        (
            &self.words[(hash / 32) as usize % self.words.len()],
            1 << (hash % 32),
        )
    }

    fn insert(&self, ngram: &VecDeque<&str>) {
        for state in &self.states {
            let (word, bit) = self.bit(state.hash_one(ngram));
            word.fetch_or(bit, Relaxed);
        }
    }

    fn contains(&self, ngram: &VecDeque<&str>) -> bool {
        self.states.iter().all(|state| {
            let (word, bit) = self.bit(state.hash_one(ngram));
            word.load(Relaxed) & bit != 0
        })
    }

    fn fill(&self) -> f64 {
        let ones: u64 = self
            .words
            .iter()
            .map(|word| u64::from(word.load(Relaxed).count_ones()))
            .sum();
        ones as f64 / (self.words.len() as f64 * 32.0)
    }
}

fn for_each_ngram<'a>(text: &'a str, n: usize, mut act: impl FnMut(&VecDeque<&'a str>)) {
    let mut window = VecDeque::with_capacity(n + 1);
    for word in text
        .split_word_bounds()
        .filter(|piece| !piece.chars().all(char::is_whitespace))
    {
        window.push_back(word);
        if window.len() > n {
            window.pop_front();
        }
        if window.len() == n {
            act(&window);
        }
    }
}

/// Calls `act` with the text of every record that starts in `[start, end)`; says how many bytes they hold.
fn for_each_text(path: &Path, start: u64, end: u64, mut act: impl FnMut(&str)) -> Outcome<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut line = String::new();
    let mut at = start;
    if start > 0 {
        // A record belongs to the part its first byte lies in: skip the rest of the one before.
        reader.seek(SeekFrom::Start(start - 1))?;
        at = start - 1 + reader.read_until(b'\n', &mut Vec::new())? as u64;
    }
    let mut bytes = 0;
    while at < end {
        line.clear();
        let read = reader.read_line(&mut line)? as u64;
        if read == 0 {
            break;
        }
        at += read;
        bytes += read;
        let record: Value = serde_json::from_str(&line)?;
        act(record["text"].as_str().ok_or("a record without text")?);
    }
    Ok(bytes)
}

fn score(filter: &Filter, path: &Path, n: usize) -> Outcome<Value> {
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let (mut shares, mut ngrams) = (Vec::new(), 0u64);
    let bytes = for_each_text(path, 0, u64::MAX, |text| {
        let (mut hits, mut all) = (0u64, 0u64);
        for_each_ngram(text, n, |ngram| {
            hits += u64::from(filter.contains(ngram));
            all += 1;
        });
        ngrams += all;
        if all > 0 {
            shares.push(hits as f64 / all as f64);
        }
    })?;
    Ok(json!({
        "documents": shares.len(),
        "mean_share": shares.iter().sum::<f64>() / shares.len() as f64,
        "min_share": shares.iter().copied().fold(1.0, f64::min),
        "ngrams": ngrams, "bytes": bytes,
        "seconds": started.elapsed().as_secs_f64(), "cpu_seconds": cpu_seconds() - cpu,
    }))
}

fn main() -> Outcome<()> {
    let arguments = Arguments::read()?;
    let file: PathBuf = arguments.get("file")?;
    let bytes: usize = arguments.get("bytes")?;
    let expected: f64 = arguments.get("expected")?;
    let n: usize = arguments.get_or("n", 7)?;
    let threads: u64 = arguments.get_or("threads", 1)?;
    let length = file.metadata()?.len();
    let limit = ((arguments.get_or("limit-mb", f64::INFINITY)? * 1e6) as u64).min(length);

    let hashers =
        ((bytes as f64 * 8.0 / expected * std::f64::consts::LN_2).round() as usize).max(1);
    let allocating = Instant::now();
    let filter = Filter::new(bytes, hashers, arguments.has("huge-pages"));
    let allocation = allocating.elapsed().as_secs_f64();

    let (started, cpu) = (Instant::now(), cpu_seconds());
    let parts = std::thread::scope(|scope| -> Outcome<Vec<(u64, u64)>> {
        let part = |index: u64| {
            let (file, filter) = (&file, &filter);
            move || {
                let mut ngrams = 0;
                let read = for_each_text(
                    file,
                    limit * index / threads,
                    limit * (index + 1) / threads,
                    |text| {
                        for_each_ngram(text, n, |ngram| {
                            filter.insert(ngram);
                            ngrams += 1;
                        });
                    },
                );
                read.map(|read| (read, ngrams))
                    .map_err(|error| error.to_string())
            }
        };
        let running: Vec<_> = (0..threads).map(|index| scope.spawn(part(index))).collect();
        running
            .into_iter()
            .map(|thread| Ok(thread.join().map_err(|_| "a thread failed")??))
            .collect()
    })?;
    let (seconds, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let (read, ngrams) = parts
        .iter()
        .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));

    let mut result = json!({
        "mb_per_s": read as f64 * 1e-6 / seconds, "mb_per_cpu_s": read as f64 * 1e-6 / cpu,
        "ngrams": ngrams, "bytes": read, "seconds": seconds, "cpu_seconds": cpu, "allocation_seconds": allocation,
        "threads": threads, "hashers": hashers, "filter_bytes": filter.words.len() * 4, "fill": filter.fill(),
    });
    if arguments.has("score") {
        result["score"] = score(&filter, &arguments.get::<PathBuf>("score")?, n)?;
    }
    println!("{result}");
    Ok(())
}
