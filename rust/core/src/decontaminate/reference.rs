//! What must not be in the texts: n-grams of reference files, exactly, with the items they come from; or an index.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Settings;
use super::near::NEAR_CAP;
use super::units::{Ngrams, UnitHasher, UnitRule};
use crate::error::{Error, Result};
use crate::pass::{self, Progress, Tick};
use crate::query::{Index, LookUp, TOO_SHORT};
use crate::read::{Corpus, ReadReport, Reason};
use crate::scan::{Lists, NgramSet, Placed};

/// Largest probability of a false verdict on a document, for rules that act on few hits.
const MOST_FALSE: f64 = 0.01;
/// n-grams of the document that this is judged by.
const DOCUMENT_NGRAMS: f64 = 1000.0;

/// The reference.
pub enum Reference {
    /// n-grams of files.
    Exact(Box<Items>),
    /// An index, whose filter may have false hits, and which does not know where its n-grams come from.
    Index(Arc<Index>),
}

/// The items of reference files and their n-grams, numbered.
pub struct Items {
    /// In input order.
    pub list: Vec<Item>,
    /// n-grams of the rules.
    pub set: NgramSet,
    /// n-grams of the near-match score.
    pub near: Option<NgramSet>,
    /// What was read.
    pub report: ReadReport,
    /// By number: documents among the texts that have the n-gram, where they were counted.
    documents: Vec<AtomicU64>,
    /// n-grams of more documents do not count.
    max_documents: Option<u64>,
}

/// An item of the reference.
#[derive(Clone, Debug)]
pub struct Item {
    /// Number of its source.
    pub source: usize,
    /// Number of the record in its source, from 0.
    pub position: u64,
    /// Line in its source, from 1.
    pub line: u64,
    /// The id as raw JSON.
    pub id: Option<String>,
    /// Its words.
    pub words: u64,
    /// Why nothing of it is protected: too few words, or no usable text.
    pub unprotected: Option<&'static str>,
}

impl Reference {
    /// An index as the reference, if the rules allow for its false hits.
    pub fn index(index: Arc<Index>, settings: &Settings) -> Result<Reference> {
        let rate = index.rate(settings.units.n);
        let expected = rate * DOCUMENT_NGRAMS;
        let thresholds = &settings.thresholds;
        let by_hits = thresholds
            .max_hits
            .map(|most| ("--max-hits", more_than(most, expected)));
        // A run of r + 1 false hits begins at one of the positions.
        let by_run = thresholds.max_run.map(|most| {
            let power = i32::try_from(most).unwrap_or(i32::MAX).saturating_add(1);
            ("--max-run", (DOCUMENT_NGRAMS * rate.powi(power)).min(1.0))
        });
        for (option, probability) in by_hits.into_iter().chain(by_run) {
            if probability > MOST_FALSE {
                return Err(Error::Option {
                    option,
                    value: format!("with an index whose false-positive rate is {rate:.2e}"),
                    advice: format!(
                        "a clean document of {DOCUMENT_NGRAMS} n-grams has {expected:.2} false hits on average and would be taken \
                         for contaminated with probability {probability:.3}; give the texts themselves (--reference FILES), an \
                         index made with --filter exact, or a larger limit"
                    ),
                });
            }
        }
        Ok(Reference::Index(index))
    }

    /// Tells of `keys`, one after the other, which are in the reference: `hits[i]` is 1, and `numbers[i]` where there are numbers.
    pub fn look_up(&self, n: u32, keys: &[u64], found: &mut Found, stop: &dyn Fn() -> bool) {
        let Found {
            hits,
            numbers,
            placed,
            look_up,
            scratch,
        } = found;
        match self {
            Reference::Index(index) => index.find(n, keys, hits, look_up, stop),
            Reference::Exact(items) => {
                hits.clear();
                hits.resize(keys.len(), 0);
                numbers.resize(keys.len(), 0);
                placed.clear();
                items.set.table.find_placed(keys, scratch, placed);
                for &(place, number) in placed.iter() {
                    hits[place as usize] = u8::from(!items.is_common(number));
                    numbers[place as usize] = number;
                }
            }
        }
    }
}

/// What [`Reference::look_up`] found, and its reusable space.
#[derive(Default)]
pub struct Found {
    /// 1 for each key that is in the reference.
    pub hits: Vec<u8>,
    /// The number of each such key; anything for others, and with an index.
    pub numbers: Vec<u32>,
    placed: Vec<(u32, u32)>,
    look_up: LookUp,
    scratch: Placed,
}

/// P(X > `most`) for a Poisson variable of this mean.
fn more_than(most: u64, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut sum = term;
    for count in 1..=most.min(10_000) {
        term *= mean / count as f64;
        sum += term;
    }
    (1.0 - sum).max(0.0)
}

