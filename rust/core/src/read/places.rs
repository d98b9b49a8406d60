//! Reading by jumping about: in a file, or in something remote through a cache of blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use super::error::FileFault;
use super::remote::Remote;

/// What is asked of a remote source at once. A request costs a round trip, so far more than a page; a table is read column by
/// column, so a few blocks are kept for each open source.
const BLOCK: u64 = 4 << 20;
const KEPT: usize = 8;

/// Bytes that can be read at any place. Clones share the bytes and have places of their own.
#[derive(Clone)]
pub(super) struct Places {
    of: Arc<Of>,
    bytes: u64,
    at: u64,
}

enum Of {
    File(File),
    Remote {
        remote: Arc<dyn Remote>,
        /// The blocks used last, the last one in front.
        blocks: Mutex<VecDeque<(u64, Arc<[u8]>)>>,
        fault: Mutex<Option<FileFault>>,
    },
}

impl Places {
    pub fn of_file(file: File) -> io::Result<Places> {
        let bytes = file.metadata()?.len();
        Ok(Places {
            of: Arc::new(Of::File(file)),
            bytes,
            at: 0,
        })
    }

    /// None where the source can only be read front to back.
    pub fn of_remote(remote: &Arc<dyn Remote>) -> Option<Places> {
        let bytes = remote.bytes().filter(|_| remote.at_any_place())?;
        Some(Places {
            of: Arc::new(Of::Remote {
                remote: Arc::clone(remote),
                blocks: Mutex::default(),
                fault: Mutex::default(),
            }),
            bytes,
            at: 0,
        })
    }

    pub fn size(&self) -> u64 {
        self.bytes
    }

    /// Why bytes did not come, if they did not. Decoders report only that they lack them.
    pub fn fault(&self) -> Option<FileFault> {
        match &*self.of {
            Of::File(_) => None,
            Of::Remote { fault, .. } => lock(fault).clone(),
        }
    }

    /// Some of the bytes at the place, at least one unless it is the end.
    fn some(&self, out: &mut [u8]) -> io::Result<usize> {
        match &*self.of {
            Of::File(file) => file.read_at(out, self.at),
            Of::Remote {
                remote,
                blocks,
                fault,
            } => {
                if self.at >= self.bytes {
                    return Ok(0);
                }
                let number = self.at / BLOCK;
                let mut blocks = lock(blocks);
                let block = match blocks.iter().position(|(have, _)| *have == number) {
                    Some(have) => blocks.remove(have).map(|(_, block)| block),
                    None => None,
                };
                let block = match block {
                    Some(block) => block,
                    None => {
                        let size = BLOCK.min(self.bytes - number * BLOCK);
                        let mut block = vec![0; size as usize];
                        if let Err(error) = remote.read_at(number * BLOCK, &mut block) {
                            let found = FileFault::from(error);
                            let error = io::Error::from(found.clone());
                            lock(fault).get_or_insert(found);
                            return Err(error);
                        }
                        block.into()
                    }
                };
                let from = &block[(self.at - number * BLOCK) as usize..];
                let got = from.len().min(out.len());
                out[..got].copy_from_slice(&from[..got]);
                blocks.push_front((number, block));
                blocks.truncate(KEPT);
                Ok(got)
            }
        }
    }
}

impl Read for Places {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.some(out)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Seek for Places {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::other("a place before the beginning"))?;
        Ok(self.at)
    }
}

impl Length for Places {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Places {
    type T = BufReader<Places>;

    fn get_read(&self, start: u64) -> ParquetResult<BufReader<Places>> {
        Ok(BufReader::new(Places {
            at: start,
            ..self.clone()
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // Not allocated before the bytes are there: the length comes from the file.
        let mut bytes = Vec::new();
        let reader = Places {
            at: start,
            ..self.clone()
        };
        let got = reader.take(length as u64).read_to_end(&mut bytes)?;
        if got != length {
            let message = format!("{length} bytes expected at {start}, {got} read");
            return Err(parquet::errors::ParquetError::EOF(message));
        }
        Ok(bytes.into())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
