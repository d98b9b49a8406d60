//! What must not be in the texts: n-grams of reference files, exactly, with the items they come from; or an index.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Settings;
use crate::error::{Error, Result};
use crate::pass::Tick;
use crate::query::{Index, QueryOptions};
use crate::read::{Corpus, ReadReport};
use crate::scan::{Candidates, ScanOptions};

/// Expected false hits of a document from which on a rule that acts on single hits is refused.
const MOST_FALSE_HITS: f64 = 0.01;
/// n-grams of the document that this is judged by.
const DOCUMENT_NGRAMS: f64 = 1000.0;

/// The reference.
pub enum Reference {
    /// n-grams of files.
    Exact(Exact),
    /// An index, whose filter may have false hits, and which does not know where its n-grams come from.
    Index(Arc<Index>),
}

/// n-grams of files, by number.
pub struct Exact {
    items: Candidates,
    /// By number: documents of the corpus that have it, when they were counted.
    documents: Option<Vec<AtomicU64>>,
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
    /// Why nothing of it is protected: too few words, or no usable text.
    pub unprotected: Option<&'static str>,
}

impl Reference {
    /// Reads the items of `corpus`.
    pub fn read(corpus: Corpus, settings: &Settings, tick: Tick<'_>) -> Result<Reference> {
        let options = ScanOptions {
            query: QueryOptions {
                ns: vec![settings.n],
                threads: settings.threads,
                ..QueryOptions::default()
            },
            rule: settings.rule.clone(),
            own_share: 1.0,
            // Every item that has an n-gram is named.
            cap: usize::MAX,
            top_sources: 0,
            counts: false,
        };
        let items = Candidates::read(corpus, &options, None, tick)?;
        Ok(Reference::Exact(Exact {
            items,
            documents: None,
        }))
    }

    /// An index as the reference, if the rules allow for false hits.
    pub fn index(index: Arc<Index>, settings: &Settings) -> Result<Reference> {
        let false_hits = index.rate(settings.n) * DOCUMENT_NGRAMS;
        if settings.acts_on_single_hits() && false_hits > MOST_FALSE_HITS {
            return Err(Error::Option {
                option: "--index",
                value: format!("a rate of {:.2e}", index.rate(settings.n)),
                advice: format!(
                    "a document of {DOCUMENT_NGRAMS} n-grams would have {false_hits:.2} false hits, and this rule acts on single \
                     ones: give the texts themselves (--reference FILES), or an index made with --filter exact"
                ),
            });
        }
        Ok(Reference::Index(index))
    }
}

impl Exact {
    /// What was read.
    pub fn report(&self) -> &ReadReport {
        &self.items.report
    }

    /// All items.
    pub fn items(&self) -> impl Iterator<Item = Item> {
        let set = &self.items.sets[0];
        self.items.list.iter().enumerate().map(move |(number, of)| Item {
            source: of.source,
            position: of.position,
            line: of.line,
            id: of.id.clone(),
            unprotected: match &of.text {
                Err(reason) => Some(reason.code()),
                Ok(_) if set.keys(number).is_empty() => Some(crate::query::TOO_SHORT),
                Ok(_) => None,
            },
        })
    }

    /// Items that have the n-gram of this number.
    pub fn items_with(&self, number: u32) -> &[u32] {
        self.items.sets[0].holders(number)
    }

    /// Whether more documents than `most` have the n-gram.
    pub fn is_common(&self, number: u32, most: Option<u64>) -> bool {
        match (&self.documents, most) {
            (Some(documents), Some(most)) => documents[number as usize].load(Relaxed) > most,
            _ => false,
        }
    }
}
