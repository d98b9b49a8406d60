//! Normalisation and lower-casing, with a way back to the original text.
//!
//! Text is handled in pieces that normalise independently: a piece begins at a character whose decomposition starts with a
//! character that no earlier one can combine with (combining class 0 and NFC quick check "yes"). Most pieces do not change.
//!
//! Code points that Unicode 15.0 does not assign are kept as they are, so that words do not change with the version of a
//! dependency; what 15.0 assigns normalises the same in every later version, by Unicode's stability policy.

use unicode_normalization::char::{
    canonical_combining_class, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::property::Class;
use super::{Normalization, Span, WordRule};

/// A piece of the original text and what became of it, where the lengths differ or characters moved. Byte ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    original: Span,
    result: Span,
}

/// A text after normalisation and lower-casing. Reusable.
#[derive(Default)]
pub struct Normalized {
    text: String,
    changes: Vec<Change>,
    piece: String,
}

impl Normalized {
    /// Applies `rule` to `text` and returns the result. `None`: there is nothing to change.
    pub fn apply(&mut self, text: &str, rule: &WordRule) -> Option<&str> {
        self.text.clear();
        self.changes.clear();
        if !changes_anything(text, rule) {
            return None;
        }
        self.text.reserve(text.len());
        let mut done = 0;
        if rule.normalization != Normalization::None {
            let mut rest = Pieces {
                text,
                at: 0,
                normalization: rule.normalization,
            };
            while let Some(piece) = rest.next_unusual() {
                self.push_normal(&text[done..piece.start], done, rule.lowercase);
                self.push_piece(&text[piece.start..piece.end], piece.start, rule);
                done = piece.end;
            }
        }
        self.push_normal(&text[done..], done, rule.lowercase);
        Some(&self.text)
    }

    /// The result of the last [`Normalized::apply`] that changed something.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text that is in normal form and begins at `start` of the original.
    fn push_normal(&mut self, part: &str, start: usize, lowercase: bool) {
        if !lowercase {
            self.text.push_str(part);
            return;
        }
        for (index, character) in part.char_indices() {
            if character.is_ascii() {
                self.text.push(character.to_ascii_lowercase());
                continue;
            }
            let before = self.text.len();
            push_lower(&mut self.text, character);
            let length = character.len_utf8();
            if self.text.len() != before + length {
                let original = Span {
                    start: start + index,
                    end: start + index + length,
                };
                self.changes.push(Change {
                    original,
                    result: Span {
                        start: before,
                        end: self.text.len(),
                    },
                });
            }
        }
    }

    /// Adds a piece that may not be in normal form.
    fn push_piece(&mut self, part: &str, start: usize, rule: &WordRule) {
        self.piece.clear();
        // A reserved code point at the head takes no part, whatever later versions compose from it.
        let head = part
            .chars()
            .next()
            .filter(|&character| Class::of(character).is_unassigned())
            .map_or(0, char::len_utf8);
        self.piece.push_str(&part[..head]);
        match rule.normalization {
            Normalization::Nfkc => self.piece.extend(part[head..].nfkc()),
            Normalization::Nfc | Normalization::None => self.piece.extend(part[head..].nfc()),
        }
        if self.piece == part {
            self.push_normal(part, start, rule.lowercase);
            return;
        }
        let before = self.text.len();
        if rule.lowercase {
            for character in self.piece.chars() {
                push_lower(&mut self.text, character);
            }
        } else {
            self.text.push_str(&self.piece);
        }
        let original = Span {
            start,
            end: start + part.len(),
        };
        self.changes.push(Change {
            original,
            result: Span {
                start: before,
                end: self.text.len(),
            },
        });
    }

    /// The range of the original text that became `span` of the result; widened to whole pieces where a piece changed.
    pub fn original(&self, span: Span) -> Span {
        let start = match self.last_change(|change| change.result.start <= span.start) {
            Some(change) if span.start < change.result.end => change.original.start,
            Some(change) => change.original.end + (span.start - change.result.end),
            None => span.start,
        };
        let end = match self.last_change(|change| change.result.start < span.end) {
            Some(change) if span.end <= change.result.end => change.original.end,
            Some(change) => change.original.end + (span.end - change.result.end),
            None => span.end,
        };
        Span { start, end }
    }

