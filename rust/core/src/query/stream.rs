//! Texts in memory and files of candidates to scores, in input order, on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::score::Scorer;
use super::{DocumentScore, Index, QueryOptions};
use crate::error::{Error, Result};
use crate::ngram::ngram_count;
use crate::pass::{self, threads};
use crate::read::{Block, Corpus, ReadReport};

/// Bytes of text that a thread takes at a time, at most: about a million n-grams.
const GROUP_BYTES: usize = 6 << 20;

/// Why a document has no overlap: it has fewer than n words.
pub const TOO_SHORT: &str = "fewer_than_n_words";

/// One candidate at one n.
#[derive(Clone, Debug)]
pub struct Row {
    /// Number of the source, from 0, in the order given.
    pub source: usize,
    /// Number of the record in its source, from 0.
    pub position: u64,
    /// Line (table row) in its source, from 1.
    pub line: u64,
    /// The id as raw JSON.
    pub id: Option<String>,
    /// The fields asked for, as raw JSON.
    pub fields: Vec<Option<String>>,
    /// Counts; all zero but `n` where there is no text.
    pub score: DocumentScore,
    /// Why there is no overlap.
    pub null_reason: Option<&'static str>,
}

impl Index {
    /// Scores texts: one row for each text and n, in order. `stop` is asked now and then.
    pub fn overlap(
        &self,
        texts: &[&str],
        options: &QueryOptions,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<DocumentScore>> {
        let total: usize = texts.iter().map(|text| text.len()).sum();
        // Large groups share cache misses, but every thread has to get one.
        let group_bytes = (total / threads(options.threads)).clamp(1, GROUP_BYTES);
        let mut groups = vec![0];
        let mut bytes = 0;
        for (i, text) in texts.iter().enumerate() {
            bytes += text.len();
            if bytes >= group_bytes {
                groups.push(i + 1);
                bytes = 0;
            }
        }
        if groups.last() != Some(&texts.len()) {
            groups.push(texts.len());
        }
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads(options.threads).min(groups.len() - 1) {
                scope.spawn(|| {
                    let mut scorer = Scorer::new(self, options, stop);
                    loop {
                        let group = next.fetch_add(1, Relaxed);
                        if group + 1 >= groups.len() || stop() {
                            break;
                        }
                        let mut out = Vec::new();
                        texts[groups[group]..groups[group + 1]]
                            .iter()
                            .for_each(|text| scorer.add(text, &mut out));
                        scorer.finish(&mut out);
                        results
                            .lock()
                            .unwrap_or_else(|p| p.into_inner())
                            .push((group, out));
                    }
                });
            }
        });
        if stop() {
            return Err(Error::Interrupted);
        }
        let mut results = results.into_inner().unwrap_or_else(|p| p.into_inner());
        results.sort_by_key(|(group, _)| *group);
        Ok(results.into_iter().flat_map(|(_, scores)| scores).collect())
    }
}

/// Why a text of `words` words has no n-gram.
pub fn null_reason(score: &DocumentScore) -> Option<&'static str> {
    (ngram_count(score.words, score.n) == 0).then_some(TOO_SHORT)
}

/// Scores the records of a corpus, batch by batch, in order. The corpus must deliver blocks in order (`parallel_files` 1).
pub struct OverlapStream {
    corpus: Corpus,
    options: QueryOptions,
}

impl OverlapStream {
    /// A stream over `corpus`.
    pub fn new(corpus: Corpus, options: QueryOptions) -> OverlapStream {
        OverlapStream { corpus, options }
    }

    /// Bytes of the files read so far.
    pub fn bytes_read(&self) -> u64 {
        self.corpus.bytes_read()
    }

    /// The next rows, one for each record (usable or not) and n; empty at the end.
    pub fn next_batch(
        &mut self,
        index: &Index,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Row>> {
        let (corpus, options) = (&self.corpus, &self.options);
        loop {
            let parts = pass::next_in_order(
                corpus,
                options.threads,
                stop,
                || Scorer::new(index, options, stop),
                |scorer, block, corpus| score_block(block, corpus, scorer, options),
            )?;
            let Some(parts) = parts else {
                return Ok(Vec::new());
            };
            let rows: Vec<Row> = parts.into_iter().flatten().collect();
            // Blocks of blank lines have no rows, but they are not the end.
            if !rows.is_empty() {
                return Ok(rows);
            }
        }
    }

    /// What was read; the first error, if any.
    pub fn finish(self) -> Result<ReadReport> {
        Ok(self.corpus.finish()?)
    }
}

fn score_block(
    block: &mut Block,
    corpus: &Corpus,
    scorer: &mut Scorer<'_>,
    options: &QueryOptions,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut scored = Vec::new();
    let mut scores = Vec::new();
    let source = block.source();
    block.for_each(corpus, |record| {
        let usable = record.text.is_ok();
        for &n in &options.ns {
            rows.push(Row {
                source,
                position: record.position,
                line: record.line,
                id: record.id.map(str::to_string),
                fields: record
                    .fields
                    .iter()
                    .map(|field| field.as_ref().map(|raw| raw.to_string()))
                    .collect(),
                score: DocumentScore {
                    n,
                    ..DocumentScore::default()
                },
                null_reason: record.text.err().map(|reason| reason.code()),
            });
            if usable {
                scored.push(rows.len() - 1);
            }
        }
        if let Ok(text) = record.text {
            scorer.add(text, &mut scores);
        }
    });
    scorer.finish(&mut scores);
    for (row, score) in scored.into_iter().zip(scores) {
        rows[row].null_reason = null_reason(&score);
        rows[row].score = score;
    }
    rows
}
