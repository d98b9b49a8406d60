//! Why a record could not be used.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a record has no usable text. [`Reason::code`] is the stable name in counts; `Display` the sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The text is there and null: legal data, counted, never an error.
    NullText,
    /// The record has no text under the wanted key.
    MissingText,
    /// The text is a number, a list, an object or a boolean.
    TextNotAString,
    /// Word mode `ids`: the text is not a list of integers.
    TextNotIntegerList,
    /// The line is JSON, but not an object with keys.
    NotAnObject,
    /// The line is not JSON.
    InvalidJson,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// The record is longer than `max_record_bytes`.
    RecordTooLong,
}

impl Reason {
    /// The stable name, as it stands in counts and in the index.
    pub fn code(self) -> &'static str {
        match self {
            Reason::NullText => "null_text",
            Reason::MissingText => "missing_text",
            Reason::TextNotAString => "text_not_a_string",
            Reason::TextNotIntegerList => "text_not_integer_list",
            Reason::NotAnObject => "not_an_object",
            Reason::InvalidJson => "invalid_json",
            Reason::InvalidUtf8 => "invalid_utf8",
            Reason::RecordTooLong => "record_too_long",
        }
    }

    /// Whether such a record counts against `max_bad_records`. An absent value (null) is legal data; all else is not.
    pub fn is_bad(self) -> bool {
        self != Reason::NullText
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NullText => "the text is null",
            Reason::MissingText => "the record has no text under the wanted key",
            Reason::TextNotAString => "the text is not a string",
            Reason::TextNotIntegerList => "the text is not a list of integers",
            Reason::NotAnObject => "the record is not a JSON object",
            Reason::InvalidJson => "the record is not valid JSON",
            Reason::InvalidUtf8 => "the record is not valid UTF-8",
            Reason::RecordTooLong => "the record is too long",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialised_name_is_the_code() {
        for reason in [
            Reason::NullText,
            Reason::MissingText,
            Reason::TextNotAString,
            Reason::TextNotIntegerList,
            Reason::NotAnObject,
            Reason::InvalidJson,
            Reason::InvalidUtf8,
            Reason::RecordTooLong,
        ] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.code());
            assert_eq!(reason.is_bad(), reason != Reason::NullText);
        }
    }
}
