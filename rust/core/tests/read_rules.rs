//! The rules of reading: lines, keys, limits, and that threads change nothing.

mod read_support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ngramscope_core::read::{Block, Corpus, ReadError, ReadOptions, Reason, Source, discover};
use proptest::prelude::*;
use read_support::*;

#[test]
fn lines_are_cut_at_line_feeds_only() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = concat!(
        "\u{feff}{\"text\":\"a\"}\r\n",
        "\n \t\r\n\u{feff}\n",
        "\u{feff}{\"text\":\"b\u{2028}\u{85}\u{c}c\"}\n",
        "  {\"text\":\"d\\u000d\\u2029\"}\t\n",
        "{\"text\":\"last\"}"
    );
    // Form feed is a control character: JSON has it escaped only.
    let path = put(folder.path(), "l.jsonl", bytes.replace('\u{c}', ""));
    for block_bytes in [1, 10, 1 << 20] {
        let (seen, _) = read_ok(
            &path,
            &ReadOptions {
                block_bytes,
                ..ReadOptions::default()
            },
        );
        let lines: Vec<(u64, &str)> = seen
            .iter()
            .map(|record| (record.line, record.text()))
            .collect();
        assert_eq!(
            lines,
            [
                (1, "a"),
                (5, "b\u{2028}\u{85}c"),
                (6, "d\r\u{2029}"),
                (7, "last")
            ]
        );
    }
    assert!(
        error_of(
            &put(folder.path(), "ff.jsonl", bytes),
            &ReadOptions::default()
        )
        .contains("control character")
    );
}

