//! An unfinished build goes on where it was, and the index is the one that an unbroken build makes.

mod engine_support;

use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine_support::{build_files, contents, documents, options, write_corpus};
use ngramscope_core::Error;
use ngramscope_core::build::{
    BuildOptions, BuildSummary, MINIMUM_MEMORY, Resume, build, unfinished,
};
use ngramscope_core::filter::FilterKind;
use ngramscope_core::manifest::MANIFEST_NAME;
use ngramscope_core::pass::Progress;
use ngramscope_core::read::{Source, discover};
use ngramscope_core::tokenize::Normalization;

/// Checkpoints as often as there can be.
const ALWAYS: Resume = Resume {
    verify_inputs: false,
    interval: 0.0,
};

/// Six files: plain, compressed, one that is cut off, and null texts and bad records among the good.
fn corpus(folder: &Path, words: usize) -> Vec<PathBuf> {
    let texts = documents(7, 600, words);
    let mut files = Vec::new();
    for (number, part) in texts.chunks(100).enumerate() {
        let path = folder.join(format!("part-{number}.jsonl"));
        write_corpus(&path, part);
        let mut lines: Vec<String> = fs::read_to_string(&path)
            .expect("read")
            .lines()
            .map(str::to_owned)
            .collect();
        lines.insert(30 + number, "{\"id\": 1, \"text\": null}".into());
        lines.insert(50 + number, "{\"id\": 1, \"text\": 5}".into());
        let text = lines.join("\n");
        files.push(match number {
            1 => write(&folder.join("part-1.jsonl.zst"), &compressed(&text)),
            4 => {
                let whole = compressed(&text);
                let cut = &whole[..whole.len() / 2];
                write(&folder.join("part-4.jsonl.zst"), cut)
            }
            _ => write(&path, text.as_bytes()),
        });
    }
    files
}

fn compressed(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).expect("compress")
}

fn write(path: &Path, bytes: &[u8]) -> PathBuf {
    fs::write(path, bytes).expect("write");
    path.to_path_buf()
}

fn sources(files: &[PathBuf]) -> Vec<Source> {
    let found = discover(files, &[], &[]).expect("files");
    found.into_iter().map(Source::File).collect()
}

/// Options that leave out what is bad, and a word rule that takes its time: a stop needs something to fall into.
fn lenient(options: BuildOptions) -> BuildOptions {
    let mut options = options;
    options.rule.normalization = Normalization::Nfkc;
    options.read.max_bad_records = 100;
    options.read.max_bad_files = 1;
    options
}

fn resuming(options: &BuildOptions) -> BuildOptions {
    BuildOptions {
        resume: Some(ALWAYS),
        ..options.clone()
    }
}

/// Builds until `stop` says so.
fn build_until(
    files: &[PathBuf],
    out: &Path,
    options: &BuildOptions,
    mut stop: impl FnMut(&Progress) -> bool,
) -> Result<BuildSummary, Error> {
    build(
        sources(files),
        out,
        options,
        &mut |progress| match stop(progress) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        },
    )
}

/// An unfinished build of `files`, stopped after a checkpoint of the phase (of its pass `pass`) that has some of the first file.
fn begun(
    files: &[PathBuf],
    out: &Path,
    options: &BuildOptions,
    (phase, pass): (&str, u32),
) -> PathBuf {
    let folder = out.with_extension("partial");
    for _ in 0..100 {
        let mut at_place = false;
        let stopped = build_until(files, out, options, |progress| {
            let state = fs::read_to_string(folder.join("state.json")).unwrap_or_default();
            at_place = (progress.phase, progress.pass) == (phase, pass)
                && state.contains(&format!("\"passes\":{}", pass - 1))
                && state.contains("\"sources\":{\"0\"");
            at_place
        });
        if at_place && matches!(stopped, Err(Error::Interrupted)) {
            assert!(!out.exists());
            assert_eq!(unfinished(out), Some(folder.clone()));
            return folder;
        }
        // It was over, or had failed, before it could be stopped there.
        for each in [out, &folder] {
            if each.exists() {
                fs::remove_dir_all(each).expect("remove");
            }
        }
    }
    panic!("no build could be stopped");
}

