//! `index.json`: what an index is, from what it was made and by which rules. Renaming it into place is the commit of a build.
//!
//! Nothing in it depends on time, host, threads, memory or the place of the files: the same input and settings give the same bytes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::math::Geometry;
use crate::read::{Source, SourceReport};
use crate::shard::{FORMAT_VERSION, TIERS};
use crate::sketch::KeptSketch;
use crate::tokenize::{UNICODE_VERSION, WordRule};

/// Name of the manifest in an index folder.
pub const MANIFEST_NAME: &str = "index.json";
/// Value of `format` in every manifest.
pub const FORMAT_NAME: &str = "ngramscope-index";
/// Manifests are small; a larger file under this name is something else.
const MAX_MANIFEST_BYTES: u64 = 1 << 30;

/// A whole index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_NAME`].
    pub format: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Version of the ngramscope that built it.
    pub tool_version: String,
    /// BLAKE3 of this manifest without ids and file names; it stands for the whole index, since shard checksums are part of it.
    pub content_id: String,
    /// A name the user gave.
    pub name: Option<String>,
    /// Built from the embedded default corpus: for trying out, never evidence.
    pub demo: bool,
    /// Some inputs were left out, wholly or in part; `sources` says which.
    pub partial: bool,
    /// Of an index of a part of the files: which part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOf>,
    /// How text becomes words.
    pub words: WordSettings,
    /// How words become keys.
    pub hash: String,
    /// What is inserted: every `occurrence` of an n-gram, or with two tiers each distinct n-gram of a `document` once.
    pub counting_unit: String,
    /// Planes of the sets: 1 (which n-grams there are), or 2 (and which at least two documents have).
    pub tiers: u32,
    /// Shorter documents become one short n-gram from this many words on; null: documents under n words have no n-gram.
    pub minimum_n: Option<u32>,
    /// How records were read.
    pub reading: ReadingSettings,
    /// Totals over the sources.
    pub counts: Counts,
    /// One set of keys for each n, ascending.
    pub sets: Vec<KeySet>,
    /// The files it was built from, by name.
    pub sources: Vec<crate::read::SourceReport>,
}

/// The word rule with its Unicode version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordSettings {
    /// The rule.
    #[serde(flatten)]
    pub rule: WordRule,
    /// Version of the word-break tables.
    pub unicode: String,
}

impl WordSettings {
    /// A rule with the tables of this program.
    pub fn of(rule: &WordRule) -> WordSettings {
        WordSettings {
            rule: rule.clone(),
            unicode: UNICODE_VERSION.into(),
        }
    }
}

impl std::fmt::Display for WordSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (Unicode {})", self.rule, self.unicode)
    }
}

/// Options of reading that change which text is indexed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadingSettings {
    /// Key of the text.
    pub text_key: String,
    /// Plain text: a document a line.
    pub text_lines: bool,
    /// Longest record used.
    pub max_record_bytes: u64,
}

/// Totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Records read.
    pub records: u64,
    /// Records with usable text.
    pub documents: u64,
    /// Words in them.
    pub words: u64,
    /// Records without usable text, by reason.
    pub unusable: std::collections::BTreeMap<crate::read::Reason, u64>,
}

impl Counts {
    /// Adds what was read of a source.
    pub fn add_source(&mut self, source: &SourceReport) {
        self.records += source.records;
        self.documents += source.documents;
        for (reason, count) in &source.unusable {
            *self.unusable.entry(*reason).or_default() += count;
        }
    }

    /// Adds the totals of another part.
    pub fn add(&mut self, other: &Counts) {
        self.records += other.records;
        self.documents += other.documents;
        self.words += other.words;
        for (reason, count) in &other.unusable {
            *self.unusable.entry(*reason).or_default() += count;
        }
    }
}

/// Every `of`-th file, beginning with number `part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    /// Number of the part, from 1.
    pub part: u32,
    /// How many parts there are.
    pub of: u32,
}

