//! Finds the files to read: files, folders, patterns.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use super::InputFile;
use super::error::{FileFault, ReadError};

/// Finds files. An argument is a file, a folder (all files below it, sorted by name, hidden ones left out) or a pattern
/// (`data/**/*.jsonl`). Of the files found, those are kept that match a pattern of `include` (all, if there is none) and none
/// of `exclude`; such a pattern without `/` is compared with the file's name, one with `/` with its path below the folder.
///
/// A file that is reached twice, also through links, counts once. What is found but cannot be read (a broken link, a
/// folder that cannot be listed) is returned like a file, so that opening it fails under the rules for bad files.
pub fn discover(
    args: &[PathBuf],
    include: &[String],
    exclude: &[String],
) -> Result<Vec<InputFile>, ReadError> {
    discover_until(args, include, exclude, &|| false)
}

/// [`discover`], which ends early (with whatever it has found) once `stop` says so: folders can be very large.
pub fn discover_until(
    args: &[PathBuf],
    include: &[String],
    exclude: &[String],
    stop: &dyn Fn() -> bool,
) -> Result<Vec<InputFile>, ReadError> {
    let wanted = Wanted::new(include, exclude)?;
    let mut found = Vec::new();
    for arg in args {
        match fs::metadata(arg) {
            Ok(metadata) => take(arg, &metadata, &mut found, stop),
            Err(_) if arg.symlink_metadata().is_ok() => found.push(Found::unreadable(arg.clone())),
            Err(error) => match pattern(arg)? {
                Some((base, glob)) => expand(arg, &base, &glob, &mut found, stop)?,
                None => {
                    let fault = FileFault::Unreadable(error.to_string());
                    return Err(ReadError::File {
                        file: arg.display().to_string(),
                        fault,
                    });
                }
            },
        }
    }
    let all = found.len();
    found.retain(|found| wanted.takes(&found.below));
    if found.is_empty() {
        return Err(ReadError::NoInput {
            why: nothing(args, all),
        });
    }
    for found in &found {
        if let Some(fault) = &found.special {
            return Err(ReadError::File {
                file: found.path.display().to_string(),
                fault: fault.clone(),
            });
        }
    }
    Ok(name(found))
}

/// A file on its way to an [`InputFile`].
struct Found {
    path: PathBuf,
    /// Path below the folder or pattern that it was found by.
    below: PathBuf,
    bytes: u64,
    modified: SystemTime,
    identity: Identity,
    /// Not a file: a pipe, a device.
    special: Option<FileFault>,
}

/// What makes two paths the same file.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Identity {
    #[cfg(unix)]
    Inode(u64, u64),
    Path(PathBuf),
}

impl Found {
    fn new(path: PathBuf, below: PathBuf, metadata: &Metadata) -> Found {
        let special = (!metadata.is_file() && !metadata.is_dir()).then(|| {
            FileFault::refused(
                "not a regular file but a pipe or device",
                "pass it as standard input: - in place of its name, and < before it",
            )
        });
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Found {
            identity: identity(&path, metadata),
            path,
            below,
            bytes: metadata.len(),
            modified,
            special,
        }
    }

    fn unreadable(path: PathBuf) -> Found {
        let below = path.file_name().map(PathBuf::from).unwrap_or_default();
        let identity = Identity::Path(path.clone());
        Found {
            path,
            below,
            bytes: 0,
            modified: SystemTime::UNIX_EPOCH,
            identity,
            special: None,
        }
    }
}

