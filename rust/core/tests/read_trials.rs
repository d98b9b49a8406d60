//! The reading trials (group A) and the odd archives, each as its expected values say.

mod read_support;

use std::path::{Path, PathBuf};

use ngramscope_core::read::{ReadError, ReadOptions, Reason};
use read_support::*;

fn trial(name: &str) -> Option<PathBuf> {
    shared("trials/files").map(|folder| folder.join(name))
}

fn ids(seen: &[Seen]) -> Vec<&str> {
    seen.iter()
        .map(|record| record.id.as_deref().unwrap_or("-"))
        .collect()
}

#[test]
fn a01_several_parts_in_one_file() {
    let Some(folder) = trial("A01") else { return };
    let wide = ReadOptions {
        max_window_log: 31,
        ..ReadOptions::default()
    };
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("window_2GiB.jsonl.zst") {
            let message = error_of(&path, &ReadOptions::default());
            assert!(
                message.contains("2048 MiB") && message.contains("--max-window-log 31"),
                "{message}"
            );
        }
        let (seen, report) = read_ok(&path, &wide);
        assert_eq!(report.documents, 6, "{}", path.display());
        assert_eq!(ids(&seen)[0], "\"a01a-0\"");
        assert_eq!(ids(&seen)[5], "\"a01b-2\"");
        files += 1;
    }
    assert_eq!(files, 7);
}

#[test]
fn a02_cut_and_damaged_files() {
    let Some(folder) = trial("A02") else { return };
    let strict = ReadOptions::default();
    for name in [
        "cut.jsonl.gz",
        "cut.jsonl.zst",
        "bad_crc.jsonl.gz",
        "trailing_garbage.jsonl.gz",
    ] {
        let message = error_of(&folder.join(name), &strict);
        assert!(message.contains("damaged"), "{message}");
        let (seen, report) = read_ok(&folder.join(name), &lenient());
        assert!(
            report.sources[0].incomplete.is_some() && report.partial(),
            "{name}"
        );
        assert!(seen.len() < 400, "{name}");
        if name.starts_with("trailing") || name.starts_with("bad_crc") {
            assert_eq!(seen.len(), 3, "what came before the damage is used");
        }
        assert!(report.sources[0].blake3.is_some());
    }
    assert_eq!(
        read_ok(&folder.join("zero_padded.jsonl.gz"), &strict)
            .1
            .documents,
        3
    );
    let cut = folder.join("cut_plain.jsonl");
    assert!(error_of(&cut, &strict).contains("cut_plain.jsonl:3:"));
    let (_, report) = read_ok(&cut, &lenient());
    assert_eq!((report.documents, report.bad_records), (2, 1));
    // All of them at once: twice the same.
    let all = read_with(&[folder], &lenient(), 8);
    let report = all.1.clone().unwrap();
    assert_eq!(report.bad_files, 4);
    assert_eq!(all, read_with(&[trial("A02").unwrap()], &lenient(), 1));
}

#[test]
fn a04_lines() {
    let Some(folder) = trial("A04") else { return };
    for (name, documents) in [
        ("bom.jsonl", 3),
        ("bom_again_after_cat.jsonl", 3),
        ("crlf.jsonl", 3),
        ("blank_lines_no_final_newline.jsonl", 3),
        ("line_separators_inside_strings.jsonl", 4),
    ] {
        let (_, report) = read_ok(&folder.join(name), &ReadOptions::default());
        assert_eq!(
            (report.documents, report.records),
            (documents, documents),
            "{name}"
        );
    }
    let lines = ReadOptions {
        text_lines: true,
        ..ReadOptions::default()
    };
    let (seen, _) = read_ok(&folder.join("one_doc_per_line.txt"), &lines);
    assert_eq!(
        ids(&seen),
        [
            "\"one_doc_per_line.txt:1\"",
            "\"one_doc_per_line.txt:2\"",
            "\"one_doc_per_line.txt:3\""
        ]
    );
    assert_eq!(
        seen[1].text(),
        "second\u{2028}still second\u{c}still second"
    );
    let (seen, _) = read_ok(
        &folder.join("one_doc_per_line.txt"),
        &ReadOptions::default(),
    );
    assert_eq!(ids(&seen), ["\"one_doc_per_line.txt\""]);
}

