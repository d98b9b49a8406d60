//! What the reading tests share: making files, reading them on several threads, finding the shared data.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ngramscope_core::read::{
    Block, Corpus, Position, ReadError, ReadOptions, ReadReport, Reason, Source, discover,
};

/// A record, owned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub source: usize,
    pub position: u64,
    pub line: u64,
    pub id: Option<String>,
    pub fields: Vec<Option<String>>,
    pub member: Option<String>,
    pub text: Result<String, Reason>,
}

impl Seen {
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or("")
    }
}

/// Reads sources on `threads` threads; the records come back in input order.
pub fn read_sources(
    sources: Vec<Source>,
    options: ReadOptions,
    threads: usize,
) -> (Vec<Seen>, Result<ReadReport, ReadError>) {
    let corpus = match Corpus::open(sources, options) {
        Ok(corpus) => corpus,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut block = Block::new();
                while corpus.next_block(&mut block) {
                    seen.lock().unwrap().extend(records(&mut block, &corpus));
                }
            });
        }
    });
    let mut seen = seen.into_inner().unwrap();
    seen.sort();
    let report = corpus.finish();
    if let Ok(report) = &report {
        assert!(report.adds_up(), "{report:?}");
        assert_eq!(report.records as usize, seen.len());
        assert_eq!(
            report.documents as usize,
            seen.iter().filter(|record| record.text.is_ok()).count()
        );
        for (index, source) in report.sources.iter().enumerate() {
            let positions: Vec<u64> = seen
                .iter()
                .filter(|record| record.source == index)
                .map(|record| record.position)
                .collect();
            assert_eq!(
                positions,
                (0..source.records).collect::<Vec<_>>(),
                "positions without gaps in {}",
                source.name
            );
        }
    }
    (seen, report)
}

/// The records of a block.
fn records(block: &mut Block, corpus: &Corpus) -> Vec<Seen> {
    let mut records = Vec::new();
    let (source, expected, first) = (block.source(), block.records(), block.first_position());
    block.for_each(corpus, |record| {
        records.push(Seen {
            source,
            position: record.position,
            line: record.line,
            id: record.id.map(str::to_owned),
            fields: record
                .fields
                .iter()
                .map(|field| field.map(str::to_owned))
                .collect(),
            member: record.member.map(str::to_owned),
            text: record.text.map(str::to_owned),
        });
    });
    assert_eq!(
        records.len() as u64,
        expected,
        "records announced and handed out"
    );
    assert_eq!(records[0].position, first);
    records
}

/// Reads up to so many blocks, and then the rest as another process would; the records come back in input order.
pub fn read_in_two(
    paths: &[PathBuf],
    options: &ReadOptions,
    blocks: usize,
) -> (Vec<Seen>, Result<ReadReport, ReadError>) {
    let sources = || -> Vec<Source> {
        let files = discover(paths, &[], &[]).unwrap();
        files.into_iter().map(Source::File).collect()
    };
    let mut seen = Vec::new();
    let mut position = Position::default();
    let mut block = Block::new();
    if let Ok(corpus) = Corpus::open(sources(), options.clone()) {
        for _ in 0..blocks {
            if !corpus.next_block(&mut block) {
                break;
            }
            seen.extend(records(&mut block, &corpus));
        }
        if corpus.failed() {
            seen.clear();
        } else {
            let text = serde_json::to_string(&corpus.position()).unwrap();
            position = serde_json::from_str(&text).unwrap();
        }
    }
    let corpus = match Corpus::open_at(sources(), options.clone(), &position) {
        Ok(corpus) => corpus,
        Err(error) => return (Vec::new(), Err(error)),
    };
    assert_eq!(
        position.documents(),
        seen.iter().filter(|record| record.text.is_ok()).count() as u64
    );
    while corpus.next_block(&mut block) {
        // Blocks that were read before come empty.
        let mut any = Vec::new();
        let known = (block.source(), block.first_position());
        if seen
            .iter()
            .any(|record: &Seen| (record.source, record.position) == known)
        {
            block.for_each(&corpus, |record| any.push(record.position));
            assert!(any.is_empty());
        } else {
            seen.extend(records(&mut block, &corpus));
        }
    }
    seen.sort();
    (seen, corpus.finish())
}

/// Asserts that reading goes on after any block, with the same records and report.
pub fn goes_on(files: &[PathBuf]) {
    let options = ReadOptions {
        block_bytes: 100,
        ..ReadOptions::default()
    };
    let (seen, report) = read_with(files, &options, 1);
    let report = report.unwrap();
    for blocks in 0..40 {
        let (again, same) = read_in_two(files, &options, blocks);
        assert_eq!(same.as_ref(), Ok(&report), "after {blocks} blocks");
        assert!(again == seen, "after {blocks} blocks");
    }
}

/// Finds and reads paths.
pub fn read_with(
    paths: &[PathBuf],
    options: &ReadOptions,
    threads: usize,
) -> (Vec<Seen>, Result<ReadReport, ReadError>) {
    match discover(paths, &[], &[]) {
        Ok(files) => read_sources(
            files.into_iter().map(Source::File).collect(),
            options.clone(),
            threads,
        ),
        Err(error) => (Vec::new(), Err(error)),
    }
}

/// Reads one file strictly on two threads.
pub fn read(path: &Path) -> (Vec<Seen>, Result<ReadReport, ReadError>) {
    read_with(&[path.to_owned()], &ReadOptions::default(), 2)
}

/// Records and report of one file that must be readable.
pub fn read_ok(path: &Path, options: &ReadOptions) -> (Vec<Seen>, ReadReport) {
    let (seen, report) = read_with(&[path.to_owned()], options, 2);
    (
        seen,
        report.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

/// The message of the error that reading must end with; it names the file.
pub fn error_of(path: &Path, options: &ReadOptions) -> String {
    let (_, report) = read_with(&[path.to_owned()], options, 2);
    let message = report.expect_err("this has to fail").to_string();
    assert!(
        message.contains(&*path.file_name().unwrap().to_string_lossy()),
        "no file name in: {message}"
    );
    message
}

/// Options that leave out what cannot be used.
pub fn lenient() -> ReadOptions {
    ReadOptions {
        max_bad_records: 1000,
        max_bad_files: 1000,
        ..ReadOptions::default()
    }
}

/// Writes a file.
pub fn put(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// JSON Lines of `count` documents.
pub fn json_lines(prefix: &str, count: usize) -> String {
    (0..count)
        .map(|n| {
            format!("{{\"id\":\"{prefix}-{n}\",\"text\":\"document {n} of {prefix}, naïve\\n\"}}\n")
        })
        .collect()
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 3);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A folder of the shared data, or nothing: a clone without it still tests the rest.
pub fn shared(below: &str) -> Option<PathBuf> {
    let base = std::env::var_os("NGRAMSCOPE_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let folder = base.join(below);
    if folder.exists() {
        return Some(folder);
    }
    eprintln!(
        "skipped: {below} is not there (set NGRAMSCOPE_SHARED to the folder with the shared data)"
    );
    None
}
