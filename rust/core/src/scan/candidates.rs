//! The candidates of a scan: their texts, their n-grams, and who holds which.

use super::table::KeyTable;
use super::{Only, ScanOptions};
use crate::error::Result;
use crate::filter::{block_of, prefetch};
use crate::ngram::NgramHasher;
use crate::pass::{self, Progress, STEP, Stop, Tick};
use crate::query::first_words;
use crate::read::{Corpus, ReadReport, Reason};
use crate::tokenize::Tokenizer;

/// One record of the candidates' files.
pub struct Candidate {
    pub source: usize,
    pub position: u64,
    pub line: u64,
    pub id: Option<String>,
    pub fields: Vec<Option<String>>,
    /// The text that is scored, and the whole text it was cut from (`None`: it is the whole).
    pub text: std::result::Result<Box<str>, Reason>,
    pub uncut: Option<Box<str>>,
    /// Words of the scored text.
    pub words: u64,
}

impl Candidate {
    /// The whole text, before `max_words`.
    pub fn whole(&self) -> Option<&str> {
        self.uncut.as_deref().or_else(|| self.text.as_deref().ok())
    }
}

/// All candidates and their n-grams.
pub struct Candidates {
    pub list: Vec<Candidate>,
    /// By n.
    pub sets: Vec<NgramSet>,
    pub report: ReadReport,
}

/// The n-grams of all candidates at one n.
pub struct NgramSet {
    pub n: u32,
    /// Distinct keys that are looked for.
    pub table: KeyTable,
    /// Keys in the order of the text, of one candidate after the other.
    keys: Lists<u64>,
    /// Sorted numbers of the distinct keys, likewise.
    distinct: Lists<u32>,
    /// By number of a key: the candidates it speaks for in the test for their own documents.
    holders: Lists<u32>,
    /// By candidate: how many distinct n-grams speak for it.
    pub tested: Vec<u64>,
}

/// Lists one after the other.
#[derive(Clone, Default)]
pub struct Lists<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Lists<T> {
    /// Adds the lists of `other`.
    fn append(&mut self, mut other: Lists<T>) {
        let before = self.items.len();
        self.items.append(&mut other.items);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// Adds a list.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    /// Where list `number` lies among all items.
    pub fn range(&self, number: usize) -> std::ops::Range<usize> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[number]
    }

    /// List `number`.
    pub fn get(&self, number: usize) -> &[T] {
        &self.items[self.range(number)]
    }

    /// All items.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

impl Candidates {
    /// Reads all candidates. With `only`, n-grams that it does not have are not looked for.
    pub fn read(
        corpus: Corpus,
        options: &ScanOptions,
        only: Only<'_>,
        tick: Tick<'_>,
    ) -> Result<Candidates> {
        let progress = Progress {
            bytes_total: corpus.bytes_total(),
            ..Progress::of("candidates")
        };
        let threads = pass::threads(options.query.threads);
        let parts = pass::run(&corpus, threads, progress, &|_| None, tick, |pass| {
            let mut reader = Reader::new(options);
            pass.for_each_block(|block, corpus| reader.block(block, corpus));
            reader.read
        })?;
        let report = corpus.finish()?;
        let mut read: Vec<Read> = parts.into_iter().flatten().collect();
        read.sort_unstable_by_key(|block| block.place);
        pass::aside("arrange", tick, |stop| {
            let ns = &options.query.ns;
            let mut list = Vec::new();
            let mut by_set = vec![Lists::default(); ns.len()];
            for block in read {
                stop()?;
                list.extend(block.list);
                for (all, keys) in by_set.iter_mut().zip(block.keys) {
                    all.append(keys);
                }
            }
            let sets = ns
                .iter()
                .zip(by_set)
                .map(|(&n, keys)| NgramSet::new(n, keys, options.cap, only, stop))
                .collect::<Result<_>>()?;
            Ok(Candidates { list, sets, report })
        })
    }
}

/// The candidates of a block.
struct Read {
    /// Source and first position.
    place: (usize, u64),
    list: Vec<Candidate>,
    /// For each n.
    keys: Vec<Lists<u64>>,
}

/// Reads candidates on one thread.
struct Reader<'a> {
    options: &'a ScanOptions,
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    read: Vec<Read>,
}