#[test]
fn a05_null_missing_and_odd_fields() {
    let Some(folder) = trial("A05") else { return };
    let path = folder.join("fields.jsonl");
    let fields = vec!["score".to_owned(), "n".to_owned()];
    let (seen, report) = read_ok(
        &path,
        &ReadOptions {
            fields,
            ..lenient()
        },
    );
    assert_eq!((report.records, report.documents), (19, 13));
    let counts: Vec<(&str, u64)> = report
        .unusable
        .iter()
        .map(|(reason, &count)| (reason.code(), count))
        .collect();
    assert_eq!(
        counts,
        [
            ("null_text", 1),
            ("missing_text", 1),
            ("text_not_a_string", 2),
            ("not_an_object", 2)
        ]
    );
    let used: Vec<Option<&str>> = seen
        .iter()
        .filter(|record| record.text.is_ok())
        .map(|record| record.id.as_deref())
        .collect();
    for id in [
        "\"ok-1\"",
        "\"ok-2\"",
        "7",
        "12345678901234567890123",
        "1.0",
        "\"dup\"",
        "\"nan\"",
        "\"big\"",
    ] {
        assert!(used.contains(&Some(id)), "{id}");
    }
    assert_eq!(used.iter().filter(|id| **id == Some("\"dup\"")).count(), 2);
    assert_eq!(used.iter().filter(|id| id.is_none()).count(), 1);
    let by_id = |id: &str| {
        seen.iter()
            .find(|record| record.id.as_deref() == Some(id))
            .unwrap()
    };
    assert_eq!(by_id("\"twice\"").text(), "second value");
    assert_eq!(by_id("\"nan\"").fields, [None, None]);
    assert_eq!(by_id("\"big\"").fields, [None, Some("1e400".to_owned())]);
    // Strict: the first bad record, by line.
    assert!(error_of(&path, &ReadOptions::default()).contains("fields.jsonl:3:"));
    for options in [ReadOptions::default(), lenient()] {
        let message = error_of(&folder.join("other_key.jsonl"), &options);
        assert!(
            message.contains("\"text\"") && message.contains("id, content"),
            "{message}"
        );
    }
}

#[test]
fn a06_malformed_records_and_encodings() {
    let Some(folder) = trial("A06") else { return };
    let strict = ReadOptions::default();
    let path = folder.join("bad_third_line.jsonl");
    assert!(error_of(&path, &strict).contains("bad_third_line.jsonl:3:"));
    let (_, report) = read_ok(&path, &lenient());
    assert_eq!(
        (
            report.documents,
            report.bad_records,
            report.sources[0].samples[0].line
        ),
        (4, 1, 3)
    );

    let path = folder.join("bad_utf8.jsonl");
    assert!(error_of(&path, &strict).contains("bad_utf8.jsonl:2:"));
    let (seen, report) = read_ok(&path, &lenient());
    assert_eq!(report.unusable[&Reason::InvalidUtf8], 2);
    let lines = |good: bool| {
        seen.iter()
            .filter(|r| r.text.is_ok() == good)
            .map(|r| r.line)
            .collect::<Vec<_>>()
    };
    assert_eq!((lines(true), lines(false)), (vec![1, 4], vec![2, 3]));
    let message = error_of(
        &path,
        &ReadOptions {
            max_bad_records: 1,
            ..strict.clone()
        },
    );
    assert!(
        message.contains("bad_utf8.jsonl:2:") && message.contains("bad_utf8.jsonl:3:"),
        "{message}"
    );
    assert!(message.contains("--max-bad-records 1"), "{message}");

    assert!(error_of(&folder.join("utf16.jsonl"), &strict).contains("UTF-16LE"));
    let message = error_of(&folder.join("pretty_printed.json"), &strict);
    assert!(
        message.contains("one JSON array") && message.contains("jq -c '.[]'"),
        "{message}"
    );
}

