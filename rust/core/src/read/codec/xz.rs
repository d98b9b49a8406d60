//! xz: any number of streams, with padding; the checks inside (CRC-32, CRC-64, SHA-256) are compared by the decoder.

use liblzma::stream::{Action, Error, Status, Stream};

use super::{Codec, Input, Members, Step, Unpack, garbage, only_zeros};
use crate::read::error::FileFault;

pub(super) const CODEC: Codec = Codec {
    name: NAME,
    sniff: |head| head.starts_with(&MAGIC),
    open: |input, options| {
        Ok(Box::new(Members::new(
            input,
            Xz::new(options.max_window_log)?,
        )))
    },
    endings: &["xz"],
};

const NAME: &str = "xz";
const MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];

struct Xz {
    stream: Stream,
    max_window_log: u32,
}

impl Xz {
    fn new(max_window_log: u32) -> Result<Xz, FileFault> {
        Ok(Xz {
            stream: decoder(max_window_log)?,
            max_window_log,
        })
    }
}

/// The dictionary is to xz what the window is to zstd, so the same limit holds; the rest is the decoder's own state.
fn decoder(max_window_log: u32) -> Result<Stream, FileFault> {
    let limit = (1u64 << max_window_log) + (16 << 20);
    Stream::new_stream_decoder(limit, 0).map_err(|error| FileFault::Unreadable(error.to_string()))
}

impl Unpack for Xz {
    const NAME: &'static str = NAME;

    fn start(&mut self, input: &mut Input, first: bool) -> Result<bool, FileFault> {
        let head = input.peek(MAGIC.len())?;
        if head.is_empty() {
            return Ok(false);
        }
        if !first && head[0] == 0 {
            // Padding between and behind streams comes in units of four zeros.
            while input.peek(4)? == [0; 4] {
                std::io::BufRead::consume(input, 4);
            }
            let padded = input.peek(MAGIC.len())?;
            if padded.is_empty() || (!padded.starts_with(&MAGIC) && only_zeros(input)?) {
                return Ok(false);
            }
        }
        if !input.peek(MAGIC.len())?.starts_with(&MAGIC) {
            return Err(garbage(NAME));
        }
        self.stream = decoder(self.max_window_log)?;
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FileFault> {
        let (read, written) = (self.stream.total_in(), self.stream.total_out());
        let action = if input.is_empty() {
            Action::Finish
        } else {
            Action::Run
        };
        let done = match self.stream.process(input, output, action) {
            Ok(status) => status == Status::StreamEnd,
            Err(Error::MemLimit) => {
                return Err(FileFault::refused(
                    format!(
                        "xz file that needs a dictionary larger than --max-window-log {} allows",
                        self.max_window_log
                    ),
                    "a larger --max-window-log (up to 31) reads it and needs that much memory for every such file that is open",
                ));
            }
            // "No progress" at the end of the file is a cut; the caller says so.
            Err(Error::Data | Error::Format | Error::Options | Error::Program) => {
                return Err(FileFault::damaged(NAME, "corrupt data"));
            }
            Err(_) if input.is_empty() => false,
            Err(error) => return Err(FileFault::damaged(NAME, format!("corrupt data ({error})"))),
        };
        Ok(Step {
            read: (self.stream.total_in() - read) as usize,
            written: (self.stream.total_out() - written) as usize,
            done,
        })
    }
}
