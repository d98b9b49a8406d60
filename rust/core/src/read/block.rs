//! A block of records: bytes cut out of a source, and the parsing of them on the thread that pulled the block.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::columnar::Table;
use super::corpus::{Context, Corpus};
use super::json::SyntaxError;
use super::jsonl::Extractor;
use super::keys::{Keys, TEXT};
use super::reason::Reason;
use super::shape;
use super::tally::Tally;

/// Scratch memory that a block keeps between records; what a giant one took is given back.
const KEEP: usize = 4 << 20;

/// One record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// 0-based number in its source; every record counts, usable or not.
    pub position: u64,
    /// 1-based line; row, for tables; in an archive, the line in the member.
    pub line: u64,
    /// The id as JSON (`"a"` or `123`), digit for digit; none if it is missing or null.
    pub id: Option<&'a str>,
    /// The further fields asked for, as JSON; none where missing or null. Empty where the record could not be parsed.
    pub fields: &'a [Option<&'a str>],
    /// The member's name, in an archive.
    pub member: Option<&'a str>,
    /// The text, or why there is none.
    pub text: Result<&'a str, Reason>,
    /// Where it stands in [`Block::raw`]; none for rows of tables and for records that were too long to keep.
    pub place: Option<&'a Place>,
}

/// Where a record stands in the bytes of its block, for those who write it out again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// All of it, with the end of its line.
    pub record: Range<usize>,
    /// What holds the text: a JSON string with its quotes, or the text itself. Empty where there is no text.
    pub text: Range<usize>,
    /// Whether that is JSON.
    pub json: bool,
}

/// What a block holds.
pub(super) enum Payload {
    Empty,
    /// Lines of JSON in `bytes`.
    JsonLines,
    /// Lines of text in `bytes`.
    TextLines,
    /// One text, all of `bytes`.
    Text,
    /// One record of so many bytes, which were not kept.
    TooLong(u64),
    /// Rows of a table.
    Table(Box<Table>),
}

/// Records of one source that follow each other. Make one a thread and pass it to [`Corpus::next_block`] again and again:
/// it keeps its buffers.
pub struct Block {
    pub(super) payload: Payload,
    pub(super) bytes: Vec<u8>,
    /// 1-based line of the first record.
    pub(super) first_line: u64,
    pub(super) records: u64,
    /// Where the records are from, in an archive.
    pub(super) member: Option<Arc<str>>,
    pub(super) source: usize,
    /// Number of the block in its source.
    pub(super) number: u64,
    pub(super) first_position: u64,
    pub(super) sequence: u64,
    extractor: Extractor,
}

impl Default for Block {
    fn default() -> Block {
        Block::new()
    }
}

impl Block {
    /// An empty block.
    pub fn new() -> Block {
        Block {
            payload: Payload::Empty,
            bytes: Vec::new(),
            first_line: 0,
            records: 0,
            member: None,
            source: 0,
            number: 0,
            first_position: 0,
            sequence: 0,
            extractor: Extractor::default(),
        }
    }

    /// Index of the source in what [`Corpus::open`] was given.
    pub fn source(&self) -> usize {
        self.source
    }

    /// 0-based number in its source of the first record.
    pub fn first_position(&self) -> u64 {
        self.first_position
    }

    /// How many records the block has, usable or not.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Number of the block in the order of handing out, without gaps. With `parallel_files` 1 that is input order.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Bytes of the records, about: for progress and batching.
    pub fn bytes(&self) -> usize {
        match &self.payload {
            Payload::Table(table) => table.bytes(),
            _ => self.bytes.len(),
        }
    }

    /// The bytes that the records were cut from, for [`Record::place`]; a table has none.
    pub fn raw(&self) -> &[u8] {
        &self.bytes
    }

