//! The folder of an unfinished build, `OUT.partial`: its state, its checkpoints, and the shard files that are being written.
//!
//! ```text
//! state.json            what has been done; replaced by renaming, the only file that others are found from
//! n7-0.ngs              a shard, complete as far as the state says
//! checkpoint-3-n7-0.ngs what of a range was in memory at checkpoint 3, in the format of a shard
//! ```
//!
//! A file is on the disk before the state names it, and is removed after the state has ceased to.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::insert::{MemoryRange, Ranges, Store};
use super::output::{LOCK_NAME, TEMPORARY_PREFIX, lock, sync_folder};
use super::plan::Plan;
use super::state::{Checkpoint, Input, State, list};
use super::write::{PIECE_BYTES, file_name, in_parallel};
use super::{BuildOptions, Resume};
use crate::error::{Error, Result};
use crate::pass::{Progress, Tick};
use crate::read::{InputFile, digest_beginning};
use crate::shard::Shard;

const STATE_NAME: &str = "state.json";
const CHECKPOINT_PREFIX: &str = "checkpoint-";

/// The folder of an unfinished build, locked. It goes away when the build is complete, or nothing would be lost with it.
pub struct Partial {
    folder: PathBuf,
    state: State,
    interval: f64,
    complete: bool,
    stale: Vec<String>,
    _lock: Lock,
}

