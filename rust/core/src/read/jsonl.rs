//! One line of JSON to the values of the wanted keys.

use std::borrow::Cow;
use std::ops::Range;

use super::json::{Kind, Scanner, SyntaxError, Value, unescape, without_nonfinite};
use super::keys::{FIELDS, ID, Key, Keys, TEXT};
use super::reason::Reason;

/// Keys of a record that are listed when the wanted one is missing.
const KEYS_SHOWN: usize = 20;

/// Takes the wanted values out of lines; its buffers serve one line after the other.
#[derive(Default)]
pub(super) struct Extractor {
    scanner: Scanner,
    found: Vec<Found>,
    text: Vec<u8>,
}

/// Where the value of a wanted key is.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Under the literal name; before that wins, the value of the path's first step.
    literal: Option<Value>,
    first_step: Option<Value>,
}

/// What a line holds. Raw values are JSON, digit for digit as they stand there.
pub(super) struct Fields<'a> {
    pub text: Result<&'a str, Reason>,
    /// Where the value of the text stands in the line; empty where there is none.
    pub place: Range<usize>,
    pub id: Option<Cow<'a, str>>,
    pub rest: Vec<Option<Cow<'a, str>>>,
}

impl Extractor {
    /// Scans `line`. An error has the reason and, for invalid JSON, the place.
    pub fn extract<'a>(
        &'a mut self,
        line: &'a str,
        keys: &Keys,
        ids: bool,
    ) -> Result<Fields<'a>, (Reason, Option<SyntaxError>)> {
        self.found.clear();
        self.found.resize(keys.0.len(), Found::default());
        let bytes = line.as_bytes();
        let (found, scratch) = (&mut self.found, &mut self.text);
        let object = self.scanner.object(bytes, |key, value| {
            let name = key_text(line, key, scratch);
            for (wanted, found) in keys.0.iter().zip(found.iter_mut()) {
                // The last of equal keys wins, also over what an earlier one held inside.
                if name == wanted.literal {
                    found.literal = Some(value);
                }
                if wanted.nested() && name == wanted.steps[0] {
                    found.first_step = Some(value);
                }
            }
        });
        match object {
            Err(error) => return Err((Reason::InvalidJson, Some(error))),
            Ok(false) => return Err((Reason::NotAnObject, None)),
            Ok(true) => {}
        }
        for (wanted, found) in keys.0.iter().zip(&mut self.found) {
            if found.literal.is_none() {
                found.literal = descend(
                    &mut self.scanner,
                    line,
                    wanted,
                    found.first_step,
                    &mut self.text,
                );
            }
        }
        let raw = |at: usize| {
            self.found
                .get(at)
                .and_then(|found| found.literal)
                .and_then(|value| raw_json(line, value))
        };
        let id = raw(ID);
        let rest = (FIELDS..keys.0.len()).map(raw).collect();
        let value = self.found[TEXT].literal;
        Ok(Fields {
            place: value.map_or(0..0, |value| value.start..value.end),
            text: text_of(line, value, ids, &mut self.text),
            id,
            rest,
        })
    }

    /// The keys of a record, for messages; a nested one's inside is listed too when the wanted key begins there.
    pub fn keys(&mut self, line: &str, wanted: &Key) -> Vec<String> {
        let mut seen = Vec::new();
        let mut scratch = Vec::new();
        let mut inside = None;
        let scanned = self.scanner.object(line.as_bytes(), |key, value| {
            let name = key_text(line, key, &mut scratch).to_owned();
            if wanted.nested() && name == wanted.steps[0] && value.kind == Kind::Object {
                inside = Some((name.clone(), value));
            }
            if seen.len() < KEYS_SHOWN && !seen.contains(&name) {
                seen.push(name);
            }
        });
        if scanned.is_ok()
            && let Some((parent, value)) = inside
        {
            let part = &line[value.start..value.end];
            // The outer scan has accepted it; nothing new can go wrong.
            let _ = self.scanner.object(part.as_bytes(), |key, _| {
                let name = format!("{parent}.{}", key_text(part, key, &mut scratch));
                if seen.len() < 2 * KEYS_SHOWN && !seen.contains(&name) {
                    seen.push(name);
                }
            });
        }
        seen
    }

    /// Gives back memory that a giant record took.
    pub fn shrink(&mut self, keep: usize) {
        self.text.truncate(keep);
        self.text.shrink_to(keep);
    }
}

/// The name of a key; `scratch` holds it where it has escapes.
fn key_text<'a>(line: &'a str, key: Value, scratch: &'a mut Vec<u8>) -> &'a str {
    let raw = &line[key.start + 1..key.end - 1];
    if key.kind == (Kind::String { escaped: false }) {
        return raw;
    }
    unescape(raw, scratch)
}

/// Follows the steps of `wanted` after the first, from the first one's value. A null on the way stands for all below it,
/// as a null struct does in a table.
fn descend(
    scanner: &mut Scanner,
    line: &str,
    wanted: &Key,
    first: Option<Value>,
    scratch: &mut Vec<u8>,
) -> Option<Value> {
    let mut value = first?;
    for step in wanted.steps.get(1..)? {
        match value.kind {
            Kind::Object => {}
            Kind::Null => return Some(value),
            _ => return None,
        }
        let offset = value.start;
        let part = &line[offset..value.end];
        let mut last = None;
        let _ = scanner.object(part.as_bytes(), |key, inner| {
            if key_text(part, key, scratch) == step {
                last = Some(Value {
                    start: inner.start + offset,
                    end: inner.end + offset,
                    ..inner
                });
            }
        });
        value = last?;
    }
    Some(value)
}

/// The value's text as JSON; none for null.
fn raw_json(line: &str, value: Value) -> Option<Cow<'_, str>> {
    let raw = &line[value.start..value.end];
    match value.kind {
        Kind::Null | Kind::NonFinite => None,
        _ if value.nonfinite => Some(Cow::Owned(without_nonfinite(raw))),
        _ => Some(Cow::Borrowed(raw)),
    }
}

fn text_of<'a>(
    line: &'a str,
    value: Option<Value>,
    ids: bool,
    out: &'a mut Vec<u8>,
) -> Result<&'a str, Reason> {
    let value = value.ok_or(Reason::MissingText)?;
    let raw = &line[value.start..value.end];
    match value.kind {
        Kind::Null => Err(Reason::NullText),
        Kind::Array if ids => integers(raw, out),
        _ if ids => Err(Reason::TextNotIntegerList),
        Kind::String { escaped: false } => Ok(&raw[1..raw.len() - 1]),
        Kind::String { escaped: true } => Ok(unescape(&raw[1..raw.len() - 1], out)),
        _ => Err(Reason::TextNotAString),
    }
}

/// The integers of a scanned array, as decimals with single spaces between; put into `out`.
fn integers<'a>(raw: &str, out: &'a mut Vec<u8>) -> Result<&'a str, Reason> {
    out.clear();
    let inside = raw[1..raw.len() - 1].trim_ascii();
    for part in inside.split(',').filter(|_| !inside.is_empty()) {
        let digits = part.trim_ascii();
        let unsigned = digits.strip_prefix('-').unwrap_or(digits);
        if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Reason::TextNotIntegerList);
        }
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(digits.as_bytes());
    }
    std::str::from_utf8(out).map_err(|_| Reason::TextNotIntegerList)
}
