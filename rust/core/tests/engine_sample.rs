//! Sampling: every record has the same chance, whatever its length, its file and the format; the same seed draws the same.

mod engine_support;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use engine_support::{documents, options, write_corpus};
use ngramscope_core::Error;
use ngramscope_core::build::{Sample, insertion_rate, sample};
use ngramscope_core::read::{InputFile, discover};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// Texts of very different lengths, the long ones not at random: a sample that looked at places only would see too many words.
fn texts() -> Vec<String> {
    let words = documents(5, 1, 4000).remove(0);
    let words: Vec<&str> = words.split(' ').collect();
    (0..3000)
        .map(|i| {
            let length = if i % 50 == 0 { 2000 } else { 1 + i % 60 };
            words[i % 2000..][..length].join(" ")
        })
        .collect()
}

/// Writes the texts to a folder, in some form.
type Write = fn(&Path);

fn found(folder: &Path) -> Vec<InputFile> {
    discover(&[folder.to_path_buf()], &[], &[]).expect("files")
}

fn draw(files: &[InputFile], bytes: u64, seed: u64, threads: usize) -> Result<Sample, Error> {
    let mut options = options(&[3, 7]);
    options.threads = Some(threads);
    sample(files, bytes, seed, &options, &mut |_| {
        ControlFlow::Continue(())
    })
}

fn compressed(folder: &Path) {
    for (i, part) in texts().chunks(30).enumerate() {
        let plain = folder.join("plain");
        write_corpus(&plain, part);
        let bytes = zstd::encode_all(File::open(&plain).unwrap(), 3).unwrap();
        std::fs::write(folder.join(format!("{i:03}.jsonl.zst")), bytes).unwrap();
        std::fs::remove_file(plain).unwrap();
    }
}

fn lines(folder: &Path) {
    for (i, part) in texts().chunks(1000).enumerate() {
        write_corpus(&folder.join(format!("{i}.jsonl")), part);
    }
}

fn one_text_a_file(folder: &Path) {
    for (i, text) in texts().iter().enumerate() {
        std::fs::write(folder.join(format!("{i:04}.txt")), text).unwrap();
    }
}

fn row_groups(folder: &Path) {
    for (i, part) in texts().chunks(1000).enumerate() {
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(part));
        let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(25))
            .set_dictionary_enabled(false)
            .build();
        let file = File::create(folder.join(format!("{i}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

#[test]
fn every_record_has_the_same_chance() {
    const DRAWS: u64 = 40;
    let texts = texts();
    let truth = [
        texts.len() as f64,
        texts
            .iter()
            .map(|text| text.split(' ').count())
            .sum::<usize>() as f64,
    ];
    let forms: [(&str, Write); 4] = [
        ("lines", lines),
        ("compressed", compressed),
        ("one text a file", one_text_a_file),
        ("row groups", row_groups),
    ];
    for (form, write) in forms {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let files = found(folder.path());
        let total: u64 = files.iter().map(|file| file.bytes).sum();
        let mut estimates = [Vec::new(), Vec::new()];
        for seed in 0..DRAWS {
            let drawn = draw(&files, total / 8, seed, 2).unwrap();
            let scale = drawn.bytes_total as f64 / drawn.bytes_read as f64;
            estimates[0].push(drawn.documents.iter().sum::<u64>() as f64 * scale);
            estimates[1].push(drawn.words.iter().sum::<u64>() as f64 * scale);
            assert_eq!(drawn.bytes_total, total);
            assert!(drawn.report.sources.is_empty(), "nothing was left out");
        }
        for (what, (estimates, truth)) in ["documents", "words"]
            .iter()
            .zip(estimates.iter().zip(truth))
        {
            let mean = estimates.iter().sum::<f64>() / DRAWS as f64;
            let spread: f64 = estimates.iter().map(|x| (x - mean).powi(2)).sum();
            let error = (spread / (DRAWS * (DRAWS - 1)) as f64).sqrt();
            // Parts that are read from their beginning end with a whole block.
            let granularity = if form == "lines" || form == "one text a file" {
                0.0
            } else {
                0.05
            };
            assert!(
                (mean - truth).abs() < 4.0 * error + granularity * truth,
                "{form}: {what} {mean:.0}, in truth {truth}, standard error {error:.0}"
            );
        }
    }
}

#[test]
fn a_seed_draws_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    lines(folder.path());
    let files = found(folder.path());
    let facts = |threads, seed| {
        let mut drawn = draw(&files, 60_000, seed, threads).unwrap();
        (drawn.seconds, drawn.threads) = (0.0, 0);
        serde_json::to_string(&drawn).unwrap()
    };
    assert_eq!(facts(1, 7), facts(4, 7));
    assert_ne!(facts(1, 7), facts(1, 8));
}

#[test]
fn groups_tell_the_distinct_ngrams_of_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    lines(folder.path());
    let files = found(folder.path());
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let drawn = draw(&files, total / 2, 3, 2).unwrap();
    for set in &drawn.sets {
        assert_eq!(set.share, 1.0, "so few are all looked at");
        let pairs: u64 = (1..).zip(&set.in_groups).map(|(k, count)| k * count).sum();
        let of_groups: u64 = set.of_group.iter().flatten().sum();
        assert_eq!(pairs, of_groups);
        let distinct: u64 = set.in_groups.iter().sum();
        // The texts are cut from 4,000 words: each n-gram begins at one of their places.
        assert!((1000..=4000).contains(&distinct), "{distinct}");
        assert!(set.occurrences.iter().sum::<u64>() > 3 * distinct);
    }
}

#[test]
fn a_bad_record_is_named_by_where_its_part_begins() {
    let folder = tempfile::tempdir().unwrap();
    let good = "{\"text\": \"some words that are good\"}\n".repeat(20_000);
    std::fs::write(
        folder.path().join("a.jsonl"),
        format!("{good}{}", "{\"text\": 5}\n".repeat(20_000)),
    )
    .unwrap();
    let error = draw(&found(folder.path()), 100_000, 1, 2)
        .unwrap_err()
        .to_string();
    assert!(error.contains("a.jsonl (from byte "), "{error}");
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(empty.path().join("a.jsonl"), "\n".repeat(100_000)).unwrap();
    let error = draw(&found(empty.path()), 5000, 1, 2)
        .unwrap_err()
        .to_string();
    assert!(error.contains("--sample"), "{error}");
}

#[test]
fn a_stop_ends_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    lines(folder.path());
    let options = options(&[7]);
    let stopped = sample(&found(folder.path()), 100_000, 1, &options, &mut |_| {
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn insertion_is_measured_within_the_memory_allowed() {
    let mut options = options(&[7]);
    options.memory = Some(ngramscope_core::build::MINIMUM_MEMORY);
    options.expected_ngrams = Some(1 << 40);
    assert!(insertion_rate(&options).unwrap() > 1000.0);
}
