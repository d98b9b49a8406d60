//! Parts merged are the index that a single build makes, byte for byte.

mod engine_support;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use engine_support::{build_files, contents, documents, options, scores, write_corpus};
use ngramscope_core::Error;
use ngramscope_core::build::{
    BuildOptions, Layout, MINIMUM_MEMORY, MergeOptions, count, layout, merge,
};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::manifest::{Manifest, PartOf};
use ngramscope_core::query::Index;
use ngramscope_core::read::{Source, discover};

/// Seven files of documents, some of which repeat across files.
fn corpus(folder: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let texts = documents(5, 350, 60);
    let files: Vec<PathBuf> = (0..7)
        .map(|i| folder.join(format!("file-{i}.jsonl")))
        .collect();
    for (i, (file, part)) in files.iter().zip(texts.chunks(50)).enumerate() {
        let repeated = &texts[i..i + 3];
        write_corpus(file, &[part, repeated].concat());
    }
    (files, texts)
}

fn merge_quietly(parts: &[PathBuf], out: &Path, options: &MergeOptions) -> Result<(), Error> {
    merge(parts, out, options, &mut |_| ControlFlow::Continue(())).map(drop)
}

fn parts(files: &[PathBuf], folder: &Path, of: u32, base: &BuildOptions) -> Vec<PathBuf> {
    (1..=of)
        .map(|part| {
            let out = folder.join(format!("part-{part}-of-{of}"));
            let options = BuildOptions {
                part: Some(PartOf { part, of }),
                ..base.clone()
            };
            build_files(files, &out, &options).expect("build a part");
            out
        })
        .collect()
}

#[test]
fn parts_and_merge_give_the_bytes_of_one_build() {
    for (kind, expected, shards) in [
        (FilterKind::Blocked, 40_000, 1),
        (FilterKind::Blocked, 60_000_000, 3),
        (FilterKind::Exact, 9_000_000, 2),
    ] {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (files, texts) = corpus(folder.path());
        let base = BuildOptions {
            kind,
            expected_ngrams: Some(expected),
            shards: Some(shards),
            ..options(&[3, 7])
        };
        let whole = folder.path().join("whole");
        build_files(&files, &whole, &base).expect("build");
        for of in [1, 3, 7] {
            let mut built = parts(&files, folder.path(), of, &base);
            built.rotate_left(1);
            let out = folder.path().join(format!("merged-{of}"));
            let options = MergeOptions {
                memory: (of == 3).then_some(MINIMUM_MEMORY),
                threads: Some(of as usize),
                ..MergeOptions::default()
            };
            merge_quietly(&built, &out, &options).expect("merge");
            assert!(contents(&out) == contents(&whole), "{kind:?} in {of} parts");
            let found = scores(&out, 3, &texts);
            assert!(found.iter().all(|score| score.hits == score.ngrams));
            for done in built.iter().chain([&out]) {
                std::fs::remove_dir_all(done).expect("room for the next");
            }
        }
    }
}

#[test]
fn a_saved_plan_and_an_index_to_be_like_fix_the_geometry() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (files, _) = corpus(folder.path());
    let counted = folder.path().join("counted");
    build_files(&files, &counted, &options(&[3])).expect("build");
    let layout = Layout::of_index(&Manifest::read(&counted).expect("manifest"));
    let plan = folder.path().join("plan.json");
    std::fs::write(&plan, layout.to_json()).expect("write");
    let base = BuildOptions {
        layout: Some(Layout::read(&plan).expect("read")),
        ..options(&[3])
    };
    let built = parts(&files, folder.path(), 2, &base);
    let merged = folder.path().join("merged");
    merge_quietly(&built, &merged, &MergeOptions::default()).expect("merge");
    assert!(contents(&merged) == contents(&counted));

    // More data later: built like the index, merged with it.
    let more = folder.path().join("more.jsonl");
    write_corpus(&more, &documents(77, 30, 60));
    let added = folder.path().join("added");
    build_files(&[more], &added, &base).expect("build");
    let both = folder.path().join("both");
    let options = MergeOptions {
        accept_overfull: true,
        ..MergeOptions::default()
    };
    merge_quietly(&[counted, added], &both, &options).expect("merge");
    let found = scores(&both, 3, &documents(77, 30, 60));
    assert!(found.iter().all(|score| score.hits == score.ngrams));
}

