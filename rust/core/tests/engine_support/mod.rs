//! What the engine's tests share: small seeded corpora, and building with defaults.
#![allow(dead_code)] // each test file uses some of it

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ngramscope_core::build::{BuildOptions, BuildSummary, build};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::query::{DocumentScore, Index, QueryOptions};
use ngramscope_core::read::{ReadOptions, Source, discover};
use ngramscope_core::tokenize::{Normalization, WordMode, WordRule};
use ngramscope_core::{Error, hash};

/// Documents of words from a small vocabulary, so that n-grams repeat; `seed` decides everything.
pub fn documents(seed: u64, count: usize, words: usize) -> Vec<String> {
    let mut state = seed;
    let mut next = || {
        state = hash::finalize(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        state
    };
    (0..count)
        .map(|_| {
            (0..words)
                .map(|_| format!("w{}", next() % 2000))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

/// Writes documents as JSON Lines.
pub fn write_corpus(path: &Path, documents: &[String]) {
    let lines: String = documents
        .iter()
        .enumerate()
        .map(|(i, text)| {
            format!(
                "{{\"id\": {i}, \"text\": {}}}\n",
                serde_json::to_string(text).expect("text")
            )
        })
        .collect();
    std::fs::write(path, lines).expect("write the corpus");
}

/// Options for a quick build.
pub fn options(ns: &[u32]) -> BuildOptions {
    BuildOptions {
        ns: ns.to_vec(),
        rule: WordRule {
            mode: WordMode::Uax29,
            normalization: Normalization::None,
            lowercase: false,
        },
        kind: FilterKind::Blocked,
        filter_fpr: 0.005,
        expected_ngrams: None,
        shards: None,
        threads: Some(2),
        memory: None,
        force: false,
        accept_overfull: false,
        spool: false,
        name: None,
        demo: false,
        layout: None,
        tiers: 1,
        part: None,
        resume: None,
        read: ReadOptions {
            block_bytes: 4096,
            ..ReadOptions::default()
        },
    }
}

/// Builds from files without watching progress.
pub fn build_files(
    files: &[PathBuf],
    out: &Path,
    options: &BuildOptions,
) -> Result<BuildSummary, Error> {
    let sources = discover(files, &[], &[])?
        .into_iter()
        .map(Source::File)
        .collect();
    build(sources, out, options, &mut |_| ControlFlow::Continue(()))
}

/// All files of a folder with their bytes, by name.
pub fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("list")
        .map(|entry| entry.expect("entry"))
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                std::fs::read(entry.path()).expect("read"),
            )
        })
        .collect();
    files.sort();
    files
}

/// Scores texts against one index at one n.
pub fn scores(index: &Path, n: u32, texts: &[String]) -> Vec<DocumentScore> {
    let index = Index::open(&[index.to_path_buf()]).expect("open");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    index
        .overlap(
            &texts,
            &QueryOptions {
                ns: vec![n],
                ..QueryOptions::default()
            },
            &|| false,
        )
        .expect("scores")
}
