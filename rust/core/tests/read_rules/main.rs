//! The rules of reading: lines, keys, limits, and that threads change nothing.

mod files;
#[path = "../read_support/mod.rs"]
mod read_support;
mod threads;

use ngramscope_core::read::{Corpus, ReadOptions, Reason, Source};
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
