//! What is tried on arbitrary bytes. Nothing may panic, hang or contradict itself. Shared by the fuzz targets and a seeded test.
#![allow(dead_code, reason = "each fuzz target uses one of the bodies")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ngramscope_core::build::{BuildOptions, build};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::points::CodePoints;
use ngramscope_core::query::{Index, QueryOptions};
use ngramscope_core::read::{Block, Corpus, ReadOptions, Source, discover};
use ngramscope_core::tokenize::{Normalization, SimdPath, Tokenizer, WordMode, WordRule};

/// Takes one byte of `data` as a choice among `count`.
fn choose(data: &mut &[u8], count: usize) -> usize {
    let Some((&first, rest)) = data.split_first() else {
        return 0;
    };
    *data = rest;
    usize::from(first) % count
}

/// Any text, any rule: as many spans as hashes, spans in order and on character borders, all code paths alike.
pub fn words(mut data: &[u8]) {
    let mode = WordMode::ALL[choose(&mut data, WordMode::ALL.len())];
    let normalization = Normalization::ALL[choose(&mut data, Normalization::ALL.len())];
    let rule = WordRule {
        mode,
        normalization,
        lowercase: choose(&mut data, 2) == 1,
    };
    let text = String::from_utf8_lossy(data);
    let mut first: Option<Vec<u64>> = None;
    for path in SimdPath::available() {
        let mut tokenizer = Tokenizer::with_path(rule.clone(), path).expect("an available path");
        let mut hashes = Vec::new();
        tokenizer.hash_words(&text, |batch| hashes.extend_from_slice(batch));
        let mut spans = Vec::new();
        tokenizer.spans(&text, &mut spans);
        assert_eq!(spans.len(), hashes.len(), "{rule}");
        assert!(
            spans
                .iter()
                .all(|span| span.start < span.end && text.get(span.start..span.end).is_some())
        );
        assert!(spans.windows(2).all(|pair| pair[0].start <= pair[1].start));
        let mut points = CodePoints::new(&text);
        let total = text.chars().count() as u64;
        assert!(spans.iter().all(
            |span| points.at(span.start) < points.at(span.end) && points.at(span.end) <= total
        ));
        assert_eq!(
            first.get_or_insert_with(|| hashes.clone()),
            &hashes,
            "{path} differs"
        );
    }
}

const ENDINGS: [&str; 16] = [
    "jsonl",
    "jsonl.gz",
    "jsonl.zst",
    "jsonl.bz2",
    "jsonl.xz",
    "txt",
    "py",
    "parquet",
    "arrow",
    "tar",
    "tar.gz",
    "zip",
    "json",
    "dat",
    "csv",
    "txt.zst",
];

