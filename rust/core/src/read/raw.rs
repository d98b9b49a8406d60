//! The bytes of a file: counted, digested, and buffered so that decoders can look ahead.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How much is read at once. Small enough that the bytes are still in the cache when they are hashed and searched.
pub(super) const CHUNK: usize = 256 << 10;

/// What is known of the bytes that went through a [`Raw`].
pub(super) struct Meter {
    digest: Mutex<Option<blake3::Hasher>>,
    bytes: AtomicU64,
}

impl Meter {
    pub fn new(digest: bool) -> Arc<Meter> {
        Arc::new(Meter {
            digest: Mutex::new(digest.then(blake3::Hasher::new)),
            bytes: AtomicU64::new(0),
        })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that did not pass through a [`Raw`].
    pub fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The digest of all bytes so far, in hexadecimal.
    pub fn digest(&self) -> Option<String> {
        let digest = self.digest.lock().unwrap_or_else(PoisonError::into_inner);
        digest
            .as_ref()
            .map(|hasher| hasher.finalize().to_hex().to_string())
    }
}

/// A reader that meters what passes, and adds it to the corpus' progress.
pub(super) struct Raw {
    inner: Box<dyn Read + Send>,
    meter: Arc<Meter>,
    progress: Arc<AtomicU64>,
}

impl Raw {
    pub fn new(inner: Box<dyn Read + Send>, meter: Arc<Meter>, progress: Arc<AtomicU64>) -> Raw {
        Raw {
            inner,
            meter,
            progress,
        }
    }
}

impl Read for Raw {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = loop {
            match self.inner.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        let mut digest = self
            .meter
            .digest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(hasher) = digest.as_mut() {
            hasher.update(&out[..got]);
        }
        self.meter.bytes.fetch_add(got as u64, Ordering::Relaxed);
        self.progress.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// Digest of a whole source, for formats that are not read front to back, and how many bytes it has.
pub(super) fn digest_all(mut file: impl Read, stop: &AtomicBool) -> io::Result<(String, u64)> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        match file.read(&mut buffer) {
            Ok(0) => return Ok((hasher.finalize().to_hex().to_string(), hasher.count())),
            Ok(got) => {
                hasher.update(&buffer[..got]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// BLAKE3 digest of the first `bytes` of a file, or of all of it where it has fewer, in hexadecimal. An error once `stop` is set.
pub fn digest_beginning(path: &Path, bytes: u64, stop: &AtomicBool) -> io::Result<String> {
    digest_all(File::open(path)?.take(bytes), stop).map(|(digest, _)| digest)
}

/// BLAKE3 digest of a file's bytes, in hexadecimal. An error once `stop` is set.
pub fn digest_file(path: &Path, stop: &AtomicBool) -> io::Result<String> {
    digest_all(File::open(path)?, stop).map(|(digest, _)| digest)
}

/// A buffered reader that can be asked for a number of bytes without consuming them.
pub(super) struct Input {
    inner: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// An error met while looking ahead; it comes up when the bytes before it have been read.
    error: Option<io::Error>,
}

impl Input {
    pub fn new(inner: Box<dyn Read + Send>) -> Input {
        Input {
            inner,
            buffer: vec![0; 64 << 10],
            start: 0,
            end: 0,
            error: None,
        }
    }

    /// The next bytes: at least `wanted` (up to the buffer's size) unless the end comes before.
    pub fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        let wanted = wanted.min(self.buffer.len());
        if self.end - self.start < wanted {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            while self.end < wanted && self.error.is_none() {
                match self.inner.read(&mut self.buffer[self.end..]) {
                    Ok(0) => break,
                    Ok(got) => self.end += got,
                    Err(error) => self.error = Some(error),
                }
            }
            if self.end == 0
                && let Some(error) = self.error.take()
            {
                return Err(error);
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && self.error.is_none() && out.len() >= self.buffer.len() {
            return self.inner.read(out);
        }
        let have = self.fill_buf()?;
        let take = have.len().min(out.len());
        out[..take].copy_from_slice(&have[..take]);
        self.consume(take);
        Ok(take)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, amount: usize) {
        self.start = (self.start + amount).min(self.end);
    }
}
