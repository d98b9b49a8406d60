//! What the corpus has of the candidates' n-grams, document by document.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::candidates::{Candidates, NgramSet};
use super::table::Scratch;
use super::{Found, ScanOptions};
use crate::error::Result;
use crate::filter::prefetch;
use crate::ngram::NgramHasher;
use crate::pass::{Stop, filled};
use crate::read::{Block, Corpus, Record};
use crate::tokenize::Tokenizer;

/// Counts of one n-gram of the candidates. Together, since one cache miss brings both.
#[derive(Default)]
pub struct NgramCounts {
    /// How often it occurs in the corpus.
    pub occurrences: AtomicU64,
    /// In how many documents.
    pub documents: AtomicU64,
}

/// Counts of one n, which all threads add to.
pub struct SetCounts {
    /// By number of a key.
    pub ngrams: Vec<NgramCounts>,
    /// For each distinct key of each candidate, as [`NgramSet::distinct`] lists them: in how many documents of its own.
    pub own: Vec<AtomicU64>,
    /// By candidate: documents of its own.
    pub own_documents: Vec<AtomicU64>,
    /// By candidate: those with exactly its text.
    pub duplicates: Vec<AtomicU64>,
}

impl SetCounts {
    pub fn new(set: &NgramSet, candidates: usize, stop: Stop<'_>) -> Result<SetCounts> {
        let zeros = |count| filled(count, AtomicU64::default, stop);
        Ok(SetCounts {
            ngrams: filled(set.table.len(), NgramCounts::default, stop)?,
            own: zeros(set.distinct().items().len())?,
            own_documents: zeros(candidates)?,
            duplicates: zeros(candidates)?,
        })
    }
}

/// Compares documents with the candidates on one thread.
pub struct Matcher<'a> {
    options: &'a ScanOptions,
    candidates: &'a Candidates,
    counts: &'a [SetCounts],
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    scratch: Scratch,
    sets: Vec<SetMatcher>,
    occurrences: u64,
}

/// A thread's state for one n.
#[derive(Default)]
struct SetMatcher {
    /// Numbers of the candidates' keys in the document at hand.
    found: Vec<u32>,
    /// By candidate: n-grams of the document at hand that speak for it.
    shared: Vec<u32>,
    /// Candidates whose count is not 0.
    touched: Vec<u32>,
    /// By candidate: the documents that share most with it.
    top: Vec<Vec<Found>>,
}

impl<'a> Matcher<'a> {
    pub fn new(
        options: &'a ScanOptions,
        candidates: &'a Candidates,
        counts: &'a [SetCounts],
    ) -> Self {
        let sets = counts.iter().map(|_| SetMatcher {
            shared: vec![0; candidates.list.len()],
            top: candidates.list.iter().map(|_| Vec::new()).collect(),
            ..SetMatcher::default()
        });
        Matcher {
            options,
            candidates,
            counts,
            tokenizer: Tokenizer::new(options.rule.clone()),
            hasher: NgramHasher::new(&options.query.ns),
            scratch: Scratch::default(),
            sets: sets.collect(),
            occurrences: 0,
        }
    }

    /// Compares the documents of a block; returns how many they are, and how many n-grams.
    pub fn block(&mut self, block: &mut Block, corpus: &Corpus) -> (u64, u64) {
        let source = block.source();
        let before = self.occurrences;
        let mut documents = 0;
        block.for_each(corpus, |record| {
            if let Ok(text) = record.text {
                documents += 1;
                self.document(text, source, &record);
            }
        });
        (documents, self.occurrences - before)
    }

    /// The documents that share most with each candidate, by n.
    pub fn into_top(self) -> Vec<Vec<Vec<Found>>> {
        self.sets.into_iter().map(|set| set.top).collect()
    }

    fn document(&mut self, text: &str, source: usize, record: &Record<'_>) {
        let Matcher {
            candidates,
            tokenizer,
            hasher,
            counts,
            scratch,
            sets,
            occurrences,
            ..
        } = self;
        hasher.start();
        tokenizer.hash_words(text, |hashes| {
            hasher.push(hashes, |set, keys| {
                *occurrences += keys.len() as u64;
                let (ngrams, found) = (&candidates.sets[set], &mut sets[set].found);
                let known = found.len();
                ngrams.table.find(keys, scratch, found);
                // Needed when the document is over: on their way to the cache until then.
                for &number in &found[known..] {
                    prefetch(&raw const counts[set].ngrams[number as usize]);
                    ngrams.prefetch_holders(number);
                }
            });
        });
        for set in 0..sets.len() {
            if !self.sets[set].found.is_empty() {
                self.settle(set, text, source, record);
                self.sets[set].found.clear();
            }
        }
    }

    /// Counts what was found in a document.
    fn settle(&mut self, set: usize, text: &str, source: usize, record: &Record<'_>) {
        let (ngrams, counts) = (&self.candidates.sets[set], &self.counts[set]);
        let SetMatcher {
            found,
            shared,
            touched,
            top,
        } = &mut self.sets[set];
        found.sort_unstable();
        for number in found.iter() {
            if let Some(first) = ngrams.holders(*number).first() {
                prefetch(first);
            }
        }
        for same in found.chunk_by(|a, b| a == b) {
            let number = same[0];
            let count = &counts.ngrams[number as usize];
            count.occurrences.fetch_add(same.len() as u64, Relaxed);
            count.documents.fetch_add(1, Relaxed);
            for &candidate in ngrams.holders(number) {
                let count = &mut shared[candidate as usize];
                if *count == 0 {
                    touched.push(candidate);
                }
                *count += 1;
            }
        }
        found.dedup();
        for candidate in touched.drain(..) {
            let candidate = candidate as usize;
            let count = u64::from(std::mem::take(&mut shared[candidate]));
            let own =
                count as f64 >= self.options.query.own_share * ngrams.tested[candidate] as f64;
            let duplicate = own && self.candidates.list[candidate].whole() == Some(text);
            if own {
                counts.own_documents[candidate].fetch_add(1, Relaxed);
                counts.duplicates[candidate].fetch_add(u64::from(duplicate), Relaxed);
                let range = ngrams.distinct().range(candidate);
                let distinct = ngrams.distinct().get(candidate);
                for (number, own) in distinct.iter().zip(&counts.own[range]) {
                    if found.binary_search(number).is_ok() {
                        own.fetch_add(1, Relaxed);
                    }
                }
            }
            consider(
                &mut top[candidate],
                self.options.top_sources,
                count,
                (source, record.position),
                || Found {
                    shared: count,
                    tested: ngrams.tested[candidate],
                    source,
                    position: record.position,
                    line: record.line,
                    id: record.id.map(str::to_string),
                    own,
                    duplicate,
                },
            );
        }
    }
}

/// Puts a document among the `limit` best, if it is one: more shared n-grams first, then in the order of the corpus.
pub fn consider(
    top: &mut Vec<Found>,
    limit: usize,
    shared: u64,
    place: (usize, u64),
    found: impl FnOnce() -> Found,
) {
    let at = top.partition_point(|held| {
        (std::cmp::Reverse(held.shared), (held.source, held.position))
            < (std::cmp::Reverse(shared), place)
    });
    if at < limit {
        top.truncate(limit - 1);
        top.insert(at, found());
    }
}
