//! tar, read front to back (the whole may be compressed): old, ustar, GNU and pax headers.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tar::{EntryType, Header, PaxExtensions};

use super::{Members, hidden};
use crate::read::error::FileFault;
use crate::read::raw::Input;

const NAME: &str = "tar archive";
const BLOCK: u64 = 512;

/// Long names and pax records beyond this are no names.
const MAX_EXTENSION: u64 = 1 << 20;

/// Whether a file that begins with these bytes is a tar archive.
pub(in crate::read) fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The members of a tar archive.
pub(in crate::read) struct Tar(Arc<Mutex<Stream>>);

/// The archive's bytes, shared by the walk over members and the reader of the current one.
struct Stream {
    input: Input,
    /// Bytes of the current member that have not been read, and of the padding behind them.
    remaining: u64,
    padding: u64,
}

/// What extension headers say about the member that follows.
#[derive(Default)]
struct Extended {
    name: Option<String>,
    size: Option<u64>,
}

impl Tar {
    pub fn new(input: Input) -> Tar {
        Tar(Arc::new(Mutex::new(Stream {
            input,
            remaining: 0,
            padding: 0,
        })))
    }
}

impl Members for Tar {
    fn next_member(&mut self) -> Result<Option<(String, Input)>, FileFault> {
        let mut stream = lock(&self.0);
        let mut extended = Extended::default();
        loop {
            stream.skip_rest()?;
            let Some(header) = stream.header()? else {
                return Ok(None);
            };
            let bad = |error: io::Error| FileFault::damaged(NAME, error.to_string());
            let kind = header.entry_type();
            let own = header.entry_size().map_err(bad)?;
            let size = if kind.is_file() || kind.is_contiguous() {
                extended.size.unwrap_or(own)
            } else {
                own
            };
            stream.remaining = size;
            stream.padding = size.next_multiple_of(BLOCK) - size;
            match kind {
                EntryType::GNULongName => {
                    let name = stream.extension()?;
                    let end = memchr::memchr(0, &name).unwrap_or(name.len());
                    extended.name = Some(String::from_utf8_lossy(&name[..end]).into_owned());
                }
                EntryType::XHeader => {
                    let records = stream.extension()?;
                    for record in PaxExtensions::new(&records) {
                        let record = record.map_err(bad)?;
                        match record.key() {
                            Ok("path") => {
                                extended.name =
                                    Some(String::from_utf8_lossy(record.value_bytes()).into_owned())
                            }
                            Ok("size") => {
                                extended.size =
                                    record.value().ok().and_then(|size| size.parse().ok())
                            }
                            _ => {}
                        }
                    }
                }
                EntryType::GNUSparse => {
                    return Err(FileFault::refused(
                        "tar archive with sparse files",
                        "unpack it first",
                    ));
                }
                _ if kind.is_file() || kind.is_contiguous() => {
                    let Extended { name, .. } = std::mem::take(&mut extended);
                    let name = name.unwrap_or_else(|| {
                        String::from_utf8_lossy(&header.path_bytes()).into_owned()
                    });
                    let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
                    if hidden(&name) || name.ends_with('/') {
                        continue;
                    }
                    drop(stream);
                    return Ok(Some((
                        name,
                        Input::new(Box::new(Member(Arc::clone(&self.0)))),
                    )));
                }
                // Folders, links, devices: nothing to read. Labels and global headers: nothing about one member.
                _ => extended = Extended::default(),
            }
        }
    }
}

impl Stream {
    /// The next header; none at the end mark, after which there are only zeros.
    fn header(&mut self) -> Result<Option<Header>, FileFault> {
        let mut block = [0; BLOCK as usize];
        self.input
            .read_exact(&mut block)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => cut_off(),
                _ => error.into(),
            })?;
        if block == [0; BLOCK as usize] {
            loop {
                let data = self.input.fill_buf()?;
                if data.is_empty() {
                    return Ok(None);
                }
                if data.iter().any(|&byte| byte != 0) {
                    return Err(FileFault::damaged(
                        NAME,
                        "something else follows its end mark",
                    ));
                }
                let all = data.len();
                self.input.consume(all);
            }
        }
        let header = Header::from_byte_slice(&block).clone();
        let sum: u32 = (0..)
            .zip(block)
            .map(|(at, byte)| {
                if (148..156).contains(&at) {
                    32
                } else {
                    u32::from(byte)
                }
            })
            .sum();
        if header.cksum().ok() != Some(sum) {
            return Err(FileFault::damaged(
                NAME,
                "the checksum of a member's header does not match",
            ));
        }
        Ok(Some(header))
    }

    /// The data of an extension header.
    fn extension(&mut self) -> Result<Vec<u8>, FileFault> {
        if self.remaining > MAX_EXTENSION {
            return Err(FileFault::damaged(NAME, "a name of more than a megabyte"));
        }
        let mut data = vec![0; self.remaining as usize];
        self.input.read_exact(&mut data).map_err(|_| cut_off())?;
        self.remaining = 0;
        Ok(data)
    }

    fn skip_rest(&mut self) -> Result<(), FileFault> {
        let mut rest = self.remaining + self.padding;
        (self.remaining, self.padding) = (0, 0);
        while rest > 0 {
            let data = self.input.fill_buf()?;
            if data.is_empty() {
                return Err(cut_off());
            }
            let skipped = data.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
            self.input.consume(skipped);
            rest -= skipped as u64;
        }
        Ok(())
    }
}

/// The bytes of the current member.
struct Member(Arc<Mutex<Stream>>);

impl Read for Member {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut stream = lock(&self.0);
        let room = out
            .len()
            .min(usize::try_from(stream.remaining).unwrap_or(usize::MAX));
        if room == 0 {
            return Ok(0);
        }
        let got = stream.input.read(&mut out[..room])?;
        if got == 0 {
            return Err(cut_off().into());
        }
        stream.remaining -= got as u64;
        Ok(got)
    }
}

fn lock(stream: &Mutex<Stream>) -> MutexGuard<'_, Stream> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cut_off() -> FileFault {
    FileFault::damaged(NAME, "it is cut off; get it again")
}
