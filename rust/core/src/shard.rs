//! One file of an index: a contiguous range of a filter's blocks, or of an exact set's keys. Bytes: `docs/index-format.md`.
//!
//! ```text
//! 0       header, 128 bytes, its own checksum last; zeros to 4096
//! 4096    payload: blocks (64 bytes for each tier) or sorted keys (8 bytes each), little-endian
//! …       zeros to a multiple of 64, then one XXH3-64 for each MiB of payload
//! ```

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::math::BLOCK_BYTES;
use crate::memory::Words;

const MAGIC: [u8; 8] = *b"ngrmscp\n";
/// Version of the shard and index formats.
pub const FORMAT_VERSION: u32 = 1;
/// Numbers of tiers there can be.
pub const TIERS: std::ops::RangeInclusive<u32> = 1..=2;
/// Where the payload begins: a page, so that a mapped payload is aligned for any access.
pub const PAYLOAD_OFFSET: u64 = 4096;
/// Payload bytes under one checksum.
pub const CHUNK_BYTES: u64 = 1 << 20;
/// The same in 64-bit words.
pub const CHUNK_WORDS: usize = CHUNK_BYTES as usize / 8;
/// Largest piece handed to the system at once, so that a stop is noticed in time.
const STEP_BYTES: u64 = 64 << 20;
const HEADER_BYTES: usize = 128;

/// What a shard file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of set.
    pub kind: FilterKind,
    /// n-gram length.
    pub n: u32,
    /// Bits a key sets (0 for exact sets).
    pub k: u32,
    /// Number of this shard, from 0.
    pub shard: u32,
    /// How many shards the set has.
    pub shards: u32,
    /// Blocks of the whole filter (exact sets: [`crate::filter::exact::KEY_RANGES`]).
    pub blocks: u64,
    /// The blocks (key ranges) of this shard.
    pub range: Range<u64>,
    /// Bytes of payload.
    pub payload_bytes: u64,
    /// 1: which n-grams there are; 2: also which at least two documents have.
    pub tiers: u32,
}

