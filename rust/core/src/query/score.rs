//! Documents to overlap: which n-grams are found, how many, how many distinct, in which runs, where.

use super::Index;
use super::lookup::Scratch;
use crate::filter::{FOUND, TWICE};
use crate::ngram::NgramHasher;
use crate::points::CodePoints;
use crate::tokenize::{Span, Tokenizer};

/// A stop is asked for this often within a document.
const STOP_KEYS: usize = 1 << 18;
/// A candidate is often a cut of its own document, and cuts and filters lose or add a few n-grams.
pub const OWN_SHARE: f64 = 0.9;
/// n-grams looked up together.
const BATCH_KEYS: usize = 1 << 20;

/// What to compute for each document.
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// Lengths n, chosen by [`Index::choose_ns`].
    pub ns: Vec<u32>,
    /// Only the first so many white-space words of a text (MIMIR cuts at 200).
    pub max_words: Option<usize>,
    /// Only the first so many n-grams of a text (MIMIR's thresholds use 200).
    pub max_ngrams: Option<usize>,
    /// Give the flag of every n-gram.
    pub flags: bool,
    /// Give the first so many spans of matched text.
    pub max_spans: usize,
    /// Give the first so many distinct matched n-grams as text.
    pub max_matches: usize,
    /// From this share of its distinct n-grams on a candidate is taken for a document of the corpus (two tiers), and a document for the
    /// candidate's own (scan).
    pub own_share: f64,
    /// Worker threads; `None`: all processors.
    pub threads: Option<usize>,
}

impl Default for QueryOptions {
    fn default() -> Self {
        QueryOptions {
            ns: Vec::new(),
            max_words: None,
            max_ngrams: None,
            flags: false,
            max_spans: 0,
            max_matches: 0,
            own_share: OWN_SHARE,
            threads: None,
        }
    }
}

/// The overlap of one document at one n.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentScore {
    /// n-gram length.
    pub n: u32,
    /// Words of the text.
    pub words: u64,
    /// n-gram positions.
    pub ngrams: u64,
    /// Positions whose n-gram is found.
    pub hits: u64,
    /// Positions whose n-gram at least two documents have; 0 without a second tier.
    pub twice_hits: u64,
    /// With two tiers: at least the own share of the distinct n-grams is found, so that the candidate is taken for a document of the
    /// corpus, or a part of one.
    pub in_corpus: bool,
    /// Distinct n-grams.
    pub distinct_ngrams: u64,
    /// Distinct n-grams found.
    pub distinct_hits: u64,
    /// Most consecutive positions found.
    pub longest_run: u64,
    /// One `0` or `1` for each position, with two tiers `2` where at least two documents have the n-gram; when asked for.
    pub flags: Option<String>,
    /// Code-point ranges covered by found n-grams, overlapping ones joined, when asked for.
    pub spans: Vec<(u64, u64)>,
    /// How many such ranges there are in all; 0 when not asked for.
    pub spans_total: u64,
    /// Texts of distinct found n-grams in order of appearance, when asked for.
    pub matches: Vec<String>,
}

impl DocumentScore {
    /// With two tiers: positions whose n-gram another document has. A document of the corpus is no evidence for itself, so that an
    /// n-gram counts that at least two documents have; else one is enough.
    pub fn loo_hits(&self) -> u64 {
        if self.in_corpus {
            self.twice_hits
        } else {
            self.hits
        }
    }
}

/// Large arrays that a scorer needs; an index keeps those of finished scorers, since fresh memory costs as much as a look-up.
#[derive(Default)]
pub struct Buffers {
    /// Keys of the collected documents, for each n.
    keys: Vec<Vec<u64>>,
    hits: Vec<u8>,
    scratch: Scratch,
    /// Hash table of the keys of one document.
    seen: Vec<u64>,
}

/// Scores documents on one thread.
pub struct Scorer<'a> {
    index: &'a Index,
    options: &'a QueryOptions,
    stop: &'a (dyn Fn() -> bool + Sync),
    tokenizer: Tokenizer,
    hasher: NgramHasher,
    buffers: Buffers,
    /// Words of each collected document, and where its keys end for each n.
    documents: Vec<(u64, Vec<usize>)>,
    /// Text of collected documents: kept only when spans or matches are asked for.
    texts: Vec<String>,
}

