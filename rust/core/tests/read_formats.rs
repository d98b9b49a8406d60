//! Every format, made on the spot: the same documents must come out of each.

mod read_support;

use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field};
use ngramscope_core::read::{ReadOptions, Reason, Source};
use read_support::*;

const ZST_SKIPPABLE: [u8; 11] = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];

fn documents(path: &Path) -> u64 {
    read_ok(path, &ReadOptions::default()).1.documents
}

/// What a file has to become: 20 documents, cut into parts in the middle of a line.
fn parts() -> (Vec<u8>, usize) {
    let whole = json_lines("p", 20).into_bytes();
    let middle = whole.len() / 2 + 3;
    (whole, middle)
}

#[test]
fn compressed_files_of_many_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, middle) = parts();
    let (a, b) = whole.split_at(middle);
    type Pack = fn(&[u8]) -> Vec<u8>;
    for (name, pack) in [("gz", gz as Pack), ("zst", zst), ("bz2", bz2), ("xz", xz)] {
        let put =
            |kind: &str, bytes: Vec<u8>| put(folder.path(), &format!("{kind}.jsonl.{name}"), bytes);
        let one = put("one", pack(&whole));
        let (seen, report) = read_ok(&one, &ReadOptions::default());
        assert_eq!(seen[19].id.as_deref(), Some("\"p-19\""));
        assert_eq!(seen[19].text(), "document 19 of p, naïve\n");
        let digest = blake3::hash(&std::fs::read(&one).unwrap())
            .to_hex()
            .to_string();
        assert_eq!(
            report.sources[0].blake3,
            Some(digest),
            "{name}: digest of the compressed bytes"
        );
        assert_eq!(
            documents(&put("two", [pack(a), pack(b)].concat())),
            20,
            "{name}"
        );
        assert_eq!(
            documents(&put(
                "with_empty",
                [pack(b""), pack(a), pack(b""), pack(b), pack(b"")].concat()
            )),
            20,
            "{name}"
        );
        assert_eq!(
            documents(&put(
                "first_byte",
                [pack(&whole[..1]), pack(&whole[1..])].concat()
            )),
            20,
            "{name}"
        );
        assert_eq!(documents(&put("empty", pack(b""))), 0, "{name}");
        assert_eq!(documents(&put("nothing", Vec::new())), 0, "{name}");
        // A name that promises something else.
        assert_eq!(
            documents(&read_support::put(
                folder.path(),
                &format!("{name}.jsonl.other"),
                pack(&whole)
            )),
            20
        );

        // Cut anywhere: never a silently short file.
        let packed = pack(&whole);
        for cut in [packed.len() - 1, packed.len() - 5, packed.len() / 2, 20, 12] {
            let message = error_of(&put("cut", packed[..cut].to_vec()), &ReadOptions::default());
            assert!(
                message.contains("damaged") && message.contains("cut off"),
                "{name} at {cut}: {message}"
            );
        }
        let message = error_of(
            &put(
                "garbage",
                [packed.clone(), b"\0\x01garbage".to_vec()].concat(),
            ),
            &ReadOptions::default(),
        );
        assert!(
            message.contains("something else follows"),
            "{name}: {message}"
        );
        let mut flipped = packed.clone();
        let place = flipped.len() / 2;
        flipped[place] ^= 0x10;
        let message = error_of(&put("flipped", flipped), &ReadOptions::default());
        // Where the damage gives data, a record may be the first to show it.
        assert!(
            message.contains("damaged") || message.contains("flipped.jsonl"),
            "{name}: {message}"
        );
        let (_, report) = read_ok(
            &folder.path().join(format!("flipped.jsonl.{name}")),
            &lenient(),
        );
        assert!(
            report.sources[0]
                .incomplete
                .as_deref()
                .is_some_and(|why| why.contains("damaged")),
            "{name}"
        );
        let message = error_of(&put("twice", pack(&packed)), &ReadOptions::default());
        assert!(message.contains("compressed twice"), "{name}: {message}");
    }
    let padded = put(
        folder.path(),
        "padded.gz",
        [gz(&whole), vec![0; 70_000]].concat(),
    );
    assert_eq!(documents(&padded), 20);
    let padded = put(
        folder.path(),
        "padded.xz",
        [xz(a), vec![0; 8], xz(b), vec![0; 4]].concat(),
    );
    assert_eq!(documents(&padded), 20);
    let skippable = [
        &ZST_SKIPPABLE[..],
        &zst(a),
        &ZST_SKIPPABLE,
        &zst(b),
        &ZST_SKIPPABLE,
    ]
    .concat();
    assert_eq!(
        documents(&put(folder.path(), "skippable.zst", skippable)),
        20
    );
}

