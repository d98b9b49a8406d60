//! Limits, and that threads change nothing.

use std::collections::BTreeMap;

use ngramscope_core::read::{Block, Corpus, ReadError, ReadOptions, Source, discover};
use proptest::prelude::*;

use crate::read_support::*;

/// Files with bad records, bad files and wrong keys at random places.
fn corpora() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let line = prop_oneof![
        20 => Just("{\"text\":\"good words here\"}"),
        1 => Just("{\"text\":null}"),
        1 => Just("{\"other\":1}"),
        1 => Just("not json"),
        1 => Just("{\"text\":5}"),
    ];
    let file = (prop::collection::vec(line, 1..120), 0u8..12).prop_map(|(lines, kind)| {
        let text = lines.join("\n").into_bytes();
        match kind {
            0 => gz(&text)[..gz(&text).len() - 3].to_vec(),
            1 => zst(&text),
            2 => b"\xff\xfea\0".to_vec(),
            _ => text,
        }
    });
    prop::collection::vec(file, 1..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_pass_goes_on_from_any_block(
        files in corpora(),
        max_bad_records in prop::sample::select(vec![0u64, 3, 1000]),
        max_bad_files in prop::sample::select(vec![0u64, 1, 100]),
        block_bytes in prop::sample::select(vec![1usize, 100, 1000]),
        parallel_files in 1usize..4,
        blocks in 0usize..200,
    ) {
        let folder = tempfile::tempdir()?;
        for (number, bytes) in files.iter().enumerate() {
            put(folder.path(), &format!("{number}.jsonl"), bytes);
        }
        let options = ReadOptions { max_bad_records, max_bad_files, block_bytes, parallel_files, ..ReadOptions::default() };
        let paths = [folder.path().to_owned()];
        let (seen, report) = read_with(&paths, &options, 1);
        let (again, same) = read_in_two(&paths, &options, blocks);
        prop_assert_eq!(&same, &report);
        if report.is_ok() {
            prop_assert_eq!(again, seen);
        }
    }

    #[test]
    fn threads_change_nothing(
        files in corpora(),
        max_bad_records in prop::sample::select(vec![0u64, 1, 3, 10, 1000]),
        max_bad_files in prop::sample::select(vec![0u64, 1, 100]),
        block_bytes in prop::sample::select(vec![1usize, 100, 1000]),
    ) {
        let folder = tempfile::tempdir()?;
        for (number, bytes) in files.iter().enumerate() {
            put(folder.path(), &format!("{number}.jsonl"), bytes);
        }
        let options = ReadOptions { max_bad_records, max_bad_files, block_bytes, ..ReadOptions::default() };
        let paths = [folder.path().to_owned()];
        let (seen, report) = read_with(&paths, &options, 1);
        for (threads, parallel_files) in [(2, 1), (8, 1), (2, 2), (8, 3), (3, 100)] {
            let (again, same) = read_with(&paths, &ReadOptions { parallel_files, ..options.clone() }, threads);
            prop_assert_eq!(&same, &report);
            if report.is_ok() {
                prop_assert_eq!(&again, &seen);
            }
        }
        // Blocks of another size are the same records.
        let (other, same) = read_with(&paths, &ReadOptions { block_bytes: 1 << 20, ..options }, 2);
        if report.is_ok() {
            prop_assert_eq!((other, same), (seen, report));
        }
    }
}

#[test]
fn limits_name_the_first_ones() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "{\"text\":\"ok\"}\nbad\nbad\n";
    for number in 0..4 {
        put(folder.path(), &format!("{number}.jsonl"), bad);
    }
    put(folder.path(), "z.gz", &gz(b"{\"text\":\"cut\"}")[..20]);
    let read = |max_bad_records, max_bad_files| {
        let options = ReadOptions {
            max_bad_records,
            max_bad_files,
            parallel_files: 4,
            ..ReadOptions::default()
        };
        read_with(&[folder.path().to_owned()], &options, 4).1
    };
    let ReadError::BadRecord { file, record } = read(0, 9).unwrap_err() else {
        panic!()
    };
    assert!(file.ends_with("0.jsonl") && record.line == 2);
    let ReadError::TooManyBadRecords { limit: 2, first } = read(2, 9).unwrap_err() else {
        panic!()
    };
    let lines: Vec<(String, u64)> = first
        .iter()
        .map(|(file, record)| (file[file.len() - 7..].to_owned(), record.line))
        .collect();
    assert_eq!(
        lines,
        [
            ("0.jsonl".to_owned(), 2),
            ("0.jsonl".to_owned(), 3),
            ("1.jsonl".to_owned(), 2)
        ]
    );
    let message = read(8, 0).unwrap_err().to_string();
    assert!(
        message.contains("z.gz") && message.contains("cut off"),
        "{message}"
    );
    let report = read(8, 1).unwrap();
    assert_eq!(
        (report.bad_records, report.bad_files, report.documents),
        (8, 1, 4)
    );
    assert_eq!(report.sources[1].samples.len(), 2);
}

#[test]
fn blocks_come_in_order_when_one_file_is_read_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..3 {
        put(
            folder.path(),
            &format!("{number}.jsonl"),
            json_lines("o", 50),
        );
    }
    let files = discover(&[folder.path().to_owned()], &[], &[]).unwrap();
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let sources = files.into_iter().map(Source::File).collect();
    let corpus = Corpus::open(
        sources,
        ReadOptions {
            block_bytes: 200,
            ..ReadOptions::default()
        },
    )
    .unwrap();
    let order = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut block = Block::new();
                while corpus.next_block(&mut block) {
                    let place = (block.source(), block.first_position());
                    order.lock().unwrap().insert(block.sequence(), place);
                    block.for_each(&corpus, |_| {});
                }
            });
        }
    });
    let order = order.into_inner().unwrap();
    assert_eq!(
        order.keys().copied().collect::<Vec<_>>(),
        (0..order.len() as u64).collect::<Vec<_>>()
    );
    assert!(order.values().is_sorted());
    assert_eq!(corpus.bytes_read(), total);
    assert_eq!(corpus.bytes_total(), total);
    assert_eq!(corpus.finish().unwrap().documents, 150);
}

#[test]
fn stopping_hands_out_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "s.jsonl", json_lines("s", 1000));
    let sources = discover(&[path], &[], &[])
        .unwrap()
        .into_iter()
        .map(Source::File)
        .collect();
    let corpus = Corpus::open(
        sources,
        ReadOptions {
            block_bytes: 100,
            ..ReadOptions::default()
        },
    )
    .unwrap();
    let mut block = Block::new();
    assert!(corpus.next_block(&mut block));
    block.for_each(&corpus, |_| {});
    corpus.stop();
    assert!(!corpus.next_block(&mut block));
    let report = corpus.finish().unwrap();
    assert!(report.stopped && report.records < 1000 && report.adds_up());
}
