//! From a source to the thing that cuts it into blocks: which compression, which format.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::archive::{ArchiveCutter, Tar, Zip, is_tar};
use super::block::Block;
use super::columnar::{
    FileCutter, ParquetCutter, StreamCutter, is_ipc_file, is_ipc_stream, is_parquet,
};
use super::cut::{Cut, LineCutter, Lines, TextCutter};
use super::error::FileFault;
use super::places::Places;
use super::raw::{Input, Meter, Raw};
use super::{InputFile, ReadOptions, Source, codec, shape};

/// A source that is being read.
pub(super) struct Opened {
    pub cutter: Box<dyn Cut>,
    pub meter: Arc<Meter>,
    /// Read front to back through the meter, which then has the digest; if not, the file's digest is taken separately.
    pub sequential: bool,
}

/// Opens a source. The meter comes back with an error too: bytes of a stream that were read cannot be read again.
pub(super) fn open(
    source: Source,
    options: &ReadOptions,
    progress: &Arc<AtomicU64>,
) -> Result<Opened, (FileFault, Option<Arc<Meter>>)> {
    let meter = Meter::new(options.digests);
    let (inner, name, kind): (Box<dyn Read + Send>, String, Kind) = match source {
        Source::Stream(name, stream) => (stream, name, Kind::Stream),
        Source::File(file) => {
            let opened = File::open(&file.path).map_err(|error| (error.into(), None))?;
            // Between the check of all files and this one time has passed.
            unchanged(&file).map_err(|fault| (fault, None))?;
            match jumping(&opened, options, progress) {
                Ok(Some(cutter)) => {
                    return Ok(Opened {
                        cutter,
                        meter,
                        sequential: false,
                    });
                }
                Ok(None) => (Box::new(opened), file.name, Kind::File),
                Err(fault) => return Err((fault, None)),
            }
        }
        Source::Remote(remote) => {
            let mut stream = remote.stream().map_err(|error| (error.into(), None))?;
            let head = head(&mut stream).map_err(|error| (error.into(), None))?;
            if let Some(places) = Places::of_remote(&remote) {
                match seekable(&head, &places, options, progress) {
                    Ok(Some(cutter)) => {
                        return Ok(Opened {
                            cutter: Box::new(Remotely { cutter, places }),
                            meter,
                            sequential: false,
                        });
                    }
                    Ok(None) => {}
                    Err(fault) => return Err((places.fault().unwrap_or(fault), None)),
                }
            } else if is_parquet(&head) || is_ipc_file(&head) || is_zip(&head) {
                return Err((only_forward(), None));
            }
            let whole = io::Cursor::new(head).chain(stream);
            (Box::new(whole), remote.name().to_owned(), Kind::File)
        }
    };
    let raw = Raw::new(inner, Arc::clone(&meter), Arc::clone(progress));
    match content(Input::new(Box::new(raw)), &name, kind, options) {
        Ok(cutter) => Ok(Opened {
            cutter,
            meter,
            sequential: true,
        }),
        Err(fault) => Err((fault, Some(meter))),
    }
}

/// What cuts a file, if it is of a format that is read by jumping about in it. The file stays at its beginning.
pub(super) fn jumping(
    mut file: &File,
    options: &ReadOptions,
    progress: &Arc<AtomicU64>,
) -> Result<Option<Box<dyn Cut>>, FileFault> {
    let head = head(&mut file)?;
    file.rewind()?;
    seekable(
        &head,
        &Places::of_file(file.try_clone()?)?,
        options,
        progress,
    )
}

/// The bytes that tell formats which are read by jumping about.
fn head(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(8).read_to_end(&mut head)?;
    Ok(head)
}