#[test]
fn gzip_checks_its_trailer() {
    let folder = tempfile::tempdir().unwrap();
    let good = gz(&parts().0);
    for (back, word) in [(8, "checksum"), (4, "size")] {
        let mut bad = good.clone();
        let place = bad.len() - back;
        bad[place] ^= 1;
        let message = error_of(&put(folder.path(), "bad.gz", bad), &ReadOptions::default());
        assert!(message.contains(word), "{message}");
    }
    // Extra field, name, comment and header checksum, as other writers set them.
    let mut member = vec![
        0x1f,
        0x8b,
        8,
        2 | 4 | 8 | 16,
        0,
        0,
        0,
        0,
        0,
        255,
        3,
        0,
        1,
        2,
        3,
    ];
    member.extend(b"name\0comment\0\x12\x34");
    member.extend(&good[10..]);
    assert_eq!(documents(&put(folder.path(), "fields.gz", member)), 20);
}

#[test]
fn zstd_windows_are_limited_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(&parts().0).unwrap();
    let path = put(folder.path(), "wide.zst", encoder.finish().unwrap());
    let message = error_of(&path, &ReadOptions::default());
    assert!(
        message.contains("256 MiB") && message.contains("--max-window-log 28"),
        "{message}"
    );
    assert_eq!(
        read_ok(
            &path,
            &ReadOptions {
                max_window_log: 28,
                ..ReadOptions::default()
            }
        )
        .1
        .documents,
        20
    );
}

#[test]
fn streams_are_read_like_files() {
    let (whole, _) = parts();
    for bytes in [whole.clone(), gz(&whole), zst(&whole)] {
        let digest = blake3::hash(&bytes).to_hex().to_string();
        let source = Source::Stream("-".to_owned(), Box::new(Cursor::new(bytes)));
        let (seen, report) = read_sources(vec![source], ReadOptions::default(), 2);
        let report = report.unwrap();
        assert_eq!(
            (seen.len(), report.sources[0].blake3.as_deref()),
            (20, Some(&*digest))
        );
        assert_eq!(report.sources[0].name, "-");
    }
    let failing = b"{\"text\":\"a\"}\n".chain(Failing);
    let (seen, report) = read_sources(
        vec![Source::Stream("-".to_owned(), Box::new(failing))],
        lenient(),
        1,
    );
    assert_eq!(seen.len(), 1);
    assert!(
        report.unwrap().sources[0]
            .incomplete
            .as_deref()
            .unwrap()
            .contains("no more")
    );
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("no more"))
    }
}

fn columns(count: usize) -> Vec<Option<String>> {
    (0..count)
        .map(|row| (row % 4 != 3).then(|| format!("row {row} grün")))
        .collect()
}

/// Columns of texts in every type that is read.
fn text_columns(count: usize) -> Vec<(&'static str, ArrayRef)> {
    let texts = columns(count);
    let strings = || texts.iter().map(Option::as_deref);
    vec![
        (
            "string",
            Arc::new(strings().collect::<StringArray>()) as ArrayRef,
        ),
        (
            "large_string",
            Arc::new(strings().collect::<LargeStringArray>()),
        ),
        (
            "string_view",
            Arc::new(strings().collect::<StringViewArray>()),
        ),
        (
            "binary",
            Arc::new(
                strings()
                    .map(|text| text.map(str::as_bytes))
                    .collect::<BinaryArray>(),
            ),
        ),
        (
            "dictionary",
            Arc::new(strings().collect::<DictionaryArray<Int32Type>>()),
        ),
    ]
}

