//! The `uax29` rule against two other implementations, on random text and on texts that pin single rules.

mod words_support;

use ngramscope_core::tokenize::{Class, WordMode};
use proptest::prelude::*;
use words_support::{any_text, assert_words, peer_words, plain_words, rule, tokenizers};

/// Index of a ZWJ that unicode-segmentation 1.10.1 reads otherwise than the standard, if there is one.
///
/// It is followed by a pictograph, and either that is a letter as well (`ℹ`), or before it there is a mark that would join two
/// letters or two digits (`a.` ZWJ `©`).
fn departure(classes: &[Class]) -> Option<usize> {
    let is_mark = |class: &Class| {
        matches!(
            class,
            Class::MidLetter
                | Class::MidNum
                | Class::MidNumLet
                | Class::SingleQuote
                | Class::DoubleQuote
        )
    };
    let can_be_joined = |class: &Class| {
        matches!(
            class,
            Class::ALetter | Class::ALetterPictograph | Class::HebrewLetter | Class::Numeric
        )
    };
    (0..classes.len().saturating_sub(1)).find(|&index| {
        let is_ignored =
            |class: &&Class| matches!(class, Class::Extend | Class::Format | Class::Zwj);
        let mut counting = classes[..index]
            .iter()
            .rev()
            .filter(|class| !is_ignored(class));
        let after_mark =
            counting.next().is_some_and(is_mark) && counting.next().is_some_and(can_be_joined);
        let is_joined = classes[index] == Class::Zwj && classes[index + 1].is_pictograph();
        is_joined && (after_mark || classes[index + 1] == Class::ALetterPictograph)
    })
}

/// The text without the ZWJs that the peer reads otherwise.
fn without_departures(text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut classes: Vec<Class> = characters
        .iter()
        .map(|&character| Class::of(character))
        .collect();
    while let Some(index) = departure(&classes) {
        characters.remove(index);
        classes.remove(index);
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_follows_the_standard(text in any_text()) {
        assert_words(&mut tokenizers(&rule(WordMode::Uax29)), &text, &plain_words(&text));
    }

    #[test]
    fn random_text_agrees_with_unicode_segmentation(text in any_text()) {
        let text = without_departures(&text);
        assert_words(&mut tokenizers(&rule(WordMode::Uax29)), &text, &peer_words(&text));
    }
}