impl Items {
    /// Reads the items of `corpus`.
    pub fn read(corpus: Corpus, settings: &Settings, tick: Tick<'_>) -> Result<Items> {
        let progress = Progress {
            bytes_total: corpus.bytes_total(),
            ..Progress::of("reference")
        };
        let threads = pass::threads(settings.threads);
        let parts = pass::run(&corpus, threads, progress, &|_| None, tick, |pass| {
            let mut hasher = UnitHasher::new(&settings.units);
            let mut read = Vec::new();
            pass.for_each_block(|block, corpus| {
                let source = block.source();
                let (mut documents, mut ngrams) = (0, 0);
                block.for_each(corpus, |record| {
                    let item = Item {
                        source,
                        position: record.position,
                        line: record.line,
                        id: record.id.map(str::to_string),
                        words: 0,
                        unprotected: None,
                    };
                    let item = ReadItem::new(item, record.text, &mut hasher);
                    documents += 1;
                    ngrams += item.keys.len() as u64;
                    read.push(item);
                });
                (documents, ngrams)
            });
            read
        })?;
        let report = corpus.finish()?;
        pass::aside("arrange", tick, |stop| {
            let mut read: Vec<ReadItem> = parts.into_iter().flatten().collect();
            read.sort_unstable_by_key(|of| (of.item.source, of.item.position));
            let (mut keys, mut near) = (Lists::default(), Lists::default());
            let mut list = Vec::with_capacity(read.len());
            for of in read {
                stop()?;
                list.push(of.item);
                keys.push(of.keys);
                near.push(of.near);
            }
            // Every item that has an n-gram is named, however many there are.
            let set = NgramSet::new(settings.units.n, keys, usize::MAX, None, stop)?;
            let near = settings
                .units
                .near_n
                .map(|n| NgramSet::new(n, near, NEAR_CAP, None, stop));
            Ok(Items {
                list,
                set,
                near: near.transpose()?,
                report,
                documents: Vec::new(),
                max_documents: settings.max_documents,
            })
        })
    }

    /// Counts in how many documents of `corpus` each n-gram occurs, for the limit of documents.
    pub fn count_documents(
        &mut self,
        corpus: Corpus,
        settings: &Settings,
        tick: Tick<'_>,
    ) -> Result<()> {
        let documents: Vec<AtomicU64> = (0..self.set.table.len())
            .map(|_| AtomicU64::new(0))
            .collect();
        let progress = Progress {
            bytes_total: corpus.bytes_total(),
            passes: 2,
            ..Progress::of("count")
        };
        let threads = pass::threads(settings.threads);
        pass::run(&corpus, threads, progress, &|_| None, tick, |pass| {
            let mut hasher = UnitHasher::new(&UnitRule {
                near_n: None,
                ..settings.units.clone()
            });
            let mut ngrams = Ngrams::default();
            let (mut found, mut scratch) = (Vec::new(), Placed::default());
            pass.for_each_block(|block, corpus| {
                let (mut read, mut total) = (0, 0);
                block.for_each(corpus, |record| {
                    let Ok(text) = record.text else { return };
                    ngrams.clear();
                    hasher.add(text, &mut ngrams, &|| false);
                    read += 1;
                    total += ngrams.keys.len() as u64;
                    found.clear();
                    let table = &self.set.table;
                    table.find_placed(&ngrams.keys, &mut scratch, &mut found);
                    found.sort_unstable_by_key(|&(_, number)| number);
                    for same in found.chunk_by(|a, b| a.1 == b.1) {
                        documents[same[0].1 as usize].fetch_add(1, Relaxed);
                    }
                });
                (read, total)
            });
        })?;
        corpus.finish()?;
        self.documents = documents;
        Ok(())
    }

    /// Whether more documents have the n-gram than may.
    pub fn is_common(&self, number: u32) -> bool {
        match (self.documents.get(number as usize), self.max_documents) {
            (Some(documents), Some(most)) => documents.load(Relaxed) > most,
            _ => false,
        }
    }

    /// How many n-grams do not count because too many documents have them.
    pub fn common(&self) -> u64 {
        (0..self.set.table.len() as u32)
            .filter(|&number| self.is_common(number))
            .count() as u64
    }
}

/// An item as one thread reads it.
struct ReadItem {
    item: Item,
    keys: Vec<u64>,
    near: Vec<u64>,
}

impl ReadItem {
    fn new(
        mut item: Item,
        text: std::result::Result<&str, Reason>,
        hasher: &mut UnitHasher,
    ) -> ReadItem {
        let mut ngrams = Ngrams::default();
        match text {
            Ok(text) => {
                hasher.add(text, &mut ngrams, &|| false);
                item.words = ngrams.units.iter().map(|unit| unit.words).sum();
                item.unprotected = ngrams.keys.is_empty().then_some(TOO_SHORT);
            }
            Err(reason) => item.unprotected = Some(reason.code()),
        }
        ReadItem {
            item,
            keys: ngrams.keys,
            near: ngrams.near,
        }
    }
}
