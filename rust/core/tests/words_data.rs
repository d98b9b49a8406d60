//! Words of real texts: the shared data, where it is.

mod words_support;

use std::path::{Path, PathBuf};

use ngramscope_core::tokenize::{Tokenizer, WordMode};
use words_support::{assert_words, hashes, peer_words, records, rule, shared, tokenizers};

/// Files of packed JSON lines below `folder`.
fn packed_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(packed_files(&path));
        } else if path.to_string_lossy().ends_with(".jsonl.zst")
            && !path.to_string_lossy().contains("odd-archives")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// All texts anybody might index: every string of every record, fields without prose included.
#[test]
fn all_shared_texts_agree_with_unicode_segmentation() {
    let Some(folder) = shared("data") else { return };
    let mut tokenizers = tokenizers(&rule(WordMode::Uax29));
    let (mut texts, mut bytes) = (0, 0);
    for path in packed_files(&folder)
        .into_iter()
        .chain([folder.join("odd-archives/unicode_forms.jsonl")])
    {
        for record in records(&path) {
            for text in record
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(_, value)| value.as_str())
            {
                assert_words(&mut tokenizers, text, &peer_words(text));
                texts += 1;
                bytes += text.len();
            }
        }
    }
    eprintln!("{texts} texts, {bytes} bytes");
    assert!(
        texts > 10_000,
        "only {texts} texts below {}",
        folder.display()
    );
}

/// The published flags: one for each 7-gram (or 13-gram) of a document's words.
#[test]
fn published_numbers_of_ngrams_are_ours() {
    let Some(folder) = shared("data/mimir-ngram7") else {
        return;
    };
    let mut tokenizer = Tokenizer::new(rule(WordMode::Uax29));
    let mut documents = 0;
    for path in packed_files(&folder) {
        for record in records(&path) {
            let Some(text) = record["text"].as_str() else {
                continue;
            };
            let n = record["ngram"].as_u64().unwrap_or(7) as usize;
            let words = hashes(&mut tokenizer, text).len();
            let ngrams = record["n_ngrams"].as_u64().unwrap() as usize;
            assert_eq!(
                words + 1 - n,
                ngrams,
                "{} of {}",
                record["id"],
                path.display()
            );
            documents += 1;
        }
    }
    assert!(
        documents > 5000,
        "only {documents} documents below {}",
        folder.display()
    );
}
