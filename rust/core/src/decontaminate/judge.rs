//! Blocks of texts against the reference: counts by unit, what is contaminated, what becomes of it.

use std::ops::Range;

use super::cut::{Rest, cut};
use super::near::{Near, Windows};
use super::reference::{Found, Reference};
use super::rewrite::{Action, rewrite};
use super::rules::{UnitCounts, Why};
use super::units::{Ngrams, UnitHasher, UnitKeys};
use super::{CutOut, Mode, Settings};
use crate::points::CodePoints;
use crate::query::TOO_SHORT;
use crate::read::{Block, Corpus, Place};
use crate::scan::Placed;
use crate::tokenize::Span;

/// Items that are named for a match.
const ITEMS: usize = 3;
/// Code points of matched text that are kept as evidence; its place is exact however long it is.
const EVIDENCE_POINTS: usize = 500;
/// What joins the pieces that are left when matches are cut out.
const BETWEEN_PIECES: &str = "\n\n";

/// What became of a record.
#[derive(Clone, Debug)]
pub struct Row {
    /// Number of the source, from 0.
    pub source: usize,
    /// Number of the record in its source, from 0.
    pub position: u64,
    /// Line (table row) in its source, from 1.
    pub line: u64,
    /// The id as raw JSON.
    pub id: Option<String>,
    /// The fields asked for, as raw JSON.
    pub fields: Vec<Option<String>>,
    /// Why there is nothing to judge.
    pub null_reason: Option<&'static str>,
    /// The judgement.
    pub verdict: Verdict,
    /// The new text of a record that was cut, for those that write it themselves: rows of tables.
    pub text: Option<String>,
}

/// What was found in a text, and what follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Of the whole text; runs do not cross units.
    pub counts: UnitCounts,
    /// Units that have n-grams.
    pub units: u64,
    /// Those that are contaminated.
    pub contaminated: u64,
    /// The first rule that was broken.
    pub why: Option<Why>,
    /// What is done about it.
    pub removal: Option<Removal>,
    /// Code points that are removed.
    pub removed: u64,
    /// The item that the text has most nearly.
    pub near: Option<Near>,
    /// Matches, in order; the first of them.
    pub evidence: Vec<Match>,
    /// How many there are.
    pub matches: u64,
}

/// What is done about a contaminated text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Matches or units are cut out.
    Cut,
    /// The document goes.
    Document,
    /// It goes because no piece is long enough.
    NothingLeft,
    /// It goes because it would fall into too many pieces.
    TooManyPieces,
}

impl Removal {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Removal::Cut => "cut",
            Removal::Document => "document",
            Removal::NothingLeft => "nothing_left",
            Removal::TooManyPieces => "too_many_pieces",
        }
    }
}

/// A run of matched n-grams, or a near match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Code points of the text that its words cover.
    pub points: (u64, u64),
    /// The text, at most 500 code points of it.
    pub text: String,
    /// How many n-grams.
    pub ngrams: u64,
    /// Whether it is a near match.
    pub near: bool,
    /// Items of the reference that have it (its first n-gram); the first of them.
    pub items: Vec<u32>,
    /// How many there are.
    pub items_total: u64,
}

/// A judged block.
pub struct Part {
    /// Number of the source.
    pub source: usize,
    /// How many records it has.
    pub records: u64,
    /// Why some of them cannot be judged, for each.
    pub unjudged: Vec<&'static str>,
    /// The rows asked for.
    pub rows: Vec<Row>,
    /// The records written out again, where they are asked for and not rows of a table.
    pub bytes: Option<Vec<u8>>,
    /// A line whose record cannot be written out again, since it was too long to keep.
    pub lost: Option<u64>,
    /// Whether the records are files' of an archive.
    pub archived: bool,
}

/// Judges blocks on one thread.
pub struct Judge<'a> {
    settings: &'a Settings,
    reference: &'a Reference,
    stop: &'a (dyn Fn() -> bool + Sync),
    hasher: UnitHasher,
    ngrams: Ngrams,
    texts: String,
    found: Found,
    near: Vec<(u32, u32)>,
    scratch: Placed,
    windows: Windows,
    spans: Vec<Span>,
}

/// A record of the block at hand.
struct Collected {
    row: Row,
    place: Option<Place>,
    text: Range<usize>,
    units: Range<usize>,
    near: Range<usize>,
}

