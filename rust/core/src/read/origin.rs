//! Where a source is from: how large it is, whether it changed, what its digest is.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::error::FileFault;
use super::open::unchanged;
use super::raw::digest_all;
use super::{InputFile, Remote, Source};

/// What can be asked of a source beside its records.
pub(super) enum Origin {
    File(InputFile),
    Remote(Arc<dyn Remote>),
    Stream,
}

impl Origin {
    pub fn of(source: &Source) -> Origin {
        match source {
            Source::File(file) => Origin::File(file.clone()),
            Source::Remote(remote) => Origin::Remote(Arc::clone(remote)),
            Source::Stream(..) => Origin::Stream,
        }
    }

    pub fn bytes(&self) -> Option<u64> {
        match self {
            Origin::File(file) => Some(file.bytes),
            Origin::Remote(remote) => remote.bytes(),
            Origin::Stream => None,
        }
    }

    /// A fault if it is not as it was when it was found, now that so many bytes have been `read`.
    pub fn unchanged(&self, read: Option<u64>) -> Result<(), FileFault> {
        if let Origin::File(file) = self {
            unchanged(file)?;
        }
        match (self.bytes(), read) {
            (Some(bytes), Some(read)) if read != bytes => Err(FileFault::Changed(format!(
                "{read} bytes read, {bytes} before"
            ))),
            _ => Ok(()),
        }
    }

    /// Digest of all bytes; a stream is gone when it has been read.
    pub fn digest(&self, stop: &AtomicBool) -> Result<Option<String>, FileFault> {
        let (digest, bytes) = match self {
            Origin::File(file) => digest_all(File::open(&file.path)?, stop)?,
            Origin::Remote(remote) => digest_all(remote.stream()?, stop)?,
            Origin::Stream => return Ok(None),
        };
        self.unchanged(Some(bytes))?;
        Ok(Some(digest))
    }
}
