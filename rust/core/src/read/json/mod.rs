//! A small JSON scanner.
//!
//! It is our own because no library gives all that records need at once: the raw digits of integers of any width, Python's
//! NaN and Infinity, "the last of several equal keys wins", lone surrogates, a check of the whole line with the position
//! of the error, and nothing built for values nobody asked for. Apart from the three non-finite words it accepts what
//! RFC 8259 accepts, down to the grammar of numbers, escapes and control characters; property tests compare it with
//! `serde_json`. Nesting deeper than [`MAX_DEPTH`] is refused.
//!
//! The scanner only finds where values begin and end; [`unescape`] makes text of a string.

mod bytes;
mod text;

use bytes::special;
pub(super) use text::{unescape, without_nonfinite};

/// Containers inside containers that are followed.
pub(super) const MAX_DEPTH: usize = 1000;

/// Where a line stops being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// 0-based byte in the line.
    pub at: usize,
    pub what: &'static str,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Number,
    /// NaN, Infinity or -Infinity.
    NonFinite,
    String {
        escaped: bool,
    },
    Array,
    Object,
}

/// A value: the bytes `start..end` of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// Whether a non-finite word is in it, so that its raw text is not JSON.
    pub nonfinite: bool,
}

pub(super) const END_IN_STRING: &str = "the line ends inside a string";
pub(super) const END: &str = "the line ends inside a value";

const CLOSE: &str = "expected , or } after a value";

/// Scans lines; holds the stack of open containers so that it is allocated once.
#[derive(Default)]
pub(super) struct Scanner {
    /// The bytes that close the open containers.
    open: Vec<u8>,
}

impl Scanner {
    /// Scans a whole line that has one object and calls `member(key, value)` for each of its members. `Ok(false)`: the
    /// line is JSON but no object. Keys are spans like values.
    pub fn object(
        &mut self,
        line: &[u8],
        mut member: impl FnMut(Value, Value),
    ) -> Result<bool, SyntaxError> {
        let mut at = space(line, 0);
        if line.get(at) != Some(&b'{') {
            self.document(line)?;
            return Ok(false);
        }
        at = space(line, at + 1);
        if line.get(at) == Some(&b'}') {
            return end_of(line, at + 1).map(|()| true);
        }
        loop {
            let (key, after) = key(line, at)?;
            let value = self.value(line, after)?;
            member(key, value);
            at = space(line, value.end);
            match line.get(at) {
                Some(b',') => at = space(line, at + 1),
                Some(b'}') => return end_of(line, at + 1).map(|()| true),
                Some(_) => return Err(SyntaxError { at, what: CLOSE }),
                None => return Err(SyntaxError { at, what: END }),
            }
        }
    }

    /// Scans a line that has one value of any kind.
    pub fn document(&mut self, line: &[u8]) -> Result<Value, SyntaxError> {
        let value = self.value(line, space(line, 0))?;
        end_of(line, value.end)?;
        Ok(value)
    }

    /// Scans the value that begins at `start`.
    fn value(&mut self, line: &[u8], start: usize) -> Result<Value, SyntaxError> {
        let first = scalar_or_open(line, start)?;
        if !matches!(first.kind, Kind::Array | Kind::Object) {
            return Ok(first);
        }
        let (end, nonfinite) = self.container(line, start)?;
        Ok(Value {
            end,
            nonfinite,
            ..first
        })
    }

    /// Scans the container that opens at `at`; returns its end and whether a non-finite word is in it.
    fn container(&mut self, line: &[u8], mut at: usize) -> Result<(usize, bool), SyntaxError> {
        self.open.clear();
        let mut nonfinite = false;
        'value: loop {
            let value = scalar_or_open(line, at)?;
            at = value.end;
            nonfinite |= value.nonfinite;
            match value.kind {
                Kind::Object => {
                    self.push(b'}', at)?;
                    at = space(line, at);
                    if line.get(at) != Some(&b'}') {
                        at = key(line, at)?.1;
                        continue 'value;
                    }
                }
                Kind::Array => {
                    self.push(b']', at)?;
                    at = space(line, at);
                    if line.get(at) != Some(&b']') {
                        continue 'value;
                    }
                }
                _ => {}
            }
            // Behind a value, or at the end of an empty container.
            loop {
                at = space(line, at);
                let (Some(&closing), Some(&byte)) = (self.open.last(), line.get(at)) else {
                    return Err(SyntaxError { at, what: END });
                };
                if byte == closing {
                    at += 1;
                    self.open.pop();
                    if self.open.is_empty() {
                        return Ok((at, nonfinite));
                    }
                } else if byte == b',' {
                    at = space(line, at + 1);
                    if closing == b'}' {
                        at = key(line, at)?.1;
                    }
                    continue 'value;
                } else {
                    let what = if closing == b'}' {
                        CLOSE
                    } else {
                        "expected , or ] after a value"
                    };
                    return Err(SyntaxError { at, what });
                }
            }
        }
    }

    fn push(&mut self, closing: u8, at: usize) -> Result<(), SyntaxError> {
        if self.open.len() == MAX_DEPTH {
            return Err(SyntaxError {
                at,
                what: "nested more than 1000 deep",
            });
        }
        self.open.push(closing);
        Ok(())
    }
}

