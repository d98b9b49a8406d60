//! The `gpt3` rule: what is left of a white-space word once ASCII punctuation is deleted and ASCII letters are lower-cased.

use super::Span;

/// Puts the word that `piece` becomes into `word`. False if nothing is left of it.
pub fn clean(piece: &str, word: &mut Vec<u8>) -> bool {
    word.clear();
    word.extend(
        piece
            .bytes()
            .filter(|byte| !byte.is_ascii_punctuation())
            .map(|byte| byte.to_ascii_lowercase()),
    );
    !word.is_empty()
}

/// The range of `piece` from its first to its last byte that is kept, if any is.
pub fn kept(piece: &str) -> Option<Span> {
    let is_kept = |byte: u8| !byte.is_ascii_punctuation();
    let start = piece.bytes().position(is_kept)?;
    let end = piece.bytes().rposition(is_kept)? + 1;
    Some(Span { start, end })
}