/// A lock on the folder; its file goes away with it.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn take(folder: &Path) -> Result<Lock> {
        Ok(Lock {
            _file: lock(folder)?,
            path: folder.join(LOCK_NAME),
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Partial {
    /// Begins or continues the build of `files` to `out`.
    pub fn open(
        out: &Path,
        options: &BuildOptions,
        resume: &Resume,
        files: &[InputFile],
    ) -> Result<Partial> {
        let folder = folder_of(out)?;
        fs::create_dir_all(&folder).map_err(Error::io(&folder, "create the folder"))?;
        let lock = Lock::take(&folder)?;
        let fresh = State::new(options, files.iter().map(Input::of).collect());
        let state = match read(&folder)? {
            Some(state) if !state.is_empty() => {
                let changes = state.changes(&fresh);
                if !changes.is_empty() {
                    return Err(Error::Changed {
                        path: folder,
                        changes,
                    });
                }
                state
            }
            _ => {
                if names(&folder)?.iter().any(|name| !is_ours(name)) {
                    return Err(Error::OutputUnusable {
                        path: folder,
                        why: "it is to hold the unfinished build, and holds other files".into(),
                    });
                }
                fresh
            }
        };
        let mut partial = Partial {
            folder,
            state,
            interval: resume.interval,
            complete: false,
            stale: Vec::new(),
            _lock: lock,
        };
        partial.stale = partial.sweep(partial.state.passes == 0);
        if partial.state.is_empty() {
            partial.save(|_| {})?;
        }
        Ok(partial)
    }

    /// Refuses to build to `out` as if there were no unfinished build; removes, and names, what is left of one that had done nothing.
    pub fn refuse(out: &Path) -> Result<Vec<String>> {
        let Ok(folder) = folder_of(out) else {
            return Ok(Vec::new());
        };
        let names = names(&folder).unwrap_or_default();
        if names.is_empty() || names.iter().any(|name| !is_ours(name)) {
            return Ok(Vec::new());
        }
        let _lock = Lock::take(&folder)?;
        if let Some(state) = read(&folder)?
            && !state.is_empty()
        {
            return Err(Error::Unfinished {
                path: folder,
                progress: state.progress(),
            });
        }
        remove(&folder)?;
        Ok(vec![folder.display().to_string()])
    }

    /// The files in the order in which they were first given: the state counts on it.
    pub fn in_order(&self, mut files: Vec<InputFile>) -> Vec<InputFile> {
        let places = self.state.inputs.iter().enumerate();
        let places: std::collections::HashMap<&str, usize> =
            places.map(|(place, input)| (input.name(), place)).collect();
        files.sort_by_key(|file| places.get(file.name.as_str()).copied());
        files
    }

    /// Compares what has been read of `files` (in order) with its digests.
    pub fn verify_inputs(&self, files: &[InputFile], threads: usize, tick: Tick<'_>) -> Result<()> {
        let mut known: Vec<(usize, u64, &str)> = Vec::new();
        match (&self.state.report, &self.state.checkpoint) {
            (Some(report), _) => {
                for (number, source) in report.sources.iter().enumerate() {
                    let digest = source.blake3.as_deref();
                    known.extend(digest.map(|digest| (number, u64::MAX, digest)));
                }
            }
            (None, Some(checkpoint)) => known.extend(checkpoint.position.digests()),
            (None, None) => {}
        }
        let mut progress = Progress::of("verify");
        let bytes = |&(number, bytes, _): &(usize, u64, &str)| bytes.min(files[number].bytes);
        progress.bytes_total = known.iter().map(bytes).sum();
        let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let changed = std::sync::Mutex::new(Vec::new());
        let mut tick = |progress: &Progress| {
            let outcome = tick(progress);
            stop.fetch_or(outcome == ControlFlow::Break(()), Relaxed);
            outcome
        };
        in_parallel(
            known.len(),
            threads,
            &done,
            &mut progress,
            &mut tick,
            &|each| {
                let (number, bytes, digest) = known[each];
                let path = &files[number].path;
                match digest_beginning(path, bytes, &stop) {
                    Ok(found) if found == digest => {}
                    Err(_) if stop.load(Relaxed) => return Err(Error::Interrupted),
                    Err(cause) => return Err(Error::io(path, "read")(cause)),
                    Ok(_) => changed
                        .lock()
                        .unwrap_or_else(|p| p.into_inner())
                        .push(format!(
                            "the input {} has another content (by its digest)",
                            files[number].name
                        )),
                }
                Ok(bytes.min(files[number].bytes))
            },
        )?;
        let mut changed = changed.into_inner().unwrap_or_else(|p| p.into_inner());
        if changed.is_empty() {
            return Ok(());
        }
        changed.sort();
        Err(Error::Changed {
            path: self.folder.clone(),
            changes: list(changed),
        })
    }

    /// An error where files cannot be renamed from here into the folder `out`.
    pub fn check_place(&self, out: &Path) -> Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let device = |folder: &Path| fs::metadata(folder).map(|metadata| metadata.dev());
            if let (Ok(here), Ok(there)) = (device(&self.folder), device(out))
                && here != there
            {
                return Err(Error::Option {
                    option: "--resume",
                    value: out.display().to_string(),
                    advice: format!(
                        "{} lies on another file system, and files are moved from there when they are complete; \
                         choose a folder inside the first for --out",
                        self.folder.display()
                    ),
                });
            }
        }
        let _ = out;
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where the pass that was interrupted stands.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.state.checkpoint.clone()
    }

    /// Names of files that an earlier process had left half written and that are gone now.
    pub fn stale_files(&mut self) -> Vec<String> {
        std::mem::take(&mut self.stale)
    }

    /// The interval between checkpoints is at least so many times what the last one took.
    pub fn interval(&self) -> f64 {
        self.interval
    }

    /// A number for a checkpoint.
    pub fn next(&mut self) -> u64 {
        self.state.last += 1;
        self.state.last
    }

    /// Where a file of a checkpoint is.
    pub fn of_checkpoint(&self, number: u64, name: &str) -> PathBuf {
        self.folder
            .join(format!("{CHECKPOINT_PREFIX}{number}-{name}"))
    }

    /// Where a shard is: here, or under its final name, if the build was interrupted while it gave them.
    pub fn shard(&self, name: &str, number: usize, out: &Path) -> PathBuf {
        let here = self.folder.join(name);
        match &self.state.commit {
            Some(commit) if !here.exists() => {
                let file = commit.files.get(number).map_or("", String::as_str);
                out.join(file)
            }
            _ => here,
        }
    }

    /// Bytes of all files here.
    pub fn bytes(&self) -> u64 {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let bytes = entries.filter_map(|entry| entry.metadata().ok());
        bytes.map(|metadata| metadata.len()).sum()
    }

    /// Fills ranges with what a checkpoint had of them.
    pub fn load(
        &self,
        checkpoint: &Checkpoint,
        plan: &Plan,
        ranges: &Ranges,
        threads: usize,
        progress: &mut Progress,
        tick: Tick<'_>,
    ) -> Result<()> {
        let mut shards = Vec::new();
        for range in ranges.ranges.iter().flatten() {
            let set = &plan.sets[range.window.set];
            let path = self.of_checkpoint(checkpoint.number, &file_name(set, 0));
            let shard = Shard::open(&path).map_err(damaged)?;
            let header = shard.header();
            let found = (
                header.kind,
                header.n,
                header.blocks,
                header.k,
                header.tiers,
                &header.range,
            );
            let geometry = set.geometry;
            let wanted = (
                set.kind,
                set.n,
                geometry.blocks,
                geometry.k,
                geometry.tiers,
                &range.window.blocks,
            );
            if found != wanted {
                return Err(Error::StateDamaged {
                    path,
                    why: "it is of another range".into(),
                });
            }
            let step = &mut |_| match tick(progress) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Error::Interrupted),
            };
            shard.verify(step).map_err(damaged)?;
            shards.push((range, shard));
        }
        let step = PIECE_BYTES as usize / 8;
        let pieces: Vec<_> = shards
            .iter()
            .flat_map(|(range, shard)| {
                let pieces = shard.words().chunks(step).enumerate();
                pieces.map(move |(number, words)| (*range, number * step, words))
            })
            .collect();
        let done = AtomicU64::new(0);
        in_parallel(pieces.len(), threads, &done, progress, tick, &|number| {
            let (range, start, words) = pieces[number];
            unite(range, start, words);
            Ok(words.len() as u64 * 8)
        })
    }

    /// Changes the state in memory alone, for the next [`Partial::save`].
    pub fn note(&mut self, change: impl FnOnce(&mut State)) {
        change(&mut self.state);
    }

    /// Changes the state and brings it to the disk; what it does not name any more is removed.
    pub fn save(&mut self, change: impl FnOnce(&mut State)) -> Result<()> {
        let mut state = self.state.clone();
        change(&mut state);
        let path = self.folder.join(STATE_NAME);
        let temporary = self.folder.join(format!("{TEMPORARY_PREFIX}{STATE_NAME}"));
        let text = state.to_text();
        let write = |mut file: File| {
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
        };
        sync_folder(&self.folder);
        File::create(&temporary)
            .and_then(write)
            .map_err(Error::io(&temporary, "write"))?;
        fs::rename(&temporary, &path).map_err(Error::io(&path, "rename into place"))?;
        sync_folder(&self.folder);
        self.state = state;
        self.sweep(false);
        Ok(())
    }

    /// The index is in its place.
    pub fn finish(mut self) {
        self.complete = true;
    }

    /// Removes files that the state does not name, `shards` too if so, and returns their names.
    fn sweep(&self, shards: bool) -> Vec<String> {
        let current = self.state.checkpoint.as_ref();
        let current = current.map(|current| format!("{CHECKPOINT_PREFIX}{}-", current.number));
        let is_stale = |name: &String| {
            let of_current = current
                .as_ref()
                .is_some_and(|prefix| name.starts_with(prefix));
            name.starts_with(TEMPORARY_PREFIX)
                || (name.starts_with(CHECKPOINT_PREFIX) && !of_current)
                || (name.ends_with(".ngs") && !of_current && shards)
        };
        let mut stale = names(&self.folder).unwrap_or_default();
        stale.retain(is_stale);
        stale
            .iter()
            .for_each(|name| drop(fs::remove_file(self.folder.join(name))));
        stale
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.complete || self.state.is_empty() {
            // A folder that cannot be removed does no harm.
            let _ = remove(&self.folder);
        } else {
            self.sweep(false);
        }
    }
}