impl<'a> Scorer<'a> {
    /// Once `stop` is true, scores are worthless and come soon: a document may have hundreds of megabytes.
    pub fn new(
        index: &'a Index,
        options: &'a QueryOptions,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Scorer<'a> {
        let mut buffers = index.take_buffers();
        buffers.keys.resize_with(options.ns.len(), Vec::new);
        Scorer {
            index,
            options,
            stop,
            tokenizer: Tokenizer::new(index.rule().clone()),
            hasher: NgramHasher::new(&options.ns),
            buffers,
            documents: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn wants_text(&self) -> bool {
        self.options.max_spans > 0 || self.options.max_matches > 0
    }

    /// Collects a document; `out` gets the scores of all collected ones, in order and one for each n, whenever a batch is full.
    pub fn add(&mut self, text: &str, out: &mut Vec<DocumentScore>) {
        let text = self
            .options
            .max_words
            .map_or(text, |words| first_words(text, words));
        let limit = self.options.max_ngrams.unwrap_or(usize::MAX);
        let starts: Vec<usize> = self.buffers.keys.iter().map(Vec::len).collect();
        let Scorer {
            tokenizer,
            hasher,
            stop,
            buffers: Buffers { keys, .. },
            ..
        } = self;
        hasher.start();
        tokenizer.hash_words(text, |hashes| {
            if stop() {
                return;
            }
            hasher.push(hashes, |set, new| {
                let left = limit - (keys[set].len() - starts[set]);
                keys[set].extend_from_slice(&new[..left.min(new.len())]);
            });
        });
        self.documents.push((
            self.hasher.words(),
            self.buffers.keys.iter().map(Vec::len).collect(),
        ));
        if self.wants_text() {
            self.texts.push(text.to_string());
        }
        if self.buffers.keys.iter().map(Vec::len).sum::<usize>() >= BATCH_KEYS {
            self.finish(out);
        }
    }

    /// Scores what is collected.
    pub fn finish(&mut self, out: &mut Vec<DocumentScore>) {
        let first = out.len();
        let sets = self.options.ns.len();
        let tiers = self.index.tiers();
        out.resize(
            first + self.documents.len() * sets,
            DocumentScore::default(),
        );
        for set in 0..sets {
            let Buffers {
                keys,
                hits,
                scratch,
                seen,
            } = &mut self.buffers;
            let keys = &mut keys[set];
            self.index
                .find_tiers(self.options.ns[set], keys, hits, scratch, self.stop);
            let mut start = 0;
            for (document, (words, ends)) in self.documents.iter().enumerate() {
                let end = ends[set];
                let score = &mut out[first + document * sets + set];
                *score = DocumentScore {
                    n: self.options.ns[set],
                    words: *words,
                    ..count(&keys[start..end], &hits[start..end], seen, self.stop)
                };
                let share = self.options.own_share * score.distinct_ngrams as f64;
                score.in_corpus =
                    tiers == 2 && score.distinct_ngrams > 0 && score.distinct_hits as f64 >= share;
                if self.options.flags {
                    score.flags = Some(flags(&hits[start..end]));
                }
                if let Some(text) = self.texts.get(document)
                    && !(self.stop)()
                {
                    let found = Evidence {
                        text,
                        keys: &keys[start..end],
                        hits: &hits[start..end],
                    };
                    found.add_to(score, &mut self.tokenizer, self.options);
                }
                start = end;
            }
            keys.clear();
        }
        self.documents.clear();
        self.texts.clear();
    }
}

impl Drop for Scorer<'_> {
    fn drop(&mut self) {
        self.index.keep_buffers(std::mem::take(&mut self.buffers));
    }
}

impl Buffers {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(Vec::capacity).sum();
        (keys + self.seen.capacity()) * 8 + self.hits.capacity() + self.scratch.bytes()
    }

    /// Without content, for a scorer of other lengths.
    pub fn cleared(mut self) -> Buffers {
        self.keys.iter_mut().for_each(Vec::clear);
        self
    }
}

/// One `0` or `1` for each position; `2` for an n-gram that at least two documents have.
pub fn flags(hits: &[u8]) -> String {
    hits.iter()
        .map(|&hit| match hit {
            0 => '0',
            FOUND => '1',
            _ => '2',
        })
        .collect()
}

/// Counts positions, distinct n-grams and runs. `seen` is a reusable hash table.
pub fn count(
    keys: &[u64],
    hits: &[u8],
    seen: &mut Vec<u64>,
    stop: &dyn Fn() -> bool,
) -> DocumentScore {
    let mut score = DocumentScore {
        ngrams: keys.len() as u64,
        ..DocumentScore::default()
    };
    // Keys are finalised hashes: their low bits serve as they are. 0 marks an empty slot; the key 0 itself is counted apart.
    let size = (keys.len() * 2).next_power_of_two();
    let mask = size - 1;
    seen.clear();
    seen.resize(size, 0);
    let mut zero_seen = false;
    let mut run = 0;
    for (number, (&key, &hit)) in keys.iter().zip(hits).enumerate() {
        if number % STOP_KEYS == STOP_KEYS - 1 && stop() {
            break;
        }
        let mut slot = key as usize & mask;
        while seen[slot] != 0 && seen[slot] != key {
            slot = (slot + 1) & mask;
        }
        let new = if key == 0 {
            !std::mem::replace(&mut zero_seen, true)
        } else {
            seen[slot] == 0
        };
        seen[slot] = if key == 0 { seen[slot] } else { key };
        score.distinct_ngrams += u64::from(new);
        score.distinct_hits += u64::from(new) & u64::from(hit & FOUND);
        score.hits += u64::from(hit & FOUND);
        score.twice_hits += u64::from(hit & TWICE != 0);
        run = if hit != 0 { run + 1 } else { 0 };
        score.longest_run = score.longest_run.max(run);
    }
    score
}

/// What a document's spans and matched n-grams are made from.
pub struct Evidence<'a> {
    pub text: &'a str,
    pub keys: &'a [u64],
    pub hits: &'a [u8],
}

