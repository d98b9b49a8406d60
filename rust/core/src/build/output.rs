//! The output folder: lock, temporary files, commit; and temporary copies of sources that can be read only once.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::manifest::{MANIFEST_NAME, Manifest};
use crate::read::{InputFile, Remote, Source};

use crate::pass::{Progress, Tick};

pub const LOCK_NAME: &str = ".lock";
pub const TEMPORARY_PREFIX: &str = ".tmp-";

/// The output folder, locked. Unless committed, everything made here is removed again.
pub struct Output {
    folder: PathBuf,
    created: bool,
    committed: bool,
    /// Shard files that have their final name although the manifest is not in place yet.
    renamed: Vec<PathBuf>,
    stale: Vec<String>,
    _lock: File,
}

impl Output {
    /// Creates or takes over `folder`.
    pub fn open(folder: &Path, force: bool) -> Result<Output> {
        let unusable = |why: &str| Error::OutputUnusable {
            path: folder.to_path_buf(),
            why: why.into(),
        };
        let created = match fs::metadata(folder) {
            Ok(metadata) if !metadata.is_dir() => {
                return Err(unusable("it exists and is not a folder"));
            }
            Ok(_) => false,
            Err(_) => {
                fs::create_dir_all(folder).map_err(Error::io(folder, "create the folder"))?;
                true
            }
        };
        let lock = lock(folder)?;
        let mut output = Output {
            folder: folder.to_path_buf(),
            created,
            committed: false,
            renamed: Vec::new(),
            stale: Vec::new(),
            _lock: lock,
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
            names.push(
                entry
                    .map_err(Error::io(folder, "list"))?
                    .file_name()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        let has_index = names.iter().any(|name| name == MANIFEST_NAME);
        if has_index && !force {
            return Err(Error::Exists {
                path: folder.to_path_buf(),
            });
        }
        names.retain(|name| name != LOCK_NAME);
        let (stale, others): (Vec<_>, Vec<_>) = names
            .into_iter()
            .partition(|name| name.starts_with(TEMPORARY_PREFIX));
        if !has_index && others.iter().any(|name| !name.ends_with(".ngs")) {
            return Err(unusable("it holds other files and no index"));
        }
        for name in &stale {
            let path = folder.join(name);
            fs::remove_file(&path).map_err(Error::io(&path, "remove"))?;
        }
        output.stale = stale;
        Ok(output)
    }

    /// Names of files that an earlier, killed build had left and that are gone now.
    pub fn stale_files(&mut self) -> Vec<String> {
        std::mem::take(&mut self.stale)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A name for a temporary file.
    pub fn temporary(&self, what: &str) -> PathBuf {
        self.folder
            .join(format!("{TEMPORARY_PREFIX}{}-{what}", std::process::id()))
    }

    /// Gives all files their final names, the manifest last, and removes those of the index that was replaced. Returns the names of
    /// shards that no index has named, which a build had left that was killed in its last step: they are gone too.
    pub fn commit(
        &mut self,
        manifest: &Manifest,
        temporary_shards: &[PathBuf],
    ) -> Result<Vec<String>> {
        let old = Manifest::read(&self.folder)
            .map(|old| old.shard_paths(&self.folder))
            .unwrap_or_default();
        let new = manifest.shard_paths(&self.folder);
        for (temporary, path) in temporary_shards.iter().zip(&new) {
            fs::rename(temporary, path).map_err(Error::io(path, "rename into place"))?;
            if !old.contains(path) {
                self.renamed.push(path.clone());
            }
        }
        sync_folder(&self.folder);
        let temporary = self.temporary(MANIFEST_NAME);
        let write = |file: &mut File| {
            file.write_all(manifest.to_json().as_bytes())
                .and_then(|()| file.sync_all())
        };
        File::create(&temporary)
            .and_then(|mut file| write(&mut file))
            .map_err(Error::io(&temporary, "write"))?;
        let path = self.folder.join(MANIFEST_NAME);
        fs::rename(&temporary, &path).map_err(Error::io(&path, "rename into place"))?;
        sync_folder(&self.folder);
        self.committed = true;
        // Readers that still map the old files keep them; a file that cannot be removed now does no harm.
        let mut orphans = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let (path, name) = (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            );
            if is_shard_name(&name) && !new.contains(&path) && fs::remove_file(&path).is_ok() {
                orphans.extend((!old.contains(&path)).then_some(name));
            }
        }
        Ok(orphans)
    }
}

/// Whether a name is one that [`Manifest::seal`] gives: `n7-0000-of-0001-0123456789abcdef.ngs`.
fn is_shard_name(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match parts[..] {
        [n, shard, "of", shards, id] => {
            n.strip_prefix('n').is_some_and(number)
                && number(shard)
                && number(shards)
                && id.strip_suffix(".ngs").is_some_and(|id| id.len() == 16)
        }
        _ => false,
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let temporary = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in temporary.filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with(TEMPORARY_PREFIX)
        }) {
            let _ = fs::remove_file(entry.path());
        }
        if !self.committed {
            self.renamed
                .iter()
                .for_each(|path| drop(fs::remove_file(path)));
        }
        let _ = fs::remove_file(self.folder.join(LOCK_NAME));
        if self.created && !self.committed {
            // Fails, as it should, when somebody put something there.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Takes the folder's lock file or says who cannot.
pub fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK_NAME);
    loop {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::io(&path, "create the lock file"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Error::Locked {
                    path: folder.to_path_buf(),
                });
            }
            Err(fs::TryLockError::Error(cause)) => return Err(Error::io(&path, "lock")(cause)),
        }
        // The holder before us may have removed the file between our opening and locking it.
        if still_there(&file, &path) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn still_there(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Makes renames durable. Not every system can sync a folder; then the renames are as durable as the system makes them.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// The sources of a build, to be read once or several times.
pub struct Rereadable {
    sources: Vec<Kept>,
}

enum Kept {
    File(InputFile),
    Remote(Arc<dyn Remote>),
    Once(String, Mutex<Option<Box<dyn Read + Send>>>),
    /// A compressed copy of a stream of `bytes` bytes.
    Spooled {
        name: String,
        path: PathBuf,
        bytes: u64,
    },
}

impl Rereadable {
    /// Takes the sources; streams are copied first when `spool` is set.
    pub fn new(
        sources: Vec<Source>,
        spool: bool,
        output: &Output,
        tick: Tick<'_>,
    ) -> Result<Rereadable> {
        let mut kept = Vec::new();
        for source in sources {
            kept.push(match source {
                Source::File(file) => Kept::File(file),
                Source::Remote(remote) => Kept::Remote(remote),
                Source::Stream(name, stream) if spool => {
                    let path = output.temporary(&format!("spool-{}.zst", kept.len()));
                    copy(name, stream, path, tick)?
                }
                Source::Stream(name, stream) => Kept::Once(name, Mutex::new(Some(stream))),
            });
        }
        Ok(Rereadable { sources: kept })
    }

    /// The sources as they are, for one reading.
    pub fn once(sources: Vec<Source>) -> Rereadable {
        let keep = |source| match source {
            Source::File(file) => Kept::File(file),
            Source::Remote(remote) => Kept::Remote(remote),
            Source::Stream(name, stream) => Kept::Once(name, Mutex::new(Some(stream))),
        };
        Rereadable {
            sources: sources.into_iter().map(keep).collect(),
        }
    }

    /// An error when a source can be read only once, which says `why` that is not enough and what would help.
    pub fn require_rereadable(&self, why: &str) -> Result<()> {
        match self.sources.iter().find_map(|source| {
            if let Kept::Once(name, _) = source {
                Some(name)
            } else {
                None
            }
        }) {
            Some(name) => Err(Error::ReadOnce {
                source_name: name.clone(),
                why: why.into(),
            }),
            None => Ok(()),
        }
    }

    /// The sources for one reading.
    pub fn take(&self) -> Result<Vec<Source>> {
        self.sources
            .iter()
            .map(|source| match source {
                Kept::File(file) => Ok(Source::File(file.clone())),
                Kept::Remote(remote) => Ok(Source::Remote(Arc::clone(remote))),
                Kept::Spooled { name, path, .. } => {
                    let copy = File::open(path).and_then(zstd::Decoder::new);
                    let copy = copy.map_err(Error::io(path, "open the temporary copy at"))?;
                    Ok(Source::Stream(name.clone(), Box::new(copy)))
                }
                Kept::Once(name, stream) => match stream
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .take()
                {
                    Some(stream) => Ok(Source::Stream(name.clone(), stream)),
                    None => Err(Error::ReadOnce {
                        source_name: name.clone(),
                        why: "it was read already: name files".into(),
                    }),
                },
            })
            .collect()
    }

    /// Bytes of the files; 0 when a stream is among the sources.
    pub fn total_bytes(&self) -> u64 {
        self.sources
            .iter()
            .map(|source| match source {
                Kept::File(file) => Some(file.bytes),
                Kept::Remote(remote) => remote.bytes(),
                Kept::Spooled { bytes, .. } => Some(*bytes),
                Kept::Once(..) => None,
            })
            .sum::<Option<u64>>()
            .unwrap_or(0)
    }
}

/// Copies a stream to `path` through zstd. Reading may wait for whoever writes into it, so a thread of its own does that.
fn copy(name: String, stream: Box<dyn Read + Send>, path: PathBuf, tick: Tick<'_>) -> Result<Kept> {
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let started = Instant::now();
    let outcome = std::thread::scope(|scope| {
        let thread = scope.spawn(|| copy_all(&name, stream, &path, &done, &stop));
        while !thread.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
            let progress = Progress {
                bytes_done: done.load(Relaxed),
                seconds: started.elapsed().as_secs_f64(),
                ..Progress::of("spool")
            };
            if !stop.load(Relaxed) && tick(&progress) == ControlFlow::Break(()) {
                stop.store(true, Relaxed);
            }
        }
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if stop.load(Relaxed) {
        return Err(Error::Interrupted);
    }
    outcome?;
    Ok(Kept::Spooled {
        name,
        path,
        bytes: done.load(Relaxed),
    })
}

fn copy_all(
    name: &str,
    mut stream: Box<dyn Read + Send>,
    path: &Path,
    done: &AtomicU64,
    stop: &AtomicBool,
) -> Result<()> {
    let file = File::create(path).map_err(Error::io(path, "create a temporary copy at"))?;
    let mut encoder = zstd::Encoder::new(file, 1).map_err(Error::io(path, "write"))?;
    let mut buffer = vec![0; 1 << 20];
    while !stop.load(Relaxed) {
        let count = match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(Error::io(Path::new(name), "read")(cause)),
        };
        encoder
            .write_all(&buffer[..count])
            .map_err(Error::io(path, "write"))?;
        done.fetch_add(count as u64, Relaxed);
    }
    encoder.finish().map_err(Error::io(path, "write"))?;
    Ok(())
}