#[cfg(unix)]
fn identity(_path: &Path, metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity::Inode(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _metadata: &Metadata) -> Identity {
    Identity::Path(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Takes an argument that exists.
fn take(arg: &Path, metadata: &Metadata, found: &mut Vec<Found>, stop: &dyn Fn() -> bool) {
    if metadata.is_dir() {
        walk(arg, arg, found, stop, |_| true);
    } else {
        let below = arg.file_name().map(PathBuf::from).unwrap_or_default();
        found.push(Found::new(arg.to_owned(), below, metadata));
    }
}

/// Takes the files below `folder` whose path `wanted` accepts. A folder that links lead to more than once is entered once.
fn walk(
    folder: &Path,
    base: &Path,
    found: &mut Vec<Found>,
    stop: &dyn Fn() -> bool,
    wanted: impl Fn(&Path) -> bool,
) {
    let mut entered = HashSet::new();
    let mut enter = |entry: &walkdir::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => entered.insert(identity(entry.path(), &metadata)),
        _ => true,
    };
    let entries = WalkDir::new(folder)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| (entry.depth() == 0 || !hidden(entry.file_name())) && enter(entry));
    for entry in entries {
        if stop() {
            return;
        }
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if !wanted(entry.path()) || beside_data(entry.path()) => {}
            Ok(entry) => match entry.metadata() {
                Ok(metadata) => {
                    let below = entry
                        .path()
                        .strip_prefix(base)
                        .unwrap_or(entry.path())
                        .to_owned();
                    // Sockets, pipes and devices inside a folder are no data that anyone put there to be read.
                    if metadata.is_file() {
                        found.push(Found::new(entry.into_path(), below, &metadata));
                    }
                }
                Err(_) => found.push(Found::unreadable(entry.into_path())),
            },
            // A link back to a folder above: its files are found there.
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                if wanted(&path) || path.is_dir() {
                    found.push(Found::unreadable(path));
                }
            }
        }
    }
}

/// Whether a file only accompanies the data in a folder: what ngramscope wrote of it, or in a folder that the library `datasets`
/// wrote (`save_to_disk`, its cache) a description, or what it computed from the data.
fn beside_data(path: &Path) -> bool {
    const DESCRIPTION: &str = "dataset_info.json";
    let (Some(folder), Some(name)) = (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) else {
        return false;
    };
    let some = |wanted: &dyn Fn(&Path) -> bool| {
        fs::read_dir(folder).is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| wanted(&entry.path())))
        })
    };
    let arrow = |path: &Path| path.extension().is_some_and(|ending| ending == "arrow");
    if let Some(described) = name.strip_suffix(".meta.json") {
        return folder.join(described).is_file();
    }
    match name {
        "decontamination.json" => true,
        DESCRIPTION | "state.json" => folder.join(DESCRIPTION).is_file() && some(&arrow),
        "dataset_dict.json" => some(&|below| below.join(DESCRIPTION).is_file()),
        _ => name.starts_with("cache-") && arrow(path) && folder.join(DESCRIPTION).is_file(),
    }
}

fn hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// An argument as pattern, with the folder that it begins in; none if it has no wildcards.
fn pattern(arg: &Path) -> Result<Option<(PathBuf, GlobSet)>, ReadError> {
    let text = arg.to_string_lossy();
    if !text.contains(['*', '?', '[', '{']) {
        return Ok(None);
    }
    let wild = |part: &Component<'_>| {
        part.as_os_str()
            .to_string_lossy()
            .contains(['*', '?', '[', '{'])
    };
    let base: PathBuf = arg.components().take_while(|part| !wild(part)).collect();
    let glob = glob("pattern", &text)?;
    let set = GlobSetBuilder::new()
        .add(glob)
        .build()
        .map_err(|error| bad_glob("pattern", &text, &error))?;
    Ok(Some((base, set)))
}

/// Takes what a pattern matches: files, and all below folders, as when the shell had expanded it.
fn expand(
    arg: &Path,
    base: &Path,
    glob: &GlobSet,
    found: &mut Vec<Found>,
    stop: &dyn Fn() -> bool,
) -> Result<(), ReadError> {
    let start = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    let before = found.len();
    walk(start, start, found, stop, |path| {
        let path = path.strip_prefix("./").unwrap_or(path);
        path.ancestors()
            .take_while(|above| *above != base && !above.as_os_str().is_empty())
            .any(|above| glob.is_match(above))
    });
    if found.len() == before {
        return Err(ReadError::NoInput {
            why: format!("no file matches {}", arg.display()),
        });
    }
    Ok(())
}