/// Any bytes under any ending: read to the end or refused, and the counts add up.
pub fn reading(mut data: &[u8]) {
    let ending = ENDINGS[choose(&mut data, ENDINGS.len())];
    let choice = choose(&mut data, 256);
    let options = ReadOptions {
        text_key: if choice & 1 == 0 {
            "text".into()
        } else {
            "meta.text".into()
        },
        fields: if choice & 2 == 0 {
            Vec::new()
        } else {
            vec!["meta".into(), "x.y".into()]
        },
        text_lines: choice & 4 != 0,
        ids: choice & 8 != 0,
        max_record_bytes: if choice & 16 == 0 { 1 << 20 } else { 64 },
        max_bad_records: if choice & 32 == 0 { 1_000_000 } else { 0 },
        max_bad_files: u64::from(choice & 64 == 0),
        max_window_log: 23,
        max_column_chunk_bytes: 16 << 20,
        block_bytes: 256,
        ..ReadOptions::default()
    };
    let folder = scratch();
    let path = folder.join(format!("input-{}.{ending}", std::process::id()));
    std::fs::write(&path, data).expect("write the input");
    let sources = if choice & 128 == 0 {
        discover(std::slice::from_ref(&path), &[], &[])
            .expect("one file")
            .into_iter()
            .map(Source::File)
            .collect()
    } else {
        vec![Source::Stream(
            "stream".into(),
            Box::new(std::io::Cursor::new(data.to_vec())),
        )]
    };
    if let Ok(corpus) = Corpus::open(sources, options) {
        let mut block = Block::new();
        let mut records = 0u64;
        while corpus.next_block(&mut block) {
            block.for_each(&corpus, |record| {
                records += 1;
                assert!(
                    record.text.is_err() || record.text.is_ok_and(|text| text.len() <= 1 << 24)
                );
            });
        }
        match corpus.finish() {
            Ok(report) => {
                assert!(report.sources.iter().all(|source| source.adds_up()));
                assert_eq!(report.records, records);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let _ = std::fs::remove_file(&path);
}

/// Names and contents of an index folder.
type IndexFiles = Vec<(String, Vec<u8>)>;

/// A good index with bytes changed, cut or replaced: refused, or answering without a panic.
pub fn index(mut data: &[u8]) {
    static GOOD: OnceLock<Vec<IndexFiles>> = OnceLock::new();
    let good = GOOD.get_or_init(|| {
        [FilterKind::Blocked, FilterKind::Exact]
            .map(good_index)
            .to_vec()
    });
    let files = &good[choose(&mut data, good.len())];
    let target = choose(&mut data, files.len());
    let folder = scratch().join(format!("index-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    for (number, (name, bytes)) in files.iter().enumerate() {
        let mut bytes = bytes.clone();
        if number == target {
            damage(&mut bytes, data);
        }
        std::fs::write(folder.join(name), bytes).expect("write");
    }
    if let Ok(index) = Index::open(std::slice::from_ref(&folder)) {
        let options = QueryOptions {
            ns: index.ns().to_vec(),
            ..QueryOptions::default()
        };
        let rows = index
            .overlap(
                &["one two three four five six seven eight nine"],
                &options,
                &|| false,
            )
            .expect("no stop");
        assert_eq!(rows.len(), options.ns.len());
        let _ = index.verify(&mut |_| Ok(()));
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Edits, cuts or replaces `bytes` as `data` says.
fn damage(bytes: &mut Vec<u8>, mut data: &[u8]) {
    match choose(&mut data, 3) {
        0 => {
            for edit in data.chunks_exact(4) {
                let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= edit[2] | edit[3];
                }
            }
        }
        1 => bytes.truncate(
            data.iter()
                .take(2)
                .fold(0, |len, &byte| len * 256 + usize::from(byte)),
        ),
        _ => *bytes = data.to_vec(),
    }
}

fn good_index(kind: FilterKind) -> Vec<(String, Vec<u8>)> {
    let folder = scratch().join(format!("good-{}-{}", std::process::id(), kind.name()));
    std::fs::create_dir_all(&folder).expect("folder");
    let corpus = folder.join("corpus.jsonl");
    std::fs::write(
        &corpus,
        "{\"text\": \"one two three four five six seven eight nine ten\"}\n",
    )
    .expect("write");
    let options = BuildOptions {
        ns: vec![2, 3],
        rule: WordRule {
            mode: WordMode::Uax29,
            normalization: Normalization::None,
            lowercase: false,
        },
        kind,
        filter_fpr: 0.01,
        expected_ngrams: None,
        shards: Some(2),
        threads: Some(1),
        memory: None,
        force: true,
        accept_overfull: true,
        spool: false,
        name: None,
        demo: false,
        layout: None,
        tiers: 1,
        part: None,
        resume: None,
        read: ReadOptions::default(),
    };
    let out = folder.join("index");
    let sources = discover(&[corpus], &[], &[])
        .expect("one file")
        .into_iter()
        .map(Source::File)
        .collect();
    build(sources, &out, &options, &mut |_| ControlFlow::Continue(())).expect("build");
    let files = std::fs::read_dir(&out)
        .expect("list")
        .map(|entry| entry.expect("entry").path());
    let mut files: Vec<_> = files
        .map(|path| (name_of(&path), std::fs::read(&path).expect("read")))
        .collect();
    files.sort();
    let _ = std::fs::remove_dir_all(&folder);
    files
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .expect("a file")
        .to_string_lossy()
        .into_owned()
}

/// In memory where the system has such a place: thousands of small files are written.
fn scratch() -> PathBuf {
    let shared_memory = PathBuf::from("/dev/shm");
    if shared_memory.is_dir() {
        shared_memory
    } else {
        std::env::temp_dir()
    }
}
