//! Texts to the n-grams of their units, the same way for a reference and for what is judged by it.

use std::ops::Range;

use super::rules::{Unit, units};
use crate::ngram::{NgramHasher, ngram_key};
use crate::tokenize::{Tokenizer, WordRule};

/// Which n-grams a text has.
#[derive(Clone, Debug)]
pub struct UnitRule {
    /// How text becomes words.
    pub words: WordRule,
    /// Length of the n-grams.
    pub n: u32,
    /// What is judged by itself.
    pub unit: Unit,
    /// A unit of fewer than n words and at least so many is one n-gram by itself (as in bff).
    pub min_n: Option<u32>,
    /// Length of the n-grams of the near-match score, which are of the whole text.
    pub near_n: Option<u32>,
}

/// A unit and its n-grams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitKeys {
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// Its words.
    pub words: u64,
    /// Where its keys are.
    pub keys: Range<usize>,
    /// Words of each n-gram; fewer than n for a short unit.
    pub length: usize,
}

/// Units and n-grams of one text after the other.
#[derive(Default)]
pub struct Ngrams {
    /// Units, in order.
    pub units: Vec<UnitKeys>,
    /// Their keys.
    pub keys: Vec<u64>,
    /// Keys of the near-match score.
    pub near: Vec<u64>,
}

impl Ngrams {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.units.clear();
        self.keys.clear();
        self.near.clear();
    }
}

/// Cuts texts into units and n-grams on one thread.
pub struct UnitHasher {
    rule: UnitRule,
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    /// For near n-grams where units are shorter than the text.
    near: Option<NgramHasher>,
    hashes: Vec<u64>,
}

impl UnitHasher {
    /// A hasher by `rule`.
    pub fn new(rule: &UnitRule) -> UnitHasher {
        let whole = rule.unit == Unit::Document;
        let (together, apart) = match rule.near_n {
            Some(near) if whole => (vec![rule.n, near], None),
            near => (vec![rule.n], near.map(|near| NgramHasher::new(&[near]))),
        };
        UnitHasher {
            tokenizer: Tokenizer::new(rule.words.clone()),
            rule: rule.clone(),
            hasher: NgramHasher::new(&together),
            near: apart,
            hashes: Vec::new(),
        }
    }

    /// The tokenizer, for spans of the words.
    pub fn tokenizer(&mut self) -> &mut Tokenizer {
        &mut self.tokenizer
    }

    /// Appends the units and n-grams of `text`. Once `stop` is true, what comes is worthless and comes soon.
    pub fn add(&mut self, text: &str, out: &mut Ngrams, stop: &dyn Fn() -> bool) {
        for bytes in units(text, self.rule.unit) {
            self.unit(text, bytes, out, stop);
        }
        if let Some(hasher) = &mut self.near {
            hasher.start();
            self.tokenizer.hash_words(text, |hashes| {
                if !stop() {
                    hasher.push(hashes, |_, new| out.near.extend_from_slice(new));
                }
            });
        }
    }

    fn unit(&mut self, text: &str, bytes: Range<usize>, out: &mut Ngrams, stop: &dyn Fn() -> bool) {
        let UnitHasher {
            rule,
            tokenizer,
            hasher,
            hashes,
            ..
        } = self;
        let first = out.keys.len();
        let mut length = rule.n as usize;
        hashes.clear();
        hasher.start();
        tokenizer.hash_words(&text[bytes.clone()], |batch| {
            if stop() {
                return;
            }
            // Only a short unit needs them again.
            if hashes.len() < length {
                hashes.extend_from_slice(batch);
            }
            hasher.push(batch, |set, new| match set {
                0 => out.keys.extend_from_slice(new),
                _ => out.near.extend_from_slice(new),
            });
        });
        let words = hasher.words();
        if let Some(min_n) = rule.min_n
            && words < u64::from(rule.n)
            && words >= u64::from(min_n.max(1))
        {
            out.keys.push(ngram_key(hashes));
            length = hashes.len();
        }
        out.units.push(UnitKeys {
            bytes,
            words,
            keys: first..out.keys.len(),
            length,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::{Normalization, WordMode};

    fn ngrams(text: &str, unit: Unit, min_n: Option<u32>) -> Ngrams {
        let rule = UnitRule {
            words: WordRule {
                mode: WordMode::Whitespace,
                normalization: Normalization::None,
                lowercase: false,
            },
            n: 3,
            unit,
            min_n,
            near_n: Some(2),
        };
        let mut out = Ngrams::default();
        UnitHasher::new(&rule).add(text, &mut out, &|| false);
        out
    }

    #[test]
    fn near_ngrams_are_those_of_the_whole_text() {
        let text = "a b c\nd e f g\nh";
        let (lines, whole) = (
            ngrams(text, Unit::Paragraph, None),
            ngrams(text, Unit::Document, None),
        );
        assert_eq!(lines.near, whole.near);
        assert_eq!((lines.keys.len(), whole.keys.len()), (3, 6));
        let words: Vec<u64> = lines.units.iter().map(|unit| unit.words).collect();
        assert_eq!(words, [3, 4, 1]);
    }

    #[test]
    fn a_short_unit_is_one_ngram_if_asked_for() {
        let lengths = |min_n| -> Vec<(usize, usize)> {
            let of = ngrams("a b\nc\nd e f", Unit::Paragraph, min_n);
            of.units
                .iter()
                .map(|unit| (unit.keys.len(), unit.length))
                .collect()
        };
        assert_eq!(lengths(None), [(0, 3), (0, 3), (1, 3)]);
        assert_eq!(lengths(Some(2)), [(1, 2), (0, 3), (1, 3)]);
    }
}