fn table(text: ArrayRef) -> RecordBatch {
    let rows = text.len() as i64;
    let wide: ArrayRef = Arc::new(Float64Array::from_iter_values(
        (0..rows).map(|row| row as f64 / 4.0),
    ));
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(
        (0..rows).map(|row| i64::MAX - row),
    ));
    let inner: ArrayRef = Arc::new(StructArray::from(vec![
        (
            Arc::new(Field::new("text", text.data_type().clone(), true)),
            text.clone(),
        ),
        (
            Arc::new(Field::new("wide", DataType::Float64, true)),
            wide.clone(),
        ),
    ]));
    RecordBatch::try_from_iter_with_nullable([
        ("wide", wide, true),
        ("meta", inner, true),
        ("text", text, true),
        ("id", id, true),
    ])
    .unwrap()
}

fn parquet(batch: &RecordBatch, group: usize) -> Vec<u8> {
    let settings = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_data_page_row_count_limit(3)
        .build();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), Some(settings)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(10) {
        writer
            .write(&batch.slice(start, 10.min(batch.num_rows() - start)))
            .unwrap();
    }
    writer.into_inner().unwrap()
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn tables_of_every_text_type() {
    let folder = tempfile::tempdir().unwrap();
    let wanted: Vec<Result<String, Reason>> = columns(30)
        .into_iter()
        .map(|text| text.ok_or(Reason::NullText))
        .collect();
    for (kind, text) in text_columns(30) {
        let batch = table(text);
        for (form, bytes) in [
            ("parquet", parquet(&batch, 7)),
            ("arrow", arrow_file(&batch)),
            ("arrows", arrow_stream(&batch)),
        ] {
            let path = put(folder.path(), &format!("{kind}.{form}"), &bytes);
            for (text_key, block_bytes) in [("text", 1 << 20), ("text", 1), ("meta.text", 100)] {
                let fields = vec!["wide".to_owned(), "meta".to_owned(), "none".to_owned()];
                let options = ReadOptions {
                    text_key: text_key.to_owned(),
                    fields,
                    block_bytes,
                    ..ReadOptions::default()
                };
                let (seen, report) = read_ok(&path, &options);
                assert_eq!(
                    report.sources[0].blake3.as_deref(),
                    Some(&*blake3::hash(&bytes).to_hex())
                );
                let texts: Vec<Result<String, Reason>> =
                    seen.iter().map(|record| record.text.clone()).collect();
                assert_eq!(texts, wanted, "{kind} in {form}");
                assert_eq!((seen[28].line, seen[28].position), (29, 28));
                assert_eq!(
                    seen[28].id.as_deref(),
                    Some(&*(i64::MAX - 28).to_string()),
                    "digit for digit"
                );
                assert_eq!(seen[1].fields[0].as_deref(), Some("0.25"));
                let meta: serde_json::Value =
                    serde_json::from_str(seen[1].fields[1].as_deref().unwrap()).unwrap();
                assert_eq!(meta["wide"], 0.25);
                assert_eq!(seen[1].fields[2], None);
            }
            let message = error_of(
                &path,
                &ReadOptions {
                    text_key: "wide".to_owned(),
                    ..ReadOptions::default()
                },
            );
            assert!(
                message.contains("wide") && message.contains("Float64"),
                "{message}"
            );
            let message = error_of(
                &path,
                &ReadOptions {
                    text_key: "body".to_owned(),
                    ..lenient()
                },
            );
            assert!(
                message.contains("\"body\"") && message.contains("meta.text"),
                "{message}"
            );
            for cut in [bytes.len() - 1, bytes.len() * 2 / 3, 40] {
                // A stream that ends between two messages is whole as far as anyone can tell.
                if form != "arrows" || cut != bytes.len() - 1 {
                    let path = put(folder.path(), &format!("cut-{kind}.{form}"), &bytes[..cut]);
                    let message = error_of(&path, &ReadOptions::default());
                    assert!(
                        message.contains("damaged"),
                        "{kind}.{form} at {cut}: {message}"
                    );
                }
            }
        }
    }
}