    /// Calls `f` for every record, usable or not, in order, and counts them in `corpus`, which handed the block out. A
    /// second call does nothing.
    pub fn for_each(&mut self, corpus: &Corpus, mut f: impl FnMut(Record<'_>)) {
        let payload = std::mem::replace(&mut self.payload, Payload::Empty);
        let context = corpus.context();
        let member = self.member.clone();
        let mut sink = Sink {
            f: &mut f,
            tally: Tally::default(),
            member: member.as_deref(),
            position: self.first_position,
            place: None,
        };
        match payload {
            Payload::Empty => return,
            Payload::JsonLines => self.json_lines(context, &mut sink),
            Payload::TextLines => self.text_lines(context, corpus.name(self.source), &mut sink),
            Payload::Text => self.text(corpus.name(self.source), &mut sink),
            Payload::TooLong(length) => {
                sink.bad(self.first_line, Reason::RecordTooLong, || {
                    too_long(length, context.max_record_bytes)
                });
            }
            Payload::Table(table) => table.for_each(context, &mut sink),
        }
        let tally = sink.tally;
        debug_assert_eq!(
            tally.records(),
            self.records,
            "the cutter and the parser count alike"
        );
        self.extractor.shrink(KEEP);
        corpus.merge(self.source, self.number, tally);
    }

    fn json_lines(&mut self, context: &Context, sink: &mut Sink<'_>) {
        let extractor = &mut self.extractor;
        for_each_line(
            &self.bytes,
            self.first_line,
            context.max_record_bytes,
            sink,
            |line, start, number, sink| match extractor.extract(line, &context.keys, context.ids) {
                Ok(found) => {
                    sink.text_at(start, found.place.clone(), true);
                    let fields: Vec<Option<&str>> =
                        found.rest.iter().map(Option::as_deref).collect();
                    let missing = sink.emit(number, found.id.as_deref(), &fields, found.text);
                    drop(fields);
                    if let Some(reason) = missing {
                        sink.explain(number, reason, |sink| {
                            missing_detail(extractor, line, &context.keys, reason, sink)
                        });
                    }
                }
                Err((reason, error)) => sink.bad(number, reason, || {
                    error.map_or_else(String::new, |error| syntax(line, error))
                }),
            },
        );
    }

    fn text_lines(&mut self, context: &Context, name: &str, sink: &mut Sink<'_>) {
        let name = qualified(name, sink.member);
        for_each_line(
            &self.bytes,
            self.first_line,
            context.max_record_bytes,
            sink,
            |line, start, number, sink| {
                let id = json_string(&format!("{name}:{number}"));
                sink.text_at(start, 0..line.len(), false);
                sink.emit(number, Some(&id), &[], Ok(line));
            },
        );
    }

    fn text(&mut self, name: &str, sink: &mut Sink<'_>) {
        let id = json_string(&qualified(name, sink.member));
        let bytes = shape::without_bom(&self.bytes);
        sink.record_at(0..self.bytes.len());
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                sink.text_at(self.bytes.len() - bytes.len(), 0..bytes.len(), false);
                sink.emit(self.first_line, Some(&id), &[], Ok(text));
            }
            Err(error) => {
                let at = error.valid_up_to();
                let line = 1 + memchr::memchr_iter(b'\n', &self.bytes[..at]).count();
                sink.emit_bad(self.first_line, Some(&id), Reason::InvalidUtf8, || {
                    format!("line {line}, byte {at} of the text")
                });
            }
        }
    }
}

/// Calls `each` for the lines that are records and can be read as text, with where they begin; counts the others.
fn for_each_line(
    bytes: &[u8],
    first_line: u64,
    max_record_bytes: usize,
    sink: &mut Sink<'_>,
    mut each: impl FnMut(&str, usize, u64, &mut Sink<'_>),
) {
    // Validating a block at once is several times faster than line by line; only a block with an error is looked at again.
    let all = std::str::from_utf8(bytes);
    let mut start = 0;
    let mut number = first_line;
    while start < bytes.len() {
        let end =
            memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let (from, this) = (start, number);
        start = end + 1;
        number += 1;
        let line = &bytes[from..end];
        if shape::is_blank(line) {
            continue;
        }
        sink.record_at(from..start.min(bytes.len()));
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > max_record_bytes {
            sink.bad(this, Reason::RecordTooLong, || {
                too_long(line.len() as u64, max_record_bytes)
            });
            continue;
        }
        let text = match all {
            Ok(text) => Ok(&text[from..from + line.len()]),
            Err(_) => std::str::from_utf8(line),
        };
        match text {
            Ok(text) => {
                let line = text.strip_prefix('\u{feff}').unwrap_or(text);
                each(line, from + text.len() - line.len(), this, sink);
            }
            Err(error) => sink.bad(this, Reason::InvalidUtf8, || {
                format!("at byte {} of the line", error.valid_up_to() + 1)
            }),
        }
    }
}

/// Where records go: to the caller, and into the counts.
pub(super) struct Sink<'f> {
    f: &'f mut dyn FnMut(Record<'_>),
    tally: Tally,
    member: Option<&'f str>,
    position: u64,
    /// Of the next record.
    place: Option<Place>,
}