#[test]
fn parts_are_counted_and_merged_in_a_tree() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (files, _) = corpus(folder.path());
    let base = options(&[3, 7]);
    let whole = folder.path().join("whole");
    build_files(&files, &whole, &base).expect("build");
    let of = 5;
    let count_part = |part| {
        let options = BuildOptions {
            part: Some(PartOf { part, of }),
            ..base.clone()
        };
        let sources = discover(&files, &[], &[]).expect("found");
        let sources = sources.into_iter().map(Source::File).collect();
        count(sources, &options, &mut |_| ControlFlow::Continue(())).expect("count")
    };
    let counts: Vec<_> = (1..=of).map(count_part).collect();
    let layout = layout(&counts, &base).expect("layout");
    assert_eq!(
        layout,
        Layout::of_index(&Manifest::read(&whole).expect("manifest"))
    );
    let base = BuildOptions {
        layout: Some(layout),
        ..base
    };
    let built = parts(&files, folder.path(), of, &base);
    let (left, right) = (folder.path().join("left"), folder.path().join("right"));
    let some = MergeOptions {
        incomplete: true,
        ..MergeOptions::default()
    };
    merge_quietly(&built[..3], &left, &some).expect("merge");
    merge_quietly(&built[3..], &right, &some).expect("merge");
    let all = folder.path().join("all");
    merge_quietly(&[right, left], &all, &MergeOptions::default()).expect("merge");
    assert!(contents(&all) == contents(&whole));
}

#[test]
fn what_cannot_be_merged_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (files, _) = corpus(folder.path());
    let base = BuildOptions {
        expected_ngrams: Some(40_000),
        ..options(&[3])
    };
    let out = folder.path().join("out");
    let refused = |parts: &[PathBuf], word: &str| {
        let error = merge_quietly(parts, &out, &MergeOptions::default()).expect_err(word);
        assert!(error.to_string().contains(word), "{error}");
        assert!(!out.exists());
    };
    let built = parts(&files, folder.path(), 3, &base);
    refused(&built[..2], "parts are missing: 3/3");
    refused(
        &[built[0].clone(), built[0].clone()],
        "both have read file-0.jsonl",
    );
    refused(&[], "name at least one index");
    refused(&[folder.path().join("nothing")], "no index here");
    let build_other = |name: &str, change: &dyn Fn(&mut BuildOptions)| {
        let mut options = base.clone();
        change(&mut options);
        let out = folder.path().join(name);
        build_files(&files[3..4], &out, &options).expect("build");
        out
    };
    let whole = build_other("whole", &|_| ());
    for (name, change, word) in [
        (
            "size",
            &(|o: &mut BuildOptions| o.expected_ngrams = Some(50_000))
                as &dyn Fn(&mut BuildOptions),
            "blocks",
        ),
        ("n", &|o: &mut BuildOptions| o.ns = vec![4], "the n is [4]"),
        (
            "rule",
            &|o: &mut BuildOptions| o.rule.lowercase = true,
            "the word rule",
        ),
        (
            "key",
            &|o: &mut BuildOptions| o.read.max_record_bytes = 1 << 20,
            "the way of reading",
        ),
    ] {
        refused(&[whole.clone(), build_other(name, change)], word);
    }
    let few = BuildOptions {
        part: Some(PartOf { part: 1, of: 8 }),
        ..base.clone()
    };
    let error = build_files(&files, &out, &few).expect_err("too few files");
    assert!(
        error.to_string().contains("there are only 7 files"),
        "{error}"
    );
    std::fs::write(folder.path().join("plan.json"), "{}").expect("write");
    let error = Layout::read(&folder.path().join("plan.json")).expect_err("no plan");
    assert!(
        error.to_string().contains("not a plan that can be used"),
        "{error}"
    );
}

