//! gzip (RFC 1952): any number of members, also empty ones; checksums and sizes are compared; zeros behind the last
//! member are padding, anything else there is damage.

use std::io::{self, BufRead, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::{Codec, Input, Members, Step, Unpack, cut_off, garbage, only_zeros};
use crate::read::error::FileFault;

pub(super) const CODEC: Codec = Codec {
    name: NAME,
    sniff: |head| head.starts_with(&MAGIC),
    open: |input, _| Ok(Box::new(Members::new(input, Gzip::new()))),
    endings: &["gz", "gzip", "bgz"],
};

const NAME: &str = "gzip";
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Header flags.
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const FILE_NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

struct Gzip {
    inflate: Decompress,
    crc: Crc,
    /// An error found in a step that also gave data: the data goes first.
    failed: Option<FileFault>,
}

impl Gzip {
    fn new() -> Gzip {
        Gzip {
            inflate: Decompress::new(false),
            crc: Crc::new(),
            failed: None,
        }
    }
}

impl Unpack for Gzip {
    const NAME: &'static str = NAME;

    fn start(&mut self, input: &mut Input, first: bool) -> Result<bool, FileFault> {
        let head = input.peek(2)?;
        if !head.starts_with(&MAGIC) {
            if head.is_empty() || (!first && only_zeros(input)?) {
                return Ok(false);
            }
            return Err(garbage(NAME));
        }
        header(input)?;
        self.inflate.reset(false);
        self.crc.reset();
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FileFault> {
        if let Some(fault) = self.failed.take() {
            return Err(fault);
        }
        let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(input, output, FlushDecompress::None);
        let read = (self.inflate.total_in() - read) as usize;
        let written = (self.inflate.total_out() - written) as usize;
        self.crc.update(&output[..written]);
        let done = match status {
            Ok(status) => status == Status::StreamEnd,
            Err(error) => {
                let fault = FileFault::damaged(
                    NAME,
                    format!(
                        "corrupt data ({})",
                        error.message().unwrap_or("invalid stream")
                    ),
                );
                if written == 0 {
                    return Err(fault);
                }
                self.failed = Some(fault);
                false
            }
        };
        Ok(Step {
            read,
            written,
            done,
        })
    }

    fn finish(&mut self, input: &mut Input) -> Result<(), FileFault> {
        let mut trailer = [0; 8];
        take(input, &mut trailer)?;
        let [c0, c1, c2, c3, s0, s1, s2, s3] = trailer;
        if u32::from_le_bytes([c0, c1, c2, c3]) != self.crc.sum() {
            return Err(FileFault::damaged(
                NAME,
                "the checksum (CRC-32) does not match the data",
            ));
        }
        if u32::from_le_bytes([s0, s1, s2, s3]) != self.crc.amount() {
            return Err(FileFault::damaged(
                NAME,
                "the size noted at the end does not match the data",
            ));
        }
        Ok(())
    }
}

fn header(input: &mut Input) -> Result<(), FileFault> {
    let mut fixed = [0; 10];
    take(input, &mut fixed)?;
    let (method, flags) = (fixed[2], fixed[3]);
    if method != 8 || flags & RESERVED != 0 {
        return Err(FileFault::damaged(NAME, "a member's header is not valid"));
    }
    if flags & EXTRA != 0 {
        let mut length = [0; 2];
        take(input, &mut length)?;
        let mut extra = vec![0; usize::from(u16::from_le_bytes(length))];
        take(input, &mut extra)?;
    }
    for field in [FILE_NAME, COMMENT] {
        if flags & field != 0 {
            skip_text(input)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        take(input, &mut [0; 2])?;
    }
    Ok(())
}

/// Skips a zero-terminated text.
fn skip_text(input: &mut Input) -> Result<(), FileFault> {
    loop {
        let data = input.fill_buf()?;
        if data.is_empty() {
            return Err(cut_off(NAME));
        }
        match memchr::memchr(0, data) {
            Some(end) => {
                input.consume(end + 1);
                return Ok(());
            }
            None => {
                let all = data.len();
                input.consume(all);
            }
        }
    }
}

fn take(input: &mut Input, out: &mut [u8]) -> Result<(), FileFault> {
    input.read_exact(out).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_off(NAME),
        _ => error.into(),
    })
}