impl Sink<'_> {
    /// Says where the next record stands in the block's bytes.
    fn record_at(&mut self, record: Range<usize>) {
        self.place = Some(Place {
            record,
            text: 0..0,
            json: false,
        });
    }

    /// Says where its text stands, counted from byte `start`.
    fn text_at(&mut self, start: usize, text: Range<usize>, json: bool) {
        if let Some(place) = &mut self.place {
            place.text = start + text.start..start + text.end;
            place.json = json;
        }
    }

    /// Hands out the next record; returns its reason if it is a bad one, for [`Sink::explain`].
    pub fn emit(
        &mut self,
        line: u64,
        id: Option<&str>,
        fields: &[Option<&str>],
        text: Result<&str, Reason>,
    ) -> Option<Reason> {
        (self.f)(Record {
            position: self.position,
            line,
            id,
            fields,
            member: self.member,
            text,
            place: self.place.as_ref(),
        });
        self.place = None;
        self.position += 1;
        self.tally.count(text.err());
        text.err().filter(|reason| reason.is_bad())
    }

    /// Adds what is known of the bad record handed out last, if it is among those that are listed.
    pub fn explain(
        &mut self,
        line: u64,
        reason: Reason,
        detail: impl FnOnce(&mut Tally) -> String,
    ) {
        if self.tally.wants(reason) {
            let detail = detail(&mut self.tally);
            self.tally
                .sample(self.position - 1, line, self.member, reason, detail);
        }
    }

    /// Hands out a record of which nothing but its place is known.
    pub fn bad(&mut self, line: u64, reason: Reason, detail: impl FnOnce() -> String) {
        self.emit_bad(line, None, reason, detail);
    }

    /// Hands out a record that has an id but no text.
    pub fn emit_bad(
        &mut self,
        line: u64,
        id: Option<&str>,
        reason: Reason,
        detail: impl FnOnce() -> String,
    ) {
        self.emit(line, id, &[], Err(reason));
        self.explain(line, reason, |_| detail());
    }
}

fn missing_detail(
    extractor: &mut Extractor,
    line: &str,
    keys: &Keys,
    reason: Reason,
    tally: &mut Tally,
) -> String {
    let wanted = &keys.0[TEXT];
    if reason != Reason::MissingText {
        return format!("key {:?}", wanted.literal);
    }
    let seen = extractor.keys(line, wanted);
    let detail = format!(
        "no key {:?}; keys seen: {}",
        wanted.literal,
        seen.join(", ")
    );
    tally.missing(seen);
    detail
}

fn syntax(line: &str, error: SyntaxError) -> String {
    if error.at == line.len() {
        error.what.to_string()
    } else {
        format!("{} at byte {} of {}", error.what, error.at + 1, line.len())
    }
}

fn too_long(length: u64, limit: usize) -> String {
    format!("{length} bytes; the limit is --max-record-size {limit}")
}

/// The name of a text: the source's, and the member's in an archive.
fn qualified<'a>(name: &'a str, member: Option<&str>) -> Cow<'a, str> {
    member.map_or(Cow::Borrowed(name), |member| {
        Cow::Owned(format!("{name}/{member}"))
    })
}

/// A text as a JSON string.
pub(super) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
