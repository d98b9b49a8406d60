//! The option objects of `ngramscope.index.options`, read attribute by attribute. Ranges are checked there and in the core.

use std::path::PathBuf;

use ngramscope_core::build::{BuildOptions, Layout, MergeOptions, Resume};
use ngramscope_core::decontaminate::{Cut, CutOut, Mode, Settings, Thresholds, Unit, UnitRule};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::manifest::{Manifest, PartOf};
use ngramscope_core::query::QueryOptions;
use ngramscope_core::read::ReadOptions;
use ngramscope_core::scan::ScanOptions;
use ngramscope_core::tokenize::{Normalization, WordMode, WordRule};
use pyo3::prelude::*;

use crate::error::{to_python, usage};

/// Names of the word modes, in the order of the documentation.
pub const WORD_MODES: [(&str, WordMode); 4] = [
    ("uax29", WordMode::Uax29),
    ("whitespace", WordMode::Whitespace),
    ("gpt3", WordMode::Gpt3),
    ("ids", WordMode::Ids),
];
/// Names of the normalisations.
pub const NORMALIZATIONS: [(&str, Normalization); 3] = [
    ("none", Normalization::None),
    ("nfc", Normalization::Nfc),
    ("nfkc", Normalization::Nfkc),
];

/// `ReadOptions`.
#[derive(FromPyObject)]
pub struct ReadArguments {
    text_key: String,
    id_key: String,
    /// Globs of files to take.
    pub include: Vec<String>,
    /// Globs of files to leave out.
    pub exclude: Vec<String>,
    text_lines: bool,
    max_record_size: u64,
    max_window_log: u32,
    max_column_chunk: u64,
    max_bad_records: u64,
    max_bad_files: u64,
    fields: Vec<String>,
}

impl ReadArguments {
    /// How many further keys are carried along.
    pub fn fields(&self) -> usize {
        self.fields.len()
    }

    /// Their names.
    pub fn field_names(&self) -> &[String] {
        &self.fields
    }

    /// For the core; `ids` follows from the word mode.
    pub fn to_core(&self, ids: bool) -> ReadOptions {
        ReadOptions {
            text_key: self.text_key.clone(),
            id_key: self.id_key.clone(),
            fields: self.fields.clone(),
            text_lines: self.text_lines,
            ids,
            max_record_bytes: size(self.max_record_size),
            max_window_log: self.max_window_log,
            max_column_chunk_bytes: size(self.max_column_chunk),
            max_bad_records: self.max_bad_records,
            max_bad_files: self.max_bad_files,
            ..ReadOptions::default()
        }
    }
}

/// `WordRule`.
#[derive(FromPyObject)]
pub struct RuleArguments {
    words: String,
    normalize: String,
    lowercase: bool,
}

impl RuleArguments {
    /// For the core.
    pub fn to_core(&self, py: Python<'_>) -> PyResult<WordRule> {
        Ok(WordRule {
            mode: lookup(py, "--words", &self.words, &WORD_MODES)?,
            normalization: lookup(py, "--normalize", &self.normalize, &NORMALIZATIONS)?,
            lowercase: self.lowercase,
        })
    }
}

/// `DecontaminationRules`.
#[derive(FromPyObject)]
pub struct DecontaminationArguments {
    /// Length of the n-grams.
    pub n: u32,
    unit: String,
    min_n: Option<u32>,
    near: u32,
    max_overlap: Option<f64>,
    max_inclusive: bool,
    max_hits: Option<u64>,
    max_run: Option<u64>,
    max_near: Option<f64>,
    /// n-grams that more documents of the texts have do not count.
    pub max_documents: Option<u64>,
    cut: String,
    around: usize,
    min_piece: usize,
    max_pieces: Option<usize>,
}

/// Names of the units.
pub const UNITS: [(&str, Unit); 2] = [("document", Unit::Document), ("paragraph", Unit::Paragraph)];
/// Names of what is cut out.
pub const CUTS: [(&str, CutOut); 2] = [("matches", CutOut::Matches), ("units", CutOut::Units)];
/// Names of what is removed.
pub const MODES: [(&str, Mode); 3] = [
    ("nothing", Mode::Annotate),
    ("spans", Mode::Spans),
    ("documents", Mode::Documents),
];

impl DecontaminationArguments {
    /// For the core.
    pub fn to_core(&self, py: Python<'_>, words: WordRule, remove: &str) -> PyResult<Settings> {
        Ok(Settings {
            units: UnitRule {
                words,
                n: self.n,
                unit: lookup(py, "--unit", &self.unit, &UNITS)?,
                min_n: self.min_n,
                near_n: (self.near > 0).then_some(self.near),
            },
            thresholds: Thresholds {
                max_overlap: self.max_overlap,
                inclusive: self.max_inclusive,
                max_hits: self.max_hits,
                max_run: self.max_run,
                max_near: self.max_near,
            },
            max_documents: self.max_documents,
            mode: lookup(py, "--remove", remove, &MODES)?,
            cut_out: lookup(py, "--cut", &self.cut, &CUTS)?,
            cut: Cut {
                around: self.around,
                min_piece: self.min_piece,
                max_pieces: self.max_pieces,
            },
            evidence: 0,
            all_rows: true,
            rewrite: false,
            threads: None,
        })
    }
}

