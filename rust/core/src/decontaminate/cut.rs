//! Matched ranges to what is left of a text.

use std::ops::Range;

/// How matched ranges are cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Characters (code points) that go with a match on either side.
    pub around: usize,
    /// Pieces of fewer characters go too.
    pub min_piece: usize,
    /// A document that falls into more pieces goes as a whole; `None`: any number.
    pub max_pieces: Option<usize>,
}

/// What remains of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// All of it.
    Whole,
    /// These byte ranges, in order; at least one.
    Pieces(Vec<Range<usize>>),
    /// Nothing long enough, or only white space.
    Nothing,
    /// More pieces than allowed.
    TooManyPieces(usize),
}

/// Cuts the byte ranges `matched`, in order of their starts, out of `text`.
///
/// After GPT-3 (Brown et al. 2020, appendix C): a match goes with `around` characters on either side, and pieces that are too short go
/// as well. Pieces are counted before short ones are left out, since it is the number of cuts that tells of a damaged document.
pub fn cut(text: &str, matched: &[Range<usize>], rule: Cut) -> Rest {
    if matched.is_empty() {
        return Rest::Whole;
    }
    let mut pieces = Vec::new();
    let mut kept_to = 0;
    for range in matched {
        let start = back(text, range.start, rule.around);
        if start > kept_to {
            pieces.push(kept_to..start);
        }
        kept_to = kept_to.max(forward(text, range.end, rule.around));
    }
    if kept_to < text.len() {
        pieces.push(kept_to..text.len());
    }
    if let Some(most) = rule.max_pieces
        && pieces.len() > most
    {
        return Rest::TooManyPieces(pieces.len());
    }
    pieces.retain(|piece| is_at_least(&text[piece.clone()], rule.min_piece));
    if pieces
        .iter()
        .all(|piece| text[piece.clone()].trim().is_empty())
    {
        Rest::Nothing
    } else {
        Rest::Pieces(pieces)
    }
}

/// The byte `characters` characters before byte `from`.
fn back(text: &str, from: usize, characters: usize) -> usize {
    if characters == 0 {
        return from;
    }
    text[..from]
        .char_indices()
        .rev()
        .nth(characters - 1)
        .map_or(0, |(byte, _)| byte)
}

/// The byte `characters` characters after byte `from`.
fn forward(text: &str, from: usize, characters: usize) -> usize {
    text[from..]
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(byte, _)| from + byte)
}

fn is_at_least(piece: &str, characters: usize) -> bool {
    characters == 0 || piece.chars().nth(characters - 1).is_some()
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one range is meant"
)]
mod tests {
    use super::*;

    const RULE: Cut = Cut {
        around: 2,
        min_piece: 3,
        max_pieces: Some(3),
    };

    fn pieces<'a>(text: &'a str, matched: &[Range<usize>], rule: Cut) -> Vec<&'a str> {
        match cut(text, matched, rule) {
            Rest::Pieces(pieces) => pieces.into_iter().map(|piece| &text[piece]).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn matches_go_with_their_surroundings() {
        let text = "abcdefghijklmnop";
        assert_eq!(cut(text, &[], RULE), Rest::Whole);
        assert_eq!(pieces(text, &[6..8], RULE), ["abcd", "klmnop"]);
        assert_eq!(pieces(text, &[0..1], RULE), ["defghijklmnop"]);
        // The piece of two characters at the beginning is too short.
        assert_eq!(pieces(text, &[4..5], RULE), ["hijklmnop"]);
        assert_eq!(cut(text, &[0..16], RULE), Rest::Nothing);
        // Matches that overlap, or whose surroundings do, are one cut.
        assert_eq!(pieces(text, &[5..7, 6..9, 10..11], RULE), ["abc", "nop"]);
    }

    #[test]
    fn characters_count_not_bytes() {
        let text = "äöüßéèêë日本語テスト";
        let start = text.char_indices().nth(6).map(|(byte, _)| byte).unwrap();
        let end = text.char_indices().nth(7).map(|(byte, _)| byte).unwrap();
        assert_eq!(pieces(text, &[start..end], RULE), ["äöüß", "本語テスト"]);
    }

    #[test]
    fn a_document_in_too_many_pieces_goes_as_a_whole() {
        let text = "a".repeat(60);
        let matched: Vec<_> = (0..4).map(|i| i * 15 + 7..i * 15 + 8).collect();
        assert_eq!(cut(&text, &matched, RULE), Rest::TooManyPieces(5));
        let any = Cut {
            max_pieces: None,
            ..RULE
        };
        assert_eq!(pieces(&text, &matched, any).len(), 5);
    }
}
