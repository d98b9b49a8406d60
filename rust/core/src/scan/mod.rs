//! The other way round: a fixed set of candidates is held in memory, and a corpus streams by once.
//!
//! ```text
//! candidates ──▶ n-grams, numbered ─▶ KeyTable        corpus ──▶ keys ──▶ which of the candidates' n-grams ──▶ counts
//! ```
//!
//! Nothing is estimated: n-grams are told apart by 64-bit keys, and counts are of all occurrences and documents. Memory depends on the
//! candidates alone.
//!
//! **Leave-one-out.** A candidate that was taken from the corpus is found in its own document, which says nothing about how common its
//! wording is. A document is a candidate's own when it has at least `own_share` of the candidate's distinct n-grams: candidates are
//! often cut, and ids repeat across shards, so neither text nor id would tell. n-grams that more than `cap` candidates have do not
//! speak for a candidate in this test, unless it has no others. An n-gram counts as a leave-one-out hit when a document that is not the
//! candidate's own has it. Members and non-members undergo the same test.

mod candidates;
mod table;
mod tally;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::error::Result;
use crate::pass::{self, Progress, Stop, Tick};
use crate::query::{DocumentScore, Evidence, QueryOptions, Row, count, flags, null_reason};
use crate::read::{Corpus, ReadReport};
use crate::tokenize::{Tokenizer, WordRule};

use candidates::Candidates;
pub(crate) use candidates::{Lists, NgramSet};
pub(crate) use table::Scratch as Placed;
use tally::{Matcher, NgramCounts, SetCounts, consider};

/// Candidates whose rows a thread makes at a time.
const GROUP: usize = 256;
/// Candidates of a batch at most, and their n-grams, of all lengths.
const BATCH_CANDIDATES: usize = 4096;
const BATCH_NGRAMS: usize = 1 << 20;

/// What to look for.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Lengths n, what to give for each candidate, the share of its n-grams from which on a document is its own, threads.
    pub query: QueryOptions,
    /// How text becomes words.
    pub rule: WordRule,
    /// n-grams that more candidates have do not count in that test.
    pub cap: usize,
    /// Documents to list for each candidate.
    pub top_sources: usize,
    /// Give the counts of every n-gram.
    pub counts: bool,
}