impl PartOf {
    /// Takes this part of the files, which are put in the order of their names first.
    pub fn choose(self, sources: Vec<Source>) -> Result<Vec<Source>> {
        let refuse = |value: String, advice: &str| {
            Err(Error::Option {
                option: "--part",
                value,
                advice: advice.into(),
            })
        };
        let spelled = format!("{}/{}", self.part, self.of);
        if !(1..=self.of).contains(&self.part) {
            return refuse(spelled, "write i/k, with i from 1 to k");
        }
        let mut files = sources;
        if let Some(Source::Stream(name, _)) = files
            .iter()
            .find(|source| matches!(source, Source::Stream(..)))
        {
            return refuse(
                spelled,
                &format!("{name} is no file; parts are made of files"),
            );
        }
        if files.len() < self.of as usize {
            return refuse(
                spelled,
                &format!(
                    "there are only {} files; make fewer parts, or cut the files first",
                    files.len()
                ),
            );
        }
        files.sort_by(|a, b| a.name().cmp(b.name()));
        let part = files
            .into_iter()
            .skip(self.part as usize - 1)
            .step_by(self.of as usize);
        Ok(part.collect())
    }
}

/// How large a set was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizing {
    /// `counted` (estimated in a first pass), `predicted` (from a sample) or `expected` (given).
    pub method: String,
    /// Estimated or predicted distinct n-grams, or the number given.
    pub ngrams: f64,
    /// Standard error of a count; null otherwise.
    pub standard_error: Option<f64>,
    /// What the set was made for: the count plus three standard errors, an end of the prediction, or the number given.
    pub sized_for: u64,
}

/// The keys of one n.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeySet {
    /// n-gram length.
    pub n: u32,
    /// Kind of set.
    pub kind: FilterKind,
    /// n-gram occurrences in the corpus.
    pub occurrences: u64,
    /// Distinct n-grams: counted (exact), or from the share of set bits (blocked), or when every bit is set from the registers;
    /// null without either.
    pub distinct: Option<f64>,
    /// How large it was made; null for exact sets, which need no size.
    pub sizing: Option<Sizing>,
    /// Blocks (exact sets: key ranges).
    pub blocks: u64,
    /// Bits a key sets; 0 for exact sets.
    pub k: u32,
    /// False-positive rate asked for, key collisions included; null for exact sets.
    pub target_rate: Option<f64>,
    /// Share of bits set; null for exact sets.
    pub fill: Option<f64>,
    /// False-positive rate by the formula at the realised count, key collisions included.
    pub rate: f64,
    /// The rate of this very filter for random keys, from its bits, key collisions included.
    pub measured_rate: f64,
    /// The rate is over 1.05 times the target.
    pub overfull: bool,
    /// Registers of the distinct-count sketch; null when not kept.
    pub sketch: Option<KeptSketch>,
    /// What a second tier adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_tier: Option<SecondTier>,
    /// The files.
    pub shards: Vec<ShardEntry>,
}

/// The n-grams that at least two documents have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondTier {
    /// Distinct n-grams of each document, summed over the documents: what was inserted.
    pub insertions: u64,
    /// Distinct n-grams that at least two documents have: counted (exact), or from the shares of set bits of both tiers (blocked);
    /// null when every bit is set.
    pub distinct: Option<f64>,
    /// Share of bits set; null for exact sets.
    pub fill: Option<f64>,
    /// Rate at which an n-gram of no document counts as one of two, from the bits, key collisions included. (One of a single document does so at
    /// the set's `rate`.)
    pub measured_rate: f64,
}

impl KeySet {
    /// The sketch of what several sets have together; `None` if one of them keeps none.
    pub fn united_sketch<'a>(sets: impl IntoIterator<Item = &'a KeySet>) -> Option<KeptSketch> {
        sets.into_iter()
            .try_fold(KeptSketch::default(), |mut all, set| {
                all.merge(set.sketch.as_ref()?);
                Some(all)
            })
    }

    /// Geometry of the set in an index of `tiers` tiers.
    pub fn geometry(&self, tiers: u32) -> Geometry {
        Geometry {
            blocks: self.blocks,
            k: self.k,
            tiers,
        }
    }
}

