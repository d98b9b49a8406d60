//! Building: the same bytes whatever the circumstances, and all or nothing.

mod engine_support;

use std::ops::ControlFlow;
use std::path::PathBuf;

use engine_support::{build_files, contents, documents, options, scores, write_corpus};
use ngramscope_core::Error;
use ngramscope_core::build::{BuildOptions, MINIMUM_MEMORY, build};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::manifest::MANIFEST_NAME;
use ngramscope_core::query::{Index, QueryOptions};
use ngramscope_core::read::Source;

/// A folder with a corpus in five files, and the texts.
fn corpus() -> (tempfile::TempDir, Vec<PathBuf>, Vec<String>) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let texts = documents(1, 500, 60);
    let files: Vec<PathBuf> = (0..5)
        .map(|i| folder.path().join(format!("part-{i}.jsonl")))
        .collect();
    files
        .iter()
        .zip(texts.chunks(100))
        .for_each(|(file, part)| write_corpus(file, part));
    (folder, files, texts)
}

/// Variations that must not change a byte.
fn variations(options: &BuildOptions) -> Vec<BuildOptions> {
    let with = |change: &dyn Fn(&mut BuildOptions)| {
        let mut changed = options.clone();
        change(&mut changed);
        changed
    };
    vec![
        with(&|o| o.threads = Some(1)),
        with(&|o| o.threads = Some(8)),
        with(&|o| o.memory = Some(MINIMUM_MEMORY)),
        with(&|o| (o.memory, o.threads) = (Some(MINIMUM_MEMORY), Some(3))),
        with(&|o| o.read.block_bytes = 1 << 20),
    ]
}

#[test]
fn bytes_do_not_depend_on_threads_memory_order_or_repetition() {
    for (kind, expected) in [
        (FilterKind::Blocked, None),
        (FilterKind::Blocked, Some(60_000_000)),
        (FilterKind::Exact, None),
        (FilterKind::Exact, Some(9_000_000)),
    ] {
        let (folder, files, _) = corpus();
        let base = BuildOptions {
            kind,
            expected_ngrams: expected,
            shards: Some(3),
            ..options(&[3, 7])
        };
        let first = folder.path().join("first");
        let summary = build_files(&files, &first, &base).expect("build");
        let want = contents(&first);
        assert_eq!(
            want.len(),
            1 + 2 * 3,
            "a manifest and three shards for each n"
        );
        for (number, variation) in variations(&base).iter().enumerate() {
            let mut shuffled = files.clone();
            shuffled.rotate_left(number);
            shuffled.push(files[0].clone());
            let out = folder.path().join(format!("again-{number}"));
            let passes = build_files(&shuffled, &out, variation)
                .expect("build")
                .passes;
            assert!(
                contents(&out) == want,
                "{kind:?}, variation {number} differs"
            );
            let limited = variation.memory.is_some() && expected.is_some();
            assert_eq!(
                passes > summary.passes,
                limited,
                "{kind:?}: {passes} passes"
            );
            std::fs::remove_dir_all(&out).expect("room for the next");
        }
    }
}

