//! Index directories opened for questions.

mod lookup;
mod score;
mod stream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::math::Geometry;
use crate::manifest::{KeySet, Manifest};
use crate::shard::Shard;
use crate::tokenize::{SimdPath, WordRule};

pub(crate) use lookup::Scratch as LookUp;
use score::Buffers;
pub use score::{DocumentScore, QueryOptions};
pub(crate) use score::{Evidence, count, first_words, flags};
pub use stream::{OverlapStream, Row, TOO_SHORT, null_reason};

/// One or several index directories; several answer as one (an n-gram is found when any of them has it).
pub struct Index {
    parts: Vec<Part>,
    ns: Vec<u32>,
    /// Arrays of finished scorers.
    spare: Mutex<Vec<Buffers>>,
}

/// Most bytes of a scorer's arrays that are kept for the next one.
const MAX_SPARE_BYTES: usize = 64 << 20;

/// One open index directory.
pub(crate) struct Part {
    pub folder: PathBuf,
    pub manifest: Manifest,
    sets: Vec<OpenSet>,
}

/// The keys of one n.
pub(crate) struct OpenSet {
    n: u32,
    pub kind: FilterKind,
    pub geometry: Geometry,
    /// In the order of their ranges.
    pub shards: Vec<Shard>,
}

impl Index {
    /// Maps the index folders `paths`: milliseconds, whatever their size. All must follow the same rules; they answer for the lengths n
    /// that all of them have.
    pub fn open(paths: &[PathBuf]) -> Result<Index> {
        SimdPath::from_env()?;
        let mut parts: Vec<Part> = Vec::with_capacity(paths.len());
        for path in paths {
            let part = Part::open(path)?;
            // The same index again finds nothing more, and would count its false-positive rate twice.
            if !parts
                .iter()
                .any(|open| open.manifest.content_id == part.manifest.content_id)
            {
                parts.push(part);
            }
        }
        let Some(first) = parts.first() else {
            return Err(Error::Option {
                option: "--index",
                value: "nothing".into(),
                advice: "name at least one index".into(),
            });
        };
        for part in &parts[1..] {
            let (ours, theirs) = (&part.manifest, &first.manifest);
            let mismatch = |what, asked: String, has: String| Error::Mismatch {
                path: part.folder.clone(),
                what,
                asked,
                has,
            };
            if ours.words != theirs.words {
                return Err(mismatch(
                    "the word rule of the first index,",
                    theirs.words.to_string(),
                    ours.words.to_string(),
                ));
            }
            if ours.hash != theirs.hash {
                return Err(mismatch(
                    "the hash of the first index,",
                    theirs.hash.clone(),
                    ours.hash.clone(),
                ));
            }
        }
        if parts.iter().all(|part| part.manifest.tiers == 2) {
            check_sources(&parts)?; // an n-gram of two indexes counts as one of two documents
        }
        let ns: Vec<u32> = first
            .manifest
            .ns()
            .into_iter()
            .filter(|n| parts.iter().all(|part| part.manifest.ns().contains(n)))
            .collect();
        if ns.is_empty() {
            let lists = parts.iter().map(|part| format!("{:?}", part.manifest.ns()));
            return Err(Error::Option {
                option: "--index",
                value: format!("n = {}", lists.collect::<Vec<_>>().join(" and ")),
                advice: "indexes that are asked together must have an n in common".into(),
            });
        }
        Ok(Index {
            parts,
            ns,
            spare: Mutex::default(),
        })
    }

    /// Copies all payloads into memory, in huge pages.
    pub fn load(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        let needed: u64 = self
            .parts
            .iter()
            .flat_map(|part| &part.manifest.sets)
            .flat_map(|set| &set.shards)
            .map(|shard| shard.bytes)
            .sum();
        if let Some(available) = crate::memory::available()
            && needed > available
        {
            return Err(Error::NoRoom {
                needed,
                available,
                place: "memory".into(),
                detail: "--load".into(),
                advice: "leave out --load: the index is then mapped".into(),
            });
        }
        self.parts
            .iter_mut()
            .flat_map(|part| &mut part.sets)
            .flat_map(|set| &mut set.shards)
            .try_for_each(|shard| shard.load(stop))
    }

    /// Compares all payloads with their checksums; `step` hears of the bytes done and may stop.
    pub fn verify(&self, step: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        self.parts
            .iter()
            .flat_map(|part| &part.sets)
            .flat_map(|set| &set.shards)
            .try_for_each(|shard| shard.verify(step))
    }

