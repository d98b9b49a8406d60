//! Records written out again: those left alone byte for byte, the others without what is removed.

use std::ops::Range;

use crate::read::Place;

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It stays as it is.
    Keep,
    /// Its text becomes this one.
    Replace(String),
    /// It goes.
    Remove,
}

/// The bytes of a block after `actions`, which name records in order.
pub fn rewrite<'a>(raw: &[u8], actions: impl Iterator<Item = (&'a Place, &'a Action)>) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut copied = 0;
    let mut copy_to = |range: Range<usize>, with: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(&raw[copied..range.start]);
        out.extend_from_slice(with);
        copied = range.end;
    };
    for (place, action) in actions {
        match action {
            Action::Keep => {}
            Action::Remove => copy_to(place.record.clone(), &[], &mut out),
            Action::Replace(text) if place.json => {
                let literal = serde_json::Value::from(text.as_str()).to_string();
                copy_to(place.text.clone(), literal.as_bytes(), &mut out);
            }
            Action::Replace(text) => copy_to(place.text.clone(), text.as_bytes(), &mut out),
        }
    }
    copy_to(raw.len()..raw.len(), &[], &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_alone_stays_byte_for_byte() {
        let raw = b"{\"text\": \"a\\u00e9\", \"x\": 1.0}\r\n\n{\"text\":\"b\"}\n {\"text\":\"c\",\"y\":[ 1 ]}";
        let place = |record: Range<usize>, text: &str| {
            let line = std::str::from_utf8(&raw[record.clone()]).unwrap();
            let at = record.start + line.find(text).unwrap();
            Place {
                record,
                text: at..at + text.len(),
                json: true,
            }
        };
        let places = [
            place(0..31, "\"a\\u00e9\""),
            place(32..45, "\"b\""),
            place(45..raw.len(), "\"c\""),
        ];
        let with = |actions: [Action; 3]| {
            let out = rewrite(raw, places.iter().zip(&actions));
            String::from_utf8(out).unwrap()
        };
        use Action::{Keep, Remove, Replace};
        assert_eq!(with([Keep, Keep, Keep]).as_bytes(), raw);
        assert_eq!(
            with([Keep, Remove, Replace("new \"c\"\n".into())]),
            "{\"text\": \"a\\u00e9\", \"x\": 1.0}\r\n\n {\"text\":\"new \\\"c\\\"\\n\",\"y\":[ 1 ]}"
        );
        assert_eq!(with([Remove, Keep, Remove]), "\n{\"text\":\"b\"}\n");
    }
}
