//! One document against the reference: counts by unit, what is contaminated, what is left.

use std::ops::Range;

use super::cut::{Cut, Rest, cut};
use super::rules::{Thresholds, Unit, UnitCounts, Why, units};
use crate::ngram::{NgramHasher, ngram_key};
use crate::tokenize::{Span, Tokenizer};

/// How documents are judged.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Length of the n-grams.
    pub n: u32,
    /// What is judged by itself.
    pub unit: Unit,
    /// A unit of fewer than n words and at least so many is one n-gram by itself (as bff does).
    pub min_n: Option<u32>,
    /// When a unit is contaminated.
    pub thresholds: Thresholds,
    /// Cut every match out, whatever the thresholds.
    pub cut: Option<Cut>,
}

/// A run of matched n-grams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Bytes of the text that its words cover.
    pub bytes: Range<usize>,
    /// How many n-grams.
    pub ngrams: u64,
    /// Number of the first one's key, where the reference has numbers.
    pub number: Option<u32>,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Of the whole document; runs do not cross units.
    pub counts: UnitCounts,
    /// Units that are contaminated, as bytes, and why.
    pub contaminated: Vec<(Range<usize>, Why)>,
    /// Matches, in order.
    pub matches: Vec<Match>,
    /// What a removal leaves.
    pub rest: Rest,
}

/// Tells which n-grams are in the reference: sets `hits[i]` to 1, and `numbers[i]` if there are numbers.
pub type LookUp<'a> = &'a mut dyn FnMut(&[u64], &mut Vec<u8>, &mut Vec<Option<u32>>);

/// Judges documents on one thread.
pub struct Judge<'a> {
    rules: &'a Rules,
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    keys: Vec<u64>,
    hashes: Vec<u64>,
    hits: Vec<u8>,
    numbers: Vec<Option<u32>>,
    spans: Vec<Span>,
}