/// A shard file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardEntry {
    /// File name in the index folder.
    pub file: String,
    /// First block (key range).
    pub first_block: u64,
    /// Blocks (key ranges).
    pub blocks: u64,
    /// Size of the file.
    pub bytes: u64,
    /// XXH3-64 of the checksum table, in hexadecimal.
    pub checksum: String,
}

impl Manifest {
    /// Computes the content id and names the shard files after it.
    pub fn seal(&mut self) -> Result<()> {
        self.content_id = String::new();
        self.sets
            .iter_mut()
            .flat_map(|set| &mut set.shards)
            .for_each(|shard| shard.file = String::new());
        let id = blake3::hash(self.to_json().as_bytes()).to_hex()[..32].to_string();
        for set in &mut self.sets {
            let count = set.shards.len();
            for (number, shard) in set.shards.iter_mut().enumerate() {
                shard.file = format!("n{}-{number:04}-of-{count:04}-{}.ngs", set.n, &id[..16]);
            }
        }
        self.content_id = id;
        Ok(())
    }

    /// Puts the sources in an order that does not depend on how they were given.
    pub fn sort_sources(&mut self) {
        self.sources
            .sort_by(|a, b| (&a.name, a.bytes, &a.blake3).cmp(&(&b.name, b.bytes, &b.blake3)));
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data always serialises");
        text.push('\n');
        text
    }

    /// Reads the manifest of the index folder `folder`.
    pub fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(MANIFEST_NAME);
        let no_index = |why: String| Error::NoIndex {
            path: folder.to_path_buf(),
            why,
        };
        let damaged = |why: String| Error::Damaged {
            path: path.clone(),
            why,
        };
        let metadata = match std::fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Err(no_index(if folder.is_dir() {
                    format!("it has no {MANIFEST_NAME}")
                } else {
                    "there is no such folder".into()
                }));
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(no_index("it is not a folder".into()));
            }
            Err(cause) => return Err(Error::io(&path, "open")(cause)),
        };
        if !metadata.is_file() || metadata.len() > MAX_MANIFEST_BYTES {
            return Err(damaged("it is not an index manifest".into()));
        }
        let text = std::fs::read(&path).map_err(Error::io(&path, "read"))?;
        #[derive(Deserialize)]
        struct Version {
            format: String,
            format_version: u64,
        }
        let version: Version = serde_json::from_slice(&text)
            .map_err(|cause| damaged(format!("not an index manifest: {cause}")))?;
        if version.format != FORMAT_NAME {
            return Err(damaged(format!("its format is {:?}", version.format)));
        }
        if version.format_version != u64::from(FORMAT_VERSION) {
            return Err(Error::Version {
                path,
                found: version.format_version,
                known: FORMAT_VERSION.into(),
            });
        }
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|cause| damaged(cause.to_string()))?;
        let mut sealed = manifest.clone();
        sealed.seal()?;
        if sealed != manifest {
            return Err(damaged("its content does not match its content id".into()));
        }
        if !TIERS.contains(&manifest.tiers) {
            return Err(damaged(format!("{} tiers are unknown", manifest.tiers)));
        }
        if manifest.sets.is_empty() {
            return Err(damaged("it lists no set of n-grams".into()));
        }
        Ok(manifest)
    }

    /// Paths of the shard files in `folder`.
    pub fn shard_paths(&self, folder: &Path) -> Vec<PathBuf> {
        self.sets
            .iter()
            .flat_map(|set| &set.shards)
            .map(|shard| folder.join(&shard.file))
            .collect()
    }

    /// The lengths n it has.
    pub fn ns(&self) -> Vec<u32> {
        self.sets.iter().map(|set| set.n).collect()
    }
}
