//! Bytes that are not in a file of this system: read as a stream, or at any place where that is possible.

use std::io::{self, Read};

/// Something that brings the bytes of one source, as often as they are asked for: a program that speaks HTTP, say.
///
/// An error that is a [`FileFault`](super::FileFault) is taken as such: [`FileFault::Changed`](super::FileFault::Changed) where the
/// bytes are no longer those that were found. Both kinds of reading fail when fewer bytes come than there should be.
pub trait Remote: Send + Sync {
    /// The name in messages, reports and ids. It holds no credentials.
    fn name(&self) -> &str;

    /// How many bytes there are, where that is known.
    fn bytes(&self) -> Option<u64>;

    /// Whether [`Remote::read_at`] works, which needs the number of bytes.
    fn at_any_place(&self) -> bool;

    /// All bytes, from the first to the last.
    fn stream(&self) -> io::Result<Box<dyn Read + Send>>;

    /// Exactly the bytes from `offset` that fill `out`.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
}
