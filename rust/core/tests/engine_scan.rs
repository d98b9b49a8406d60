//! Scanning a corpus for the n-grams of candidates equals counting strings.

mod engine_support;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use engine_support::{documents, write_corpus};
use ngramscope_core::Error;
use ngramscope_core::query::{QueryOptions, Row};
use ngramscope_core::read::{Corpus, ReadOptions, Source, discover};
use ngramscope_core::scan::{Scan, ScanOptions, ScanScore};
use ngramscope_core::tokenize::{Normalization, WordMode, WordRule};

const OWN_SHARE: f64 = 0.9;

fn options(ns: &[u32], threads: usize) -> ScanOptions {
    ScanOptions {
        query: QueryOptions {
            ns: ns.to_vec(),
            flags: true,
            own_share: OWN_SHARE,
            threads: Some(threads),
            ..QueryOptions::default()
        },
        rule: WordRule {
            mode: WordMode::Uax29,
            normalization: Normalization::None,
            lowercase: false,
        },
        cap: 64,
        top_sources: 3,
        counts: true,
    }
}

fn open(file: &PathBuf, threads: usize) -> Corpus {
    let sources = discover(std::slice::from_ref(file), &[], &[])
        .expect("found")
        .into_iter()
        .map(Source::File)
        .collect();
    let read = ReadOptions {
        block_bytes: 4096,
        parallel_files: threads,
        ..ReadOptions::default()
    };
    Corpus::open(sources, read).expect("open")
}

fn scan(candidates: &[String], corpus: &[String], options: ScanOptions) -> Vec<(Row, ScanScore)> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (first, second) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    write_corpus(&first, candidates);
    write_corpus(&second, corpus);
    let threads = options.query.threads.unwrap_or(1);
    let scan = Scan::run(
        open(&first, threads),
        open(&second, threads),
        options,
        None,
        &mut |_| ControlFlow::Continue(()),
    )
    .expect("scan");
    assert_eq!(scan.len(), candidates.len());
    assert_eq!(scan.corpus_report.documents, corpus.len() as u64);
    scan.rows(0..scan.len(), &|| Ok(())).expect("rows")
}

fn ngrams(text: &str, n: usize) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(n).map(|window| window.join(" ")).collect()
}

/// Counts strings, without any cap.
fn check(rows: &[(Row, ScanScore)], candidates: &[String], corpus: &[String], ns: &[u32]) {
    for (set, &n) in ns.iter().enumerate() {
        let of_documents: Vec<Vec<String>> =
            corpus.iter().map(|text| ngrams(text, n as usize)).collect();
        let mut occurrences: HashMap<&str, u64> = HashMap::new();
        let mut holders: HashMap<&str, HashSet<usize>> = HashMap::new();
        for (document, list) in of_documents.iter().enumerate() {
            for ngram in list {
                *occurrences.entry(ngram).or_default() += 1;
                holders.entry(ngram).or_default().insert(document);
            }
        }
        let none = HashSet::new();
        for (candidate, text) in candidates.iter().enumerate() {
            let (row, scan) = &rows[candidate * ns.len() + set];
            let mine = ngrams(text, n as usize);
            let distinct: HashSet<&str> = mine.iter().map(String::as_str).collect();
            let of = |ngram: &String| holders.get(ngram.as_str()).unwrap_or(&none);
            let mut shared: HashMap<usize, u64> = HashMap::new();
            for ngram in &distinct {
                for &document in holders.get(ngram).unwrap_or(&none) {
                    *shared.entry(document).or_default() += 1;
                }
            }
            let own: HashSet<usize> = shared
                .iter()
                .filter(|(_, count)| **count as f64 >= OWN_SHARE * distinct.len() as f64)
                .map(|(document, _)| *document)
                .collect();
            let flags: String = mine
                .iter()
                .map(|ngram| if of(ngram).is_empty() { '0' } else { '1' })
                .collect();
            let context = format!("candidate {candidate}, n = {n}");
            assert_eq!(
                row.score.flags.as_deref(),
                Some(flags.as_str()),
                "{context}"
            );
            assert_eq!(row.score.ngrams, mine.len() as u64);
            let documents: Vec<u64> = mine.iter().map(|ngram| of(ngram).len() as u64).collect();
            assert_eq!(scan.documents, documents, "{context}");
            let counts: Vec<u64> = mine
                .iter()
                .map(|ngram| occurrences.get(ngram.as_str()).copied().unwrap_or(0))
                .collect();
            assert_eq!(scan.occurrences, counts, "{context}");
            let loo = mine
                .iter()
                .filter(|ngram| !of(ngram).is_subset(&own))
                .count();
            assert_eq!(scan.loo_hits, loo as u64, "{context}");
            assert_eq!(scan.own_documents, own.len() as u64, "{context}");
            let same = corpus.iter().filter(|other| *other == text).count();
            if !mine.is_empty() {
                assert_eq!(scan.exact_duplicates, same as u64, "{context}");
            }
            let mut best: Vec<(std::cmp::Reverse<u64>, usize)> = shared
                .iter()
                .map(|(document, count)| (std::cmp::Reverse(*count), *document))
                .collect();
            best.sort_unstable();
            let best: Vec<(u64, u64)> = best
                .iter()
                .take(3)
                .map(|(count, document)| (count.0, *document as u64))
                .collect();
            let found: Vec<(u64, u64)> = scan
                .sources
                .iter()
                .map(|found| (found.shared, found.position))
                .collect();
            assert_eq!(found, best, "{context}");
        }
    }
}