#[test]
fn keys_step_into_objects_and_the_last_of_equals_wins() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (r#"{"meta":{"text":"in"}}"#, Ok("in")),
        (
            r#"{"meta.text":"literal","meta":{"text":"in"}}"#,
            Ok("literal"),
        ),
        (
            r#"{"meta":{"text":"in"},"meta.text":"literal"}"#,
            Ok("literal"),
        ),
        (r#"{"meta":{"text":"first","text":"second"}}"#, Ok("second")),
        (
            r#"{"meta":{"text":"first"},"meta":{"text":"second"}}"#,
            Ok("second"),
        ),
        (
            r#"{"meta":{"text":"first"},"meta":{"other":1}}"#,
            Err(Reason::MissingText),
        ),
        (
            r#"{"meta":{"text":"first"},"meta":7}"#,
            Err(Reason::MissingText),
        ),
        (r#"{"meta":null}"#, Err(Reason::NullText)),
        (r#"{"meta":{"text":null}}"#, Err(Reason::NullText)),
        (
            r#"{"m\u0065ta":{"te\u0078t":"escaped keys"}}"#,
            Ok("escaped keys"),
        ),
        (r#"{"meta":{"text":["x"]}}"#, Err(Reason::TextNotAString)),
        (
            r#"{"meta":{"a":{"text":1},"text":"\ud83d\ude00\ud83d x"}}"#,
            Ok("😀\u{fffd} x"),
        ),
        (r#"{"text":"elsewhere"}"#, Err(Reason::MissingText)),
    ];
    let lines: Vec<&str> = cases.iter().map(|(line, _)| *line).collect();
    let path = put(folder.path(), "k.jsonl", lines.join("\n"));
    let (seen, _) = read_ok(
        &path,
        &ReadOptions {
            text_key: "meta.text".to_owned(),
            ..lenient()
        },
    );
    for (record, (line, wanted)) in seen.iter().zip(&cases) {
        assert_eq!(
            record.text.as_deref().map_err(|reason| *reason),
            *wanted,
            "{line}"
        );
    }
    let path = put(folder.path(), "inner.jsonl", lines[..6].join("\n"));
    let message = error_of(
        &path,
        &ReadOptions {
            text_key: "meta.body".to_owned(),
            ..lenient()
        },
    );
    assert!(
        message.contains("meta.text"),
        "inner keys are listed: {message}"
    );
}

#[test]
fn ids_and_fields_are_raw_json() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"text":"t","id":-0.10e+5,"a":{"x":[1, NaN],"y":"NaN"},"b":"q\"\u00e9","c":null,"d":Infinity}"#;
    let path = put(folder.path(), "f.jsonl", line);
    let fields = ["a", "b", "c", "d", "e", "a.y"].map(str::to_owned).to_vec();
    let (seen, _) = read_ok(
        &path,
        &ReadOptions {
            fields,
            ..ReadOptions::default()
        },
    );
    assert_eq!(seen[0].id.as_deref(), Some("-0.10e+5"));
    let wanted = [
        Some(r#"{"x":[1, null],"y":"NaN"}"#),
        Some(r#""q\"\u00e9""#),
        None,
        None,
        None,
        Some("\"NaN\""),
    ];
    assert_eq!(
        seen[0]
            .fields
            .iter()
            .map(Option::as_deref)
            .collect::<Vec<_>>(),
        wanted
    );
}

#[test]
fn texts_of_integers() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("[1, 22,-3]", Ok("1 22 -3")),
        ("[ ]", Ok("")),
        ("[12345678901234567890123]", Ok("12345678901234567890123")),
        ("null", Err(Reason::NullText)),
        ("\"1 2\"", Err(Reason::TextNotIntegerList)),
        ("[1, 2.0]", Err(Reason::TextNotIntegerList)),
        ("[1, [2]]", Err(Reason::TextNotIntegerList)),
        ("[1, \"2\"]", Err(Reason::TextNotIntegerList)),
        ("[NaN]", Err(Reason::TextNotIntegerList)),
        ("7", Err(Reason::TextNotIntegerList)),
    ];
    let lines: String = cases
        .iter()
        .map(|(value, _)| format!("{{\"text\":{value}}}\n"))
        .collect();
    let path = put(folder.path(), "i.jsonl", lines);
    let (seen, _) = read_ok(
        &path,
        &ReadOptions {
            ids: true,
            ..lenient()
        },
    );
    for (record, (value, wanted)) in seen.iter().zip(&cases) {
        assert_eq!(
            record.text.as_deref().map_err(|reason| *reason),
            *wanted,
            "{value}"
        );
    }
}

#[test]
fn null_texts_are_counted_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(
        folder.path(),
        "n.jsonl",
        "{\"text\":null}\n{\"text\":\"\"}\n{\"text\":null}\n",
    );
    let (_, report) = read_ok(&path, &ReadOptions::default());
    assert_eq!(
        (
            report.records,
            report.documents,
            report.unusable[&Reason::NullText]
        ),
        (3, 1, 2)
    );
    assert_eq!((report.bad_records, report.partial()), (0, false));
}

#[test]
fn long_records_are_left_out_by_name_and_the_limit_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let line = |length: usize| format!("{{\"text\":\"{}\"}}", "x".repeat(length - 11));
    for end in ["\n", "\r\n"] {
        let text = [
            line(50),
            line(100),
            line(101),
            line(300_000),
            line(600),
            line(60),
        ]
        .join(end);
        let path = put(folder.path(), "long.jsonl", &text);
        for block_bytes in [1, 150, 1 << 20] {
            let options = ReadOptions {
                max_record_bytes: 100,
                block_bytes,
                ..lenient()
            };
            let (seen, report) = read_ok(&path, &options);
            let good: Vec<bool> = seen.iter().map(|record| record.text.is_ok()).collect();
            assert_eq!(good, [true, true, false, false, false, true]);
            let details: Vec<&str> = report.sources[0]
                .samples
                .iter()
                .map(|bad| &*bad.detail)
                .collect();
            assert!(
                details
                    .iter()
                    .all(|detail| detail.contains("--max-record-size 100")),
                "{details:?}"
            );
            assert!(
                details[1].starts_with("300000 bytes") || details[1].starts_with("300001 bytes"),
                "{details:?}"
            );
            assert_eq!(
                report.sources[0]
                    .samples
                    .iter()
                    .map(|bad| bad.line)
                    .collect::<Vec<_>>(),
                [3, 4, 5]
            );
        }
    }
    let text = put(folder.path(), "long.txt", "y".repeat(101));
    let message = error_of(
        &text,
        &ReadOptions {
            max_record_bytes: 100,
            ..ReadOptions::default()
        },
    );
    assert!(
        message.contains("record_too_long") && message.contains("101 bytes"),
        "{message}"
    );
}

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

#[test]
fn a_file_that_changed_since_it_was_found_is_an_error_even_when_lenient() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "c.jsonl", json_lines("c", 3));
    let find = || {
        discover(std::slice::from_ref(&path), &[], &[])
            .unwrap()
            .into_iter()
            .map(Source::File)
            .collect::<Vec<_>>()
    };
    let sources = find();
    put(folder.path(), "c.jsonl", json_lines("c", 4));
    let error = Corpus::open(sources, lenient()).err().unwrap().to_string();
    assert!(
        error.contains("c.jsonl") && error.contains("changed"),
        "{error}"
    );

    // Another time with the same size.
    let sources = find();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert!(Corpus::open(sources, lenient()).is_err());

    // In the middle of the pass.
    let corpus = Corpus::open(find(), lenient()).unwrap();
    let mut block = Block::new();
    assert!(corpus.next_block(&mut block));
    block.for_each(&corpus, |_| {});
    put(folder.path(), "c.jsonl", json_lines("c", 5));
    while corpus.next_block(&mut block) {
        block.for_each(&corpus, |_| {});
    }
    let error = corpus.finish().unwrap_err().to_string();
    assert!(error.contains("changed"), "{error}");
}