fn glob(option: &'static str, text: &str) -> Result<Glob, ReadError> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .build()
        .map_err(|error| bad_glob(option, text, &error))
}

fn bad_glob(option: &'static str, text: &str, error: &globset::Error) -> ReadError {
    ReadError::Option {
        option,
        value: text.to_owned(),
        why: error.kind().to_string(),
    }
}

/// Patterns for names and patterns for paths.
struct Patterns {
    any: bool,
    names: GlobSet,
    paths: GlobSet,
}

fn patterns(option: &'static str, texts: &[String]) -> Result<Patterns, ReadError> {
    let set = |slash: bool| {
        let mut builder = GlobSetBuilder::new();
        for text in texts.iter().filter(|text| text.contains('/') == slash) {
            builder.add(glob(option, text)?);
        }
        builder
            .build()
            .map_err(|error| bad_glob(option, "", &error))
    };
    Ok(Patterns {
        any: !texts.is_empty(),
        names: set(false)?,
        paths: set(true)?,
    })
}

/// Which files to take, as [`discover`] says.
pub struct Wanted {
    include: Patterns,
    exclude: Patterns,
}

impl Wanted {
    /// Takes the patterns; an error if one is none.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Wanted, ReadError> {
        Ok(Wanted {
            include: patterns("include", include)?,
            exclude: patterns("exclude", exclude)?,
        })
    }

    /// Whether to take the file with the path `below` what it was found by.
    pub fn takes(&self, below: &Path) -> bool {
        let name = below.file_name().map(Path::new).unwrap_or(below);
        let matches =
            |patterns: &Patterns| patterns.names.is_match(name) || patterns.paths.is_match(below);
        (!self.include.any || matches(&self.include)) && !matches(&self.exclude)
    }
}

fn nothing(args: &[PathBuf], all: usize) -> String {
    if args.is_empty() {
        return "no file, folder or pattern was given".to_owned();
    }
    let places: Vec<String> = args.iter().map(|arg| arg.display().to_string()).collect();
    let places = places.join(", ");
    match all {
        0 => format!("there are no files in {places} (hidden ones are left out)"),
        _ => format!("of {all} files in {places}, include and exclude patterns leave none"),
    }
}

/// Names the files by their paths below the deepest folder that holds them all, so that names do not tell where on a
/// machine they were. A file that was found by several paths stays in the first one's place and is named by the least of
/// them, so that names do not tell in which order they were given either.
fn name(found: Vec<Found>) -> Vec<InputFile> {
    let mut parents = HashMap::new();
    let paths: Vec<PathBuf> = found
        .iter()
        .map(|found| {
            let parent = found
                .path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            let parent: &PathBuf = parents
                .entry(parent.to_owned())
                .or_insert_with(|| parent.canonicalize().unwrap_or_else(|_| parent.to_owned()));
            found
                .path
                .file_name()
                .map_or_else(|| parent.clone(), |name| parent.join(name))
        })
        .collect();
    let mut place = HashMap::new();
    let mut files: Vec<Found> = Vec::new();
    let mut full: Vec<PathBuf> = Vec::new();
    for (found, path) in found.into_iter().zip(paths) {
        let at = *place.entry(found.identity.clone()).or_insert(files.len());
        if at == files.len() {
            files.push(found);
            full.push(path);
        } else if path < full[at] {
            full[at] = path;
        }
    }
    let mut common = full
        .first()
        .and_then(|path| path.parent())
        .map(Path::to_owned)
        .unwrap_or_default();
    for path in &full {
        while !path.starts_with(&common) && common.pop() {}
    }
    let named = |path: &Path| {
        let below = path.strip_prefix(&common).unwrap_or(path);
        let parts: Vec<String> = below
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        parts.join("/")
    };
    files
        .into_iter()
        .zip(&full)
        .map(|(found, full)| InputFile {
            path: found.path,
            name: named(full),
            bytes: found.bytes,
            modified: found.modified,
        })
        .collect()
}