/// Documents, and candidates of every kind: taken whole, cut, with words changed, strangers, too short.
fn planted() -> (Vec<String>, Vec<String>) {
    let mut corpus = documents(3, 300, 60);
    let strangers = documents(99, 20, 60);
    let cut = |text: &str, words: usize| text.split(' ').take(words).collect::<Vec<_>>().join(" ");
    let edited = |text: &str, every: usize| {
        text.split(' ')
            .enumerate()
            .map(|(i, word)| if i % every == every - 1 { "new" } else { word })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut candidates: Vec<String> = corpus[..20].to_vec();
    candidates.extend(corpus[20..40].iter().map(|text| cut(text, 25)));
    candidates.extend(corpus[40..60].iter().map(|text| edited(text, 10)));
    candidates.extend(strangers);
    candidates.extend(["".to_string(), "w1".to_string()]);
    // Copies in the corpus: exact, near, and of a part.
    corpus.extend_from_within(5..8);
    let near: Vec<String> = corpus[8..11].iter().map(|text| edited(text, 55)).collect();
    let halves: Vec<String> = corpus[11..14].iter().map(|text| cut(text, 30)).collect();
    corpus.extend(near);
    corpus.extend(halves);
    (candidates, corpus)
}

#[test]
fn a_scan_equals_counting_strings() {
    let (candidates, corpus) = planted();
    for threads in [1, 3] {
        let rows = scan(&candidates, &corpus, options(&[1, 3], threads));
        // n = 1 has words in more than 64 candidates: the cap is lifted where the oracle has none.
        let mut uncapped = options(&[1, 3], threads);
        uncapped.cap = usize::MAX;
        check(
            &scan(&candidates, &corpus, uncapped),
            &candidates,
            &corpus,
            &[1, 3],
        );
        let threes: Vec<_> = rows.iter().skip(1).step_by(2).cloned().collect();
        check(&threes, &candidates, &corpus, &[3]);
    }
}

#[test]
fn rows_stop_when_they_are_told_to() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("a.jsonl");
    write_corpus(&file, &documents(3, 1000, 40));
    let quietly = &mut |_: &_| ControlFlow::Continue(());
    let scan = Scan::run(
        open(&file, 2),
        open(&file, 2),
        options(&[1, 3], 2),
        None,
        quietly,
    )
    .expect("scan");
    let asked = AtomicUsize::new(0);
    let stop = || match asked.fetch_add(1, Relaxed) < 100 {
        true => Ok(()),
        false => Err(Error::Interrupted),
    };
    let stopped = scan.rows(0..1000, &stop);
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert!(asked.load(Relaxed) < 110, "{asked:?}");
}

#[test]
fn batches_have_few_ngrams_and_at_least_one_candidate() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (file, corpus) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    let mut candidates = documents(3, 3, 600_000);
    candidates.extend(documents(4, 5000, 1));
    write_corpus(&file, &candidates);
    write_corpus(&corpus, &documents(5, 1, 10));
    let quietly = &mut |_: &_| ControlFlow::Continue(());
    let scan = Scan::run(
        open(&file, 2),
        open(&corpus, 2),
        options(&[1, 3], 2),
        None,
        quietly,
    )
    .expect("scan");
    let mut ends = vec![0];
    while ends[ends.len() - 1] < scan.len() {
        ends.push(scan.batch_end(ends[ends.len() - 1]));
    }
    assert_eq!(ends, [0, 1, 2, 3, 4099, 5003]);
    assert_eq!(scan.batch_end(scan.len()), scan.len());
}

#[test]
fn a_document_is_no_evidence_for_itself() {
    let (candidates, corpus) = planted();
    let rows = scan(&candidates, &corpus, options(&[3], 2));
    let of = |candidate: usize| &rows[candidate].1;
    // Three-word sequences of 2,000 words hardly ever repeat by chance.
    for whole in (0..5).chain(14..20) {
        assert_eq!(rows[whole].0.score.hits, 58);
        assert_eq!(
            (of(whole).own_documents, of(whole).exact_duplicates),
            (1, 1)
        );
        assert!(of(whole).loo_hits <= 2, "a singleton is found nowhere else");
    }
    for duplicated in 5..8 {
        assert_eq!(
            (
                of(duplicated).own_documents,
                of(duplicated).exact_duplicates
            ),
            (2, 2)
        );
    }
    for near in 8..11 {
        assert_eq!((of(near).own_documents, of(near).exact_duplicates), (2, 1));
    }
    for half in 11..14 {
        assert_eq!(of(half).own_documents, 1);
        assert!(
            (28..=30).contains(&of(half).loo_hits),
            "half of it is elsewhere too"
        );
    }
    for cut in 20..40 {
        assert_eq!((of(cut).own_documents, of(cut).exact_duplicates), (1, 0));
    }
    for stranger in 60..80 {
        assert_eq!(of(stranger).own_documents, 0);
    }
}

#[test]
fn wording_that_many_candidates_share_does_not_hide_their_own_documents() {
    // 100 candidates of ten words that all share and ten of their own; the corpus has them all.
    let shared = documents(7, 1, 10).remove(0);
    let texts: Vec<String> = documents(8, 100, 10)
        .into_iter()
        .map(|own| format!("{shared} {own}"))
        .collect();
    let rows = scan(&texts, &texts, options(&[3], 2));
    for (row, scan) in &rows {
        assert_eq!((row.score.hits, scan.own_documents), (18, 1));
        assert_eq!(scan.loo_hits, 8, "the shared words are in the others");
    }
    // Nothing but shared words: the cap does not apply.
    let same = vec![shared; 100];
    for (_, scan) in scan(&same, &same, options(&[3], 2)) {
        assert_eq!(
            (scan.own_documents, scan.exact_duplicates, scan.loo_hits),
            (100, 100, 0)
        );
    }
}