/// Stops and continues until the index is there; returns what came out and how often it was continued.
fn build_in_pieces(
    files: &[PathBuf],
    out: &Path,
    options: &BuildOptions,
    seed: u64,
) -> (BuildSummary, u32) {
    for attempt in 0..300 {
        let random = ngramscope_core::hash::finalize(seed * 1000 + u64::from(attempt));
        let limit = Duration::from_millis(random % (150 + 150 * u64::from(attempt)));
        let started = Instant::now();
        let changed = BuildOptions {
            threads: Some(1 + (random >> 20) as usize % 3),
            resume: Some(Resume {
                interval: 3.0,
                ..ALWAYS
            }),
            ..options.clone()
        };
        let first = (random >> 30) as usize % files.len();
        let files = [&files[first..], &files[..first]].concat();
        match build_until(&files, out, &changed, |_| started.elapsed() > limit) {
            Ok(summary) => return (summary, attempt),
            Err(Error::Interrupted) => assert!(!out.join(MANIFEST_NAME).exists()),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("there is no progress");
}

#[test]
fn whatever_the_stops_the_index_and_the_report_are_those_of_an_unbroken_build() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 2500);
    let mut continued = 0;
    let least = Some(MINIMUM_MEMORY);
    for (number, (kind, tiers, expected, memory)) in [
        (FilterKind::Blocked, 1, None, None),
        (FilterKind::Blocked, 2, Some(20_000_000), least),
        (FilterKind::Exact, 2, None, None),
        (FilterKind::Exact, 2, Some(1_500_000), least),
    ]
    .into_iter()
    .enumerate()
    {
        let options = lenient(BuildOptions {
            kind,
            tiers,
            expected_ngrams: expected,
            memory,
            shards: Some(2),
            ..options(&[3, 7])
        });
        let whole = folder.path().join(format!("whole-{number}"));
        let unbroken = build_files(&files, &whole, &options).expect("build");
        assert!(unbroken.manifest.partial && unbroken.manifest.counts.documents > 500);
        let out = folder.path().join(format!("pieces-{number}"));
        let (summary, stops) = build_in_pieces(&files, &out, &options, number as u64);
        assert!(
            contents(&out) == contents(&whole),
            "{kind:?} {tiers} {expected:?} differs after {stops} stops"
        );
        let by_name = |summary: &BuildSummary| {
            let mut sources = summary.report.sources.clone();
            sources.sort_by(|a, b| a.name.cmp(&b.name));
            sources
        };
        assert_eq!(by_name(&summary), by_name(&unbroken));
        assert!(!out.with_extension("partial").exists());
        // Stopped before anything was kept, a build begins anew.
        assert!(summary.resumed.is_none() || stops > 0);
        continued += stops;
    }
    assert!(continued > 0, "nothing was stopped");
}

#[test]
fn what_was_changed_is_named_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 5000);
    let out = folder.path().join("index");
    let options = resuming(&lenient(options(&[3, 7])));
    let partial = begun(&files, &out, &options, ("count", 1));
    let refused = |files: &[PathBuf], options: &BuildOptions, wanted: &str| {
        let before = contents(&partial);
        let error = build_files(files, &out, options).expect_err("changed");
        let text = error.to_string();
        assert!(matches!(error, Error::Changed { .. }), "{text}");
        assert!(text.contains(wanted), "{wanted}: {text}");
        assert!(text.contains("remove this folder"), "{text}");
        assert!(contents(&partial) == before, "{wanted}");
    };
    let with = |change: &dyn Fn(&mut BuildOptions)| {
        let mut changed = options.clone();
        change(&mut changed);
        changed
    };
    type Change = (&'static str, fn(&mut BuildOptions));
    let changes: [Change; 10] = [
        ("--n is 7, but was 3, 7", |o| o.ns = vec![7]),
        ("--words is uax29 nfkc lowercase", |o| {
            o.rule.lowercase = true
        }),
        ("--filter is exact, but was blocked", |o| {
            o.kind = FilterKind::Exact
        }),
        ("--filter-fpr is 0.01, but was 0.005", |o| {
            o.filter_fpr = 0.01
        }),
        ("--expected-ngrams is 100, but was not set", |o| {
            o.expected_ngrams = Some(100)
        }),
        ("--shards is 3", |o| o.shards = Some(3)),
        ("--tiers is 2, but was 1", |o| o.tiers = 2),
        ("--name is x", |o| o.name = Some("x".into())),
        ("--text-key is body", |o| o.read.text_key = "body".into()),
        ("--max-record-size is 99", |o| o.read.max_record_bytes = 99),
    ];
    for (wanted, change) in changes {
        refused(&files, &with(&change), wanted);
    }
    refused(&files[1..], &options, "part-0.jsonl is missing");
    let mut more = files.clone();
    more.push(write(
        &folder.path().join("more.jsonl"),
        b"{\"text\": \"a\"}\n",
    ));
    refused(&more, &options, "more.jsonl is new");
    let (old, time) = (
        fs::read(&files[0]).expect("read"),
        fs::metadata(&files[0])
            .and_then(|m| m.modified())
            .expect("time"),
    );
    let touch = |time| {
        let file = File::options().append(true).open(&files[0]).expect("open");
        file.set_modified(time).expect("set the time");
    };
    touch(time + Duration::from_secs(1));
    refused(&files, &options, "part-0.jsonl has been modified");
    write(&files[0], &[&old[..], b"\n"].concat());
    refused(&files, &options, "part-0.jsonl has");
    write(&files[0], &old);
    touch(time);
    build_files(&files, &out, &options).expect("all is as it was");
}