fn names(args: &[PathBuf], include: &[&str], exclude: &[&str]) -> Vec<String> {
    let owned = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    discover(args, &owned(include), &owned(exclude))
        .unwrap()
        .into_iter()
        .map(|file| file.name)
        .collect()
}

#[test]
fn finding_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in [
        "b/2.jsonl",
        "b/1.jsonl",
        "a.txt",
        "b/deep/3.jsonl",
        ".hidden.jsonl",
        "b/.git/x.jsonl",
        "c.jsonl",
    ] {
        put(root, name, name);
    }
    let all = [
        "a.txt",
        "b/1.jsonl",
        "b/2.jsonl",
        "b/deep/3.jsonl",
        "c.jsonl",
    ];
    assert_eq!(names(&[root.to_owned()], &[], &[]), all);
    assert_eq!(names(&[root.join("c.jsonl")], &[], &[]), ["c.jsonl"]);
    assert_eq!(
        names(&[root.join("b/.git/x.jsonl")], &[], &[]),
        ["x.jsonl"],
        "named outright"
    );
    assert_eq!(
        names(&[root.join("b/deep"), root.join("b/1.jsonl")], &[], &[]),
        ["deep/3.jsonl", "1.jsonl"]
    );
    assert_eq!(names(&[root.join("*.jsonl")], &[], &[]), ["c.jsonl"]);
    assert_eq!(
        names(&[root.join("**/*.jsonl")], &[], &[]),
        ["b/1.jsonl", "b/2.jsonl", "b/deep/3.jsonl", "c.jsonl"]
    );
    assert_eq!(
        names(&[root.join("?")], &[], &[]),
        ["1.jsonl", "2.jsonl", "deep/3.jsonl"],
        "folders are read whole"
    );
    assert_eq!(
        names(&[root.to_owned()], &["*.jsonl"], &["b/deep/**"]),
        ["b/1.jsonl", "b/2.jsonl", "c.jsonl"]
    );
    assert_eq!(
        names(&[root.to_owned()], &["{1,2}.*"], &[]),
        ["1.jsonl", "2.jsonl"]
    );
    // Twice the same is once, through links too.
    std::os::unix::fs::symlink(root.join("a.txt"), root.join("z.txt")).unwrap();
    std::os::unix::fs::symlink(root, root.join("b/up")).unwrap();
    assert_eq!(names(&[root.to_owned(), root.join("b")], &[], &[]), all);

    let error = |args: &[PathBuf], include: &[&str]| {
        let include: Vec<String> = include.iter().map(|text| (*text).to_owned()).collect();
        discover(args, &include, &[]).unwrap_err()
    };
    assert!(
        error(&[root.join("*.csv")], &[])
            .to_string()
            .contains("*.csv")
    );
    assert!(
        error(&[root.to_owned()], &["*.csv"])
            .to_string()
            .contains("leave none")
    );
    assert!(error(&[], &[]).to_string().contains("no file"));
    assert!(error(&[root.to_owned()], &["[x"]).is_usage());
    std::fs::create_dir(root.join("empty")).unwrap();
    assert!(
        error(&[root.join("empty")], &[])
            .to_string()
            .contains("no files in")
    );
}

#[test]
fn broken_links_are_bad_files() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.jsonl", json_lines("a", 2));
    std::os::unix::fs::symlink("nowhere", folder.path().join("broken.jsonl")).unwrap();
    let paths = [folder.path().to_owned()];
    let error = read_with(&paths, &ReadOptions::default(), 2)
        .1
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("broken.jsonl") && error.contains("cannot be read"),
        "{error}"
    );
    let report = read_with(&paths, &lenient(), 2).1.unwrap();
    assert_eq!((report.documents, report.bad_files), (2, 1));
}

#[test]
fn values_that_make_no_sense_are_refused_by_name() {
    let source = || vec![Source::Stream("-".to_owned(), Box::new(std::io::empty()))];
    for (options, name) in [
        (
            ReadOptions {
                max_window_log: 32,
                ..ReadOptions::default()
            },
            "max-window-log",
        ),
        (
            ReadOptions {
                max_record_bytes: 0,
                ..ReadOptions::default()
            },
            "max-record-size",
        ),
        (
            ReadOptions {
                text_key: String::new(),
                ..ReadOptions::default()
            },
            "text-key",
        ),
    ] {
        let error = Corpus::open(source(), options).err().unwrap();
        assert!(
            error.is_usage() && error.to_string().contains(name),
            "{error}"
        );
    }
}
