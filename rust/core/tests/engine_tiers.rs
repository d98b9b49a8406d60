//! Two tiers tell which n-grams at least two documents have, whatever the order, threads, passes and parts.

mod engine_support;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use engine_support::{build_files, contents, documents, options, write_corpus};
use ngramscope_core::Error;
use ngramscope_core::build::{BuildOptions, Layout, MINIMUM_MEMORY, MergeOptions, merge};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::manifest::{Manifest, PartOf};
use ngramscope_core::query::{DocumentScore, Index, QueryOptions};

const KINDS: [FilterKind; 2] = FilterKind::ALL;

fn two_tiers(kind: FilterKind, ns: &[u32]) -> BuildOptions {
    BuildOptions {
        kind,
        tiers: 2,
        ..options(ns)
    }
}

fn ngrams(text: &str, n: usize) -> Vec<String> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(n).map(|window| window.join(" ")).collect()
}

/// In how many documents each n-gram is, by counting strings.
fn frequencies(texts: &[String], n: usize) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for text in texts {
        let distinct: HashSet<String> = ngrams(text, n).into_iter().collect();
        distinct
            .into_iter()
            .for_each(|ngram| *counts.entry(ngram).or_default() += 1);
    }
    counts
}

/// Documents of which some come twice, some in part, and some repeat themselves.
fn corpus(folder: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let mut texts = documents(5, 280, 60);
    for i in 0..70 {
        let again = match i % 4 {
            0 => texts[i].clone(),
            1 => texts[i][..texts[i].len() / 2].trim_end().to_string(),
            2 => format!("{0} {0}", documents(i as u64, 1, 20)[0]),
            _ => documents(1000 + i as u64, 1, 60).remove(0),
        };
        texts.push(again);
    }
    let files: Vec<PathBuf> = (0..7)
        .map(|i| folder.join(format!("file-{i}.jsonl")))
        .collect();
    for (file, part) in files.iter().zip(texts.chunks(50)) {
        write_corpus(file, part);
    }
    (files, texts)
}

fn merge_quietly(parts: &[PathBuf], out: &Path, memory: Option<u64>) -> Result<(), Error> {
    let options = MergeOptions {
        memory,
        ..MergeOptions::default()
    };
    merge(parts, out, &options, &mut |_| ControlFlow::Continue(())).map(drop)
}

fn ask(folders: &[PathBuf], n: u32, texts: &[String]) -> Vec<DocumentScore> {
    let index = Index::open(folders).expect("open");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let options = QueryOptions {
        ns: vec![n],
        flags: true,
        threads: Some(2),
        ..QueryOptions::default()
    };
    index.overlap(&texts, &options, &|| false).expect("scores")
}

/// `0`, `1` or `2` for each n-gram.
fn expected(counts: &HashMap<String, usize>, text: &str, n: usize) -> String {
    ngrams(text, n)
        .iter()
        .map(|ngram| ["0", "1", "2"][counts.get(ngram).copied().unwrap_or(0).min(2)])
        .collect()
}

#[test]
fn an_exact_set_counts_documents_as_far_as_two_and_a_filter_loses_none() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (files, texts) = corpus(folder.path());
    let asked = [&texts[..], &documents(99, 20, 60)].concat();
    for kind in KINDS {
        let out = folder.path().join(kind.name());
        build_files(&files, &out, &two_tiers(kind, &[1, 3])).expect("build");
        let manifest = Manifest::read(&out).expect("manifest");
        assert_eq!((manifest.tiers, &*manifest.counting_unit), (2, "document"));
        for (set, n) in manifest.sets.iter().zip([1, 3]) {
            let counts = frequencies(&texts, n);
            let tier = set.second_tier.as_ref().expect("two tiers");
            assert_eq!(tier.insertions, counts.values().sum::<usize>() as u64);
            let twice = counts.values().filter(|&&count| count > 1).count() as f64;
            let off = (tier.distinct.expect("not full") - twice).abs();
            let allowed = if kind == FilterKind::Exact { 0.0 } else { 0.05 };
            assert!(off <= allowed * twice, "n = {n}: off by {off} of {twice}");
            for (score, text) in ask(std::slice::from_ref(&out), n as u32, &asked)
                .iter()
                .zip(&asked)
            {
                let want = expected(&counts, text, n);
                let flags = score.flags.as_deref().expect("asked for");
                if kind == FilterKind::Exact {
                    assert_eq!(flags, want);
                }
                assert!(
                    flags
                        .bytes()
                        .zip(want.bytes())
                        .all(|(got, want)| got >= want)
                );
                let of = |least: u8| flags.bytes().filter(|&flag| flag >= least).count() as u64;
                assert_eq!((score.hits, score.twice_hits), (of(b'1'), of(b'2')));
            }
        }
        let index = Index::open(&[out]).expect("open");
        index.verify(&mut |_| Ok(())).expect("sound");
    }
}

