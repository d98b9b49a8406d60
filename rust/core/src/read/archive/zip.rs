//! zip: the members that its directory lists, stored or deflated; checksums and sizes are compared.
//!
//! The `zip` crate reads the directory. Its readers of members borrow the archive, which a pass that goes on from block to
//! block cannot hold, so the members' bytes are read here.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use zip::{CompressionMethod, ZipArchive};

use super::{Members, hidden};
use crate::read::codec::{self, Step, Unpack};
use crate::read::error::FileFault;
use crate::read::places::Places;
use crate::read::raw::Input;

const NAME: &str = "zip archive";

/// The members of a zip archive.
pub(in crate::read) struct Zip {
    archive: ZipArchive<Places>,
    file: Places,
    next: usize,
    progress: Arc<AtomicU64>,
}

impl Zip {
    pub fn new(file: Places, progress: &Arc<AtomicU64>) -> Result<Zip, FileFault> {
        let archive = ZipArchive::new(file.clone())
            .map_err(|error| FileFault::damaged(NAME, error.to_string()))?;
        Ok(Zip {
            archive,
            file,
            next: 0,
            progress: Arc::clone(progress),
        })
    }
}

impl Members for Zip {
    fn next_member(&mut self) -> Result<Option<(String, Input)>, FileFault> {
        while self.next < self.archive.len() {
            let entry = self
                .archive
                .by_index_raw(self.next)
                .map_err(|error| FileFault::damaged(NAME, error.to_string()))?;
            self.next += 1;
            let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
            if !entry.is_file() || hidden(&name) {
                continue;
            }
            if entry.encrypted() {
                return Err(FileFault::refused(
                    format!("zip archive whose {name} is encrypted"),
                    "unpack it first",
                ));
            }
            let inflate = match entry.compression() {
                CompressionMethod::Stored => None,
                CompressionMethod::Deflated => Some(Decompress::new(false)),
                other => {
                    let what = format!("zip archive whose {name} is compressed by {other}");
                    return Err(FileFault::refused(what, "unpack it first"));
                }
            };
            let Some(start) = entry.data_start() else {
                return Err(FileFault::damaged(
                    NAME,
                    format!("{name} has no place in it"),
                ));
            };
            let mut part = self.file.clone();
            part.seek(SeekFrom::Start(start))?;
            let part = part.take(entry.compressed_size());
            self.progress
                .fetch_add(entry.compressed_size(), Ordering::Relaxed);
            let data = Data {
                inflate,
                crc: Crc::new(),
                wanted: entry.crc32(),
                size: entry.size(),
                remaining: entry.size(),
            };
            let members = codec::Members::new(Input::new(Box::new(part)), data);
            return Ok(Some((name, Input::new(Box::new(members)))));
        }
        Ok(None)
    }
}

/// The data of one member.
struct Data {
    /// None: stored as it is.
    inflate: Option<Decompress>,
    crc: Crc,
    wanted: u32,
    size: u64,
    remaining: u64,
}

impl Unpack for Data {
    const NAME: &'static str = NAME;

    fn start(&mut self, _input: &mut Input, first: bool) -> Result<bool, FileFault> {
        Ok(first && (self.size > 0 || self.inflate.is_some()))
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FileFault> {
        let (read, written, done) = match &mut self.inflate {
            None => {
                let count = input
                    .len()
                    .min(output.len())
                    .min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
                output[..count].copy_from_slice(&input[..count]);
                (count, count, count as u64 == self.remaining)
            }
            Some(inflate) => {
                let (read, written) = (inflate.total_in(), inflate.total_out());
                let status = inflate
                    .decompress(input, output, FlushDecompress::None)
                    .map_err(|error| FileFault::damaged(NAME, format!("corrupt data ({error})")))?;
                let counts = (
                    (inflate.total_in() - read) as usize,
                    (inflate.total_out() - written) as usize,
                );
                (counts.0, counts.1, status == Status::StreamEnd)
            }
        };
        self.crc.update(&output[..written]);
        self.remaining = self.remaining.saturating_sub(written as u64);
        Ok(Step {
            read,
            written,
            done,
        })
    }

    fn finish(&mut self, _input: &mut Input) -> Result<(), FileFault> {
        if self.crc.sum() != self.wanted || self.crc.amount() != self.size as u32 {
            return Err(FileFault::damaged(
                NAME,
                "the checksum (CRC-32) or size of a member does not match its data",
            ));
        }
        Ok(())
    }
}