#[test]
fn another_content_of_the_same_size_and_time_is_found_by_its_digest() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 5000);
    for (phase, expected) in [
        ("count", None),
        ("insert", None),
        ("insert", Some(4_000_000)),
    ] {
        let out = folder
            .path()
            .join(format!("index-{phase}-{}", expected.is_some()));
        let mut options = resuming(&lenient(BuildOptions {
            expected_ngrams: expected,
            threads: Some(1),
            ..options(&[7])
        }));
        begun(&files, &out, &options, (phase, 1));
        options.resume = Some(Resume {
            verify_inputs: true,
            ..ALWAYS
        });
        // The first byte: whatever was read of the file, it was.
        let flip = |byte: &[u8]| {
            let time = fs::metadata(&files[0])
                .and_then(|m| m.modified())
                .expect("time");
            let mut file = File::options().write(true).open(&files[0]).expect("open");
            file.write_all(byte).expect("write");
            file.set_modified(time).expect("set the time");
        };
        flip(b"[");
        let error = build_files(&files, &out, &options).expect_err("changed");
        assert!(
            error
                .to_string()
                .contains("part-0.jsonl has another content"),
            "{phase}: {error}"
        );
        flip(b"{");
        build_files(&files, &out, &options).expect("all is as it was");
    }
}

#[test]
fn a_damaged_state_is_never_trusted() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 5000);
    let out = folder.path().join("index");
    let options = resuming(&lenient(BuildOptions {
        expected_ngrams: Some(60_000_000),
        memory: Some(MINIMUM_MEMORY),
        ..options(&[3])
    }));
    let partial = begun(&files, &out, &options, ("insert", 2));
    let names: Vec<String> = contents(&partial)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in names {
        let path = partial.join(&name);
        let good = fs::read(&path).expect("read");
        let mut flipped = good.clone();
        let at = if name == "n3-0.ngs" {
            1 << 20
        } else {
            good.len() / 2
        };
        flipped[at] ^= 1;
        let is_state = name == "state.json";
        let removed = (!is_state).then_some(None); // without a state there is nothing to continue
        let bad = [Some(&flipped[..]), Some(&good[..10]), Some(&[])];
        for bad in bad.into_iter().chain(removed) {
            match bad {
                Some(bytes) => drop(write(&path, bytes)),
                None => fs::remove_file(&path).expect("remove"),
            }
            let error = build_files(&files, &out, &options).expect_err("damaged");
            let text = error.to_string();
            assert!(
                matches!(error, Error::StateDamaged { .. }),
                "{name}: {text}"
            );
            assert_eq!(text.matches(&name).count(), 1, "{text}");
            assert!(
                text.ends_with("; remove its folder to start anew"),
                "{text}"
            );
            assert!(!text.contains("restore it from a copy"), "{text}");
            write(&path, &good);
        }
    }
    write(&partial.join("checkpoint-999-n3-0.ngs"), b"half");
    let summary = build_files(&files, &out, &options).expect("all is as it was");
    assert!(summary.warnings[0].contains("checkpoint-999-n3-0.ngs"));
}

#[test]
fn without_the_option_an_unfinished_build_is_left_alone() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 5000);
    let out = folder.path().join("index");
    let plain = lenient(options(&[7]));
    let partial = begun(&files, &out, &resuming(&plain), ("count", 1));
    let error = build_files(&files, &out, &plain).expect_err("unfinished");
    assert!(matches!(error, Error::Unfinished { .. }));
    assert!(error.to_string().contains("--resume continues it"));
    assert!(partial.join("state.json").exists());
    fs::remove_dir_all(&partial).expect("remove");
    // What a build leaves that was killed before it had done anything is no reason to stop.
    fs::create_dir(&partial).expect("create");
    write(&partial.join(".lock"), b"");
    let summary = build_files(&files, &out, &plain).expect("build");
    assert!(
        summary.warnings[0].contains("index.partial"),
        "{:?}",
        summary.warnings
    );
    assert!(!partial.exists());
    // A folder of somebody else is not touched, and not used.
    fs::create_dir(&partial).expect("create");
    write(&partial.join("thesis.tex"), b"");
    let forced = BuildOptions {
        force: true,
        ..plain
    };
    build_files(&files, &out, &forced).expect("build");
    let error = build_files(&files, &out, &resuming(&forced)).expect_err("occupied");
    assert!(error.to_string().contains("holds other files"), "{error}");
    assert!(partial.join("thesis.tex").exists());
}