impl<'a> Reader<'a> {
    fn new(options: &'a ScanOptions) -> Self {
        Reader {
            options,
            tokenizer: Tokenizer::new(options.rule.clone()),
            hasher: NgramHasher::new(&options.query.ns),
            read: Vec::new(),
        }
    }

    fn block(&mut self, block: &mut crate::read::Block, corpus: &Corpus) -> (u64, u64) {
        let source = block.source();
        let mut read = Read {
            place: (source, block.first_position()),
            list: Vec::new(),
            keys: vec![Lists::default(); self.options.query.ns.len()],
        };
        block.for_each(corpus, |record| {
            let whole = record.text;
            let text = whole.map(|text| {
                let query = &self.options.query;
                query
                    .max_words
                    .map_or(text, |words| first_words(text, words))
            });
            self.add_keys(text.unwrap_or_default(), &mut read.keys);
            let cut = whole.is_ok_and(|whole| text.is_ok_and(|text| text.len() < whole.len()));
            read.list.push(Candidate {
                source,
                position: record.position,
                line: record.line,
                id: record.id.map(str::to_string),
                fields: record
                    .fields
                    .iter()
                    .map(|field| field.map(str::to_string))
                    .collect(),
                text: text.map(Box::from),
                uncut: whole.ok().filter(|_| cut).map(Box::from),
                words: self.hasher.words(),
            });
        });
        let ngrams = read.keys.iter().map(|keys| keys.items.len() as u64).sum();
        let documents = read.list.len() as u64;
        self.read.push(read);
        (documents, ngrams)
    }

    /// Adds a list of keys for each n.
    fn add_keys(&mut self, text: &str, keys: &mut [Lists<u64>]) {
        let limit = self.options.query.max_ngrams.unwrap_or(usize::MAX);
        let hasher = &mut self.hasher;
        hasher.start();
        self.tokenizer.hash_words(text, |hashes| {
            hasher.push(hashes, |set, new| {
                let Lists { items, ends } = &mut keys[set];
                let left = limit - (items.len() - ends.last().copied().unwrap_or(0));
                items.extend_from_slice(&new[..left.min(new.len())]);
            });
        });
        for Lists { items, ends } in keys {
            ends.push(items.len());
        }
    }
}

impl NgramSet {
    /// Of the lists of keys of each candidate. n-grams that more than `cap` candidates have do not speak for one.
    pub fn new(
        n: u32,
        keys: Lists<u64>,
        cap: usize,
        only: Only<'_>,
        stop: Stop<'_>,
    ) -> Result<NgramSet> {
        let candidates = keys.ends.len();
        let mut wanted = Vec::new();
        sort_distinct(&keys.items, &mut wanted, stop)?;
        if let Some(only) = only {
            only(n, &mut wanted, stop)?;
        }
        let table = KeyTable::new(wanted, stop)?;
        let mut distinct = Lists::default();
        // Those that are not looked for speak for a candidate too: by not being in a document.
        let mut tested = Vec::with_capacity(candidates);
        let mut sorted = Vec::new();
        for candidate in 0..candidates {
            sort_distinct(keys.get(candidate), &mut sorted, stop)?;
            for part in sorted.chunks(STEP) {
                stop()?;
                // Numbers follow the order of keys.
                let numbers = part.iter().filter_map(|&key| table.number(key));
                distinct.items.extend(numbers);
            }
            distinct.ends.push(distinct.items.len());
            tested.push((sorted.len() - distinct.get(candidate).len()) as u64);
        }
        let mut held = vec![0usize; table.len()];
        for part in distinct.items.chunks(STEP) {
            stop()?;
            part.iter().for_each(|&number| held[number as usize] += 1);
        }
        let speaks = |number: u32| held[number as usize] <= cap;
        let mut only_common = Vec::with_capacity(candidates);
        // By number of a key: first how many candidates it speaks for, then where their list begins, at last where it ends.
        let mut ends = vec![0usize; table.len()];
        for (candidate, tested) in tested.iter_mut().enumerate() {
            stop()?;
            let numbers = distinct.get(candidate);
            let common = *tested == 0 && !numbers.iter().any(|&number| speaks(number));
            for &number in numbers.iter().filter(|&&number| common || speaks(number)) {
                ends[number as usize] += 1;
                *tested += 1;
            }
            only_common.push(common);
        }
        let mut total = 0;
        for part in ends.chunks_mut(STEP) {
            stop()?;
            for end in part {
                total += std::mem::replace(end, total);
            }
        }
        let mut items = vec![0; total];
        for (candidate, &common) in only_common.iter().enumerate() {
            stop()?;
            let numbers = distinct.get(candidate).iter();
            for &number in numbers.filter(|&&number| common || speaks(number)) {
                let end = &mut ends[number as usize];
                items[*end] = candidate as u32;
                *end += 1;
            }
        }
        let holders = Lists { items, ends };
        Ok(NgramSet {
            n,
            table,
            keys,
            distinct,
            holders,
            tested,
        })
    }