impl Header {
    fn encode(&self, checksums: &[u8]) -> [u8; HEADER_BYTES] {
        let mut bytes = [0u8; HEADER_BYTES];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        let kind = match self.kind {
            FilterKind::Blocked => 1,
            FilterKind::Exact => 2,
        };
        for value in [
            FORMAT_VERSION,
            kind,
            self.n,
            self.k,
            self.shard,
            self.shards,
        ] {
            put(&value.to_le_bytes());
        }
        for value in [
            self.blocks,
            self.range.start,
            self.range.end,
            PAYLOAD_OFFSET,
            self.payload_bytes,
            CHUNK_BYTES,
            xxh3_64(checksums),
        ] {
            put(&value.to_le_bytes());
        }
        put(&self.tiers.to_le_bytes());
        let own = xxh3_64(&bytes[..HEADER_BYTES - 8]);
        bytes[HEADER_BYTES - 8..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// Reads a header and checks everything that can be checked without the payload.
    fn decode(bytes: &[u8], path: &Path) -> Result<(Header, u64)> {
        let damaged = |why: String| Error::Damaged {
            path: path.to_path_buf(),
            why,
        };
        if bytes.len() < HEADER_BYTES {
            return Err(damaged(format!(
                "{} bytes are too few for a header",
                bytes.len()
            )));
        }
        let u32_at =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if bytes[..8] != MAGIC {
            return Err(damaged(
                "it does not begin like an ngramscope index file".into(),
            ));
        }
        if u32_at(8) != FORMAT_VERSION {
            return Err(Error::Version {
                path: path.to_path_buf(),
                found: u32_at(8).into(),
                known: FORMAT_VERSION.into(),
            });
        }
        if xxh3_64(&bytes[..HEADER_BYTES - 8]) != u64_at(HEADER_BYTES - 8) {
            return Err(damaged("the header's checksum is wrong".into()));
        }
        let kind = match u32_at(12) {
            1 => FilterKind::Blocked,
            2 => FilterKind::Exact,
            other => return Err(damaged(format!("unknown kind {other}"))),
        };
        if u64_at(56) != PAYLOAD_OFFSET || u64_at(72) != CHUNK_BYTES || !TIERS.contains(&u32_at(88))
        {
            return Err(damaged("unknown layout".into()));
        }
        let header = Header {
            kind,
            n: u32_at(16),
            k: u32_at(20),
            shard: u32_at(24),
            shards: u32_at(28),
            blocks: u64_at(32),
            range: u64_at(40)..u64_at(48),
            payload_bytes: u64_at(64),
            tiers: u32_at(88),
        };
        Ok((header, u64_at(80)))
    }

    fn chunks(&self) -> u64 {
        self.payload_bytes.div_ceil(CHUNK_BYTES)
    }

    fn checksums_offset(&self) -> u64 {
        PAYLOAD_OFFSET + self.payload_bytes.next_multiple_of(64)
    }

    /// Size of the whole file.
    pub fn file_bytes(&self) -> u64 {
        self.checksums_offset() + self.chunks() * 8
    }
}

/// Writes a shard under a temporary name; chunks may come from several threads and in any order.
pub struct ShardWriter {
    path: PathBuf,
    file: File,
}

impl ShardWriter {
    /// Creates the file at `path`, a name that must not exist.
    pub fn create(path: &Path) -> Result<ShardWriter> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(Error::io(path, "create"))?;
        Ok(ShardWriter {
            path: path.to_path_buf(),
            file,
        })
    }

    /// Opens a file again that another writer has begun.
    pub fn reopen(path: &Path) -> Result<ShardWriter> {
        let file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .map_err(Error::io(path, "open"))?;
        Ok(ShardWriter {
            path: path.to_path_buf(),
            file,
        })
    }

    /// Reads payload bytes at `offset`.
    pub fn read(&self, offset: u64, payload: &mut [u8]) -> Result<()> {
        read_at(&self.file, payload, PAYLOAD_OFFSET + offset).map_err(Error::io(&self.path, "read"))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes payload bytes at `offset`, a multiple of [`CHUNK_BYTES`], and returns the checksums of its chunks.
    pub fn write_chunks(&self, offset: u64, payload: &[u8]) -> Result<Vec<u64>> {
        debug_assert_eq!(offset % CHUNK_BYTES, 0);
        write_at(&self.file, payload, PAYLOAD_OFFSET + offset)
            .map_err(Error::io(&self.path, "write"))?;
        Ok(payload.chunks(CHUNK_BYTES as usize).map(xxh3_64).collect())
    }

    /// Adds header and checksum table; returns the table's own checksum, which stands for the whole payload.
    pub fn finish(&self, header: &Header, checksums: &[u64]) -> Result<u64> {
        assert_eq!(
            checksums.len() as u64,
            header.chunks(),
            "one checksum a chunk"
        );
        let table: Vec<u8> = checksums.iter().flat_map(|c| c.to_le_bytes()).collect();
        write_at(&self.file, &table, header.checksums_offset())
            .map_err(Error::io(&self.path, "write"))?;
        self.file
            .set_len(header.file_bytes())
            .map_err(Error::io(&self.path, "write"))?;
        write_at(&self.file, &header.encode(&table), 0).map_err(Error::io(&self.path, "write"))?;
        Ok(xxh3_64(&table))
    }

    /// Brings the file to the disk in steps, asking `stop` between them.
    pub fn sync(&self, stop: &dyn Fn() -> bool) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let len = self
                .file
                .metadata()
                .map_err(Error::io(&self.path, "read the size of"))?
                .len();
            for offset in (0..len).step_by(STEP_BYTES as usize) {
                if stop() {
                    return Err(Error::Interrupted);
                }
                let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
                    | libc::SYNC_FILE_RANGE_WRITE
                    | libc::SYNC_FILE_RANGE_WAIT_AFTER;
                // SAFETY: a system call on an open descriptor. Its failure is no error: the sync below decides.
                unsafe {
                    libc::sync_file_range(
                        self.file.as_raw_fd(),
                        offset as i64,
                        STEP_BYTES as i64,
                        flags,
                    )
                };
            }
        }
        if stop() {
            return Err(Error::Interrupted);
        }
        self.file.sync_all().map_err(Error::io(&self.path, "sync"))
    }
}