#[test]
fn a07_long_lines() {
    let Some(folder) = trial("A07") else { return };
    let (seen, report) = read_ok(
        &folder.join("line_64MiB_words.jsonl.gz"),
        &ReadOptions::default(),
    );
    assert_eq!(report.documents, 3);
    let long = seen
        .iter()
        .map(Seen::text)
        .max_by_key(|text| text.len())
        .unwrap();
    assert_eq!(long.split_ascii_whitespace().count(), 11_184_768);
    drop(seen);

    // By default the line of 1.1 GiB is too long; one more bad record is allowed than there is.
    let path = folder.join("line_1.1GiB_one_word.jsonl.zst");
    let message = error_of(&path, &ReadOptions::default());
    assert!(
        message.contains(":2:") && message.contains("--max-record-size 536870912"),
        "{message}"
    );
    let (seen, report) = read_ok(
        &path,
        &ReadOptions {
            max_bad_records: 1,
            ..ReadOptions::default()
        },
    );
    assert_eq!(
        (report.documents, report.unusable[&Reason::RecordTooLong]),
        (2, 1)
    );
    assert_eq!(seen[1].text, Err(Reason::RecordTooLong));
}

#[test]
fn a09_shards_whose_columns_differ() {
    let Some(folder) = trial("A09/drift") else {
        return;
    };
    let (seen, report) = read_with(&[folder], &ReadOptions::default(), 2);
    assert_eq!(report.unwrap().documents, 3);
    assert_eq!(ids(&seen), ["\"s0\"", "\"s1\"", "2"]);
}

#[test]
fn a09_parquet() {
    let Some(folder) = trial("A09") else { return };
    let documents = |name: &str| read_ok(&folder.join(name), &ReadOptions::default());
    for name in [
        "nulls_dictionary_row_groups.parquet",
        "large_string.parquet",
        "dictionary_type.parquet",
        "text_is_binary.parquet",
    ] {
        let (seen, report) = documents(name);
        assert_eq!(
            (report.records, report.unusable[&Reason::NullText]),
            (30, 8),
            "{name}"
        );
        for (row, text) in [
            (0, "row 0 alpha beta gamma"),
            (28, "row 28 alpha beta gamma"),
        ] {
            assert_eq!(
                (seen[row].id.clone(), seen[row].text()),
                (Some(format!("\"p-{row}\"")), text),
                "{name}"
            );
        }
    }
    let (_, report) = documents("all_null.parquet");
    assert_eq!(
        (report.documents, report.unusable[&Reason::NullText]),
        (0, 30)
    );
    assert_eq!(documents("zero_rows.parquet").1.records, 0);
    let message = error_of(&folder.join("no_text_column.parquet"), &lenient());
    assert!(
        message.contains("\"text\"") && message.contains("id, content"),
        "{message}"
    );
    let message = error_of(&folder.join("cut.parquet"), &ReadOptions::default());
    assert!(message.contains("damaged Parquet file"), "{message}");
    assert!(why_incomplete(&folder.join("cut.parquet")).is_some());
}

/// Why a file is incomplete when files may be left out.
fn why_incomplete(path: &Path) -> Option<String> {
    read_ok(path, &lenient()).1.sources[0].incomplete.clone()
}

