//! Parts of files, for sampling: which parts a format allows, and the reading of one.
//!
//! A record belongs to the part it begins in. So parts that cover a share of a file's bytes, wherever they lie, hold each
//! record with the same probability, whatever its length.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::Block;
use super::columnar::{self, ParquetCutter};
use super::cut::{Cut, LineCutter};
use super::error::FileFault;
use super::open::{Kind, Opened, Shape, content, jumping, shape, unchanged};
use super::places::Places;
use super::raw::{Input, Meter, Raw};
use super::{InputFile, ReadOptions};

/// How a file can be read in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// From any byte on: uncompressed lines.
    Anywhere,
    /// Each of these ranges of bytes from its beginning on: row groups; a whole compressed file or archive.
    FromBeginning(Vec<Range<u64>>),
    /// One text: all or nothing.
    Whole,
}

/// A part of a file, as [`access`] allows it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file.
    pub file: InputFile,
    /// Bytes of the file. Where it can be read from anywhere: the records that begin there. Else it starts where a range of
    /// [`Access::FromBeginning`] does, and about so many bytes are read from there on.
    pub bytes: Range<u64>,
}

/// How `file` can be read in part. A file that cannot be read at all is [`Access::Whole`]: reading it gives the error.
pub fn access(file: &InputFile, options: &ReadOptions) -> Access {
    if file.bytes == 0 {
        return Access::Whole;
    }
    let whole = || Access::FromBeginning(std::iter::once(0..file.bytes).collect());
    let find = || -> Result<Access, FileFault> {
        let opened = File::open(&file.path)?;
        if let Some(ranges) = columnar::row_groups(&opened)? {
            return Ok(Access::FromBeginning(ranges));
        }
        if jumping(&opened, options, &Arc::default())?.is_some() {
            return Ok(whole());
        }
        Ok(match shape_of(&opened, &file.name, options)? {
            Shape::Lines(_) => Access::Anywhere,
            Shape::Text => Access::Whole,
            Shape::Compressed(_) | Shape::Tar | Shape::ArrowStream => whole(),
        })
    };
    find().unwrap_or(Access::Whole)
}

fn shape_of(file: &File, name: &str, options: &ReadOptions) -> Result<Shape, FileFault> {
    let mut input = Input::new(Box::new(file.try_clone()?));
    let found = shape(&mut input, name, Kind::File, options);
    (&mut &*file).rewind()?;
    found
}

/// Opens a part of a file.
pub(super) fn open(
    part: &Part,
    options: &ReadOptions,
    progress: &Arc<AtomicU64>,
) -> Result<Opened, FileFault> {
    let Part { file, bytes } = part;
    let opened = File::open(&file.path)?;
    unchanged(file)?;
    let read = Arc::new(AtomicU64::new(0));
    let metered = |inner: Box<dyn Read + Send>| {
        Input::new(Box::new(Raw::new(
            inner,
            Meter::new(false),
            Arc::clone(&read),
        )))
    };
    let length = bytes.end - bytes.start;
    let whole = length == file.bytes;
    let (inner, end): (Box<dyn Cut>, End) = if columnar::row_groups(&opened)?.is_some() {
        let cutter = ParquetCutter::new(Places::of_file(opened)?, options.keys(), options, &read)?;
        (Box::new(cutter.part(bytes)), End::Itself)
    } else if let Some(cutter) = jumping(&opened, options, &read)? {
        (cutter, if whole { End::Itself } else { End::Here })
    } else if let Shape::Lines(lines) = shape_of(&opened, &file.name, options)? {
        let input = metered(Box::new(Window::new(opened, bytes.clone())?));
        let cutter = LineCutter::new(input, lines, options);
        (Box::new(cutter), End::Itself)
    } else {
        let input = metered(Box::new(Sips {
            file: opened,
            left: length,
            most: (length / 64).clamp(512, 8 << 10),
        }));
        let cutter = content(input, &file.name, Kind::File, options)?;
        (cutter, if whole { End::Itself } else { End::CutOff })
    };
    let meter = Meter::new(false);
    Ok(Opened {
        cutter: Box::new(PartCutter {
            inner,
            length,
            end,
            read,
            seen: 0,
            meter: Arc::clone(&meter),
            progress: Arc::clone(progress),
        }),
        meter,
        sequential: false,
    })
}

/// How a part comes to its end.
#[derive(PartialEq, Eq)]
enum End {
    /// Nothing is left.
    Itself,
    /// As many bytes as it has were read.
    Here,
    /// Likewise; behind them a decoder meets the end of the file, which is no damage.
    CutOff,
}