impl<'a> Judge<'a> {
    /// A judge by `settings`. Once `stop` is true, what it says is worthless and comes soon.
    pub fn new(
        settings: &'a Settings,
        reference: &'a Reference,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Judge<'a> {
        Judge {
            settings,
            reference,
            stop,
            hasher: UnitHasher::new(&settings.units),
            ngrams: Ngrams::default(),
            texts: String::new(),
            found: Found::default(),
            near: Vec::new(),
            scratch: Placed::default(),
            windows: Windows::default(),
            spans: Vec::new(),
        }
    }

    /// Judges a block.
    pub fn block(&mut self, block: &mut Block, corpus: &Corpus) -> Part {
        let mut part = Part {
            source: block.source(),
            records: block.records(),
            unjudged: Vec::new(),
            rows: Vec::new(),
            bytes: None,
            lost: None,
            archived: false,
        };
        let collected = self.collect(block, corpus, &mut part);
        let Judge {
            reference,
            settings,
            ngrams,
            found,
            near,
            scratch,
            stop,
            ..
        } = self;
        reference.look_up(settings.units.n, &ngrams.keys, found, stop);
        near.clear();
        if let Reference::Exact(items) = reference
            && let Some(set) = &items.near
        {
            set.table.find_placed(&ngrams.near, scratch, near);
        }
        let mut kept = Vec::new();
        for mut record in collected {
            let (verdict, action) = self.document(&record);
            record.row.verdict = verdict;
            if record.row.null_reason.is_none() && record.row.verdict.units == 0 {
                record.row.null_reason = Some(TOO_SHORT);
            }
            if record.row.verdict.why.is_none() {
                part.unjudged.extend(record.row.null_reason);
            }
            match record.place {
                Some(place) => kept.push((place, action)),
                None => {
                    if let Action::Replace(text) = action {
                        record.row.text = Some(text);
                    }
                }
            }
            if self.settings.all_rows || record.row.verdict.why.is_some() {
                part.rows.push(record.row);
            }
        }
        if self.settings.rewrite && !kept.is_empty() {
            let actions = kept.iter().map(|(place, action)| (place, action));
            part.bytes = Some(rewrite(block.raw(), actions));
        }
        part
    }

    /// Takes the records of a block apart.
    fn collect(&mut self, block: &mut Block, corpus: &Corpus, part: &mut Part) -> Vec<Collected> {
        let Judge {
            settings,
            hasher,
            ngrams,
            texts,
            stop,
            ..
        } = self;
        let mut collected = Vec::new();
        ngrams.clear();
        texts.clear();
        let source = block.source();
        block.for_each(corpus, |record| {
            let starts = (texts.len(), ngrams.units.len(), ngrams.near.len());
            if let Ok(text) = record.text {
                texts.push_str(text);
                hasher.add(text, ngrams, stop);
            }
            if record.place.is_none() && record.text == Err(crate::read::Reason::RecordTooLong) {
                part.lost.get_or_insert(record.line);
            }
            part.archived |= record.member.is_some();
            let fields = record.fields.iter();
            collected.push(Collected {
                row: Row {
                    source,
                    position: record.position,
                    line: record.line,
                    id: record.id.map(str::to_string),
                    fields: fields.map(|field| field.map(str::to_string)).collect(),
                    null_reason: record.text.err().map(|reason| reason.code()),
                    verdict: Verdict::default(),
                    text: None,
                },
                place: record.place.filter(|_| settings.rewrite).cloned(),
                text: starts.0..texts.len(),
                units: starts.1..ngrams.units.len(),
                near: starts.2..ngrams.near.len(),
            });
        });
        collected
    }

    fn document(&mut self, record: &Collected) -> (Verdict, Action) {
        let mut verdict = Verdict::default();
        let mut contaminated = Vec::new();
        for number in record.units.clone() {
            let unit = &self.ngrams.units[number];
            let counts = self.counts(unit);
            if let Some(why) = self.settings.thresholds.crossed(counts) {
                contaminated.push(number);
                verdict.why.get_or_insert(why);
            }
            verdict.units += u64::from(counts.ngrams > 0);
            verdict.counts.add(counts);
        }
        verdict.contaminated = contaminated.len() as u64;
        let near = self.nearest(&record.near);
        verdict.near = near;
        let most = self.settings.thresholds.max_near;
        let nearly = near.filter(|near| most.is_some_and(|most| near.score > most));
        if nearly.is_some() {
            verdict.why.get_or_insert(Why::Near);
        }
        if verdict.why.is_none() || (self.stop)() {
            return (verdict, Action::Keep);
        }
        let mut found = Vec::new();
        for &number in &contaminated {
            self.matches(record, number, &mut found);
        }
        if let Some(near) = nearly {
            found.push(self.near_match(record, near));
            found.sort_by_key(|each| each.bytes.start);
        }
        let text = &self.texts[record.text.clone()];
        verdict.matches = found.len() as u64;
        verdict.evidence = evidence(text, &found, self.settings.evidence, self.reference);
        let ranges = match self.settings.cut_out {
            CutOut::Matches => found.into_iter().map(|each| each.bytes).collect(),
            CutOut::Units => {
                let of_units = contaminated
                    .iter()
                    .map(|&number| self.ngrams.units[number].bytes.clone());
                let near = found
                    .into_iter()
                    .filter(|each| each.near)
                    .map(|each| each.bytes);
                let mut ranges: Vec<_> = of_units.chain(near).collect();
                ranges.sort_by_key(|range| range.start);
                ranges
            }
        };
        let action = self.act(text, &ranges, &mut verdict);
        (verdict, action)
    }

    /// Decides what becomes of a contaminated text.
    fn act(&self, text: &str, ranges: &[Range<usize>], verdict: &mut Verdict) -> Action {
        let points = |text: &str| text.chars().count() as u64;
        let removal = match self.settings.mode {
            Mode::Annotate => return Action::Keep,
            Mode::Documents => Removal::Document,
            Mode::Spans => match cut(text, ranges, self.settings.cut) {
                Rest::Pieces(pieces) => {
                    let kept: u64 = pieces
                        .iter()
                        .map(|piece| points(&text[piece.clone()]))
                        .sum();
                    verdict.removal = Some(Removal::Cut);
                    verdict.removed = points(text) - kept;
                    let pieces: Vec<&str> = pieces.into_iter().map(|piece| &text[piece]).collect();
                    return Action::Replace(pieces.join(match self.settings.cut_out {
                        CutOut::Matches => BETWEEN_PIECES,
                        CutOut::Units => "",
                    }));
                }
                Rest::Whole => return Action::Keep,
                Rest::Nothing => Removal::NothingLeft,
                Rest::TooManyPieces(_) => Removal::TooManyPieces,
            },
        };
        verdict.removal = Some(removal);
        verdict.removed = points(text);
        Action::Remove
    }

    fn counts(&self, unit: &UnitKeys) -> UnitCounts {
        let hits = &self.found.hits[unit.keys.clone()];
        let mut counts = UnitCounts {
            words: unit.words,
            ngrams: hits.len() as u64,
            ..UnitCounts::default()
        };
        let mut run = 0;
        for &hit in hits {
            run = if hit != 0 { run + 1 } else { 0 };
            counts.hits += u64::from(hit);
            counts.longest_run = counts.longest_run.max(run);
        }
        counts
    }

    fn nearest(&mut self, ngrams: &Range<usize>) -> Option<Near> {
        let Reference::Exact(items) = self.reference else {
            return None;
        };
        let place = |at: usize| {
            self.near
                .partition_point(|&(place, _)| (place as usize) < at)
        };
        let found = &self.near[place(ngrams.start)..place(ngrams.end)];
        let mut near = self.windows.best(found, items)?;
        near.ngrams.0 -= ngrams.start;
        near.ngrams.1 -= ngrams.start;
        Some(near)
    }

    /// Appends the runs of hits of a unit.
    fn matches(&mut self, record: &Collected, unit: usize, out: &mut Vec<Run>) {
        let Judge {
            hasher,
            ngrams,
            texts,
            found,
            spans,
            ..
        } = self;
        let unit = &ngrams.units[unit];
        spans.clear();
        let text = &texts[record.text.clone()][unit.bytes.clone()];
        hasher.tokenizer().spans(text, spans);
        let hits = &found.hits[unit.keys.clone()];
        let mut start = 0;
        for run in hits.chunk_by(|a, b| a == b) {
            if run[0] != 0 {
                let last = start + run.len() - 1;
                let offset = unit.bytes.start;
                out.push(Run {
                    bytes: offset + spans[start].start..offset + spans[last + unit.length - 1].end,
                    ngrams: run.len() as u64,
                    number: found.numbers.get(unit.keys.start + start).copied(),
                    near: false,
                });
            }
            start += run.len();
        }
    }

    fn near_match(&mut self, record: &Collected, near: Near) -> Run {
        let text = &self.texts[record.text.clone()];
        self.spans.clear();
        self.hasher.tokenizer().spans(text, &mut self.spans);
        let words = self.settings.units.near_n.unwrap_or(1) as usize;
        let (first, last) = near.ngrams;
        Run {
            bytes: self.spans[first].start..self.spans[last + words - 1].end,
            ngrams: (last - first + 1) as u64,
            number: Some(near.item),
            near: true,
        }
    }
}

/// A match, as bytes of the text.
struct Run {
    bytes: Range<usize>,
    ngrams: u64,
    /// Number of the first n-gram; of the item, for a near match.
    number: Option<u32>,
    near: bool,
}

/// The first `most` matches, for people.
fn evidence(text: &str, found: &[Run], most: usize, reference: &Reference) -> Vec<Match> {
    let mut points = CodePoints::new(text);
    let describe = |run: &Run| {
        let matched = &text[run.bytes.clone()];
        let holders = match (reference, run.number) {
            (_, Some(item)) if run.near => vec![item],
            (Reference::Exact(items), Some(number)) => items.set.holders(number).to_vec(),
            _ => Vec::new(),
        };
        Match {
            points: (points.at(run.bytes.start), points.at(run.bytes.end)),
            text: matched.chars().take(EVIDENCE_POINTS).collect(),
            ngrams: run.ngrams,
            near: run.near,
            items_total: holders.len() as u64,
            items: holders.into_iter().take(ITEMS).collect(),
        }
    };
    found.iter().take(most).map(describe).collect()
}