/// Positioned write of all of `bytes`.
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            done += std::os::windows::fs::FileExt::seek_write(
                file,
                &bytes[done..],
                offset + done as u64,
            )?;
        }
        Ok(())
    }
}

/// Positioned read of all of `bytes`.
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            let got = std::os::windows::fs::FileExt::seek_read(
                file,
                &mut bytes[done..],
                offset + done as u64,
            )?;
            if got == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            done += got;
        }
        Ok(())
    }
}

/// The payload of an open shard: mapped, or copied into huge pages.
enum Payload {
    Mapped(Mmap),
    Loaded(Words),
}

/// A shard opened for reading.
pub struct Shard {
    path: PathBuf,
    header: Header,
    payload: Payload,
    /// Checksum of the checksum table.
    table_checksum: u64,
}

impl Shard {
    /// Maps the file; checks header, sizes and the checksum table, not the payload ([`Shard::verify`] does). Allocates nothing of size.
    pub fn open(path: &Path) -> Result<Shard> {
        let damaged = |why: String| Error::Damaged {
            path: path.to_path_buf(),
            why,
        };
        // Before opening: a pipe would wait for a writer.
        let metadata = std::fs::metadata(path).map_err(Error::io(path, "open"))?;
        if !metadata.is_file() {
            return Err(damaged("it is not a file".into()));
        }
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let metadata = file.metadata().map_err(Error::io(path, "open"))?;
        // SAFETY: index files are replaced by renaming, never changed or cut in place, so the map stays valid.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path, "map"))?;
        let (header, table_checksum) = Header::decode(&map, path)?;
        let unit = match header.kind {
            FilterKind::Blocked => BLOCK_BYTES * u64::from(header.tiers),
            FilterKind::Exact => 8,
        };
        let blocks_fit =
            header.range.start <= header.range.end && header.range.end <= header.blocks;
        let size_fits = header.payload_bytes % unit == 0
            && header.payload_bytes <= metadata.len()
            && (header.kind == FilterKind::Exact
                || header
                    .range
                    .end
                    .checked_sub(header.range.start)
                    .and_then(|blocks| blocks.checked_mul(unit))
                    == Some(header.payload_bytes));
        let k_fits = match header.kind {
            FilterKind::Blocked => (1..=crate::filter::math::MAX_K).contains(&header.k),
            FilterKind::Exact => header.k == 0,
        };
        if !(blocks_fit && size_fits && k_fits) {
            return Err(damaged("the header contradicts itself".into()));
        }
        if metadata.len() != header.file_bytes() {
            return Err(damaged(format!(
                "it has {} bytes instead of {}",
                metadata.len(),
                header.file_bytes()
            )));
        }
        if xxh3_64(&map[header.checksums_offset() as usize..]) != table_checksum {
            return Err(damaged("the checksum table is wrong".into()));
        }
        let payload_end = (PAYLOAD_OFFSET + header.payload_bytes) as usize;
        let padding = [
            HEADER_BYTES..PAYLOAD_OFFSET as usize,
            payload_end..header.checksums_offset() as usize,
        ];
        if padding
            .into_iter()
            .any(|range| map[range].iter().any(|&byte| byte != 0))
        {
            return Err(damaged(
                "there is something between header, payload and checksums".into(),
            ));
        }
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Random);
        Ok(Shard {
            path: path.to_path_buf(),
            header,
            payload: Payload::Mapped(map),
            table_checksum,
        })
    }

    /// Copies the payload into huge pages; queries then touch no file.
    pub fn load(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        let mut words =
            Words::zeroed(self.words().len()).map_err(Error::io(&self.path, "take memory for"))?;
        let step = (STEP_BYTES / 8) as usize;
        for (to, from) in words
            .as_mut_slice()
            .chunks_mut(step)
            .zip(self.words().chunks(step))
        {
            if stop() {
                return Err(Error::Interrupted);
            }
            to.copy_from_slice(from);
        }
        self.payload = Payload::Loaded(words);
        Ok(())
    }

    /// What the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Checksum of the checksum table.
    pub fn table_checksum(&self) -> u64 {
        self.table_checksum
    }

    /// The payload as 64-bit words.
    pub fn words(&self) -> &[u64] {
        match &self.payload {
            Payload::Mapped(map) => {
                let bytes = &map[PAYLOAD_OFFSET as usize
                    ..(PAYLOAD_OFFSET + self.header.payload_bytes) as usize];
                // SAFETY: the payload begins at a page of the map, so it is aligned; any bit pattern is a valid u64.
                unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 8) }
            }
            Payload::Loaded(words) => words.as_slice(),
        }
    }

    /// How many chunks the payload has.
    pub fn chunks(&self) -> usize {
        self.header.chunks() as usize
    }

    /// The words of a chunk as they are in the file, not compared with anything.
    pub fn unchecked_chunk(&self, number: usize) -> &[u64] {
        let start = number * CHUNK_WORDS;
        &self.words()[start..self.words().len().min(start + CHUNK_WORDS)]
    }

    /// The words of a chunk, if they match its checksum.
    pub fn chunk(&self, number: usize) -> Result<&[u64]> {
        let Payload::Mapped(map) = &self.payload else {
            return Err(Error::Replaced {
                path: self.path.clone(),
            });
        };
        let table = &map[self.header.checksums_offset() as usize..];
        let words = self.unchecked_chunk(number);
        // SAFETY: viewing words as bytes.
        let bytes =
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 8) };
        if xxh3_64(bytes).to_le_bytes() != table[number * 8..][..8] {
            return Err(Error::Damaged {
                path: self.path.clone(),
                why: format!("MiB {number} of the payload does not match its checksum"),
            });
        }
        Ok(words)
    }

    /// Compares the payload with its checksums, and the order of an exact set's keys; `step` is told of the bytes done and may stop.
    pub fn verify(&self, step: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        // Opened anew: this map is advised for random access, and a loaded one is gone. An index that was replaced since has only the map.
        let opened = match Shard::open(&self.path) {
            Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let file = opened.as_ref().unwrap_or(self);
        let (mut last, mut last_but_one) = (None, None);
        for number in 0..file.chunks() {
            let words = file.chunk(number)?;
            if self.header.kind == FilterKind::Exact {
                for &key in words {
                    let bound = if self.header.tiers == 1 {
                        last
                    } else {
                        last_but_one
                    };
                    if last > Some(key) || bound >= Some(key) {
                        return Err(Error::Damaged {
                            path: self.path.clone(),
                            why: format!("the keys in MiB {number} are not in order"),
                        });
                    }
                    (last_but_one, last) = (last, Some(key));
                }
            }
            step(words.len() as u64 * 8)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(dir: &Path, keys: &[u64]) -> PathBuf {
        let path = dir.join("shard");
        let writer = ShardWriter::create(&path).expect("create");
        let payload: Vec<u8> = keys.iter().flat_map(|k| k.to_le_bytes()).collect();
        let checksums = writer.write_chunks(0, &payload).expect("write");
        let header = Header {
            kind: FilterKind::Exact,
            n: 7,
            k: 0,
            shard: 0,
            shards: 1,
            blocks: 1 << 32,
            range: 0..1 << 32,
            payload_bytes: payload.len() as u64,
            tiers: 1,
        };
        writer.finish(&header, &checksums).expect("finish");
        path
    }

    #[test]
    fn round_trip_and_every_flipped_byte_is_found() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let keys: Vec<u64> = (0..10).map(|i| i * 1000).collect();
        let path = sample(dir.path(), &keys);
        let shard = Shard::open(&path).expect("open");
        assert_eq!(shard.words(), keys);
        shard.verify(&mut |_| Ok(())).expect("sound");
        let good = std::fs::read(&path).expect("read");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            let other = dir.path().join("bad");
            std::fs::write(&other, &bad).expect("write");
            let found = Shard::open(&other).and_then(|shard| shard.verify(&mut |_| Ok(())));
            assert!(found.is_err(), "byte {at}");
        }
        for cut in [0, 10, 127, 4095, good.len() / 2, good.len() - 1] {
            let other = dir.path().join("cut");
            std::fs::write(&other, &good[..cut]).expect("write");
            assert!(Shard::open(&other).is_err(), "cut at {cut}");
        }
    }
}
