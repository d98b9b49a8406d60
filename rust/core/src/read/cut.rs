//! Cuts a stream of bytes into blocks of whole lines, or takes it as one text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use std::io::Read;

use super::ReadOptions;
use super::block::{Block, Payload};
use super::error::FileFault;
use super::raw::{CHUNK, Input};
use super::shape;

/// The sequential part of reading a source, which runs while the source is locked; what can be done for each block on its
/// own is done later, in [`Block::for_each`]. A new format is an implementation of this and a line in `open`.
pub(super) trait Cut: Send {
    /// Fills `block` with the next records. `Ok(false)`: there are no more. A block has at least one record.
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault>;
}

/// What the lines of a source are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    Json,
    Text,
}

/// Lines of a stream, many to a block.
pub(super) struct LineCutter {
    input: Input,
    lines: Lines,
    /// The beginning of a line whose end has not been read.
    carry: Vec<u8>,
    /// 1-based number of the first line not yet handed out.
    line: u64,
    first: bool,
    ended: bool,
    /// What went wrong behind the lines handed out last.
    fault: Option<FileFault>,
    /// How much is read at once. Always the same: how much a decoder gives before an error must not depend on threads.
    chunk: usize,
    block_bytes: usize,
    max_record_bytes: usize,
    stop: Arc<AtomicBool>,
}

impl LineCutter {
    pub fn new(input: Input, lines: Lines, options: &ReadOptions) -> LineCutter {
        LineCutter {
            input,
            lines,
            carry: Vec::new(),
            line: 1,
            first: true,
            ended: false,
            fault: None,
            chunk: CHUNK.min(options.block_bytes),
            block_bytes: options.block_bytes,
            max_record_bytes: options.max_record_bytes,
            stop: Arc::clone(&options.stop),
        }
    }

    /// Appends what one read gives; `false` when nothing is left, when an error has been noted, or when the pass is to end.
    fn read(&mut self, buffer: &mut Vec<u8>) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            self.ended = true;
            return false;
        }
        let old = buffer.len();
        buffer.resize(old + self.chunk, 0);
        let got = match self.input.read(&mut buffer[old..]) {
            Ok(got) => got,
            Err(error) => {
                self.fault = Some(error.into());
                0
            }
        };
        buffer.truncate(old + got);
        self.ended = got == 0;
        !self.ended
    }

    /// Fills `buffer` with whole lines. `false`: the line at its beginning is too long to hold.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> bool {
        buffer.append(&mut self.carry);
        let mut cut = memchr::memrchr(b'\n', buffer).map_or(0, |at| at + 1);
        while cut == 0 || buffer.len() < self.block_bytes {
            // One more than the limit may be the CR of a line that is just short enough.
            if cut == 0 && buffer.len() > self.max_record_bytes.saturating_add(1) {
                return false;
            }
            let old = buffer.len();
            if !self.read(buffer) {
                if self.fault.is_none() {
                    cut = buffer.len();
                }
                break;
            }
            if let Some(at) = memchr::memrchr(b'\n', &buffer[old..]) {
                cut = old + at + 1;
            }
        }
        self.carry.extend_from_slice(&buffer[cut..]);
        buffer.truncate(cut);
        true
    }

    /// Reads to the end of a line without keeping it; returns its length, or nothing if its end cannot be read.
    fn skip_line(&mut self, buffer: &mut Vec<u8>) -> Option<u64> {
        let mut length = buffer.len() as u64;
        loop {
            buffer.clear();
            if !self.read(buffer) {
                return self.fault.is_none().then_some(length);
            }
            if let Some(end) = memchr::memchr(b'\n', buffer) {
                self.carry.extend_from_slice(&buffer[end + 1..]);
                buffer.clear();
                return Some(length + end as u64);
            }
            length += buffer.len() as u64;
        }
    }
}

impl Cut for LineCutter {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        loop {
            if let Some(fault) = self.fault.take() {
                self.ended = true;
                self.carry.clear();
                return Err(fault);
            }
            if self.ended {
                return Ok(false);
            }
            block.bytes.clear();
            block.bytes.shrink_to(self.block_bytes.saturating_mul(4));
            block.first_line = self.line;
            let fits = self.fill(&mut block.bytes);
            if std::mem::take(&mut self.first)
                && self.lines == Lines::Json
                && let Some(fault) = shape::not_json_lines(&block.bytes, self.ended)
            {
                return Err(fault);
            }
            if !fits {
                let length = self.skip_line(&mut block.bytes);
                self.line += 1;
                let Some(length) = length else { continue };
                block.payload = Payload::TooLong(length);
                block.records = 1;
                return Ok(true);
            }
            block.records = 0;
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', &block.bytes).chain([block.bytes.len()]) {
                if start < block.bytes.len() {
                    block.records += u64::from(!shape::is_blank(&block.bytes[start..end]));
                    self.line += 1;
                }
                start = end + 1;
            }
            if block.records > 0 {
                block.payload = match self.lines {
                    Lines::Json => Payload::JsonLines,
                    Lines::Text => Payload::TextLines,
                };
                return Ok(true);
            }
        }
    }
}

/// A stream that is one text; an empty one is none.
pub(super) struct TextCutter {
    input: Option<Input>,
    max_record_bytes: usize,
    stop: Arc<AtomicBool>,
}

impl TextCutter {
    pub fn new(input: Input, options: &ReadOptions) -> TextCutter {
        TextCutter {
            input: Some(input),
            max_record_bytes: options.max_record_bytes,
            stop: Arc::clone(&options.stop),
        }
    }
}

impl Cut for TextCutter {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        let Some(mut input) = self.input.take() else {
            return Ok(false);
        };
        block.bytes.clear();
        let mut length = 0u64;
        loop {
            let old = block.bytes.len();
            block.bytes.resize(old + CHUNK, 0);
            let got = input.read(&mut block.bytes[old..])?;
            block.bytes.truncate(old + got);
            if got == 0 {
                break;
            }
            if self.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            length += got as u64;
            // Read on to the end all the same: that is where damage shows, and the digest covers the whole file.
            if length > self.max_record_bytes as u64 {
                block.bytes.clear();
            }
        }
        if length == 0 {
            return Ok(false);
        }
        block.first_line = 1;
        block.records = 1;
        block.payload = if length > self.max_record_bytes as u64 {
            Payload::TooLong(length)
        } else {
            Payload::Text
        };
        Ok(true)
    }
}