/// Ends a part, and tells the meter how many bytes of the file it stands for.
struct PartCutter {
    inner: Box<dyn Cut>,
    length: u64,
    end: End,
    read: Arc<AtomicU64>,
    /// How many bytes the blocks so far have taken.
    seen: u64,
    meter: Arc<Meter>,
    progress: Arc<AtomicU64>,
}

impl Cut for PartCutter {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        let full = self.end == End::Here && self.seen >= self.length;
        let more = !full
            && match self.inner.next(block) {
                Err(_)
                    if self.end == End::CutOff
                        && self.read.load(Ordering::Relaxed) >= self.length =>
                {
                    false
                }
                other => other?,
            };
        if more {
            let read = self.read.load(Ordering::Relaxed);
            self.progress.fetch_add(read - self.seen, Ordering::Relaxed);
            self.seen = read;
        } else {
            // Windows pass over bytes at their beginning and add some at their end. What a decoder took in and could not
            // give out does not count.
            let all = self.end == End::Itself;
            self.meter.add(if all { self.length } else { self.seen });
        }
        Ok(more)
    }
}

/// The lines that begin in a range of a file's bytes.
struct Window {
    file: File,
    /// Place of the next byte of the file.
    at: u64,
    end: u64,
    /// The line that the range begins in has not been passed yet.
    before: bool,
    done: bool,
}

impl Window {
    fn new(mut file: File, range: Range<u64>) -> io::Result<Window> {
        // The line that begins at the range's first byte is known by the end of the one before.
        let at = range.start.saturating_sub(1);
        file.seek(SeekFrom::Start(at))?;
        Ok(Window {
            file,
            at,
            end: range.end,
            before: range.start > 0,
            done: range.is_empty(),
        })
    }
}

impl Read for Window {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.done {
            let mut got = self.file.read(out)?;
            if got == 0 {
                self.done = true;
                break;
            }
            let mut begins = self.at;
            self.at += got as u64;
            if self.before {
                let Some(end) = memchr::memchr(b'\n', &out[..got]) else {
                    continue;
                };
                self.before = false;
                out.copy_within(end + 1..got, 0);
                got -= end + 1;
                begins += end as u64 + 1;
                if begins >= self.end {
                    self.done = true;
                    break;
                }
            }
            // The last line that begins in the range ends at the first line end from the range's last byte on.
            if self.at >= self.end {
                let from = (self.end - 1).saturating_sub(begins) as usize;
                if let Some(end) = memchr::memchr(b'\n', &out[from.min(got)..got]) {
                    self.done = true;
                    got = from + end + 1;
                }
            }
            if got > 0 {
                return Ok(got);
            }
        }
        Ok(0)
    }
}

/// The beginning of a file, read little at a time, so that hardly more of it is taken than is given out.
struct Sips {
    file: File,
    left: u64,
    most: u64,
}

impl Read for Sips {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = self.most.min(self.left).min(out.len() as u64);
        let got = self.file.read(&mut out[..most as usize])?;
        self.left -= got as u64;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &str, range: Range<u64>, buffer: usize) -> String {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let mut window = Window::new(file, range).unwrap();
        let (mut all, mut out) = (Vec::new(), vec![0; buffer]);
        loop {
            match window.read(&mut out).unwrap() {
                0 => return String::from_utf8(all).unwrap(),
                got => all.extend_from_slice(&out[..got]),
            }
        }
    }

    #[test]
    fn windows_that_touch_have_every_line_once() {
        for text in [
            "a\nbcd\n\nefghij\nk",
            "a\nbcd\n\nefghij\nk\n",
            "\n\n\n",
            "abcdefgh",
            "x\n",
        ] {
            let bytes = text.len() as u64;
            for width in 1..=bytes {
                for buffer in [1, 2, 3, 64] {
                    let parts: Vec<String> = (0..bytes.div_ceil(width))
                        .map(|part| {
                            window(
                                text,
                                part * width..(part * width + width).min(bytes),
                                buffer,
                            )
                        })
                        .collect();
                    assert_eq!(parts.concat(), text, "{width} {buffer} {parts:?}");
                    let whole = |part: &String| part.is_empty() || part.ends_with('\n');
                    assert!(
                        parts
                            .iter()
                            .rev()
                            .skip_while(|part| part.is_empty())
                            .skip(1)
                            .all(whole),
                        "{width} {buffer} {parts:?}"
                    );
                }
            }
        }
    }
}