/// First byte at or after `at` that is no white space.
#[inline]
fn space(line: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = line.get(at) {
        at += 1;
    }
    at
}

fn end_of(line: &[u8], at: usize) -> Result<(), SyntaxError> {
    let at = space(line, at);
    if at == line.len() {
        Ok(())
    } else {
        Err(SyntaxError {
            at,
            what: "something follows the value",
        })
    }
}

/// A key and its colon; returns the key and where its value begins.
#[inline]
fn key(line: &[u8], at: usize) -> Result<(Value, usize), SyntaxError> {
    match line.get(at) {
        Some(b'"') => {}
        Some(_) => {
            return Err(SyntaxError {
                at,
                what: "expected a key in quotes",
            });
        }
        None => return Err(SyntaxError { at, what: END }),
    }
    let key = string(line, at)?;
    let colon = space(line, key.end);
    match line.get(colon) {
        Some(b':') => Ok((key, space(line, colon + 1))),
        Some(_) => Err(SyntaxError {
            at: colon,
            what: "expected : after a key",
        }),
        None => Err(SyntaxError {
            at: colon,
            what: END,
        }),
    }
}

/// A value without insides, or the opening bracket of one with.
#[inline]
fn scalar_or_open(line: &[u8], start: usize) -> Result<Value, SyntaxError> {
    let plain = |end, kind| {
        Ok(Value {
            start,
            end,
            kind,
            nonfinite: kind == Kind::NonFinite,
        })
    };
    match line.get(start) {
        Some(b'"') => string(line, start),
        Some(b'{') => plain(start + 1, Kind::Object),
        Some(b'[') => plain(start + 1, Kind::Array),
        Some(b'0'..=b'9') => plain(number(line, start)?, Kind::Number),
        Some(b'-') if line.get(start + 1) == Some(&b'I') => {
            plain(word(line, start, b"-Infinity")?, Kind::NonFinite)
        }
        Some(b'-') => plain(number(line, start)?, Kind::Number),
        Some(b'n') => plain(word(line, start, b"null")?, Kind::Null),
        Some(b't') => plain(word(line, start, b"true")?, Kind::Bool),
        Some(b'f') => plain(word(line, start, b"false")?, Kind::Bool),
        Some(b'N') => plain(word(line, start, b"NaN")?, Kind::NonFinite),
        Some(b'I') => plain(word(line, start, b"Infinity")?, Kind::NonFinite),
        Some(_) => Err(SyntaxError {
            at: start,
            what: "expected a value",
        }),
        None => Err(SyntaxError {
            at: start,
            what: END,
        }),
    }
}

fn word(line: &[u8], start: usize, word: &[u8]) -> Result<usize, SyntaxError> {
    let rest = &line[start..];
    if rest.starts_with(word) {
        return Ok(start + word.len());
    }
    let what = if word.starts_with(rest) {
        END
    } else {
        "expected a value"
    };
    Err(SyntaxError { at: start, what })
}

fn number(line: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let digits = |from: usize| -> Result<usize, SyntaxError> {
        let end = from
            + line[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
        match line.get(from) {
            _ if end > from => Ok(end),
            Some(_) => Err(SyntaxError {
                at: from,
                what: "expected a digit",
            }),
            None => Err(SyntaxError {
                at: from,
                what: END,
            }),
        }
    };
    let mut at = start + usize::from(line[start] == b'-');
    at = match line.get(at) {
        Some(b'0') => at + 1,
        _ => digits(at)?,
    };
    if line.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = line.get(at) {
        let sign = usize::from(matches!(line.get(at + 1), Some(b'+' | b'-')));
        at = digits(at + 1 + sign)?;
    }
    Ok(at)
}

/// The string whose opening quote is at `start`.
#[inline]
fn string(line: &[u8], start: usize) -> Result<Value, SyntaxError> {
    let mut escaped = false;
    let mut at = start + 1;
    loop {
        at = special(line, at);
        match line.get(at) {
            Some(b'"') => {
                return Ok(Value {
                    start,
                    end: at + 1,
                    kind: Kind::String { escaped },
                    nonfinite: false,
                });
            }
            Some(b'\\') => {
                escaped = true;
                at = escape(line, at)?;
            }
            Some(_) => {
                return Err(SyntaxError {
                    at,
                    what: "control character inside a string",
                });
            }
            None => {
                return Err(SyntaxError {
                    at,
                    what: END_IN_STRING,
                });
            }
        }
    }
}

/// Checks the escape at `at`; returns what follows it.
#[inline]
fn escape(line: &[u8], at: usize) -> Result<usize, SyntaxError> {
    match line.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for offset in 2..6 {
                match line.get(at + offset) {
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => {
                        return Err(SyntaxError {
                            at: at + offset,
                            what: "expected four hexadecimal digits after \\u",
                        });
                    }
                    None => {
                        return Err(SyntaxError {
                            at: line.len(),
                            what: END_IN_STRING,
                        });
                    }
                }
            }
            Ok(at + 6)
        }
        Some(_) => Err(SyntaxError {
            at,
            what: "unknown escape",
        }),
        None => Err(SyntaxError {
            at: line.len(),
            what: END_IN_STRING,
        }),
    }
}

#[cfg(test)]
mod tests;