/// `BuildOptions`.
#[derive(FromPyObject)]
pub struct BuildArguments {
    /// How to read.
    pub read: ReadArguments,
    rule: RuleArguments,
    n: Vec<u32>,
    filter: String,
    filter_fpr: f64,
    expected_ngrams: Option<u64>,
    shards: Option<u32>,
    tiers: u32,
    threads: Option<usize>,
    memory: Option<u64>,
    force: bool,
    accept_overfull: bool,
    name: Option<String>,
    spool: bool,
    demo: bool,
    plan: Option<PathBuf>,
    like: Option<PathBuf>,
    part: Option<(u32, u32)>,
    resume: bool,
    verify_inputs: bool,
}

impl BuildArguments {
    /// For the core.
    pub fn to_core(&self, py: Python<'_>) -> PyResult<BuildOptions> {
        let rule = self.rule.to_core(py)?;
        let layout = match (&self.plan, &self.like) {
            (Some(plan), _) => Some(Layout::read(plan)),
            (None, Some(index)) => Some(Manifest::read(index).map(|of| Layout::of_index(&of))),
            (None, None) => None,
        };
        let kinds = FilterKind::ALL.map(|kind| (kind.name(), kind));
        Ok(BuildOptions {
            ns: self.n.clone(),
            kind: lookup(py, "--filter", &self.filter, &kinds)?,
            filter_fpr: self.filter_fpr,
            expected_ngrams: self.expected_ngrams,
            shards: self.shards,
            tiers: self.tiers,
            threads: self.threads,
            memory: self.memory,
            force: self.force,
            accept_overfull: self.accept_overfull,
            spool: self.spool,
            name: self.name.clone(),
            demo: self.demo,
            layout: layout.transpose().map_err(|error| to_python(py, error))?,
            part: self.part.map(|(part, of)| PartOf { part, of }),
            read: self.read.to_core(rule.mode == WordMode::Ids),
            resume: self.resume.then(|| Resume {
                verify_inputs: self.verify_inputs,
                ..Resume::default()
            }),
            rule,
        })
    }
}

/// `MergeOptions`.
#[derive(FromPyObject)]
pub struct MergeArguments {
    threads: Option<usize>,
    memory: Option<u64>,
    force: bool,
    accept_overfull: bool,
    name: Option<String>,
    incomplete: bool,
}

impl MergeArguments {
    /// For the core.
    pub fn to_core(&self) -> MergeOptions {
        MergeOptions {
            threads: self.threads,
            memory: self.memory,
            force: self.force,
            accept_overfull: self.accept_overfull,
            name: self.name.clone(),
            incomplete: self.incomplete,
        }
    }
}

/// `QueryOptions`.
#[derive(FromPyObject)]
pub struct QueryArguments {
    /// Lengths asked for; empty means all.
    pub n: Vec<u32>,
    max_words: Option<usize>,
    max_ngrams: Option<usize>,
    flags: bool,
    spans: bool,
    max_spans: usize,
    matches: usize,
    own_share: f64,
    threads: Option<usize>,
}

impl QueryArguments {
    /// For the core, with the lengths `ns`.
    pub fn to_core(&self, ns: Vec<u32>) -> QueryOptions {
        QueryOptions {
            ns,
            max_words: self.max_words,
            max_ngrams: self.max_ngrams,
            flags: self.flags,
            max_spans: if self.spans { self.max_spans } else { 0 },
            max_matches: self.matches,
            own_share: self.own_share,
            threads: self.threads,
        }
    }
}

/// `ScanOptions`.
#[derive(FromPyObject)]
pub struct ScanArguments {
    own_cap: usize,
    top_sources: usize,
    counts: bool,
}

impl ScanArguments {
    /// For the core.
    pub fn to_core(&self, query: QueryOptions, rule: WordRule) -> ScanOptions {
        ScanOptions {
            query,
            rule,
            cap: self.own_cap,
            top_sources: self.top_sources,
            counts: self.counts,
        }
    }
}

fn lookup<T: Copy>(py: Python<'_>, option: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    known
        .iter()
        .find(|(each, _)| *each == name)
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(each, _)| *each).collect();
            usage(
                py,
                &format!(
                    "{option}: '{name}' is not known; known: {}",
                    names.join(", ")
                ),
            )
        })
}

/// A size of this machine; more than it can address is as good as no limit.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
