//! Tables: Parquet and Arrow IPC.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, StringArray, StringViewArray, StructArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use arrow_schema::{DataType, Field};
use ngramscope_core::read::{ReadOptions, Reason};

use crate::documents;
use crate::read_support::*;

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

/// A file of three rows.
pub fn small_parquet() -> Vec<u8> {
    parquet(&table(text_columns(3).remove(0).1), 9)
}

/// The same as an Arrow file.
pub fn small_arrow() -> Vec<u8> {
    arrow_file(&table(text_columns(3).remove(0).1))
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

#[test]
fn a_pass_goes_on_in_the_middle_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let batch = table(text_columns(20).remove(0).1);
    let files = [
        put(folder.path(), "a.parquet", parquet(&batch, 3)),
        put(folder.path(), "b.arrow", arrow_file(&batch)),
        put(folder.path(), "c.arrows", arrow_stream(&batch)),
    ];
    goes_on(&files);
}

#[test]
fn times_with_a_zone_are_written_in_utc() {
    let folder = tempfile::tempdir().unwrap();
    let times = || TimestampMillisecondArray::from(vec![Some(1_677_672_000_123), None, Some(-1)]);
    let nanos = TimestampNanosecondArray::from(vec![Some(1), None, Some(0)]);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("text", text, true),
        ("bare", Arc::new(times()), true),
        ("utc", Arc::new(times().with_timezone("UTC")), true),
        (
            "named",
            Arc::new(times().with_timezone("Europe/Paris")),
            true,
        ),
        ("offset", Arc::new(nanos.with_timezone("+09:00")), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let options = ReadOptions {
        fields: ["bare", "utc", "named", "offset"].map(String::from).into(),
        ..ReadOptions::default()
    };
    for (form, bytes) in [
        ("parquet", parquet(&batch, 2)),
        ("arrow", arrow_file(&batch)),
    ] {
        let path = put(folder.path(), &format!("times.{form}"), &bytes);
        let (seen, _) = read_ok(&path, &options);
        let fields = |row: usize| -> Vec<Option<&str>> {
            seen[row].fields.iter().map(Option::as_deref).collect()
        };
        let first = Some("\"2023-03-01T12:00:00.123Z\"");
        let last = Some("\"1969-12-31T23:59:59.999Z\"");
        assert_eq!(fields(0)[1..3], [first, first], "{form}");
        assert_eq!(fields(0)[0], Some("\"2023-03-01T12:00:00.123\""), "{form}");
        assert_eq!(fields(0)[3], Some("\"1970-01-01T00:00:00.000000001Z\""));
        assert_eq!(fields(1), [None; 4], "{form}");
        assert_eq!(fields(2)[1..3], [last, last], "{form}");
        assert_eq!(fields(2)[3], Some("\"1970-01-01T00:00:00Z\""));
    }
}