impl Evidence<'_> {
    /// Fills in spans and matched n-grams, as far as they are asked for.
    pub fn add_to(
        &self,
        score: &mut DocumentScore,
        tokenizer: &mut Tokenizer,
        options: &QueryOptions,
    ) {
        let Evidence { text, keys, hits } = *self;
        if score.hits == 0 || (options.max_spans == 0 && options.max_matches == 0) {
            return;
        }
        let mut words = Vec::new();
        tokenizer.spans(text, &mut words);
        let n = score.n as usize;
        let covered = |i: usize| Span {
            start: words[i].start,
            end: words[i + n - 1].end,
        };
        let mut spans: Vec<(Span, usize)> = Vec::new();
        let mut matched = std::collections::HashSet::new();
        for (i, _) in hits.iter().enumerate().filter(|(_, hit)| **hit != 0) {
            let span = covered(i);
            match spans.last_mut() {
                // n-grams that share a word belong to one span, and so do those that share a character which became several words.
                Some((last, last_word)) if i <= *last_word || span.start < last.end => {
                    last.end = span.end.max(last.end);
                    *last_word = i + n - 1;
                }
                _ => spans.push((span, i + n - 1)),
            }
            if matched.len() < options.max_matches && matched.insert(keys[i]) {
                score.matches.push(text[span.start..span.end].to_string());
            }
        }
        if options.max_spans > 0 {
            score.spans_total = spans.len() as u64;
            let mut points = CodePoints::new(text);
            score.spans = spans
                .iter()
                .take(options.max_spans)
                .map(|(span, _)| (points.at(span.start), points.at(span.end)))
                .collect();
        }
    }
}

/// The text up to the end of its white-space word number `words`, white space as it is.
pub fn first_words(text: &str, words: usize) -> &str {
    match text.split_whitespace().take(words).last() {
        Some(last) => &text[..last.as_ptr() as usize - text.as_ptr() as usize + last.len()],
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_positions_distinct_and_runs() {
        let mut seen = Vec::new();
        let score = count(&[5, 0, 5, 9, 0, 8], &[1, 3, 1, 0, 3, 0], &mut seen, &|| {
            false
        });
        assert_eq!(
            (
                score.ngrams,
                score.hits,
                score.distinct_ngrams,
                score.distinct_hits,
                score.longest_run,
                score.twice_hits
            ),
            (6, 4, 4, 2, 3, 2)
        );
        assert_eq!(
            count(&[], &[], &mut seen, &|| false),
            DocumentScore::default()
        );
    }

    #[test]
    fn prefixes_keep_white_space_and_drop_the_tail() {
        assert_eq!(first_words("  one\n two  three", 2), "  one\n two");
        assert_eq!(first_words("one", 5), "one");
        assert_eq!(first_words("one", 0), "");
        assert_eq!(first_words("  ", 3), "");
    }
}