#[test]
fn b06_d04_h02_json_lines_of_other_trials() {
    let Some(folder) = trial("") else { return };
    let documents = |name: &str| read_ok(&folder.join(name), &ReadOptions::default());
    let (seen, _) = documents("D/boilerplate_candidates.jsonl");
    assert_eq!(
        seen.iter()
            .map(|record| record.position)
            .collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert_eq!(seen.iter().filter(|record| record.id.is_none()).count(), 1);
    for folder in ["B01", "B02", "B04", "B06", "D"].map(|name| folder.join(name)) {
        let (_, report) = read_with(&[folder], &ReadOptions::default(), 2);
        assert!(report.unwrap().documents > 0);
    }
}

/// What the manifest says of each file: how many documents, or what goes wrong.
#[test]
fn odd_archives() {
    let Some(folder) = shared("data/odd-archives") else {
        return;
    };
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.json")).unwrap();
    let manifest: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest.len(), 45);
    for (name, entry) in &manifest {
        odd_archive(&folder.join(name), name, entry["docs"].as_u64());
    }
}

fn odd_archive(path: &Path, name: &str, documents: Option<u64>) {
    let strict = ReadOptions::default();
    let count = |options: &ReadOptions| read_ok(path, options).1.documents;
    let Some(documents) = documents else {
        let message = error_of(path, &strict);
        assert!(message.contains("damaged"), "{message}");
        let (_, report) = read_ok(path, &lenient());
        assert!(
            report.sources[0].incomplete.is_some() && report.documents < 12,
            "{name}"
        );
        return;
    };
    match name {
        "long_window31.jsonl.zst" => {
            assert!(error_of(path, &strict).contains("--max-window-log 31"));
            assert_eq!(
                count(&ReadOptions {
                    max_window_log: 31,
                    ..strict
                }),
                documents
            );
        }
        "trailing_garbage.jsonl.zst" => {
            assert!(error_of(path, &strict).contains("something else follows"));
            assert_eq!(count(&lenient()), documents);
        }
        "invalid_utf8.jsonl" | "bad_json_line.jsonl" => {
            assert!(error_of(path, &strict).contains(&format!("{name}:4:")));
            assert_eq!(count(&lenient()), documents);
        }
        "missing_text.jsonl" => {
            let (_, report) = read_ok(path, &lenient());
            assert_eq!(report.documents, 13, "the empty text is one");
            let counts: Vec<(&str, u64)> = report
                .unusable
                .iter()
                .map(|(reason, &count)| (reason.code(), count))
                .collect();
            assert_eq!(
                counts,
                [
                    ("null_text", 1),
                    ("missing_text", 1),
                    ("text_not_a_string", 2),
                    ("not_an_object", 2)
                ]
            );
        }
        "array.json" => assert!(error_of(path, &strict).contains("one JSON array")),
        "pretty.json" => assert!(error_of(path, &strict).contains("spread over several lines")),
        _ => assert_eq!(count(&strict), documents, "{name}"),
    }
    let (seen, _) = read_with(&[path.to_owned()], &lenient(), 1);
    let odd = |id: &str| {
        seen.iter()
            .find(|record| record.id.as_deref() == Some(id))
            .unwrap()
            .text()
            .to_owned()
    };
    match name {
        "lone_surrogate.jsonl" => assert_eq!(odd("\"s\""), "broken \u{fffd} half of a pair"),
        "nul_and_controls.jsonl" => assert_eq!(
            odd("\"n\""),
            "a\0b\u{b} c\u{2028} d\u{85} e\u{a0}f\u{200b}g"
        ),
        "dup_keys.jsonl" => assert_eq!(odd("\"k\""), "second"),
        "pile_style.jsonl.zst" => {
            let fields = vec!["meta.pile_set_name".to_owned()];
            let (seen, _) = read_with(
                &[path.to_owned()],
                &ReadOptions {
                    fields,
                    ..ReadOptions::default()
                },
                1,
            );
            assert!(
                seen.iter().all(|record| record.fields[0].is_some()),
                "{seen:?}"
            );
        }
        _ => {}
    }
}

#[test]
fn a_file_that_is_not_there() {
    let (_, report) = read(Path::new("no/such/file.jsonl"));
    assert!(matches!(report, Err(ReadError::File { .. })), "{report:?}");
}