#[test]
fn order_threads_passes_and_parts_do_not_matter() {
    for (kind, sized_for, shards) in [
        (FilterKind::Blocked, 40_000, 1),
        (FilterKind::Blocked, 30_000_000, 3), // 86 MiB: two passes
        (FilterKind::Exact, 2_000_000, 2),
    ] {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (mut files, _) = corpus(folder.path());
        let base = BuildOptions {
            expected_ngrams: Some(sized_for),
            shards: Some(shards),
            threads: Some(1),
            ..two_tiers(kind, &[3])
        };
        let whole = folder.path().join("whole");
        build_files(&files, &whole, &base).expect("build");
        let want = contents(&whole);
        files.reverse();
        let mut changed = BuildOptions {
            threads: Some(5),
            memory: Some(MINIMUM_MEMORY),
            ..base.clone()
        };
        changed.read.block_bytes = 1 << 20;
        let other = folder.path().join("other");
        let summary = build_files(&files, &other, &changed).expect("build");
        assert_eq!(summary.passes > 1, sized_for > 40_000);
        assert!(contents(&other) == want, "{kind:?}, {sized_for}");
        for of in [2, 7] {
            let mut parts: Vec<PathBuf> = (1..=of)
                .map(|part| {
                    let out = folder.path().join(format!("{part}-of-{of}"));
                    let options = BuildOptions {
                        part: Some(PartOf { part, of }),
                        ..base.clone()
                    };
                    build_files(&files, &out, &options).expect("build a part");
                    out
                })
                .collect();
            parts.rotate_left(1);
            let merged = folder.path().join(format!("merged-{of}"));
            merge_quietly(&parts, &merged, (of == 2).then_some(MINIMUM_MEMORY)).expect("merge");
            assert!(contents(&merged) == want, "{kind:?} in {of} parts");
        }
    }
}

