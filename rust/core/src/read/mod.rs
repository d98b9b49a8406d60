//! Files to records, in blocks that several threads pull from one [`Corpus`].
//!
//! ```text
//! discover ─▶ InputFile ─open─▶ bytes ─codec─▶ Cut ─blocks─▶ Block::for_each ─▶ Record
//!                               └ one thread at a time, by source ┘  └ any thread, by block ┘
//! ```
//!
//! What has to be sequential (reading, digest, decompression, finding line ends) is done under the lock of a source; the
//! rest (UTF-8, JSON) is done by the thread that pulled the block. `docs/reading.md` has the rules for users.

mod archive;
mod block;
mod codec;
mod columnar;
mod corpus;
mod cut;
mod discover;
mod error;
mod json;
mod jsonl;
mod keys;
mod open;
mod origin;
mod part;
mod places;
mod position;
mod raw;
mod reason;
mod remote;
mod report;
mod shape;
mod slot;
mod tally;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use block::{Block, Place, Record};
pub use corpus::Corpus;
pub use discover::{Wanted, discover, discover_until};
pub use error::{FileFault, ReadError};
pub use open::container;
pub use part::{Access, Part, access};
pub use position::Position;
pub use raw::{digest_beginning, digest_file};
pub use reason::Reason;
pub use remote::Remote;
pub use report::{BadRecord, ReadReport, SAMPLES, SourceReport};

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
    /// Largest zstd window (and xz dictionary) accepted, as a power of two (31 = 2 GiB).
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
    /// Once true, the pass ends as soon as it can: no block is handed out, and long records are not read to their end.
    pub stop: Arc<AtomicBool>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            text_key: "text".to_owned(),
            id_key: "id".to_owned(),
            fields: Vec::new(),
            text_lines: false,
            ids: false,
            max_record_bytes: 512 << 20,
            max_window_log: 27,
            max_column_chunk_bytes: 4 << 30,
            max_bad_records: 0,
            max_bad_files: 0,
            digests: true,
            parallel_files: 1,
            block_bytes: 1 << 20,
            stop: Arc::default(),
        }
    }
}

impl ReadOptions {
    fn keys(&self) -> keys::Keys {
        keys::Keys::new(&self.text_key, &self.id_key, &self.fields)
    }

    /// Refuses values that make no sense, by the option's name.
    fn check(&self) -> Result<(), ReadError> {
        let option = |option, value: String, why: &str| {
            Err(ReadError::Option {
                option,
                value,
                why: why.to_owned(),
            })
        };
        for (name, key) in [("text-key", &self.text_key), ("id-key", &self.id_key)] {
            if key.is_empty() {
                return option(name, String::new(), "a key has at least one character");
            }
        }
        if !(10..=codec::LARGEST_WINDOW_LOG).contains(&self.max_window_log) {
            return option(
                "max-window-log",
                self.max_window_log.to_string(),
                "from 10 (1 KiB) to 31 (2 GiB)",
            );
        }
        for (name, value) in [
            ("max-record-size", self.max_record_bytes),
            ("max-column-chunk", self.max_column_chunk_bytes),
            ("parallel-files", self.parallel_files),
            ("block-bytes", self.block_bytes),
        ] {
            if value == 0 {
                return option(name, value.to_string(), "at least 1");
            }
        }
        Ok(())
    }
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
    /// Bytes that another program brings; can be read again.
    Remote(Arc<dyn Remote>),
    /// Standard input, a pipe: JSON Lines (possibly compressed), read once.
    Stream(String, Box<dyn Read + Send>),
}

impl Source {
    /// Its name in reports.
    pub fn name(&self) -> &str {
        match self {
            Source::File(file) => &file.name,
            Source::Remote(remote) => remote.name(),
            Source::Stream(name, _) => name,
        }
    }

    /// How many bytes it has, where that is known.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Source::File(file) => Some(file.bytes),
            Source::Remote(remote) => remote.bytes(),
            Source::Stream(..) => None,
        }
    }
}
