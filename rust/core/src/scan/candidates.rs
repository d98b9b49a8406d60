//! The candidates of a scan: their texts, their n-grams, and who holds which.

use super::table::KeyTable;
use super::{Only, ScanOptions};
use crate::error::Result;
use crate::filter::prefetch;
use crate::ngram::NgramHasher;
use crate::pass::{self, Progress, Tick};
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
#[derive(Default)]
pub struct Lists<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Lists<T> {
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
        read.sort_unstable_by_key(|(candidate, _)| (candidate.source, candidate.position));
        let (list, keys): (Vec<Candidate>, Vec<Vec<Vec<u64>>>) = read.into_iter().unzip();
        let mut by_set: Vec<Lists<u64>> =
            options.query.ns.iter().map(|_| Lists::default()).collect();
        for of_candidate in keys {
            for (lists, keys) in by_set.iter_mut().zip(of_candidate) {
                lists.push(keys);
            }
        }
        let sets = options
            .query
            .ns
            .iter()
            .zip(by_set)
            .map(|(&n, keys)| NgramSet::new(n, keys, options.cap, only))
            .collect::<Result<_>>()?;
        Ok(Candidates { list, sets, report })
    }
}

/// A candidate and its keys for each n.
type Read = (Candidate, Vec<Vec<u64>>);

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
        let (mut documents, mut ngrams) = (0, 0);
        block.for_each(corpus, |record| {
            let whole = record.text;
            let text = whole.map(|text| {
                let query = &self.options.query;
                query
                    .max_words
                    .map_or(text, |words| first_words(text, words))
            });
            let keys = self.keys(text.unwrap_or_default());
            documents += 1;
            ngrams += keys.iter().map(|keys| keys.len() as u64).sum::<u64>();
            let cut = whole.is_ok_and(|whole| text.is_ok_and(|text| text.len() < whole.len()));
            self.read.push((
                Candidate {
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
                },
                keys,
            ));
        });
        (documents, ngrams)
    }

    fn keys(&mut self, text: &str) -> Vec<Vec<u64>> {
        let query = &self.options.query;
        let limit = query.max_ngrams.unwrap_or(usize::MAX);
        let mut keys: Vec<Vec<u64>> = query.ns.iter().map(|_| Vec::new()).collect();
        let hasher = &mut self.hasher;
        hasher.start();
        self.tokenizer.hash_words(text, |hashes| {
            hasher.push(hashes, |set, new| {
                let left = limit - keys[set].len();
                keys[set].extend_from_slice(&new[..left.min(new.len())]);
            });
        });
        keys
    }
}

impl NgramSet {
    /// Of the lists of keys of each candidate. n-grams that more than `cap` candidates have do not speak for one.
    pub fn new(n: u32, keys: Lists<u64>, cap: usize, only: Only<'_>) -> Result<NgramSet> {
        let candidates = keys.ends.len();
        let mut wanted = keys.items.clone();
        wanted.sort_unstable();
        wanted.dedup();
        if let Some(only) = only {
            only(n, &mut wanted);
        }
        let table = KeyTable::new(wanted)?;
        let mut distinct = Lists::default();
        // Those that are not looked for speak for a candidate too: by not being in a document.
        let mut absent = Vec::with_capacity(candidates);
        let mut sorted = Vec::new();
        for candidate in 0..candidates {
            sorted.clear();
            sorted.extend_from_slice(keys.get(candidate));
            sorted.sort_unstable();
            sorted.dedup();
            // Numbers follow the order of keys.
            distinct.push(sorted.iter().filter_map(|&key| table.number(key)));
            absent.push((sorted.len() - distinct.get(candidate).len()) as u64);
        }
        let mut held = vec![0usize; table.len()];
        distinct
            .items
            .iter()
            .for_each(|&number| held[number as usize] += 1);
        let only_common: Vec<bool> = (0..candidates)
            .map(|candidate| {
                absent[candidate] == 0
                    && distinct
                        .get(candidate)
                        .iter()
                        .all(|&number| held[number as usize] > cap)
            })
            .collect();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut tested = absent;
        for (candidate, tested) in tested.iter_mut().enumerate() {
            for &number in distinct.get(candidate) {
                if held[number as usize] <= cap || only_common[candidate] {
                    pairs.push((number, candidate as u32));
                    *tested += 1;
                }
            }
        }
        pairs.sort_unstable();
        let mut holders = Lists::default();
        let mut pairs = pairs.into_iter().peekable();
        for number in 0..table.len() as u32 {
            while let Some((_, candidate)) = pairs.next_if(|(of, _)| *of == number) {
                holders.items.push(candidate);
            }
            holders.ends.push(holders.items.len());
        }
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
