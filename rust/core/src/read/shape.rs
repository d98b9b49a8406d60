//! What the first bytes of a file tell: text in another encoding, JSON that is not JSON Lines, formats that are not read.

use super::error::FileFault;
use super::json::{END, END_IN_STRING, Scanner};

/// Bytes that [`foreign`] and [`encoding`] want to see.
pub(super) const HEAD: usize = 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Without a byte order mark at the beginning: files joined by `cat` have one at the beginning of any line.
pub(super) fn without_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(BOM).unwrap_or(line)
}

/// Whether a line is no record: nothing in it, or ASCII white space only.
#[inline]
pub(super) fn is_blank(line: &[u8]) -> bool {
    match line.first() {
        None => true,
        Some(&byte) if byte > b' ' && byte != BOM[0] => false,
        _ => without_bom(line)
            .iter()
            .all(|&byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)),
    }
}

/// First byte that is neither white space nor part of a byte order mark.
pub(super) fn first_visible(head: &[u8]) -> Option<u8> {
    without_bom(head)
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace())
}

/// Whether the bytes begin like JSON Lines, or like the array of objects that is often taken for it.
pub(super) fn looks_like_json(head: &[u8]) -> bool {
    let mut visible = without_bom(head)
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace());
    match visible.next() {
        Some(b'{') => matches!(visible.next(), None | Some(b'"' | b'}')),
        Some(b'[') => visible.next() == Some(&b'{'),
        _ => false,
    }
}

/// A fault if the bytes look like text of another encoding than UTF-8.
pub(super) fn encoding(head: &[u8]) -> Option<FileFault> {
    let name = match head {
        [0xff, 0xfe, 0, 0, ..] => "UTF-32LE",
        [0, 0, 0xfe, 0xff, ..] => "UTF-32BE",
        [0xff, 0xfe, ..] => "UTF-16LE",
        [0xfe, 0xff, ..] => "UTF-16BE",
        _ => unmarked(head)?,
    };
    Some(FileFault::refused(
        format!("text that looks like {name}, not UTF-8"),
        format!("convert it first: iconv -f {name} -t UTF-8"),
    ))
}

/// ASCII characters in wider units leave zeros at fixed places.
fn unmarked(head: &[u8]) -> Option<&'static str> {
    let head = &head[..head.len().min(64) & !3];
    if head.len() < 8 {
        return None;
    }
    let zeros = |first: usize| {
        head.iter()
            .skip(first)
            .step_by(4)
            .filter(|&&byte| byte == 0)
            .count()
            * 4
    };
    let [a, b, c, d] = [zeros(0), zeros(1), zeros(2), zeros(3)];
    let (all, most) = (head.len(), head.len() * 3 / 4);
    if a == 0 && b == all && c == all && d == all {
        Some("UTF-32LE")
    } else if a == all && b == all && c == all && d == 0 {
        Some("UTF-32BE")
    } else if a == 0 && c == 0 && b >= most && d >= most {
        Some("UTF-16LE")
    } else if b == 0 && d == 0 && a >= most && c >= most {
        Some("UTF-16BE")
    } else {
        None
    }
}

/// A fault if the bytes are those of a known format that is not read.
pub(super) fn foreign(head: &[u8]) -> Option<FileFault> {
    const UNPACK: &str = "unpack it first";
    const CONVERT: &str = "export it as JSON Lines or Parquet first";
    const KNOWN: [(&[u8], &str, &str); 14] = [
        (b"7z\xbc\xaf\x27\x1c", "7z archive", UNPACK),
        (b"Rar!\x1a\x07", "RAR archive", UNPACK),
        (
            b"\x04\x22\x4d\x18",
            "lz4 file",
            "decompress it first (lz4 -d)",
        ),
        (
            b"\x1f\x9d",
            "compress (.Z) file",
            "decompress it first (gzip -d)",
        ),
        (b"LZIP", "lzip file", "decompress it first (lzip -d)"),
        (
            b"\xff\x06\x00\x00sNaPpY",
            "snappy stream",
            "decompress it first",
        ),
        (b"%PDF-", "PDF document", "extract its text first"),
        (b"\x89PNG", "PNG image", "leave it out with --exclude"),
        (
            b"\x7fELF",
            "program or library",
            "leave it out with --exclude",
        ),
        (b"SQLite format 3\0", "SQLite database", CONVERT),
        (b"\x89HDF\r\n\x1a\n", "HDF5 file", CONVERT),
        (b"Obj\x01", "Avro file", CONVERT),
        (b"ORC", "ORC file", CONVERT),
        (
            b"FEA1",
            "Feather file of version 1",
            "write it again with a current pyarrow (version 2 is read)",
        ),
    ];
    let (_, what, advice) = KNOWN.iter().find(|(magic, ..)| head.starts_with(magic))?;
    Some(FileFault::refused(
        format!("{what}, which is not read"),
        *advice,
    ))
}

