//! The `uax29` rule against two other implementations, on random text and on texts that pin single rules.

mod words_support;

use ngramscope_core::tokenize::{Class, UNICODE_VERSION, WordMode};
use proptest::prelude::*;
use words_support::{any_text, assert_words, peer_words, plain_words, rule, tokenizers, words};

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

/// Long enough for many batches, so that every state of the cut is carried from one to the next.
#[test]
fn long_random_text_follows_the_standard() {
    let config = ProptestConfig {
        failure_persistence: None,
        cases: 40,
        ..ProptestConfig::default()
    };
    let texts = proptest::collection::vec(any_text(), 60..120);
    proptest!(config, |(texts in texts)| {
        let text = without_departures(&texts.concat());
        let mut tokenizers = tokenizers(&rule(WordMode::Uax29));
        assert_words(&mut tokenizers, &text, &peer_words(&text));
    });
}

/// One word, or white space, of many lengths in front: every construct at every place within 64 bytes.
#[test]
fn constructs_are_cut_alike_at_every_place() {
    let constructs = [
        "can't",
        "3.14",
        "a.",
        "a.b",
        "1,2;3",
        "é",
        "aé.b",
        "a.é",
        "a\u{301}",
        " \u{301}x",
        "  \u{301}",
        "\t\u{200D}",
        "x \u{3000} \u{308}y",
        "’",
        "a’b",
        "\r\n",
        "\r\u{301}",
        "_\u{202F}_",
        "日本",
        "👩\u{200D}👧",
        "🇩🇪🇫",
        "\u{85}",
        "tail",
    ];
    let mut tokenizers = tokenizers(&rule(WordMode::Uax29));
    for filler in ["a", " ", ".", "\n", "a "] {
        for length in (0..140).chain(500..520) {
            for construct in constructs {
                let front = filler.repeat(length);
                let text = format!("{front}{construct}{construct} {front}{construct}");
                assert_words(&mut tokenizers, &text, &peer_words(&text));
            }
        }
    }
}

fn assert_cut(text: &str, wanted: &[&str]) {
    for tokenizer in &mut tokenizers(&rule(WordMode::Uax29)) {
        assert_eq!(words(tokenizer, text), wanted, "{text:?}");
    }
}

#[test]
fn known_cases() {
    assert_cut("a:b", &["a:b"]);
    assert_cut("U.S.A.", &["U.S.A", "."]);
    assert_cut("3.14 1,000 1;2", &["3.14", "1,000", "1;2"]);
    assert_cut("can't don’t", &["can't", "don’t"]);
    assert_cut("a_b __x__", &["a_b", "__x__"]);
    assert_cut("x==y", &["x", "=", "=", "y"]);
    assert_cut("a-b", &["a", "-", "b"]);
    assert_cut("foo()\r\nbar", &["foo", "(", ")", "bar"]);
    assert_cut("日本語テスト", &["日", "本", "語", "テスト"]);
    assert_cut(
        "http://x.y/z?a=1",
        &["http", ":", "/", "/", "x.y", "/", "z", "?", "a", "=", "1"],
    );
    assert_cut(
        "👩\u{200D}👩\u{200D}👧👍🏽",
        &["👩\u{200D}👩\u{200D}👧", "👍🏽"],
    );
    assert_cut("\u{1C}\u{1D}a", &["\u{1C}", "\u{1D}", "a"]);
    assert_cut("== == ==", &["=", "=", "=", "=", "=", "="]);
    assert_cut("", &[]);
    assert_cut(" \t\r\n\u{A0}\u{3000}\u{85}", &[]);
}

/// U+202F is white space, but by its Word_Break value, ExtendNumLet, it joins words as an underscore does.
#[test]
fn narrow_no_break_space_joins_words() {
    assert_cut(
        "12\u{202F}000 the\u{202F}old",
        &["12\u{202F}000", "the\u{202F}old"],
    );
    assert_cut("a \u{202F} b \u{202F}c", &["a", "b", "\u{202F}c"]);
}

/// A mark makes a word of the white space that it follows: the segment is not only white space then.
#[test]
fn white_space_with_a_mark_is_a_word() {
    assert_cut("a  \u{301}b", &["a", "  \u{301}", "b"]);
    assert_cut("a\t\u{200D} b", &["a", "\t\u{200D}", "b"]);
    assert_cut("a\n\u{301}b", &["a", "\u{301}", "b"]);
}

/// Where unicode-segmentation 1.10.1 departs from the standard, the standard holds: the full stop is no part of the word, as no
/// letter follows (WB6), and WB3c joins the pictograph to what is before it.
#[test]
fn the_standard_holds_where_the_peer_departs_from_it() {
    assert_cut("a.\u{200D}©", &["a", ".\u{200D}©"]);
    assert_cut("1,\u{200D}©", &["1", ",\u{200D}©"]);
    assert_cut("a'\u{301}\u{200D}©b", &["a", "'\u{301}\u{200D}©", "b"]);
    assert_eq!(peer_words("a.\u{200D}©").len(), 1);
    // ℹ is a pictograph and a letter: WB3c joins it to the ZWJ, and WB5 joins the letter after it.
    assert_cut("a\u{200D}ℹb", &["a\u{200D}ℹb"]);
    assert_eq!(peer_words("a\u{200D}ℹb").len(), 2);
}

/// The test cases that come with the standard, where Debian's package unicode-data (or `UCD_FOLDER`) has them.
#[test]
fn cases_of_the_unicode_character_database() {
    let folder = std::env::var_os("UCD_FOLDER")
        .map_or_else(|| "/usr/share/unicode".into(), std::path::PathBuf::from);
    let path = folder.join("auxiliary/WordBreakTest.txt");
    let Ok(cases) = std::fs::read_to_string(&path) else {
        eprintln!(
            "skipped: {} does not exist (package unicode-data)",
            path.display()
        );
        return;
    };
    if !cases.starts_with(&format!("# WordBreakTest-{UNICODE_VERSION}.txt")) {
        eprintln!(
            "skipped: {} is not of Unicode {UNICODE_VERSION}",
            path.display()
        );
        return;
    }
    let mut count = 0;
    for line in cases
        .lines()
        .map(|line| line.split('#').next().unwrap_or("").trim())
        .filter(|line| !line.is_empty())
    {
        let segments = line.split('÷').map(|segment| {
            let codes = segment
                .split('×')
                .map(str::trim)
                .filter(|code| !code.is_empty());
            codes
                .map(|code| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap())
                .collect::<String>()
        });
        let segments: Vec<String> = segments.filter(|segment| !segment.is_empty()).collect();
        let wanted: Vec<&str> = segments
            .iter()
            .map(String::as_str)
            .filter(|segment| !segment.chars().all(char::is_whitespace))
            .collect();
        assert_cut(&segments.concat(), &wanted);
        count += 1;
    }
    assert!(count > 1000, "only {count} cases in {}", path.display());
}
