//! The text of strings, and values as JSON.

use super::bytes::{WIDTH, backslash};
use super::string;

/// The text of a string whose inside (without quotes) is `raw`, which a scanner has accepted; it is put into `out`, which
/// only grows. A surrogate that has no partner becomes U+FFFD: Rust text, like UTF-8, has no place for it.
///
/// Copies whole chunks and then looks how much of the last one was text, which is faster than to find out before: in
/// prose there is a line break, and so an escape, every few dozen bytes.
pub(in crate::read) fn unescape<'a>(raw: &str, out: &'a mut Vec<u8>) -> &'a str {
    let bytes = raw.as_bytes();
    // What an escape stands for is shorter than the escape; a chunk may be copied beyond the end.
    if out.len() < bytes.len() + WIDTH {
        out.resize(bytes.len() + WIDTH, 0);
    }
    let (mut at, mut end) = (0, 0);
    while let Some(rest) = bytes.get(at..) {
        if let (Some(chunk), Some(room)) = (
            rest.first_chunk::<WIDTH>(),
            out[end..].first_chunk_mut::<WIDTH>(),
        ) {
            *room = *chunk;
            // Constant steps here too, see `special`.
            let Some(text) = backslash(chunk) else {
                at += WIDTH;
                end += WIDTH;
                continue;
            };
            at += text;
            end += text;
        } else {
            let text = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            out[end..end + text].copy_from_slice(&rest[..text]);
            at += text;
            end += text;
            if at == bytes.len() {
                break;
            }
        }
        let (symbol, length) = escape(&bytes[at..]);
        at += length;
        end += symbol.encode_utf8(&mut out[end..]).len();
    }
    // SAFETY: `out[..end]` is a sequence of parts of `raw`, which is UTF-8 and is cut only before and behind escapes, which
    // are ASCII, and of encoded characters.
    unsafe { std::str::from_utf8_unchecked(&out[..end]) }
}

/// The character of the escape at the beginning of `bytes`, and how many bytes the escape takes.
#[inline]
fn escape(bytes: &[u8]) -> (char, usize) {
    let symbol = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b'u') => return code_units(bytes),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(&other) => char::from(other),
        // No scanner accepts a backslash at the end.
        None => return (char::REPLACEMENT_CHARACTER, bytes.len()),
    };
    (symbol, 2)
}

/// The character of a `\u` escape, or of two that are a surrogate pair, and how many bytes it takes.
fn code_units(bytes: &[u8]) -> (char, usize) {
    let unit = |from: usize| -> Option<u32> {
        let digits = bytes.get(from..from + 6)?;
        if !digits.starts_with(b"\\u") {
            return None;
        }
        digits[2..].iter().try_fold(0, |sum, &byte| {
            Some(sum * 16 + char::from(byte).to_digit(16)?)
        })
    };
    let first = unit(0).unwrap_or(0xfffd);
    if let (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) = (first, unit(6)) {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
            12,
        );
    }
    (
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER),
        6,
    )
}

/// The raw text of a value with its non-finite words replaced by `null`, so that it is JSON.
pub(in crate::read) fn without_nonfinite(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len());
    let mut at = 0;
    let mut copied = 0;
    while at < bytes.len() {
        let length = match bytes[at] {
            // A scanned string always has its end.
            b'"' => {
                at = string(bytes, at).map_or(bytes.len(), |value| value.end);
                continue;
            }
            b'N' => 3,
            b'I' => 8,
            b'-' if bytes.get(at + 1) == Some(&b'I') => 9,
            _ => {
                at += 1;
                continue;
            }
        };
        out.push_str(&raw[copied..at]);
        out.push_str("null");
        at += length;
        copied = at;
    }
    out.push_str(&raw[copied..]);
    out
}