    /// The manifests, in the order of opening; an index that was named twice counts once.
    pub fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.parts.iter().map(|part| &part.manifest)
    }

    /// The folders of these manifests.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|part| part.folder.as_path())
    }

    /// Lengths n that can be asked for.
    pub fn ns(&self) -> &[u32] {
        &self.ns
    }

    /// Tiers that all of the indexes have: with 2 they tell which n-grams at least two documents have.
    pub fn tiers(&self) -> u32 {
        let tiers = self.parts.iter().map(|part| part.manifest.tiers);
        tiers.min().unwrap_or(1)
    }

    /// The word rule.
    pub fn rule(&self) -> &WordRule {
        &self.parts[0].manifest.words.rule
    }

    /// Arrays for a scorer: used ones, if there are any. (Nobody waits for the lock: after a fork it could be held for ever.)
    fn take_buffers(&self) -> Buffers {
        let spare = self.spare.try_lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_default()
    }

    fn keep_buffers(&self, buffers: Buffers) {
        if buffers.bytes() <= MAX_SPARE_BYTES
            && let Ok(mut spare) = self.spare.try_lock()
        {
            spare.push(buffers.cleared());
        }
    }

    /// Rate at which an absent n-gram counts as found: `1 - Π (1 - p_i)` over the indexes, each at its realised count.
    pub fn rate(&self, n: u32) -> f64 {
        let sets = self
            .parts
            .iter()
            .flat_map(|part| &part.manifest.sets)
            .filter(|set| set.n == n);
        -libm::expm1(sets.map(|set: &KeySet| libm::log1p(-set.rate)).sum())
    }

    /// Estimated number of distinct n-grams that the indexes have together; for one index what it says of itself. `None` when that
    /// cannot be told.
    pub fn distinct(&self, n: u32) -> Option<f64> {
        let sets: Vec<&KeySet> = self
            .parts
            .iter()
            .filter_map(|part| part.key_set(n))
            .collect();
        match sets[..] {
            [one] => one.distinct,
            _ => KeySet::united_sketch(sets).map(|sketch| sketch.estimate()),
        }
    }

    /// The lengths n to answer for: all of the index when `asked` is empty; an error when the index lacks one.
    pub fn choose_ns(&self, asked: &[u32]) -> Result<Vec<u32>> {
        if asked.is_empty() {
            return Ok(self.ns.clone());
        }
        let mut ns = asked.to_vec();
        ns.sort_unstable();
        ns.dedup();
        match ns.iter().find(|n| !self.ns.contains(n)) {
            Some(n) => Err(Error::Mismatch {
                path: self.parts[0].folder.clone(),
                what: "n =",
                asked: n.to_string(),
                has: self
                    .ns
                    .iter()
                    .map(|n| format!("n = {n}"))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
            None => Ok(ns),
        }
    }
}

impl Part {
    /// The keys of length n.
    pub fn open_set(&self, n: u32) -> Option<&OpenSet> {
        self.sets.iter().find(|set| set.n == n)
    }

    /// What the manifest says of them.
    pub fn key_set(&self, n: u32) -> Option<&KeySet> {
        self.manifest.sets.iter().find(|set| set.n == n)
    }

    /// Maps the index in a folder.
    pub fn open(folder: &Path) -> Result<Part> {
        let manifest = Manifest::read(folder)?;
        match Part::open_shards(folder, &manifest) {
            Ok(sets) => Ok(Part {
                folder: folder.to_path_buf(),
                manifest,
                sets,
            }),
            // The index may have been replaced between reading its manifest and opening its files: look once more.
            Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
                let manifest = Manifest::read(folder)?;
                let sets = Part::open_shards(folder, &manifest).map_err(missing)?;
                Ok(Part {
                    folder: folder.to_path_buf(),
                    manifest,
                    sets,
                })
            }
            Err(other) => Err(other),
        }
    }

    fn open_shards(folder: &Path, manifest: &Manifest) -> Result<Vec<OpenSet>> {
        let open_set = |set: &KeySet| {
            let mut shards = Vec::with_capacity(set.shards.len());
            let mut end = 0;
            for entry in &set.shards {
                let path = folder.join(&entry.file);
                let shard = Shard::open(&path)?;
                let header = shard.header();
                let fits = (header.n, header.kind, header.k, header.blocks, header.tiers)
                    == (set.n, set.kind, set.k, set.blocks, manifest.tiers)
                    && header.range
                        == (entry.first_block..entry.first_block.saturating_add(entry.blocks))
                    && header.range.start == end
                    && format!("{:016x}", shard.table_checksum()) == entry.checksum;
                if !fits {
                    return Err(Error::Damaged {
                        path,
                        why: "it does not belong to this index.json".into(),
                    });
                }
                end = header.range.end;
                shards.push(shard);
            }
            if end != set.blocks {
                return Err(Error::Damaged {
                    path: folder.to_path_buf(),
                    why: format!(
                        "index.json lists no shard from block {end} on for n = {}",
                        set.n
                    ),
                });
            }
            Ok(OpenSet {
                n: set.n,
                kind: set.kind,
                geometry: set.geometry(manifest.tiers),
                shards,
            })
        };
        manifest.sets.iter().map(open_set).collect()
    }
}

/// A source that two indexes have would count twice.
pub(crate) fn check_sources(parts: &[Part]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for part in parts {
        for source in &part.manifest.sources {
            let key = (&source.name, source.bytes, &source.blake3);
            if let Some(other) = seen.insert(key, &part.folder) {
                return Err(Error::CommonSource {
                    path: part.folder.clone(),
                    other: other.clone(),
                    source_name: source.name.clone(),
                });
            }
        }
    }
    Ok(())
}

/// A shard that is not there is damage to the index.
fn missing(error: Error) -> Error {
    match error {
        Error::Io { path, cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => {
            Error::Damaged {
                path,
                why: "it is missing".into(),
            }
        }
        other => other,
    }
}
