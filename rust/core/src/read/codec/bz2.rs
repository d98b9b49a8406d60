//! bzip2: any number of streams; block checksums are compared by the decoder.

use bzip2::{Decompress, Status};

use super::{Codec, Input, Members, Step, Unpack, garbage, only_zeros};
use crate::read::error::FileFault;

pub(super) const CODEC: Codec = Codec {
    name: NAME,
    sniff: is_stream,
    open: |input, _| Ok(Box::new(Members::new(input, Bzip2(Decompress::new(false))))),
    endings: &["bz2", "bz"],
};

const NAME: &str = "bzip2";

struct Bzip2(Decompress);

impl Unpack for Bzip2 {
    const NAME: &'static str = NAME;

    fn start(&mut self, input: &mut Input, first: bool) -> Result<bool, FileFault> {
        let head = input.peek(10)?;
        if head.is_empty() {
            return Ok(false);
        }
        if !head.starts_with(b"BZh") {
            if !first && only_zeros(input)? {
                return Ok(false);
            }
            return Err(garbage(NAME));
        }
        self.0 = Decompress::new(false);
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FileFault> {
        let (read, written) = (self.0.total_in(), self.0.total_out());
        let status = self
            .0
            .decompress(input, output)
            .map_err(|error| FileFault::damaged(NAME, format!("corrupt data ({error})")))?;
        Ok(Step {
            read: (self.0.total_in() - read) as usize,
            written: (self.0.total_out() - written) as usize,
            done: status == Status::StreamEnd,
        })
    }
}

/// A stream, and not a text that begins with "BZh": the first block's number (digits of pi), or the end's (of its root).
fn is_stream(head: &[u8]) -> bool {
    const BLOCK: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const END: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    head.starts_with(b"BZh")
        && head
            .get(4..10)
            .is_some_and(|number| number == BLOCK || number == END)
}