#[test]
fn no_n_gram_is_lost_and_absent_ones_are_found_at_the_stated_rate() {
    let (folder, files, texts) = corpus();
    let absent = documents(2, 3000, 100);
    let count = |index: &std::path::Path| {
        scores(index, 7, &absent)
            .iter()
            .map(|s| (s.hits, s.ngrams))
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    for (shards, rate) in [(None, 0.01), (Some(7), 0.01), (Some(1), 0.001)] {
        let out = folder.path().join(format!("index-{shards:?}-{rate}"));
        let summary = build_files(
            &files,
            &out,
            &BuildOptions {
                shards,
                filter_fpr: rate,
                ..options(&[7])
            },
        )
        .expect("build");
        assert!(
            scores(&out, 7, &texts)
                .iter()
                .all(|score| score.hits == score.ngrams && score.ngrams == 54)
        );
        let (hits, ngrams) = count(&out);
        let set = &summary.manifest.sets[0];
        let expected = set.rate * ngrams as f64;
        assert!(
            (hits as f64 - expected).abs() < 4.0 * expected.sqrt() + 0.05 * expected,
            "{hits} hits, {expected} expected"
        );
        assert!((set.measured_rate / set.rate - 1.0).abs() < 0.05);
        assert!((set.distinct.expect("not full") / 27_000.0 - 1.0).abs() < 0.01);
    }
    let out = folder.path().join("exact");
    build_files(
        &files,
        &out,
        &BuildOptions {
            kind: FilterKind::Exact,
            ..options(&[7])
        },
    )
    .expect("build");
    assert!(
        scores(&out, 7, &texts)
            .iter()
            .all(|score| score.hits == score.ngrams)
    );
    assert_eq!(count(&out).0, 0);
}

#[test]
fn several_indexes_answer_as_one() {
    let (folder, files, texts) = corpus();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    build_files(&files[..2], &a, &options(&[7, 13])).expect("build");
    build_files(
        &files[2..],
        &b,
        &BuildOptions {
            kind: FilterKind::Exact,
            ..options(&[5, 7])
        },
    )
    .expect("build");
    let index = Index::open(&[a, b]).expect("open");
    assert_eq!(index.ns(), [7]);
    let single = index.manifests().next().expect("first").sets[0].rate;
    assert!(
        (index.rate(7) - single).abs() < 1e-9,
        "the exact set adds nothing to the rate"
    );
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rows = index
        .overlap(
            &texts,
            &QueryOptions {
                ns: vec![7],
                ..QueryOptions::default()
            },
            &|| false,
        )
        .expect("scores");
    assert!(rows.iter().all(|score| score.hits == score.ngrams));
    assert!(matches!(
        index.choose_ns(&[13]),
        Err(Error::Mismatch { .. })
    ));
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    for stop_at in ["count", "insert", "write", "sync"] {
        for existing in [false, true] {
            let _ = std::fs::remove_dir_all(&out);
            if existing {
                build_files(&files[..1], &out, &options(&[7])).expect("build");
            }
            let before = existing.then(|| contents(&out));
            let sources = files
                .iter()
                .map(|f| {
                    Source::File(
                        ngramscope_core::read::discover(std::slice::from_ref(f), &[], &[])
                            .expect("found")
                            .remove(0),
                    )
                })
                .collect();
            let mut seen = false;
            let result = build(
                sources,
                &out,
                &BuildOptions {
                    force: true,
                    shards: Some(4),
                    ..options(&[7])
                },
                &mut |progress| {
                    seen |= progress.phase == stop_at;
                    if seen {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                },
            );
            // A phase may be over before its first tick; then the build has to be whole.
            match result {
                Err(Error::Interrupted) => {
                    assert_eq!(out.exists().then(|| contents(&out)), before, "{stop_at}")
                }
                other => assert!(!seen && other.is_ok(), "{stop_at}: {other:?}"),
            }
        }
    }
}

#[test]
fn existing_indexes_and_foreign_folders_are_kept() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    build_files(&files, &out, &options(&[7])).expect("build");
    let before = contents(&out);
    assert!(matches!(
        build_files(&files, &out, &options(&[7])),
        Err(Error::Exists { .. })
    ));
    assert_eq!(contents(&out), before);
    let reader = Index::open(std::slice::from_ref(&out)).expect("open");
    build_files(
        &files[..1],
        &out,
        &BuildOptions {
            force: true,
            ..options(&[7, 13])
        },
    )
    .expect("replace");
    assert_eq!(contents(&out).len(), 3, "the old shard is gone");
    let rows = reader
        .overlap(
            &["w1 w2 w3 w4 w5 w6 w7 w8"],
            &QueryOptions {
                ns: vec![7],
                ..QueryOptions::default()
            },
            &|| false,
        )
        .expect("old reader goes on");
    assert_eq!(rows[0].ngrams, 2);
    assert!(matches!(
        build_files(&files, folder.path(), &options(&[7])),
        Err(Error::OutputUnusable { .. })
    ));
    assert!(matches!(
        build_files(&files, &files[0], &options(&[7])),
        Err(Error::OutputUnusable { .. })
    ));
}

#[test]
fn leftovers_of_a_killed_build_are_named_and_removed() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    std::fs::create_dir(&out).expect("folder");
    std::fs::write(out.join(".tmp-1-n7-0.ngs"), b"half").expect("write");
    std::fs::write(out.join(".lock"), b"").expect("write");
    let summary = build_files(&files, &out, &options(&[7])).expect("build");
    assert!(
        summary
            .warnings
            .iter()
            .any(|warning| warning.contains(".tmp-1-n7-0.ngs"))
    );
    assert_eq!(contents(&out).len(), 2);
}

#[test]
fn a_second_builder_is_refused() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    let sources = files
        .iter()
        .flat_map(|f| {
            ngramscope_core::read::discover(std::slice::from_ref(f), &[], &[]).expect("found")
        })
        .map(Source::File)
        .collect();
    let mut refused = None;
    build(sources, &out, &options(&[7]), &mut |_| {
        refused.get_or_insert_with(|| build_files(&files, &out, &options(&[7])));
        ControlFlow::Continue(())
    })
    .expect("the first builder is not disturbed");
    if let Some(second) = refused {
        assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
    }
}

