//! Which files are read, and that they stay as they were.

use std::path::PathBuf;

use ngramscope_core::read::{Block, Corpus, ReadOptions, Source, discover, discover_until};

use crate::read_support::*;

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

#[cfg(unix)]
#[test]
fn names_do_not_depend_on_which_of_a_files_paths_came_first() {
    let folder = tempfile::tempdir().unwrap();
    let a = put(folder.path(), "a.jsonl", json_lines("c", 3));
    let c = folder.path().join("c.jsonl");
    std::fs::hard_link(&a, &c).unwrap();
    let b = put(folder.path(), "b.jsonl", json_lines("b", 3));
    let names = |paths: &[&PathBuf]| -> Vec<String> {
        let paths: Vec<PathBuf> = paths.iter().map(|&path| path.clone()).collect();
        discover(&paths, &[], &[])
            .unwrap()
            .into_iter()
            .map(|file| file.name)
            .collect()
    };
    assert_eq!(names(&[&c, &b, &a]), ["a.jsonl", "b.jsonl"]);
    assert_eq!(names(&[&a, &b, &c]), ["a.jsonl", "b.jsonl"]);
}

#[cfg(unix)]
#[test]
fn folders_that_links_lead_to_again_and_again_are_entered_once() {
    let folder = tempfile::tempdir().unwrap();
    // Each level links twice to the next: 2^30 ways to the bottom.
    for level in 0..30 {
        let here = folder.path().join(format!("level-{level}"));
        std::fs::create_dir(&here).unwrap();
        for link in ["x", "y"] {
            let next = folder.path().join(format!("level-{}", level + 1));
            std::os::unix::fs::symlink(next, here.join(link)).unwrap();
        }
    }
    let bottom = folder.path().join("level-30");
    std::fs::create_dir(&bottom).unwrap();
    put(&bottom, "a.jsonl", json_lines("a", 1));
    let found = discover(&[folder.path().to_owned()], &[], &[]).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn finding_files_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..10 {
        put(
            folder.path(),
            &format!("{number}.jsonl"),
            json_lines("a", 1),
        );
    }
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 4
    };
    let found = discover_until(&[folder.path().to_owned()], &[], &[], &stop).unwrap();
    assert!(!found.is_empty() && found.len() < 10);
}

#[test]
fn what_ngramscope_writes_of_data_is_left_out_of_folders() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "a.jsonl",
        "a.jsonl.meta.json",
        "lone.jsonl.meta.json",
        "decontamination.json",
    ] {
        put(folder.path(), name, "{}");
    }
    assert_eq!(
        names(&[folder.path().to_owned()], &[], &[]),
        ["a.jsonl", "lone.jsonl.meta.json"]
    );
}

#[test]
fn what_datasets_writes_beside_its_data_is_left_out_of_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in [
        "set/dataset_dict.json",
        "set/train/data-00000-of-00001.arrow",
        "set/train/cache-0123456789abcdef.arrow",
        "set/train/dataset_info.json",
        "set/train/state.json",
        "other/state.json",
        "other/dataset_dict.json",
        "other/cache-1.arrow",
        "lone/dataset_info.json",
    ] {
        put(folder.path(), name, "{}");
    }
    assert_eq!(
        names(&[path("set")], &[], &[]),
        ["data-00000-of-00001.arrow"]
    );
    // Only beside such data.
    assert_eq!(
        names(&[path("other")], &[], &[]),
        ["cache-1.arrow", "dataset_dict.json", "state.json"]
    );
    assert_eq!(names(&[path("lone")], &[], &[]), ["dataset_info.json"]);
    // What is named is read.
    assert_eq!(
        names(&[path("set/train/state.json")], &[], &[]),
        ["state.json"]
    );
}