#[test]
fn two_builds_do_not_share_a_state_and_streams_have_none() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 300);
    let out = folder.path().join("index");
    let options = resuming(&lenient(options(&[7])));
    let mut second = None;
    build_until(&files, &out, &options, |_| {
        if second.is_none() {
            let _ = fs::remove_dir_all(&out); // the state has a lock of its own
            second = Some(build_files(&files, &out, &options).expect_err("locked"));
        }
        true
    })
    .expect_err("stopped");
    assert!(matches!(second, Some(Error::Locked { .. })));
    let other = folder.path().join("other");
    let stream = Source::Stream("standard input".into(), Box::new(std::io::empty()));
    let error = build(vec![stream], &other, &options, &mut |_| {
        ControlFlow::Continue(())
    });
    let text = error.expect_err("refused").to_string();
    assert!(
        text.contains("--resume: standard input is not possible"),
        "{text}"
    );
    assert!(!other.exists() && unfinished(&other).is_none());
    let root = build_files(&files, Path::new("/"), &options).expect_err("refused");
    assert!(root.to_string().contains("--resume: /"), "{root}");
}

#[test]
fn an_error_keeps_what_was_done_and_a_limit_may_be_raised() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 5000);
    let strict = |limit| {
        let mut options = resuming(&lenient(BuildOptions {
            expected_ngrams: Some(1000),
            threads: Some(1),
            ..options(&[7])
        }));
        options.read.max_bad_records = limit;
        options
    };
    let out = folder.path().join("index");
    let whole = folder.path().join("whole");
    let accepting = BuildOptions {
        accept_overfull: true,
        resume: None,
        ..strict(100)
    };
    build_files(&files, &whole, &accepting).expect("build");
    begun(&files, &out, &strict(100), ("insert", 1));
    let error = build_files(&files, &out, &strict(2)).expect_err("bad records");
    assert!(matches!(error, Error::Read(_)), "{error}");
    let error = build_files(&files, &out, &strict(100)).expect_err("too many n-grams");
    assert!(matches!(error, Error::Overfull { .. }), "{error}");
    let mut phases = Vec::new();
    let accepting = BuildOptions {
        resume: Some(ALWAYS),
        ..accepting
    };
    build_until(&files, &out, &accepting, |progress| {
        phases.push(progress.phase);
        false
    })
    .expect("kept");
    assert!(!phases.contains(&"insert"), "{phases:?}");
    assert!(contents(&out) == contents(&whole));
}

#[test]
fn a_build_that_was_killed_while_it_named_its_files_is_completed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = corpus(folder.path(), 300);
    let options = lenient(BuildOptions {
        shards: Some(2),
        ..options(&[3, 7])
    });
    let whole = folder.path().join("whole");
    let manifest = build_files(&files, &whole, &options)
        .expect("build")
        .manifest;
    let names: Vec<&String> = manifest
        .sets
        .iter()
        .flat_map(|set| set.shards.iter().map(|shard| &shard.file))
        .collect();
    let commit = serde_json::json!({ "content_id": manifest.content_id, "files": names });
    // How many shards had their final names, and whether the manifest was there.
    for (renamed, committed) in [(0, false), (2, false), (4, false), (4, true)] {
        let out = folder.path().join(format!("index-{renamed}-{committed}"));
        let partial = out.with_extension("partial");
        let stop = |progress: &Progress| {
            let state = fs::read_to_string(partial.join("state.json")).unwrap_or_default();
            progress.phase == "sync" && state.contains("\"passes\":1")
        };
        build_until(&files, &out, &resuming(&options), stop).expect_err("stopped");
        let state = fs::read_to_string(partial.join("state.json")).expect("read");
        let json = state.lines().next().expect("JSON");
        let json = json.replace("\"commit\":null", &format!("\"commit\":{commit}"));
        let checksum = xxhash_rust::xxh3::xxh3_64(json.as_bytes());
        write(
            &partial.join("state.json"),
            format!("{json}\n{checksum:016x}\n").as_bytes(),
        );
        fs::create_dir_all(&out).expect("create");
        let own = ["n3-0.ngs", "n3-1.ngs", "n7-0.ngs", "n7-1.ngs"];
        for (own, name) in own.iter().zip(&names).take(renamed) {
            fs::remove_file(partial.join(own)).expect("remove");
            fs::copy(whole.join(name), out.join(name)).expect("copy");
        }
        if committed {
            fs::copy(whole.join(MANIFEST_NAME), out.join(MANIFEST_NAME)).expect("copy");
        }
        let summary = build_files(&files, &out, &resuming(&options)).expect("complete");
        assert_eq!(summary.manifest, manifest);
        assert!(contents(&out) == contents(&whole), "{renamed} {committed}");
        assert!(!partial.exists());
    }
}