#[test]
fn a_damaged_part_is_refused_and_nothing_is_left() {
    for (kind, tiers, memory) in [
        (FilterKind::Blocked, 1, None),
        (FilterKind::Blocked, 2, Some(MINIMUM_MEMORY)),
        (FilterKind::Exact, 1, None),
        (FilterKind::Exact, 2, Some(MINIMUM_MEMORY)),
    ] {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (files, _) = corpus(folder.path());
        let base = BuildOptions {
            kind,
            tiers,
            expected_ngrams: Some(9_000_000),
            ..options(&[3, 7])
        };
        let built = parts(&files, folder.path(), 2, &base);
        let shards = Manifest::read(&built[0])
            .expect("manifest")
            .shard_paths(&built[0]);
        let good = std::fs::read(&shards[1]).expect("read");
        // The highest byte of the first key, which then belongs to another pass, and something in the middle.
        for damage in [4096 + 7..4096 + 8, 20_000..60_000] {
            let mut bad = good.clone();
            bad[damage].iter_mut().for_each(|byte| *byte ^= 0xff);
            std::fs::write(&shards[1], bad).expect("write");
            let index = Index::open(&built[..1]).expect("open");
            let known = index.verify(&mut |_| Ok(())).expect_err("damaged");
            let out = folder.path().join("out");
            let options = MergeOptions {
                memory,
                ..MergeOptions::default()
            };
            let error = merge_quietly(&built, &out, &options).expect_err("damaged");
            assert_eq!(error.to_string(), known.to_string());
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
            assert!(!out.exists());
        }
    }
}

/// Distinct n-grams of all texts, by counting strings.
fn distinct(texts: &[String], n: usize) -> f64 {
    let mut all = std::collections::HashSet::new();
    for text in texts {
        let words: Vec<&str> = text.split(' ').collect();
        all.extend(words.windows(n).map(|window| window.join(" ")));
    }
    all.len() as f64
}

#[test]
fn registers_count_what_indexes_of_any_size_have_together() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let texts = documents(5, 400, 60);
    let build = |name: &str, texts: &[String], options: &BuildOptions| {
        let (file, out) = (
            folder.path().join(format!("{name}.jsonl")),
            folder.path().join(name),
        );
        write_corpus(&file, texts);
        build_files(&[file], &out, options).expect("build");
        out
    };
    // Far too small: every bit is set, so that the fill tells nothing.
    let full = BuildOptions {
        expected_ngrams: Some(20),
        accept_overfull: true,
        ..options(&[3])
    };
    let exact = BuildOptions {
        kind: FilterKind::Exact,
        ..options(&[3])
    };
    let full = build("full", &texts[..300], &full);
    let others = [
        build("counted", &texts[200..], &options(&[3])),
        build("exact", &texts[..50], &exact),
    ];
    let set = &Manifest::read(&full).expect("manifest").sets[0];
    assert_eq!((set.fill, set.rate), (Some(1.0), 1.0));
    let near = |estimate: Option<f64>, want: f64| {
        let error = (estimate.expect("registers are kept") - want).abs();
        assert!(error < 4.0 * 0.008_125 * want, "off by {error} of {want}");
    };
    near(set.distinct, distinct(&texts[..300], 3));
    let [counted, exact] = others;
    let index = Index::open(&[full.clone(), counted, exact]).expect("open");
    near(index.distinct(3), distinct(&texts, 3));

    // Of an index that keeps no registers nothing is made up.
    let mut manifest = Manifest::read(&full).expect("manifest");
    let before = manifest.shard_paths(&full);
    manifest.sets[0].sketch = None;
    manifest.seal().expect("seal");
    for (from, to) in before.iter().zip(manifest.shard_paths(&full)) {
        std::fs::rename(from, to).expect("rename");
    }
    std::fs::write(full.join("index.json"), manifest.to_json()).expect("write");
    let other = build(
        "other",
        &documents(9, 5, 60),
        &BuildOptions {
            layout: Some(Layout::of_index(&manifest)),
            accept_overfull: true,
            ..options(&[3])
        },
    );
    let parts = [full, other];
    assert_eq!(Index::open(&parts).expect("open").distinct(3), None);
    let out = folder.path().join("merged");
    let options = MergeOptions {
        accept_overfull: true,
        ..MergeOptions::default()
    };
    merge_quietly(&parts, &out, &options).expect("merge");
    let set = &Manifest::read(&out).expect("manifest").sets[0];
    assert_eq!((&set.sketch, set.distinct), (&None, None));
}