impl<'a> Judge<'a> {
    /// A judge by `rules`, of words that `tokenizer` makes.
    pub fn new(rules: &'a Rules, tokenizer: Tokenizer) -> Judge<'a> {
        Judge {
            rules,
            tokenizer,
            hasher: NgramHasher::new(&[rules.n]),
            keys: Vec::new(),
            hashes: Vec::new(),
            hits: Vec::new(),
            numbers: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// Judges one document.
    pub fn document(&mut self, text: &str, look_up: LookUp<'_>) -> Verdict {
        let mut verdict = Verdict {
            counts: UnitCounts::default(),
            contaminated: Vec::new(),
            matches: Vec::new(),
            rest: Rest::Whole,
        };
        for unit in units(text, self.rules.unit) {
            let counts = self.unit(
                &text[unit.clone()],
                unit.start,
                look_up,
                &mut verdict.matches,
            );
            if let Some(why) = self.rules.thresholds.crossed(counts) {
                verdict.contaminated.push((unit, why));
            }
            verdict.counts.words += counts.words;
            verdict.counts.ngrams += counts.ngrams;
            verdict.counts.hits += counts.hits;
            verdict.counts.longest_run = verdict.counts.longest_run.max(counts.longest_run);
        }
        verdict.rest = match self.rules.cut {
            Some(rule) => {
                let matched: Vec<_> = verdict
                    .matches
                    .iter()
                    .map(|each| each.bytes.clone())
                    .collect();
                cut(text, &matched, rule)
            }
            None => {
                let units: Vec<_> = verdict
                    .contaminated
                    .iter()
                    .map(|(unit, _)| unit.clone())
                    .collect();
                let whole_units = Cut {
                    around: 0,
                    min_piece: 1,
                    max_pieces: None,
                };
                cut(text, &units, whole_units)
            }
        };
        verdict
    }

    fn unit(
        &mut self,
        text: &str,
        offset: usize,
        look_up: LookUp<'_>,
        matches: &mut Vec<Match>,
    ) -> UnitCounts {
        let Judge {
            rules,
            tokenizer,
            hasher,
            keys,
            hashes,
            hits,
            numbers,
            spans,
        } = self;
        keys.clear();
        hashes.clear();
        hasher.start();
        tokenizer.hash_words(text, |batch| {
            // Only a short unit needs them again.
            if hashes.len() < rules.n as usize {
                hashes.extend_from_slice(batch);
            }
            hasher.push(batch, |_, new| keys.extend_from_slice(new));
        });
        let words = hasher.words();
        let mut length = rules.n as usize;
        if let Some(min_n) = rules.min_n
            && keys.is_empty()
            && words >= u64::from(min_n.max(1))
        {
            keys.push(ngram_key(hashes));
            length = hashes.len();
        }
        look_up(keys, hits, numbers);
        let mut counts = UnitCounts {
            words,
            ngrams: keys.len() as u64,
            hits: hits.iter().map(|&hit| u64::from(hit)).sum(),
            longest_run: 0,
        };
        if counts.hits == 0 {
            return counts;
        }
        spans.clear();
        tokenizer.spans(text, spans);
        let mut start = 0;
        for run in hits.chunk_by(|a, b| a == b) {
            if run[0] != 0 {
                let last = start + run.len() - 1;
                counts.longest_run = counts.longest_run.max(run.len() as u64);
                matches.push(Match {
                    bytes: offset + spans[start].start..offset + spans[last + length - 1].end,
                    ngrams: run.len() as u64,
                    number: numbers.get(start).copied().flatten(),
                });
            }
            start += run.len();
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::hash::word_hash;
    use crate::tokenize::{Normalization, WordMode, WordRule};

    /// The n-grams of a text, numbered.
    fn reference(text: &str, n: usize) -> HashMap<u64, u32> {
        let hashes: Vec<u64> = text
            .split_whitespace()
            .map(|word| word_hash(word.as_bytes()))
            .collect();
        hashes.windows(n).map(ngram_key).zip(0..).collect()
    }

    fn judge(rules: &Rules, text: &str, reference: &HashMap<u64, u32>) -> Verdict {
        let tokenizer = Tokenizer::new(WordRule {
            mode: WordMode::Whitespace,
            normalization: Normalization::None,
            lowercase: false,
        });
        Judge::new(rules, tokenizer).document(text, &mut |keys, hits, numbers| {
            *numbers = keys.iter().map(|key| reference.get(key).copied()).collect();
            *hits = numbers
                .iter()
                .map(|number| u8::from(number.is_some()))
                .collect();
        })
    }

    fn rules(unit: Unit, max_overlap: f64) -> Rules {
        Rules {
            n: 3,
            unit,
            min_n: None,
            thresholds: Thresholds {
                max_overlap: Some(max_overlap),
                ..Thresholds::default()
            },
            cut: None,
        }
    }

    #[test]
    fn matches_carry_place_and_number() {
        let known = reference("the cat sat on the mat", 3);
        let text = "once the cat sat on a the mat";
        let verdict = judge(&rules(Unit::Document, 0.8), text, &known);
        assert_eq!(
            verdict.counts,
            UnitCounts {
                words: 8,
                ngrams: 6,
                hits: 2,
                longest_run: 2
            }
        );
        assert_eq!(verdict.matches.len(), 1);
        assert_eq!(&text[verdict.matches[0].bytes.clone()], "the cat sat on");
        assert_eq!(verdict.matches[0].number, Some(0));
        assert_eq!((verdict.contaminated.len(), verdict.rest), (0, Rest::Whole));
    }

    #[test]
    fn contaminated_paragraphs_go_and_the_others_stay() {
        let known = reference("the cat sat on the mat", 3);
        let text = "something else here\nthe cat sat on the mat\nand the end of it";
        let verdict = judge(&rules(Unit::Paragraph, 0.8), text, &known);
        assert_eq!(verdict.contaminated, [(19..42, Why::Overlap)]);
        let Rest::Pieces(pieces) = verdict.rest else {
            panic!("{:?}", verdict.rest)
        };
        let rest: String = pieces.into_iter().map(|piece| &text[piece]).collect();
        assert_eq!(rest, "something else here\nand the end of it");
        // n-grams do not cross the lines.
        let crossing = reference("here the cat", 3);
        assert_eq!(
            judge(&rules(Unit::Paragraph, 0.1), text, &crossing)
                .counts
                .hits,
            0
        );
    }

    #[test]
    fn a_short_unit_is_one_ngram_if_asked_for() {
        let two = ngram_key(&["so", "what"].map(|word| word_hash(word.as_bytes())));
        let known = HashMap::from([(two, 7)]);
        let mut short = rules(Unit::Document, 0.8);
        assert_eq!(judge(&short, "so what", &known).counts.ngrams, 0);
        short.min_n = Some(2);
        let verdict = judge(&short, "so what", &known);
        assert_eq!((verdict.counts.ngrams, verdict.counts.hits), (1, 1));
        assert_eq!(verdict.matches[0].number, Some(7));
        assert_eq!(verdict.rest, Rest::Nothing);
        assert_eq!(judge(&short, "so", &known).counts.ngrams, 0);
    }
}