    /// Keys of a candidate in the order of its text.
    pub fn keys(&self, candidate: usize) -> &[u64] {
        self.keys.get(candidate)
    }

    /// Sorted numbers of the distinct keys of every candidate that are looked for.
    pub fn distinct(&self) -> &Lists<u32> {
        &self.distinct
    }

    /// Fetches what [`NgramSet::holders`] begins with.
    pub fn prefetch_holders(&self, number: u32) {
        prefetch(&raw const self.holders.ends[number as usize]);
    }

    /// Candidates that the key of this number speaks for.
    pub fn holders(&self, number: u32) -> &[u32] {
        self.holders.get(number as usize)
    }
}

/// Puts `keys` into `out`, sorted and each once. Many of them bucket by bucket: a sort cannot be stopped.
fn sort_distinct(keys: &[u64], out: &mut Vec<u64>, stop: Stop<'_>) -> Result<()> {
    out.clear();
    if keys.len() <= STEP {
        out.extend_from_slice(keys);
        out.sort_unstable();
        out.dedup();
        return Ok(());
    }
    // Keys are hashes, so that buckets of equal ranges are about equally large, but for repeats, which are sorted fast.
    let buckets = keys.len().div_ceil(STEP);
    let bucket = |key: u64| block_of(key, buckets as u64) as usize;
    let mut ends = vec![0; buckets];
    for part in keys.chunks(STEP) {
        stop()?;
        part.iter().for_each(|&key| ends[bucket(key)] += 1);
    }
    let mut total = 0;
    for end in &mut ends {
        total += std::mem::replace(end, total);
    }
    *out = vec![0; keys.len()];
    for part in keys.chunks(STEP) {
        stop()?;
        for &key in part {
            let end = &mut ends[bucket(key)];
            out[*end] = key;
            *end += 1;
        }
    }
    let (mut start, mut kept) = (0, 0);
    for end in ends {
        stop()?;
        out[start..end].sort_unstable();
        for at in start..end {
            if kept == 0 || out[kept - 1] != out[at] {
                out[kept] = out[at];
                kept += 1;
            }
        }
        start = end;
    }
    out.truncate(kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::hash::finalize;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn many_keys_are_sorted_as_few_are() {
        let count = 3 * STEP as u64 + 5;
        let keys: Vec<u64> = (0..count)
            .map(|i| finalize(i % (count - STEP as u64)))
            .chain([0, u64::MAX, u64::MAX])
            .collect();
        let mut found = vec![1];
        sort_distinct(&keys, &mut found, &|| Ok(())).unwrap();
        let mut right = keys;
        right.sort_unstable();
        right.dedup();
        assert!(found == right);
    }

    #[test]
    fn a_stop_is_asked_for_all_along() {
        let keys = || {
            let mut keys = Lists::default();
            let all: Vec<u64> = (0..STEP as u64 * 4).map(finalize).collect();
            all.chunks(STEP)
                .for_each(|part| keys.push(part.iter().copied()));
            keys
        };
        let asked = AtomicUsize::new(0);
        let stop_after = |limit: usize| {
            asked.store(0, Relaxed);
            let stop = || match asked.fetch_add(1, Relaxed) < limit {
                true => Ok(()),
                false => Err(Error::Interrupted),
            };
            NgramSet::new(3, keys(), 64, None, &stop).map(|set| set.table.len())
        };
        assert_eq!(stop_after(usize::MAX).unwrap(), STEP * 4);
        let questions = asked.load(Relaxed);
        // Sorting: three times over all keys; the table: memory of two slots a key, and all keys; candidates: four times.
        assert!(questions >= 3 * 4 + 2 * 4 + 4 + 4 * 4, "{questions}");
        for limit in [0, questions / 2, questions - 1] {
            assert!(matches!(stop_after(limit), Err(Error::Interrupted)));
            assert_eq!(asked.load(Relaxed), limit + 1);
        }
    }
}