/// What cuts the bytes at `places`, which begin with `head`, if they are of a format that is read by jumping about.
fn seekable(
    head: &[u8],
    places: &Places,
    options: &ReadOptions,
    progress: &Arc<AtomicU64>,
) -> Result<Option<Box<dyn Cut>>, FileFault> {
    let again = || places.clone();
    Ok(if head.starts_with(b"PARE") {
        return Err(FileFault::refused(
            "encrypted Parquet file",
            "decrypt it first",
        ));
    } else if is_parquet(head) {
        Some(Box::new(ParquetCutter::new(
            again(),
            options.keys(),
            options,
            progress,
        )?))
    } else if is_ipc_file(head) {
        Some(Box::new(FileCutter::new(
            again(),
            options.keys(),
            options,
            progress,
        )?))
    } else if is_zip(head) {
        Some(Box::new(ArchiveCutter::new(
            Zip::new(again(), progress)?,
            options,
        )))
    } else {
        None
    })
}

/// What a file has to be written back as, by its first bytes: `parquet`, `arrow file`, `arrow stream`, `zip`, the name of a compression,
/// or `plain`.
pub fn container(path: &Path) -> io::Result<&'static str> {
    let mut head = Vec::new();
    File::open(path)?
        .take(shape::HEAD as u64)
        .read_to_end(&mut head)?;
    Ok(if is_parquet(&head) {
        "parquet"
    } else if is_ipc_file(&head) {
        "arrow file"
    } else if is_ipc_stream(&head) {
        "arrow stream"
    } else if is_zip(&head) {
        "zip"
    } else {
        codec::sniff(&head).map_or("plain", |codec| codec.name)
    })
}

fn only_forward() -> FileFault {
    FileFault::refused(
        "Parquet file, Arrow file or zip archive, which is read by jumping about in it, on a server that only sends it from its beginning",
        "download it first",
    )
}

/// A cutter that knows why bytes did not come: decoders take any lack of them for damage.
struct Remotely {
    cutter: Box<dyn Cut>,
    places: Places,
}

impl Cut for Remotely {
    fn next(&mut self, block: &mut Block) -> Result<bool, FileFault> {
        self.cutter
            .next(block)
            .map_err(|fault| self.places.fault().unwrap_or(fault))
    }
}

/// A local file header, or the end of the directory of an empty archive.
fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Where bytes come from, as far as it matters to what they can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Stream,
    /// A file in an archive.
    Member,
}

/// A fault if the file is not as it was when it was found.
pub(super) fn unchanged(file: &InputFile) -> Result<(), FileFault> {
    let now = fs::metadata(&file.path)?;
    if now.is_dir() {
        // Only folders that could not be listed get here.
        return Err(FileFault::Unreadable(
            "the folder cannot be listed".to_owned(),
        ));
    }
    if now.len() != file.bytes {
        return Err(FileFault::Changed(format!(
            "{} bytes, {} before",
            now.len(),
            file.bytes
        )));
    }
    if now.modified()? != file.modified {
        return Err(FileFault::Changed(
            "its modification time is another".to_owned(),
        ));
    }
    Ok(())
}

/// What a name says about a format, without endings of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Json,
    Text,
    /// Formats that are known by their first bytes; without those the file is not one.
    Binary,
    Csv,
    Unknown,
}

