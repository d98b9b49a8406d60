//! The other rules: `whitespace`, `gpt3`, `ids`, normalisation, lower-casing; and what holds for all rules.

mod words_support;

use ngramscope_core::hash::word_hash;
use ngramscope_core::tokenize::{Class, Normalization, SimdPath, Tokenizer, WordMode, WordRule};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use words_support::{
    any_text, assert_words, hashes, records, rule, shared, spans, tokenizers, words,
};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        cases,
        ..ProptestConfig::default()
    }
}

fn all_rules() -> Vec<WordRule> {
    let mut rules = Vec::new();
    for mode in [
        WordMode::Uax29,
        WordMode::Whitespace,
        WordMode::Gpt3,
        WordMode::Ids,
    ] {
        for normalization in [Normalization::None, Normalization::Nfc, Normalization::Nfkc] {
            for lowercase in [false, true] {
                rules.push(WordRule {
                    mode,
                    normalization,
                    lowercase,
                });
            }
        }
    }
    rules
}

/// Text that composes, decomposes, changes case and length.
fn changing_text() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "e\u{301}",
        "é",
        "Å",
        "Å",
        "ＦＵＬＬ",
        "　",
        "ﬁ",
        "½",
        "İ",
        "ẞ",
        "Σ",
        "각",
        "\u{1100}\u{1161}\u{11A8}",
        "가\u{11A8}",
        "\u{958}",
        "ﷺ",
        "㏂",
        "\u{1E9B}\u{323}",
        "q\u{307}\u{323}",
        "\u{301}",
        "ABC",
        "x.Y",
        " ",
        ", ",
        "①",
        "ｶﾞ",
        "Ⅷ",
        "\u{105D2}\u{307}",
        "\u{2F800}",
        "\u{AC00}",
        "\u{FB1D}",
        "Dž",
        "\u{1F88}",
    ]);
    let piece = prop_oneof![4 => part.prop_map(String::from), 1 => any_text()];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// The text with code points that Unicode 15.0 does not assign taken out.
fn assigned(text: &str) -> String {
    text.chars()
        .filter(|&character| !Class::of(character).is_unassigned())
        .collect()
}

proptest! {
    #![proptest_config(config(6000))]

    #[test]
    fn white_space_words_are_those_of_the_standard_library(text in any_text()) {
        let wanted: Vec<_> = text.split_whitespace().map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            start..start + word.len()
        }).collect();
        assert_words(&mut tokenizers(&rule(WordMode::Whitespace)), &text, &wanted);
    }

    #[test]
    fn gpt3_words_are_clean_white_space_words(text in any_text()) {
        let clean = |word: &str| -> String {
            word.chars().filter(|character| !character.is_ascii_punctuation()).map(|character| character.to_ascii_lowercase()).collect()
        };
        let wanted: Vec<String> = text.split_whitespace().map(clean).filter(|word| !word.is_empty()).collect();
        let wanted_hashes: Vec<u64> = wanted.iter().map(|word| word_hash(word.as_bytes())).collect();
        for tokenizer in &mut tokenizers(&rule(WordMode::Gpt3)) {
            prop_assert_eq!(hashes(tokenizer, &text), wanted_hashes.clone());
            let found: Vec<String> = words(tokenizer, &text).into_iter().map(clean).collect();
            prop_assert_eq!(found, wanted.clone());
        }
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn rules_apply_one_after_the_other(text in changing_text()) {
        let text = assigned(&text);
        for rule in all_rules() {
            let normal: String = match rule.normalization {
                Normalization::None => text.clone(),
                Normalization::Nfc => text.nfc().collect(),
                Normalization::Nfkc => text.nfkc().collect(),
            };
            let lower: String = if rule.lowercase { normal.chars().flat_map(char::to_lowercase).collect() } else { normal };
            let plain = WordRule { normalization: Normalization::None, lowercase: false, ..rule };
            let wanted = hashes(&mut Tokenizer::new(plain), &lower);
            prop_assert_eq!(hashes(&mut Tokenizer::new(rule.clone()), &text), wanted, "{:?}", rule);
        }
    }

    #[test]
    fn spans_belong_to_hashes(text in changing_text()) {
        for rule in all_rules() {
            let mut tokenizer = Tokenizer::new(rule.clone());
            let spans = spans(&mut tokenizer, &text);
            let hashes = hashes(&mut tokenizer, &text);
            prop_assert_eq!(spans.len(), hashes.len(), "{:?}", &rule);
            for pair in spans.windows(2) {
                prop_assert!(pair[0].start <= pair[1].start && pair[0].end <= pair[1].end, "{:?} {:?}", &rule, pair);
            }
            let is_changed = rule.normalization != Normalization::None || rule.lowercase || rule.mode == WordMode::Gpt3;
            for (span, hash) in spans.into_iter().zip(hashes) {
                prop_assert!(span.start < span.end && text.get(span.clone()).is_some());
                if !is_changed {
                    prop_assert_eq!(word_hash(&text.as_bytes()[span]), hash);
                }
            }
        }
    }
}

