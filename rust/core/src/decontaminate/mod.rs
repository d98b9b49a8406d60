//! Texts that share n-grams with a reference: judged, cut, or left out.
//!
//! ```text
//! reference ─▶ Items (exact, numbered) | Index       texts ─▶ units ─▶ hits ─▶ thresholds ─▶ rows, and the records written out again
//! ```

mod cut;
mod judge;
mod near;
mod reference;
mod rewrite;
mod rules;
mod table;
mod units;

use crate::error::{Error, Result};
use crate::pass;
use crate::read::{Corpus, ReadReport};

pub use cut::Cut;
pub use judge::{Match, Part, Removal, Row, Verdict};
pub use near::{NEAR_CAP, NEAR_FLOOR, NEAR_MIN_NGRAMS, Near};
pub use reference::{Item, Items, Reference};
pub use rules::{Thresholds, Unit, UnitCounts, Why};
pub use table::RowFormat;
pub use units::UnitRule;

use judge::Judge;

/// What is done about contaminated texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: they are named.
    Annotate,
    /// What is contaminated is cut out of them.
    Spans,
    /// They go.
    Documents,
}

/// What is cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOut {
    /// Matches in contaminated units.
    Matches,
    /// Contaminated units.
    Units,
}

/// How to judge, and what to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Words, n-grams, units.
    pub units: UnitRule,
    /// When a unit is contaminated.
    pub thresholds: Thresholds,
    /// n-grams that more documents of the texts have do not count.
    pub max_documents: Option<u64>,
    /// What to do.
    pub mode: Mode,
    /// What to cut out, and how.
    pub cut_out: CutOut,
    /// How.
    pub cut: Cut,
    /// Matches to list for each text.
    pub evidence: usize,
    /// Give a row for every record, not only for contaminated ones.
    pub all_rows: bool,
    /// Write records out again.
    pub rewrite: bool,
    /// Worker threads; `None`: all processors.
    pub threads: Option<usize>,
}

/// A run over texts, part by part, in order. The corpus must deliver blocks in order (`parallel_files` 1).
pub struct Decontamination {
    corpus: Corpus,
    reference: Reference,
    settings: Settings,
}

impl Decontamination {
    /// Of `corpus`, against `reference`.
    pub fn new(corpus: Corpus, reference: Reference, settings: Settings) -> Decontamination {
        Decontamination {
            corpus,
            reference,
            settings,
        }
    }

    /// The reference.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Bytes of the files read so far.
    pub fn bytes_read(&self) -> u64 {
        self.corpus.bytes_read()
    }

    /// The next parts; `None` at the end.
    pub fn next_parts(&mut self, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Vec<Part>>> {
        let parts = pass::next_in_order(
            &self.corpus,
            self.settings.threads,
            stop,
            || Judge::new(&self.settings, &self.reference, stop),
            |judge, block, corpus| judge.block(block, corpus),
        )?;
        for part in parts.iter().flatten().filter(|_| self.settings.rewrite) {
            let name = self.corpus.name(part.source);
            let refuse = |value: String, advice: &str| {
                Err(Error::Option {
                    option: "--clean",
                    value,
                    advice: advice.into(),
                })
            };
            if part.archived {
                return refuse(
                    format!("{name} is an archive, so writing it again"),
                    "unpack it first, or leave out --remove",
                );
            }
            if let Some(line) = part.lost {
                return refuse(
                    format!("{name}, line {line} is too long to keep, so copying it"),
                    "allow a larger --max-record-size",
                );
            }
        }
        Ok(parts)
    }

    /// What was read; the first error, if any.
    pub fn finish(self) -> Result<ReadReport> {
        Ok(self.corpus.finish()?)
    }
}