/// Removes keys of length n that need not be looked for.
pub type Only<'a> = Option<&'a (dyn Fn(u32, &mut Vec<u64>, Stop<'_>) -> Result<()> + Sync)>;

/// A document of the corpus that shares n-grams with a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Distinct n-grams of the candidate that it has, of those that count in the test.
    pub shared: u64,
    /// How many count.
    pub tested: u64,
    /// Number of its source.
    pub source: usize,
    /// Number of the record in its source, from 0.
    pub position: u64,
    /// Line (table row) in its source, from 1.
    pub line: u64,
    /// The id as raw JSON.
    pub id: Option<String>,
    /// Whether it counts as the candidate's own document.
    pub own: bool,
    /// Whether it has exactly the candidate's text.
    pub duplicate: bool,
}

/// What a scan knows of one candidate at one n beyond its overlap.
#[derive(Clone, Debug, Default)]
pub struct ScanScore {
    /// Positions whose n-gram is in a document that is not the candidate's own.
    pub loo_hits: u64,
    /// Documents of its own.
    pub own_documents: u64,
    /// Those with exactly its text.
    pub exact_duplicates: u64,
    /// The documents that share most.
    pub sources: Vec<Found>,
    /// For each position how often its n-gram occurs in the corpus, when asked for.
    pub occurrences: Vec<u64>,
    /// For each position in how many documents, when asked for.
    pub documents: Vec<u64>,
}

/// A finished scan.
pub struct Scan {
    options: ScanOptions,
    candidates: Candidates,
    counts: Vec<SetCounts>,
    /// By n and candidate.
    top: Vec<Vec<Vec<Found>>>,
    /// What was read of the corpus.
    pub corpus_report: ReadReport,
}

impl Scan {
    /// Holds `candidates` and streams `corpus` by. With `only`, n-grams that it removes are taken for absent.
    pub fn run(
        candidates: Corpus,
        corpus: Corpus,
        options: ScanOptions,
        only: Only<'_>,
        tick: Tick<'_>,
    ) -> Result<Scan> {
        let candidates = Candidates::read(candidates, &options, only, tick)?;
        let counts: Vec<SetCounts> = pass::aside("arrange", tick, |stop| {
            let sets = candidates.sets.iter();
            sets.map(|set| SetCounts::new(set, candidates.list.len(), stop))
                .collect()
        })?;
        let progress = Progress {
            bytes_total: corpus.bytes_total(),
            ..Progress::of("scan")
        };
        let threads = pass::threads(options.query.threads);
        let tops = pass::run(&corpus, threads, progress, &|_| None, tick, |pass| {
            let mut matcher = Matcher::new(&options, &candidates, &counts);
            pass.for_each_block(|block, corpus| matcher.block(block, corpus));
            matcher.into_top()
        })?;
        let corpus_report = corpus.finish()?;
        let top = pass::aside("arrange", tick, |stop| {
            merge(tops, &candidates, options.top_sources, stop)
        })?;
        Ok(Scan {
            options,
            candidates,
            counts,
            top,
            corpus_report,
        })
    }

    /// How many records the candidates' files had.
    pub fn len(&self) -> usize {
        self.candidates.list.len()
    }

    /// Whether they had none.
    pub fn is_empty(&self) -> bool {
        self.candidates.list.is_empty()
    }

    /// What was read of the candidates.
    pub fn candidates_report(&self) -> &ReadReport {
        &self.candidates.report
    }

    /// End of the batch of candidates that begins with number `start`: a batch is not larger than what is quickly made and written.
    pub fn batch_end(&self, start: usize) -> usize {
        let most = self.len().min(start.saturating_add(BATCH_CANDIDATES));
        let mut ngrams = 0;
        let mut is_full = |&candidate: &usize| {
            let sets = self.candidates.sets.iter();
            ngrams += sets.map(|set| set.keys(candidate).len()).sum::<usize>();
            ngrams > BATCH_NGRAMS
        };
        // The first one belongs to it, however large it is.
        let full = (start..most).find(&mut is_full);
        full.map_or(most, |full| full.max(start + 1))
    }

    /// Rows of some candidates, in input order and one for each n.
    pub fn rows(&self, candidates: Range<usize>, stop: Stop<'_>) -> Result<Vec<(Row, ScanScore)>> {
        let groups = candidates.len().div_ceil(GROUP);
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..pass::threads(self.options.query.threads).min(groups) {
                scope.spawn(|| {
                    let mut tokenizer = Tokenizer::new(self.options.rule.clone());
                    loop {
                        let group = next.fetch_add(1, Relaxed);
                        if group >= groups {
                            break;
                        }
                        let start = candidates.start + group * GROUP;
                        let end = (start + GROUP).min(candidates.end);
                        let rows: Result<Vec<_>> = (start..end)
                            .flat_map(|candidate| {
                                (0..self.counts.len()).map(move |set| (candidate, set))
                            })
                            .map(|(candidate, set)| {
                                stop()?;
                                Ok(self.row(candidate, set, &mut tokenizer, stop))
                            })
                            .collect();
                        let Ok(rows) = rows else { break };
                        results
                            .lock()
                            .unwrap_or_else(|poisoned| poisoned.into_inner())
                            .push((group, rows));
                    }
                });
            }
        });
        stop()?;
        let mut results = results
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        results.sort_by_key(|(group, _)| *group);
        Ok(results.into_iter().flat_map(|(_, rows)| rows).collect())
    }

    /// A row; once `stop` says so, it is worthless and comes soon.
    fn row(
        &self,
        candidate: usize,
        set: usize,
        tokenizer: &mut Tokenizer,
        stop: Stop<'_>,
    ) -> (Row, ScanScore) {
        let of = &self.candidates.list[candidate];
        let (ngrams, counts) = (&self.candidates.sets[set], &self.counts[set]);
        let keys = ngrams.keys(candidate);
        let numbers: Vec<Option<usize>> = keys
            .iter()
            .map(|&key| ngrams.table.number(key).map(|number| number as usize))
            .collect();
        let counted = |of: fn(&NgramCounts) -> &AtomicU64| -> Vec<u64> {
            let count = |number: &Option<usize>| {
                number.map_or(0, |number| of(&counts.ngrams[number]).load(Relaxed))
            };
            numbers.iter().map(count).collect()
        };
        let documents = counted(|ngram| &ngram.documents);
        let hits: Vec<u8> = documents.iter().map(|&count| u8::from(count > 0)).collect();
        let mut score = DocumentScore {
            n: ngrams.n,
            words: of.words,
            ..count(keys, &hits, &mut Vec::new(), &|| stop().is_err())
        };
        if let Ok(text) = &of.text {
            if self.options.query.flags {
                score.flags = Some(flags(&hits));
            }
            let found = Evidence {
                text,
                keys,
                hits: &hits,
            };
            found.add_to(&mut score, tokenizer, &self.options.query);
        }
        let range = ngrams.distinct().range(candidate);
        let distinct = ngrams.distinct().get(candidate);
        let own = &counts.own[range];
        let loo_hits = numbers
            .iter()
            .zip(&documents)
            .filter(|(number, documents)| {
                number.is_some_and(|number| {
                    let own = distinct
                        .binary_search(&(number as u32))
                        .map_or(0, |place| own[place].load(Relaxed));
                    **documents > own
                })
            })
            .count() as u64;
        let scan = ScanScore {
            loo_hits,
            own_documents: counts.own_documents[candidate].load(Relaxed),
            exact_duplicates: counts.duplicates[candidate].load(Relaxed),
            sources: self.top[set][candidate].clone(),
            occurrences: if self.options.counts {
                counted(|ngram| &ngram.occurrences)
            } else {
                Vec::new()
            },
            documents: if self.options.counts {
                documents
            } else {
                Vec::new()
            },
        };
        let row = Row {
            source: of.source,
            position: of.position,
            line: of.line,
            id: of.id.clone(),
            fields: of.fields.clone(),
            null_reason: match &of.text {
                Ok(_) => null_reason(&score),
                Err(reason) => Some(reason.code()),
            },
            score,
        };
        (row, scan)
    }
}

/// Joins the lists of all threads.
fn merge(
    tops: Vec<Vec<Vec<Vec<Found>>>>,
    candidates: &Candidates,
    limit: usize,
    stop: Stop<'_>,
) -> Result<Vec<Vec<Vec<Found>>>> {
    let mut all: Vec<Vec<Vec<Found>>> = candidates
        .sets
        .iter()
        .map(|_| candidates.list.iter().map(|_| Vec::new()).collect())
        .collect();
    for (set, of_set) in tops.into_iter().flat_map(|top| top.into_iter().enumerate()) {
        for (candidate, found) in of_set.into_iter().enumerate() {
            stop()?;
            for each in found {
                let place = (each.source, each.position);
                consider(&mut all[set][candidate], limit, each.shared, place, || each);
            }
        }
    }
    Ok(all)
}
