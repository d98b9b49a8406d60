//! Text to words.

use serde::{Deserialize, Serialize};

/// How a document is cut into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordMode {
    /// Unicode UAX #29 word-boundary segments (Unicode 15.0) that are not only white space; case and punctuation kept.
    Uax29,
    /// Runs of characters that are not Unicode `White_Space`.
    Whitespace,
    /// White-space words, ASCII letters lower-cased, ASCII punctuation deleted, empty words dropped.
    Gpt3,
    /// Pre-tokenised: decimal integers separated by ASCII space.
    Ids,
}

/// Unicode normalisation applied before words are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// Text as it is.
    None,
    /// Canonical composition.
    Nfc,
    /// Compatibility composition.
    Nfkc,
}

/// Everything that decides which words a text has. Stored in every index; index and candidates must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordRule {
    /// The cut.
    pub mode: WordMode,
    /// Applied first.
    pub normalization: Normalization,
    /// Unicode lower-casing, character by character, after normalisation.
    pub lowercase: bool,
}

/// A word's byte range in the ORIGINAL text (before normalisation and lower-casing).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Cuts texts into words by one [`WordRule`]; reusable, one per thread (it owns scratch space).
pub struct Tokenizer {
    rule: WordRule,
}

impl Tokenizer {
    /// A tokenizer for `rule`, with the fastest code path of this processor (or the one `NGRAMSCOPE_SIMD` names).
    pub fn new(rule: WordRule) -> Tokenizer {
        Tokenizer { rule }
    }

    /// The rule.
    pub fn rule(&self) -> &WordRule {
        &self.rule
    }

    /// Feeds the hashes ([`crate::hash::word_hash`]) of the words of `text`, in order, to `sink` in batches of bounded length.
    pub fn hash_words(&mut self, text: &str, mut sink: impl FnMut(&[u64])) {
        let mut batch = Vec::new();
        for word in text.split_whitespace() {
            batch.push(crate::hash::word_hash(word.as_bytes()));
        }
        sink(&batch);
    }

    /// Appends the spans of the words of `text` to `out`: as many as `hash_words` hashes, in the same order.
    pub fn spans(&mut self, text: &str, out: &mut Vec<Span>) {
        for word in text.split_whitespace() {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            out.push(Span { start, end: start + word.len() });
        }
    }
}
