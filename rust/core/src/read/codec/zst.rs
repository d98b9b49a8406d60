//! Zstandard (RFC 8878): any number of frames, skippable and empty ones too; content checksums are compared.
//!
//! A frame says how much of the past it refers to, its window, and a decoder has to keep that much. Larger windows than
//! `max_window_log` allows are refused by name before anything is allocated: the default, 27 (128 MiB), is what the zstd
//! tool accepts without `--long`, and every file that is open at the same time may need one.

use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::{Codec, Input, Members, Step, Unpack, cut_off, garbage};
use crate::read::error::FileFault;

pub(super) const CODEC: Codec = Codec {
    name: NAME,
    sniff: |head| is_frame(head) || is_skippable(head),
    open: |input, options| {
        Ok(Box::new(Members::new(
            input,
            Zstd::new(options.max_window_log)?,
        )))
    },
    endings: &["zst", "zstd"],
};

const NAME: &str = "zstd";

/// Largest window that the decoder can be asked to accept on a 64-bit machine.
pub(in crate::read) const LARGEST_WINDOW_LOG: u32 = 31;

/// The decoder writes out one block (at most 128 KiB) at a time; with more room in one call, what it decoded before an
/// error in a later block would be lost.
const OUTPUT_STEP: usize = 128 << 10;

struct Zstd {
    decoder: Decoder<'static>,
    max_window_log: u32,
}

impl Zstd {
    fn new(max_window_log: u32) -> Result<Zstd, FileFault> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(max_window_log))?;
        Ok(Zstd {
            decoder,
            max_window_log,
        })
    }
}

impl Unpack for Zstd {
    const NAME: &'static str = NAME;

    fn start(&mut self, input: &mut Input, _first: bool) -> Result<bool, FileFault> {
        // The longest frame header: magic 4, descriptor 1, window 1, dictionary 4, content size 8.
        let head = input.peek(18)?;
        if head.is_empty() {
            return Ok(false);
        }
        if is_frame(head) {
            match window(head) {
                None => return Err(cut_off(NAME)),
                Some(size) if size > 1 << self.max_window_log => {
                    return Err(window_refused(size, self.max_window_log));
                }
                Some(_) => {}
            }
        } else if !is_skippable(head) {
            // Fewer than four bytes may be the beginning of a frame.
            let cut = head.len() < 4
                && (MAGIC.starts_with(head) || head[1..] == MAGIC_SKIP[1..head.len()]);
            return Err(if cut { cut_off(NAME) } else { garbage(NAME) });
        }
        self.decoder.reinit()?;
        Ok(true)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FileFault> {
        let room = output.len().min(OUTPUT_STEP);
        let status = self
            .decoder
            .run_on_buffers(input, &mut output[..room])
            .map_err(|error| FileFault::damaged(NAME, format!("corrupt data ({error})")))?;
        Ok(Step {
            read: status.bytes_read,
            written: status.bytes_written,
            done: status.remaining == 0,
        })
    }
}

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const MAGIC_SKIP: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

fn is_frame(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

fn is_skippable(head: &[u8]) -> bool {
    head.len() >= 4 && head[0] & 0xf0 == MAGIC_SKIP[0] && head[1..4] == MAGIC_SKIP[1..]
}

/// The window that a frame asks for; `None` if the header is cut off.
fn window(head: &[u8]) -> Option<u64> {
    let descriptor = *head.get(4)?;
    let single_segment = descriptor & 0x20 != 0;
    if !single_segment {
        let byte = *head.get(5)?;
        let base = 1u64 << (10 + (byte >> 3));
        return Some(base + base / 8 * u64::from(byte & 7));
    }
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let at = 5 + dictionary;
    let size = match descriptor >> 6 {
        0 => u64::from(*head.get(at)?),
        1 => u64::from(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?)) + 256,
        2 => u64::from(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?)),
        _ => u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?),
    };
    Some(size)
}

fn window_refused(size: u64, limit: u32) -> FileFault {
    let needed = size
        .checked_next_power_of_two()
        .map_or(64, u64::trailing_zeros);
    let what = format!(
        "zstd frame with a window of {} MiB (made with --long={needed}), more than --max-window-log {limit} allows ({} MiB)",
        size.div_ceil(1 << 20),
        (1u64 << limit) >> 20,
    );
    let advice = if needed <= LARGEST_WINDOW_LOG {
        format!(
            "--max-window-log {needed} reads it and needs that much memory for every such file that is open"
        )
    } else {
        "no decoder reads such a window; compress the file again".to_owned()
    };
    FileFault::refused(what, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_of_a_frame_header() {
        // Not single-segment, window byte: exponent 21, mantissa 0 -> 2 GiB.
        assert_eq!(
            window(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3]),
            Some(1 << 31)
        );
        assert_eq!(
            window(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 3]),
            Some(1024 + 3 * 128)
        );
        assert_eq!(window(&[0x28, 0xb5, 0x2f, 0xfd, 0x00]), None);
        // Single segment: the content's size, here in one and in two bytes, without and with a dictionary id.
        assert_eq!(window(&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 77]), Some(77));
        assert_eq!(
            window(&[0x28, 0xb5, 0x2f, 0xfd, 0x61, 9, 1, 1]),
            Some(257 + 256)
        );
    }
}