    fn last_change(&self, is_before: impl Fn(&Change) -> bool) -> Option<&Change> {
        self.changes[..self.changes.partition_point(is_before)].last()
    }
}

fn push_lower(text: &mut String, character: char) {
    if Class::of(character).is_unassigned() {
        text.push(character);
    } else {
        text.extend(character.to_lowercase());
    }
}

fn changes_anything(text: &str, rule: &WordRule) -> bool {
    if text.is_ascii() {
        return rule.lowercase && text.bytes().any(|byte| byte.is_ascii_uppercase());
    }
    rule.lowercase
        || rule.normalization != Normalization::None
            && Pieces {
                text,
                at: 0,
                normalization: rule.normalization,
            }
            .next_unusual()
            .is_some()
}

/// Walks a text for pieces that may not be in normal form.
struct Pieces<'a> {
    text: &'a str,
    /// Start of a piece, or of the text.
    at: usize,
    normalization: Normalization,
}

impl Pieces<'_> {
    fn next_unusual(&mut self) -> Option<Span> {
        let mut start = self.at;
        for (index, character) in self.text[self.at..].char_indices() {
            let index = self.at + index;
            if is_usual(character, self.normalization) {
                start = index;
                continue;
            }
            if begins_piece(character, self.normalization) {
                start = index;
            }
            let after = index + character.len_utf8();
            let more = self.text[after..]
                .char_indices()
                .find(|&(_, next)| begins_piece(next, self.normalization));
            let end = more.map_or(self.text.len(), |(offset, _)| after + offset);
            self.at = end;
            return Some(Span { start, end });
        }
        self.at = self.text.len();
        None
    }
}

/// True if the character is in normal form and no earlier one can combine with it.
fn is_usual(character: char, normalization: Normalization) -> bool {
    // Below these, no character decomposes or combines with an earlier one.
    let first = if normalization == Normalization::Nfkc {
        '\u{A0}'
    } else {
        '\u{300}'
    };
    if character < first || Class::of(character).is_unassigned() {
        return true;
    }
    let once = std::iter::once(character);
    let check = if normalization == Normalization::Nfkc {
        is_nfkc_quick(once)
    } else {
        is_nfc_quick(once)
    };
    check == IsNormalized::Yes && canonical_combining_class(character) == 0
}

/// True if nothing before the character takes part in its normalisation.
fn begins_piece(character: char, normalization: Normalization) -> bool {
    if is_usual(character, normalization) {
        return true;
    }
    let mut first = None;
    let mut keep_first = |part: char| {
        first.get_or_insert(part);
    };
    if normalization == Normalization::Nfkc {
        decompose_compatible(character, &mut keep_first);
    } else {
        decompose_canonical(character, &mut keep_first);
    }
    first.is_some_and(|part| {
        canonical_combining_class(part) == 0
            && is_nfc_quick(std::iter::once(part)) == IsNormalized::Yes
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::WordMode;

    /// What becomes of every single character, and of pairs that compose, in one text.
    fn digest(normalization: Normalization, lowercase: bool) -> String {
        let rule = WordRule {
            mode: WordMode::Whitespace,
            normalization,
            lowercase,
        };
        let mut normalized = Normalized::default();
        let mut hasher = blake3::Hasher::new();
        for character in '\0'..=char::MAX {
            // The noncharacter keeps the results apart.
            let text = format!("{character}\u{FFFF}{character}\u{301}\u{FFFF}");
            hasher.update(normalized.apply(&text, &rule).unwrap_or(&text).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// These rules use tables of a crate and of the standard library, of whatever version; indexes must not change with them.
    #[test]
    fn results_are_those_of_unicode_15() {
        assert_eq!(
            digest(Normalization::Nfc, false),
            "db8e12823505da195f765b8703ea9906356b9564a8de25a41985ab57d4e05cba"
        );
        assert_eq!(
            digest(Normalization::Nfkc, false),
            "25cbc2dd0d908f1e75ede2b2ee40d6776fffe12f62718664f9dab11abd232171"
        );
        assert_eq!(
            digest(Normalization::None, true),
            "d087139bcf821ccc32370f2868a37d5dd284172beaf223126335edd30974dbfe"
        );
    }
}
