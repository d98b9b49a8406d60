//! Compression formats. A new one is a file with an [`Unpack`] and a line in [`CODECS`].
//!
//! All four formats are sequences of members (gzip members, zstd frames, bzip2 and xz streams) that decompress one after
//! the other. [`Members`] walks the sequence, so that "many members", "cut off" and "something else behind the last
//! member" are decided in one place; an [`Unpack`] knows one member.

mod bz2;
mod gz;
mod xz;
mod zst;

pub(super) use zst::LARGEST_WINDOW_LOG;

use std::io::{self, BufRead, Read};

use super::ReadOptions;
use super::error::FileFault;
use super::raw::Input;

/// Makes a decoder of a file's bytes.
type Open = fn(Input, &ReadOptions) -> Result<Box<dyn Read + Send>, FileFault>;

/// A compression format.
pub(super) struct Codec {
    pub name: &'static str,
    /// Whether a file that begins with these bytes is one.
    pub sniff: fn(&[u8]) -> bool,
    pub open: Open,
    /// Endings that are taken off a name before its own ending is looked at.
    pub endings: &'static [&'static str],
}

/// Every format that is read.
pub(super) static CODECS: [Codec; 4] = [gz::CODEC, zst::CODEC, bz2::CODEC, xz::CODEC];

/// The format that a file with these first bytes has.
pub(super) fn sniff(head: &[u8]) -> Option<&'static Codec> {
    CODECS.iter().find(|codec| (codec.sniff)(head))
}

/// What one call of [`Unpack::step`] did.
pub(super) struct Step {
    pub read: usize,
    pub written: usize,
    /// The member's data ended; [`Unpack::finish`] is next.
    pub done: bool,
}

/// One member of a compressed file.
pub(super) trait Unpack: Send {
    const NAME: &'static str;

    /// Between members: prepares for the next one and says whether there is one.
    fn start(&mut self, input: &mut Input, first: bool) -> Result<bool, FileFault>;

    /// Inside a member: decompresses some of `input` (empty at the end of the file) into `output`.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FileFault>;

    /// Behind a member's data: checks what follows it.
    fn finish(&mut self, _input: &mut Input) -> Result<(), FileFault> {
        Ok(())
    }
}

enum At {
    Between,
    Inside,
    Behind,
    End,
}

/// All members of a file, as one stream.
pub(super) struct Members<U> {
    unpack: U,
    input: Input,
    at: At,
    first: bool,
}

impl<U: Unpack> Members<U> {
    pub fn new(input: Input, unpack: U) -> Members<U> {
        Members {
            unpack,
            input,
            at: At::Between,
            first: true,
        }
    }
}

impl<U: Unpack> Read for Members<U> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match self.at {
                At::End => return Ok(0),
                At::Between => {
                    let more = self.unpack.start(&mut self.input, self.first)?;
                    self.first = false;
                    self.at = if more { At::Inside } else { At::End };
                }
                At::Behind => {
                    self.unpack.finish(&mut self.input)?;
                    self.at = At::Between;
                }
                At::Inside => {
                    let data = self.input.fill_buf()?;
                    let at_end = data.is_empty();
                    let step = self.unpack.step(data, out)?;
                    self.input.consume(step.read);
                    if step.done {
                        self.at = At::Behind;
                    }
                    if step.written > 0 {
                        return Ok(step.written);
                    }
                    if !step.done && at_end {
                        return Err(cut_off(U::NAME).into());
                    }
                    if !step.done && step.read == 0 {
                        return Err(
                            FileFault::damaged(U::NAME, "the decoder makes no progress").into()
                        );
                    }
                }
            }
        }
    }
}

fn cut_off(name: &'static str) -> FileFault {
    FileFault::damaged(
        name,
        "the file is cut off before the end of its data; get it again",
    )
}

fn garbage(name: &'static str) -> FileFault {
    FileFault::damaged(name, "something else follows the compressed data")
}

/// Skips zeros; says whether anything else follows. Tapes and block devices pad files this way.
fn only_zeros(input: &mut Input) -> io::Result<bool> {
    loop {
        let data = input.fill_buf()?;
        if data.is_empty() {
            return Ok(true);
        }
        let zeros = data.iter().take_while(|&&byte| byte == 0).count();
        let all = zeros == data.len();
        input.consume(zeros);
        if !all {
            return Ok(false);
        }
    }
}