#[test]
fn nulls_of_structs_bad_utf8_and_lists_of_integers_in_tables() {
    let folder = tempfile::tempdir().unwrap();
    let inner: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let field = Arc::new(Field::new("text", DataType::Utf8, true));
    let nulls = arrow_array::BooleanArray::from(vec![true, false, true])
        .values()
        .clone()
        .into();
    let parent: ArrayRef = Arc::new(StructArray::new(
        vec![field].into(),
        vec![inner],
        Some(nulls),
    ));
    let batch = RecordBatch::try_from_iter_with_nullable([("meta", parent, true)]).unwrap();
    for (name, bytes) in [
        ("s.parquet", parquet(&batch, 9)),
        ("s.arrow", arrow_file(&batch)),
    ] {
        let options = ReadOptions {
            text_key: "meta.text".to_owned(),
            ..ReadOptions::default()
        };
        let (seen, _) = read_ok(&put(folder.path(), name, bytes), &options);
        assert_eq!(seen[1].text, Err(Reason::NullText), "{name}");
        assert_eq!((seen[0].text(), seen[2].text()), ("a", "c"));
    }

    let bad: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"good", b"caf\xe9", b""]));
    let path = put(
        folder.path(),
        "b.parquet",
        parquet(&RecordBatch::try_from_iter([("text", bad)]).unwrap(), 9),
    );
    assert!(error_of(&path, &ReadOptions::default()).contains("b.parquet:2:"));
    assert_eq!(
        read_ok(&path, &lenient()).0[1].text,
        Err(Reason::InvalidUtf8)
    );

    let lists = vec![
        Some(vec![Some(1), Some(-20), Some(3)]),
        None,
        Some(vec![]),
        Some(vec![Some(7), None]),
    ];
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let batch = RecordBatch::try_from_iter_with_nullable([("text", lists, true)]).unwrap();
    for (name, bytes) in [
        ("l.parquet", parquet(&batch, 9)),
        ("l.arrow", arrow_file(&batch)),
    ] {
        let path = put(folder.path(), name, bytes);
        let (seen, _) = read_ok(
            &path,
            &ReadOptions {
                ids: true,
                ..lenient()
            },
        );
        let texts: Vec<Result<&str, Reason>> = seen
            .iter()
            .map(|r| r.text.as_deref().map_err(|reason| *reason))
            .collect();
        assert_eq!(
            texts,
            [
                Ok("1 -20 3"),
                Err(Reason::NullText),
                Ok(""),
                Err(Reason::TextNotIntegerList)
            ]
        );
        assert!(error_of(&path, &ReadOptions::default()).contains("List"));
    }
}

#[test]
fn large_column_chunks_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..1000).map(|row| format!("row {row} with some text")),
    ));
    let path = put(folder.path(), "t.parquet", parquet(&table(text), 500));
    let message = error_of(
        &path,
        &ReadOptions {
            max_column_chunk_bytes: 5000,
            ..ReadOptions::default()
        },
    );
    assert!(
        message.contains("column \"text\"") && message.contains("--max-column-chunk 5000"),
        "{message}"
    );
    assert_eq!(documents(&path), 1000);
}

fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip_of(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn archives_are_read_member_by_member() {
    let folder = tempfile::tempdir().unwrap();
    let lines = json_lines("m", 3);
    let packed = gz(lines.as_bytes());
    let long = format!("{}/long name.txt", "d".repeat(150));
    let members: Vec<(&str, &[u8])> = vec![
        ("a.txt", b"first text\nwith two lines"),
        ("sub/b.jsonl", lines.as_bytes()),
        ("sub/c.jsonl.gz", &packed),
        (".hidden.txt", b"left out"),
        ("__x/._a.txt", b"left out"),
        ("empty.txt", b""),
        (&long, b"long"),
    ];
    let tar = tar_of(&members);
    let forms = [
        ("t.tar", tar.clone()),
        ("t.tar.gz", gz(&tar)),
        ("t.tar.zst", zst(&tar)),
        ("t.tar.bz2", bz2(&tar)),
        ("t.tar.xz", xz(&tar)),
        ("t.zip", zip_of(&members, zip::CompressionMethod::Deflated)),
        ("s.zip", zip_of(&members, zip::CompressionMethod::Stored)),
    ];
    for (name, bytes) in &forms {
        let path = put(folder.path(), name, bytes);
        let (seen, report) = read_ok(&path, &ReadOptions::default());
        assert_eq!(report.documents, 8, "{name}");
        assert_eq!(
            report.sources[0].blake3.as_deref(),
            Some(&*blake3::hash(bytes).to_hex()),
            "{name}"
        );
        assert_eq!(seen[0].id, Some(format!("\"{name}/a.txt\"")));
        assert_eq!((seen[6].line, seen[6].position), (3, 6));
        assert_eq!(seen[6].member.as_deref(), Some("sub/c.jsonl.gz"));
        assert_eq!(seen[7].member.as_deref(), Some(&*long));
    }
    let cut = put(folder.path(), "cut.tar", &tar[..tar.len() - 1024 - 512]);
    assert!(error_of(&cut, &ReadOptions::default()).contains("cut off"));
    let mut bad = zip_of(&members, zip::CompressionMethod::Stored);
    let place = memchr::memmem::find(&bad, b"first text").unwrap();
    bad[place] = b'F';
    let message = error_of(&put(folder.path(), "bad.zip", bad), &ReadOptions::default());
    assert!(
        message.contains("checksum") && message.contains("a.txt"),
        "{message}"
    );
    let inner = put(folder.path(), "inner.tar", tar_of(&[("x.tar", &tar)]));
    assert!(error_of(&inner, &ReadOptions::default()).contains("archive inside an archive"));
    let bad_line = put(
        folder.path(),
        "line.tar",
        tar_of(&[("ok.jsonl", lines.as_bytes()), ("b.jsonl", b"{}\n[]\n")]),
    );
    let message = error_of(&bad_line, &ReadOptions::default());
    assert!(message.contains("line.tar/b.jsonl:1:"), "{message}");
}

#[test]
fn texts_and_other_formats() {
    let folder = tempfile::tempdir().unwrap();
    let source = put(folder.path(), "code.py", "{'a': 1}\nprint('grün')\n");
    let (seen, _) = read_ok(&source, &ReadOptions::default());
    assert_eq!(
        (seen[0].id.as_deref(), seen[0].text()),
        (Some("\"code.py\""), "{'a': 1}\nprint('grün')\n")
    );
    let bom = put(folder.path(), "bom.txt", "\u{feff}text");
    assert_eq!(read_ok(&bom, &ReadOptions::default()).0[0].text(), "text");
    let latin = put(folder.path(), "latin.txt", b"first\ncaf\xe9");
    let message = error_of(&latin, &ReadOptions::default());
    assert!(
        message.contains("invalid_utf8") && message.contains("line 2"),
        "{message}"
    );
    let lines = put(folder.path(), "lines.txt", "one\r\n\r\n \ntwo\nthree");
    let (seen, _) = read_ok(
        &lines,
        &ReadOptions {
            text_lines: true,
            ..ReadOptions::default()
        },
    );
    assert_eq!(
        seen.iter().map(|r| (r.line, r.text())).collect::<Vec<_>>(),
        [(1, "one"), (4, "two"), (5, "three")]
    );
    // No ending: what is inside decides.
    assert_eq!(
        documents(&put(folder.path(), "part-0", json_lines("x", 2))),
        2
    );
    assert_eq!(
        documents(&put(folder.path(), "notes", "[1] a note\n[2] another")),
        1
    );
    for (name, bytes, word) in [
        ("a.7z", &b"7z\xbc\xaf\x27\x1c\0\x04"[..], "7z archive"),
        ("a.csv", b"id,text\n1,x\n", "CSV"),
        (
            "a.parquet",
            b"nothing of the kind",
            "not the format that its name says",
        ),
        ("a.bin", b"\x01\x02\0\x03", "binary data"),
        ("utf16", b"\xff\xfea\0b\0", "UTF-16LE"),
        (
            "p.gz",
            &gz(&parquet(&table(text_columns(3).remove(0).1), 9)),
            "Parquet file inside",
        ),
    ] {
        let message = error_of(&put(folder.path(), name, bytes), &ReadOptions::default());
        assert!(message.contains(word), "{name}: {message}");
    }
}