/// What bytes are that are read front to back.
pub(super) enum Shape {
    Compressed(&'static codec::Codec),
    Tar,
    ArrowStream,
    Lines(Lines),
    /// One text.
    Text,
}

/// Finds out what the bytes are and returns what cuts them.
pub(super) fn content(
    mut input: Input,
    name: &str,
    kind: Kind,
    options: &ReadOptions,
) -> Result<Box<dyn Cut>, FileFault> {
    let mut found = shape(&mut input, name, kind, options)?;
    if let Shape::Compressed(codec) = found {
        input = Input::new((codec.open)(input, options)?);
        found = shape(&mut input, name, kind, options)?;
        if let Shape::Compressed(inner) = found {
            let what = format!(
                "{} data inside a {} file (compressed twice)",
                inner.name, codec.name
            );
            return Err(FileFault::refused(what, "decompress it once first"));
        }
    }
    Ok(match found {
        Shape::Compressed(_) | Shape::Tar => Box::new(ArchiveCutter::new(Tar::new(input), options)),
        Shape::ArrowStream => Box::new(StreamCutter::new(input, options.keys(), options)?),
        Shape::Lines(lines) => Box::new(LineCutter::new(input, lines, options)),
        Shape::Text => Box::new(TextCutter::new(input, options)),
    })
}

/// Finds out what the bytes are, without consuming any.
pub(super) fn shape(
    input: &mut Input,
    name: &str,
    kind: Kind,
    options: &ReadOptions,
) -> Result<Shape, FileFault> {
    let head = input.peek(shape::HEAD)?;
    if let Some(codec) = codec::sniff(head) {
        return Ok(Shape::Compressed(codec));
    }
    let unseekable = [
        (is_parquet(head), "Parquet file"),
        (is_ipc_file(head), "Arrow file"),
        (is_zip(head), "zip archive"),
    ];
    if let Some((_, name)) = unseekable.iter().find(|(is, _)| *is) {
        let what = format!(
            "{name} inside something that is read front to back (compressed, an archive, a pipe)"
        );
        return Err(FileFault::refused(what, "unpack it to a file first"));
    }
    if is_tar(head) {
        if kind == Kind::Member {
            return Err(FileFault::refused(
                "an archive inside an archive",
                "unpack it first",
            ));
        }
        return Ok(Shape::Tar);
    }
    if is_ipc_stream(head) {
        return Ok(Shape::ArrowStream);
    }
    if let Some(fault) = shape::encoding(head).or_else(|| shape::foreign(head)) {
        return Err(fault);
    }
    let json = match (named(name), shape::looks_like_json(head)) {
        (Named::Json, _) | (_, true) if kind != Kind::Stream && named(name) != Named::Text => true,
        (_, json) if kind == Kind::Stream => json || !options.text_lines,
        (Named::Text, _) => false,
        (Named::Csv, _) => {
            return Err(FileFault::refused(
                "CSV table, which is not read",
                "convert it to Parquet or JSON Lines first",
            ));
        }
        (Named::Binary, _) if !head.is_empty() => {
            return Err(FileFault::refused(
                "not the format that its name says",
                "give it its right name",
            ));
        }
        _ if head.contains(&0) => {
            return Err(FileFault::refused(
                "binary data of an unknown format",
                "leave it out with --exclude",
            ));
        }
        _ => false,
    };
    Ok(if json {
        Shape::Lines(Lines::Json)
    } else if options.text_lines {
        Shape::Lines(Lines::Text)
    } else {
        Shape::Text
    })
}

fn named(name: &str) -> Named {
    let mut rest = name.rsplit(['/', '\\']).next().unwrap_or(name);
    loop {
        let Some((stem, ending)) = rest.rsplit_once('.') else {
            return Named::Unknown;
        };
        let ending = ending.to_ascii_lowercase();
        if codec::CODECS
            .iter()
            .any(|codec| codec.endings.contains(&ending.as_str()))
        {
            rest = stem;
            continue;
        }
        return match ending.as_str() {
            "jsonl" | "ndjson" | "jsonlines" | "jl" | "json" => Named::Json,
            "parquet" | "pq" | "arrow" | "arrows" | "feather" | "ipc" | "zip" | "tar" | "tgz" => {
                Named::Binary
            }
            "csv" | "tsv" => Named::Csv,
            // Texts and sources: one that begins with a brace is still no JSON.
            "txt" | "text" | "md" | "markdown" | "rst" | "tex" | "html" | "htm" | "xml" | "py"
            | "pyi" | "rs" | "c" | "h" | "cc" | "cpp" | "hpp" | "java" | "js" | "ts" | "go"
            | "rb" | "php" | "sh" | "css" | "yaml" | "yml" | "toml" | "ini" | "cfg" | "log" => {
                Named::Text
            }
            _ => Named::Unknown,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, wanted) in [
            ("a/b.jsonl", Named::Json),
            ("b.JSONL.GZ", Named::Json),
            ("b.json.zst", Named::Json),
            ("notes.txt", Named::Text),
            ("x.y/part-0", Named::Unknown),
            ("part.gz", Named::Unknown),
            ("t.parquet", Named::Binary),
            ("t.csv.bz2", Named::Csv),
        ] {
            assert_eq!(named(name), wanted, "{name}");
        }
    }
}