#[test]
fn an_over_full_filter_is_an_error_that_names_the_real_numbers() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    let small = BuildOptions {
        expected_ngrams: Some(1000),
        filter_fpr: 0.01,
        ..options(&[7])
    };
    let Err(error) = build_files(&files, &out, &small) else {
        panic!("27,000 n-grams in room for 1,000")
    };
    let Error::Overfull {
        sized_for: 1000,
        fill,
        rate,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(*fill > 0.99 && *rate > 0.9);
    assert!(!out.exists(), "nothing is left");
    let summary = build_files(
        &files,
        &out,
        &BuildOptions {
            accept_overfull: true,
            ..small
        },
    )
    .expect("accepted");
    assert!(
        summary.manifest.sets[0].overfull
            && summary.warnings.iter().any(|w| w.contains("over-full"))
    );
}

#[test]
fn impossible_options_are_refused_by_name() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    let refuse = |changed: BuildOptions, option: &str| match build_files(&files, &out, &changed) {
        Err(Error::Option { option: named, .. }) => assert_eq!(named, option),
        other => panic!("{option}: {other:?}"),
    };
    for rate in [0.0, 1.0, 1.5, -0.1, f64::NAN, f64::INFINITY] {
        refuse(
            BuildOptions {
                filter_fpr: rate,
                ..options(&[7])
            },
            "--filter-fpr",
        );
    }
    for expected in [0, 1 << 63, u64::MAX] {
        refuse(
            BuildOptions {
                expected_ngrams: Some(expected),
                ..options(&[7])
            },
            "--expected-ngrams",
        );
    }
    refuse(options(&[]), "--n");
    refuse(options(&[0]), "--n");
    refuse(options(&[7, 1_000_000]), "--n");
    refuse(
        BuildOptions {
            filter_fpr: 1e-14,
            ..options(&[7])
        },
        "--filter-fpr",
    );
    refuse(
        BuildOptions {
            memory: Some(1),
            ..options(&[7])
        },
        "--memory",
    );
    refuse(
        BuildOptions {
            shards: Some(0),
            ..options(&[7])
        },
        "--shards",
    );
    refuse(
        BuildOptions {
            threads: Some(0),
            ..options(&[7])
        },
        "--threads",
    );
    let Err(huge) = build_files(
        &files,
        &out,
        &BuildOptions {
            expected_ngrams: Some(2_001_794_995_090),
            filter_fpr: 0.01,
            ..options(&[7])
        },
    ) else {
        panic!("two TiB")
    };
    assert!(
        matches!(huge, Error::NoRoom { .. })
            && huge.to_string().contains("2.2")
            && huge.to_string().contains("TiB"),
        "{huge}"
    );
    assert!(!out.exists());
}

#[test]
fn a_manifest_of_another_version_or_with_a_changed_byte_is_refused() {
    let (folder, files, _) = corpus();
    let out = folder.path().join("index");
    build_files(&files, &out, &options(&[7])).expect("build");
    let path = out.join(MANIFEST_NAME);
    let good = std::fs::read_to_string(&path).expect("read");
    for (from, to) in [
        ("\"format_version\": 1", "\"format_version\": 99"),
        ("\"documents\": 500", "\"documents\": 501"),
        ("{", ""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        std::fs::write(&path, bad).expect("write");
        let found = Index::open(std::slice::from_ref(&out))
            .err()
            .expect("refused");
        assert_eq!(
            matches!(found, Error::Version { found: 99, .. }),
            to.ends_with("99"),
            "{found}"
        );
    }
}

#[test]
fn an_exact_set_that_outgrows_its_memory_ends_the_build_early() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("unique.jsonl");
    // Ten million different words in documents of a thousand: 80 MB of keys of one n.
    let texts: Vec<String> = (0..10_000)
        .map(|document| {
            (0..1000)
                .map(|word| format!("{:x}", document * 1000 + word))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    write_corpus(&file, &texts);
    let options = BuildOptions {
        kind: FilterKind::Exact,
        expected_ngrams: Some(1000),
        memory: Some(MINIMUM_MEMORY),
        ..options(&[1, 2, 3])
    };
    let out = folder.path().join("out");
    let sources = ngramscope_core::read::discover(std::slice::from_ref(&file), &[], &[])
        .expect("found")
        .into_iter()
        .map(Source::File)
        .collect();
    let mut most = 0;
    let error = build(sources, &out, &options, &mut |progress| {
        most = most.max(progress.documents);
        ControlFlow::Continue(())
    })
    .expect_err("too much");
    assert!(
        error
            .to_string()
            .contains("--expected-ngrams was too small"),
        "{error}"
    );
    assert!(most < 10_000, "it was noticed only at the end");
    assert!(!out.exists());
}