/// Spans cover what a word came from, no more: the text of each span gives the word again.
#[test]
fn spans_are_as_narrow_as_the_pieces_that_changed() {
    let rule = WordRule {
        mode: WordMode::Uax29,
        normalization: Normalization::Nfkc,
        lowercase: true,
    };
    let mut tokenizer = Tokenizer::new(rule);
    let text = "Cafe\u{301}, ＦＵＬＬ　ＷＩＤＴＨ ﬁsh İx ½ ℀ e\u{301}";
    assert_eq!(
        words(&mut tokenizer, text),
        [
            "Cafe\u{301}",
            ",",
            "ＦＵＬＬ",
            "ＷＩＤＴＨ",
            "ﬁsh",
            "İx",
            "½",
            "℀",
            "℀",
            "℀",
            "e\u{301}"
        ]
    );
    assert_eq!(hashes(&mut tokenizer, text)[2], word_hash(b"full"));
}

#[test]
fn gpt3_spans_leave_outer_punctuation_out() {
    let mut tokenizer = Tokenizer::new(rule(WordMode::Gpt3));
    let text = "\"Hello,\" -- don't (ﬁx) ¿Qué?";
    assert_eq!(
        words(&mut tokenizer, text),
        ["Hello", "don't", "ﬁx", "¿Qué"]
    );
    let wanted = ["hello", "dont", "ﬁx", "¿qué"].map(|word| word_hash(word.as_bytes()));
    assert_eq!(hashes(&mut tokenizer, text), wanted);
}

#[test]
fn ids_are_words_as_they_stand() {
    let mut tokenizer = Tokenizer::new(rule(WordMode::Ids));
    assert_eq!(
        words(&mut tokenizer, "15 7 50256\n3"),
        ["15", "7", "50256", "3"]
    );
}

/// The crate that normalises knows newer characters; what Unicode 15.0 does not assign stays as it is nevertheless.
#[test]
fn later_unicode_versions_change_nothing() {
    // Composes to U+105C9 and has a small letter since 16.0.
    let text = "\u{105D2}\u{307} \u{1C89}";
    assert_ne!(text.nfc().collect::<String>(), text);
    for normalization in [Normalization::Nfc, Normalization::Nfkc] {
        let rule = WordRule {
            mode: WordMode::Whitespace,
            normalization,
            lowercase: true,
        };
        let wanted: Vec<u64> = text
            .split(' ')
            .map(|word| word_hash(word.as_bytes()))
            .collect();
        assert_eq!(hashes(&mut Tokenizer::new(rule), text), wanted);
    }
}

#[test]
fn a_path_can_be_chosen() {
    for path in SimdPath::available() {
        assert_eq!(
            Tokenizer::with_path(rule(WordMode::Uax29), path)
                .unwrap()
                .path(),
            path
        );
    }
    for path in SimdPath::ALL
        .into_iter()
        .filter(|path| !path.is_available())
    {
        let error = Tokenizer::with_path(rule(WordMode::Uax29), path)
            .err()
            .unwrap();
        assert!(
            error
                .to_string()
                .contains("this processor lacks the instructions"),
            "{error}"
        );
    }
}