/// Where the unfinished build of `out` is; it may not be there.
fn folder_of(out: &Path) -> Result<PathBuf> {
    let whole = match out.file_name() {
        Some(_) => out.to_path_buf(),
        None => out.canonicalize().map_err(Error::io(out, "find"))?,
    };
    let Some(name) = whole.file_name() else {
        return Err(Error::Option {
            option: "--resume",
            value: out.display().to_string(),
            advice:
                "the unfinished build is kept beside --out; name a folder that has one around it"
                    .into(),
        });
    };
    let mut partial = name.to_os_string();
    partial.push(".partial");
    Ok(whole.with_file_name(partial))
}

/// The folder of the unfinished build of `out`, if there is one that can be continued.
pub fn unfinished(out: &Path) -> Option<PathBuf> {
    let folder = folder_of(out).ok()?;
    folder.join(STATE_NAME).is_file().then_some(folder)
}

/// What is wrong with a file that the state names: nobody has a copy of it, as they may of an index.
pub(super) fn damaged(error: Error) -> Error {
    let (path, why) = match error {
        Error::Damaged { path, why } => (path, why),
        Error::Version { path, .. } => (path, "another version of ngramscope has begun it".into()),
        Error::Io { path, cause, .. } if cause.kind() == ErrorKind::NotFound => {
            (path, "it is missing".into())
        }
        Error::Io { path, cause, .. } if cause.kind() == ErrorKind::UnexpectedEof => {
            (path, "it is too short".into())
        }
        other => return other,
    };
    Error::StateDamaged { path, why }
}

/// Adds words of a checkpoint, from word `start` of its range on.
fn unite(range: &MemoryRange, start: usize, words: &[u64]) {
    match range.store {
        Store::Blocked { .. } => {
            let first = range.window.blocks.start + (start / range.geometry.block_words()) as u64;
            // SAFETY: pieces do not overlap, so no other thread is at these blocks.
            unsafe { range.unite(first, words) };
        }
        Store::Exact { .. } => range.add_keys(words),
    }
}

fn read(folder: &Path) -> Result<Option<State>> {
    let path = folder.join(STATE_NAME);
    match fs::read_to_string(&path) {
        Ok(text) => State::from_text(&text, &path).map(Some),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) if cause.kind() == ErrorKind::InvalidData => Err(Error::StateDamaged {
            path,
            why: "it is not text".into(),
        }),
        Err(cause) => Err(Error::io(&path, "read")(cause)),
    }
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(Error::io(folder, "list"))?;
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<_>>()
        .map_err(Error::io(folder, "list"))
}

/// Whether a build may have made a file of this name here.
fn is_ours(name: &str) -> bool {
    [LOCK_NAME, STATE_NAME].contains(&name)
        || name.starts_with(TEMPORARY_PREFIX)
        || name.ends_with(".ngs")
}

/// Removes a folder of ours, the state last: while it is there, the others are known.
fn remove(folder: &Path) -> Result<()> {
    let mut names = names(folder)?;
    names.retain(|name| is_ours(name));
    names.sort_by_key(|name| (name == LOCK_NAME, name == STATE_NAME));
    for name in names {
        let path = folder.join(name);
        fs::remove_file(&path).map_err(Error::io(&path, "remove"))?;
    }
    fs::remove_dir(folder).map_err(Error::io(folder, "remove"))
}
