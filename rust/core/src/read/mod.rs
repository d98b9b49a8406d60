//! Files to records, in blocks that several threads pull from one [`Corpus`].

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What to read and how to treat what cannot be used.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Key of the text; dots step into nested objects or structs (`meta.text`). A key with that literal name wins.
    pub text_key: String,
    /// Key of the id, likewise; missing ids are allowed.
    pub id_key: String,
    /// Further keys to carry along as raw JSON (empty for building).
    pub fields: Vec<String>,
    /// Plain-text files: one document a line instead of one a file.
    pub text_lines: bool,
    /// Texts are lists of integers (word mode `ids`); handed on as decimals joined by single spaces.
    pub ids: bool,
    /// Records longer than this are unusable (`record_too_long`), never silently cut.
    pub max_record_bytes: usize,
    /// Largest zstd window accepted, as a power of two (31 = 2 GiB).
    pub max_window_log: u32,
    /// Largest Parquet column chunk accepted, uncompressed.
    pub max_column_chunk_bytes: usize,
    /// How many unusable records are left out before it is an error. 0 = strict.
    pub max_bad_records: u64,
    /// How many unusable (damaged, unreadable) files are left out before it is an error. 0 = strict.
    pub max_bad_files: u64,
    /// Compute BLAKE3 digests of the files' bytes while reading.
    pub digests: bool,
    /// How many files may be read at the same time; 1 delivers blocks in order.
    pub parallel_files: usize,
    /// Target size of a block, bytes of records.
    pub block_bytes: usize,
}

/// A file to read, found by [`discover`].
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its name without host-specific prefix: relative to the deepest folder that holds all inputs; `/` as separator.
    pub name: String,
    /// Size in bytes at discovery.
    pub bytes: u64,
    /// Modification time at discovery; with the size it tells whether a file changed between passes.
    pub modified: std::time::SystemTime,
}

/// One source of records.
pub enum Source {
    /// A file; can be read again.
    File(InputFile),
    /// Standard input, a pipe: JSON Lines (possibly compressed), read once.
    Stream(String, Box<dyn Read + Send>),
}

/// Why a record or file could not be used. `Display` is the sentence for users; `code()` the stable name in counts.
pub type Reason = &'static str;