/// A fault if `first`, the first bytes of a file with whole lines (`whole`: all of it), is JSON but not JSON Lines.
///
/// A record that is only malformed must not be taken for that: it is the next line that tells, or the end of the file.
pub(super) fn not_json_lines(first: &[u8], whole: bool) -> Option<FileFault> {
    let mut lines = first
        .split(|&byte| byte == b'\n')
        .filter(|line| !is_blank(line));
    let line = without_bom(lines.next()?);
    let next = lines.next();
    let mut scanner = Scanner::default();
    let error = match first_visible(line)? {
        b'[' => match scanner.document(line) {
            Ok(_)
                if whole
                    && next.is_none()
                    && first_visible(line.trim_ascii().get(1..)?) == Some(b'{') =>
            {
                None
            }
            Ok(_) => return None,
            Err(error) => Some(error),
        },
        b'{' => match scanner.document(line) {
            Err(error) if error.what == END && !next?.starts_with(b"{") => Some(error),
            _ => return None,
        },
        _ => return None,
    };
    let array = line.trim_ascii().first() == Some(&b'[');
    if array && error.is_some_and(|error| error.what != END && error.what != END_IN_STRING) {
        return None;
    }
    Some(if array {
        FileFault::refused(
            "one JSON array, not JSON Lines (one object a line)",
            "jq -c '.[]' makes JSON Lines of it",
        )
    } else {
        FileFault::refused(
            "a JSON object spread over several lines, not JSON Lines (one object a line)",
            "jq -c . makes JSON Lines of it",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines() {
        for line in [&b""[..], b"\r", b" \t ", BOM, b"\xef\xbb\xbf \r"] {
            assert!(is_blank(line), "{line:?}");
        }
        for line in [
            &b"x"[..],
            b" x",
            b"\xef\xbb\xbfx",
            b"\xef\xbc\x81",
            b"\xc2\xa0",
        ] {
            assert!(!is_blank(line), "{line:?}");
        }
    }

    #[test]
    fn encodings_are_named() {
        let wide = |width: usize, low: usize| -> Vec<u8> {
            b"{\"text\":\"alpha\"}\n"
                .iter()
                .flat_map(|&byte| (0..width).map(move |place| if place == low { byte } else { 0 }))
                .collect()
        };
        for (bytes, name) in [
            (wide(2, 0), "UTF-16LE"),
            (wide(2, 1), "UTF-16BE"),
            (wide(4, 0), "UTF-32LE"),
            (wide(4, 3), "UTF-32BE"),
            (b"\xff\xfea\0".to_vec(), "UTF-16LE"),
            (b"\xff\xfe\0\0".to_vec(), "UTF-32LE"),
        ] {
            let fault = encoding(&bytes)
                .map(|fault| fault.to_string())
                .unwrap_or_default();
            assert!(fault.contains(name), "{name}: {fault}");
        }
        assert_eq!(
            encoding(b"{\"text\": \"with \0 one zero byte and more text behind it\"}"),
            None
        );
        assert_eq!(encoding("{\"text\":\"Grüße, 世界\"}".as_bytes()), None);
    }

    #[test]
    fn json_that_is_not_json_lines() {
        let refused = |text: &str| not_json_lines(text.as_bytes(), true).is_some();
        assert!(refused("[\n{\"a\": 1},\n{\"a\": 2}\n]\n"));
        assert!(refused("[{\"a\": 1}, {\"a\": 2}]"));
        assert!(refused("[{\"a\": 1},\n {\"a\": 2}]"));
        assert!(refused("{\n  \"a\": 1\n}\n"));
        assert!(refused("\u{feff}\n{\"a\": {\n\"b\": 1\n}\n}"));
        // Lines that stand for themselves, however bad they are.
        assert!(!refused("[1, 2]\n{\"a\": 1}\n"));
        assert!(!refused("[1, 2]\n"));
        assert!(!refused("{\"a\": \"never closed\n{\"a\": 1}\n"));
        assert!(!refused("{\"a\": 1,\n{\"a\": 1}\n"));
        assert!(!refused("{\"a\": 1,\n"));
        assert!(!refused("{\"a\": 1}\n{\"a\": 2}\n"));
        assert!(!refused(""));
    }
}