#[test]
fn once_in_each_of_two_is_twice_and_any_number_in_one_is_not() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let words = |from: usize, to: usize| {
        (from..to)
            .map(|i| format!("w{i}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    // A word of a document that repeats itself over many batches; two documents of one part; and one that both parts have.
    let long = format!("{} shared both words", vec![words(0, 500); 40].join(" "));
    let parts = [
        vec![long.clone(), words(600, 700), words(600, 650)],
        vec![format!("shared both words {}", words(1000, 1100))],
    ];
    let asked = [
        long,
        words(600, 700),
        words(1000, 1100),
        "shared both words".into(),
        words(2000, 2100),
    ];
    for kind in KINDS {
        let base = BuildOptions {
            expected_ngrams: Some(2000),
            filter_fpr: 1e-6,
            ..two_tiers(kind, &[3])
        };
        let folders: Vec<PathBuf> = (0..2)
            .map(|i| {
                let (file, out) = (
                    folder.path().join(format!("{}-{i}.jsonl", kind.name())),
                    folder.path().join(format!("{}-{i}", kind.name())),
                );
                write_corpus(&file, &parts[i]);
                build_files(&[file], &out, &base).expect("build");
                out
            })
            .collect();
        let merged = folder.path().join(format!("{}-merged", kind.name()));
        merge_quietly(&folders, &merged, None).expect("merge");
        // Asked together the parts answer as merged.
        for asked_of in [&folders[..], &[merged]] {
            let scores = ask(asked_of, 3, &asked);
            let facts: Vec<_> = scores
                .iter()
                .map(|score| {
                    (
                        score.hits,
                        score.twice_hits,
                        score.in_corpus,
                        score.loo_hits(),
                    )
                })
                .collect();
            let ngrams = 40 * 500 + 1;
            assert_eq!(
                facts,
                [
                    (ngrams, 1, true, 1),
                    (98, 48, true, 48),
                    (98, 0, true, 0),
                    (1, 1, true, 1),
                    (0, 0, false, 0)
                ],
                "{kind:?}"
            );
        }
    }
}

#[test]
fn leave_one_out_comes_out_as_planted() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let fresh = documents(7, 40, 80);
    let cut = |text: &str, words: usize| text.split(' ').take(words).collect::<Vec<_>>().join(" ");
    let copied = fresh[1].clone();
    let mut corpus = fresh[..20].to_vec();
    corpus.push(copied.clone()); // a second copy of document 1
    corpus.push(format!("{} {}", cut(&fresh[2], 40), fresh[30])); // half of document 2 in another
    let (file, out) = (folder.path().join("c.jsonl"), folder.path().join("index"));
    write_corpus(&file, &corpus);
    build_files(&[file], &out, &two_tiers(FilterKind::Exact, &[5])).expect("build");
    let asked = [
        fresh[0].clone(),                                // one document of the corpus
        cut(&fresh[3], 50),                              // a cut of one
        copied,           // a document that is there twice: its copy counts as another
        fresh[2].clone(), // one whose half another document has
        format!("{} {}", cut(&fresh[4], 40), fresh[35]), // no document, but half of one
        fresh[36].clone(), // nothing of the corpus
    ];
    let facts: Vec<_> = ask(&[out], 5, &asked)
        .iter()
        .map(|score| (score.ngrams, score.in_corpus, score.loo_hits()))
        .collect();
    assert_eq!(
        facts,
        [
            (76, true, 0),
            (46, true, 0),
            (76, true, 76),
            (76, true, 36),
            (116, false, 36),
            (76, false, 0)
        ]
    );
}

#[test]
fn the_rates_of_both_tiers_are_those_that_are_stated() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (file, out) = (folder.path().join("c.jsonl"), folder.path().join("index"));
    // About 400,000 n-grams of one document, 100,000 of two.
    let mut texts = documents(21, 500, 1000);
    texts.extend_from_within(..100);
    write_corpus(&file, &texts);
    let base = BuildOptions {
        filter_fpr: 0.02,
        ..two_tiers(FilterKind::Blocked, &[4])
    };
    build_files(&[file], &out, &base).expect("build");
    let set = Manifest::read(&out).expect("manifest").sets.remove(0);
    let tier = set.second_tier.expect("two tiers");
    let rate = |texts: &[String], count: &dyn Fn(&DocumentScore) -> u64| {
        let scores = ask(std::slice::from_ref(&out), 4, texts);
        let ngrams: u64 = scores.iter().map(|score| score.ngrams).sum();
        (
            scores.iter().map(count).sum::<u64>() as f64 / ngrams as f64,
            ngrams as f64,
        )
    };
    let check = |(got, ngrams): (f64, f64), stated: f64| {
        // Keys of one filter are a fixed sample: five standard errors of a share, and 2 % for the formula.
        let allowed = 5.0 * (stated / ngrams).sqrt() + 0.02 * stated;
        assert!((got - stated).abs() < allowed, "{got} instead of {stated}");
    };
    check(rate(&texts[100..500], &|score| score.twice_hits), set.rate);
    let absent = documents(22, 400, 1000);
    check(rate(&absent, &|score| score.hits), set.rate);
    check(rate(&absent, &|score| score.twice_hits), tier.measured_rate);
    assert!(tier.measured_rate < set.rate / 10.0);
    assert_eq!(rate(&texts[..100], &|score| score.twice_hits).0, 1.0);
    let distinct = tier.distinct.expect("not full");
    assert!((distinct / 99_700.0 - 1.0).abs() < 0.02, "{distinct}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (files, texts) = corpus(folder.path());
    let build = |name: &str, files: &[PathBuf], tiers: u32, layout: Option<&Layout>| {
        let out = folder.path().join(name);
        let options = BuildOptions {
            tiers,
            expected_ngrams: layout.is_none().then_some(40_000),
            layout: layout.cloned(),
            ..options(&[3])
        };
        build_files(files, &out, &options).map(|_| out)
    };
    let one = build("one", &files[..3], 1, None).expect("build");
    let two = build("two", &files[3..], 2, None).expect("build");
    let all = build("all", &files, 2, None).expect("build");
    let says = |error: Option<Error>, words: &str| {
        let error = error.expect(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    let out = folder.path().join("out");
    let merged = merge_quietly(&[one.clone(), two.clone()], &out, None);
    says(merged.err(), "the number of tiers is 2 here and 1 there");
    let merged = merge_quietly(&[all.clone(), two.clone()], &out, None);
    says(merged.err(), "both have read file-3.jsonl");
    says(
        Index::open(&[all.clone(), two.clone()]).err(),
        "both have read file-3.jsonl",
    );
    says(
        build("x", &files, 3, None).err(),
        "--tiers: 3 is not possible",
    );
    let layout = Layout::of_index(&Manifest::read(&two).expect("manifest"));
    let other = build("x", &files[..3], 1, Some(&layout));
    says(other.err(), "the plan is for --tiers 2");

    // Asked together with an index of one tier, nobody knows of second documents.
    let index = Index::open(&[one.clone(), two.clone()]).expect("open");
    assert_eq!(index.tiers(), 1);
    for score in ask(&[one, two], 3, &texts) {
        assert_eq!((score.hits, score.twice_hits), (score.ngrams, 0));
        assert!(!score.in_corpus && !score.flags.expect("asked for").contains('2'));
    }
}