/// Runs this very test in a process with `NGRAMSCOPE_SIMD` set, where it prints what comes of it.
#[test]
fn the_environment_chooses_the_path() {
    const PROBE: &str = "NGRAMSCOPE_TEST_PROBE";
    if std::env::var_os(PROBE).is_some() {
        match Tokenizer::try_new(rule(WordMode::Uax29)) {
            Ok(tokenizer) => println!("path {}.", tokenizer.path()),
            Err(error) => println!("error {error}."),
        }
        return;
    }
    let probe = |value: &str| {
        let arguments = ["--exact", "the_environment_chooses_the_path", "--nocapture"];
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(arguments)
            .env(PROBE, "1")
            .env("NGRAMSCOPE_SIMD", value);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for path in SimdPath::available() {
        assert!(probe(&path.to_string()).contains(&format!("path {path}.")));
    }
    assert!(probe("").contains(&format!("path {}.", SimdPath::best())));
    assert!(probe("mmx").contains("error NGRAMSCOPE_SIMD=mmx: no such code path"));
}

/// Texts of a file of the trials, by id.
fn trial(name: &str) -> Option<Vec<(String, String)>> {
    let path = shared("trials/files")?.join(name);
    let text =
        |record: &serde_json::Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    Some(
        records(&path)
            .iter()
            .map(|record| (text(record, "id"), text(record, "text")))
            .collect(),
    )
}

/// Composed and decomposed accents are the same words under `nfc`, and not without; compatibility forms under `nfkc`.
#[test]
fn trial_b02_forms_of_the_same_text() {
    let (Some(nfc), Some(nfd), Some(forms)) = (
        trial("B02/corpus_nfc.jsonl"),
        trial("B02/candidate_nfd.jsonl"),
        trial("B02/compat_forms.jsonl"),
    ) else {
        return;
    };
    let words = |normalization, text: &str| {
        hashes(
            &mut Tokenizer::new(WordRule {
                mode: WordMode::Uax29,
                normalization,
                lowercase: false,
            }),
            text,
        )
    };
    for (normalization, same_accents, same_forms) in [
        (Normalization::None, false, false),
        (Normalization::Nfc, true, false),
        (Normalization::Nfkc, true, true),
    ] {
        assert_eq!(
            words(normalization, &nfc[0].1) == words(normalization, &nfd[0].1),
            same_accents,
            "{normalization:?}"
        );
        assert_eq!(
            words(normalization, &forms[0].1) == words(normalization, &forms[1].1),
            same_forms,
            "{normalization:?}"
        );
    }
}

/// Every kind of white space separates words by `whitespace`; by `uax29` all but U+202F do. Case and punctuation count.
#[test]
fn trial_b04_kinds_of_space() {
    let Some(variants) = trial("B04/variants.jsonl") else {
        return;
    };
    let base = &variants[0].1;
    for mode in [WordMode::Whitespace, WordMode::Uax29] {
        let mut tokenizer = Tokenizer::new(rule(mode));
        let wanted = hashes(&mut tokenizer, base);
        for (id, text) in &variants[1..] {
            let same = match id.as_str() {
                "upper" | "commas" => false,
                "narrow_nbsp" => mode == WordMode::Whitespace,
                _ => true,
            };
            assert_eq!(
                hashes(&mut tokenizer, text) == wanted,
                same,
                "{mode:?} {id}"
            );
        }
    }
    let gpt3 = variants
        .iter()
        .map(|(_, text)| hashes(&mut Tokenizer::new(rule(WordMode::Gpt3)), text));
    assert!(gpt3.collect::<std::collections::HashSet<_>>().len() == 1);
    let Some(joins) = trial("B04/joins_corpus.jsonl").zip(trial("B04/joins_candidate.jsonl"))
    else {
        return;
    };
    let [corpus, candidate] = [&joins.0[0].1, &joins.1[0].1]
        .map(|text| hashes(&mut Tokenizer::new(rule(WordMode::Whitespace)), text));
    assert_ne!(corpus[..2], candidate[..2]);
    assert_eq!(corpus[2..], candidate[2..]);
}
