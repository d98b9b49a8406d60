//! Shared by the tests of words: another implementation of the rules, random text, the shared data.
#![allow(dead_code, reason = "no test file uses all of it")]

use std::ops::Range;
use std::path::{Path, PathBuf};

use ngramscope_core::hash::word_hash;
use ngramscope_core::tokenize::{
    Class, Normalization, SimdPath, Span, Tokenizer, WordMode, WordRule,
};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

pub fn rule(mode: WordMode) -> WordRule {
    WordRule {
        mode,
        normalization: Normalization::None,
        lowercase: false,
    }
}

/// One tokenizer a code path of this processor.
pub fn tokenizers(rule: &WordRule) -> Vec<Tokenizer> {
    SimdPath::available()
        .into_iter()
        .map(|path| Tokenizer::with_path(rule.clone(), path).unwrap())
        .collect()
}

pub fn words<'t>(tokenizer: &mut Tokenizer, text: &'t str) -> Vec<&'t str> {
    spans(tokenizer, text)
        .into_iter()
        .map(|range| &text[range])
        .collect()
}

pub fn spans(tokenizer: &mut Tokenizer, text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    tokenizer.spans(text, &mut spans);
    spans
        .into_iter()
        .map(|Span { start, end }| start..end)
        .collect()
}

pub fn hashes(tokenizer: &mut Tokenizer, text: &str) -> Vec<u64> {
    let mut hashes = Vec::new();
    tokenizer.hash_words(text, |batch| {
        assert!((1..600).contains(&batch.len()));
        hashes.extend_from_slice(batch);
    });
    hashes
}

/// Checks spans and hashes of every code path against the wanted words.
pub fn assert_words(tokenizers: &mut [Tokenizer], text: &str, wanted: &[Range<usize>]) {
    let wanted_hashes: Vec<u64> = wanted
        .iter()
        .map(|range| word_hash(&text.as_bytes()[range.clone()]))
        .collect();
    for tokenizer in tokenizers {
        let path = tokenizer.path();
        let found = spans(tokenizer, text);
        if found != wanted {
            let at = found.iter().zip(wanted).take_while(|(a, b)| a == b).count();
            panic!(
                "{path}: word {at} of {text:?}: {:?}, wanted {:?}",
                found.get(at),
                wanted.get(at)
            );
        }
        assert!(
            hashes(tokenizer, text) == wanted_hashes,
            "{path}: hashes of {text:?}"
        );
    }
}

/// The segments of `unicode-segmentation` that are not only white space.
pub fn peer_words(text: &str) -> Vec<Range<usize>> {
    let segments = text.split_word_bound_indices();
    let visible = segments.filter(|(_, segment)| !segment.chars().all(char::is_whitespace));
    visible
        .map(|(start, segment)| start..start + segment.len())
        .collect()
}

/// The rules of UAX #29 read off one after the other, for one boundary at a time. Slow and plain.
pub fn plain_words(text: &str) -> Vec<Range<usize>> {
    let characters: Vec<(usize, char, Class)> = text
        .char_indices()
        .map(|(at, c)| (at, c, Class::of(c)))
        .collect();
    // WB4: characters that count, each with the index of its first character; the others belong to the one before.
    let mut counting: Vec<(usize, Class)> = Vec::new();
    for (index, &(_, _, class)) in characters.iter().enumerate() {
        let alone = index == 0 || is_line_end(characters[index - 1].2);
        if alone || !is_ignored(class) {
            counting.push((index, class));
        }
    }
    let mut cuts = vec![0];
    for (place, &(index, class)) in counting.iter().enumerate().skip(1) {
        let before = characters[index - 1].2;
        let classes: Vec<Class> = counting.iter().map(|&(_, class)| class).collect();
        if !joins(before, class, &classes[..place], &classes[place..]) {
            cuts.push(characters[index].0);
        }
    }
    cuts.push(text.len());
    let segments = cuts.windows(2).map(|cut| cut[0]..cut[1]);
    segments
        .filter(|range| !text[range.clone()].chars().all(char::is_whitespace))
        .collect()
}

fn is_line_end(class: Class) -> bool {
    matches!(class, Class::Cr | Class::Lf | Class::Newline)
}

fn is_ignored(class: Class) -> bool {
    matches!(class, Class::Extend | Class::Format | Class::Zwj)
}

/// `before`: the character directly before; `left` and `right`: what counts on both sides, `right` from `class` on.
fn joins(before: Class, class: Class, left: &[Class], right: &[Class]) -> bool {
    use Class::*;
    let letter =
        |class: Option<Class>| matches!(class, Some(ALetter | ALetterPictograph | HebrewLetter));
    let hebrew = |class: Option<Class>| class == Some(HebrewLetter);
    let number = |class: Option<Class>| class == Some(Numeric);
    let katakana = |class: Option<Class>| class == Some(Katakana);
    let connector = |class: Option<Class>| matches!(class, Some(ExtendNumLet | ExtendNumLetSpace));
    let mid_letter =
        |class: Option<Class>| matches!(class, Some(MidLetter | MidNumLet | SingleQuote));
    let mid_number = |class: Option<Class>| matches!(class, Some(MidNum | MidNumLet | SingleQuote));
    let (a, b) = (left.last().copied(), Some(class));
    let a_before = left.len().checked_sub(2).map(|index| left[index]);
    let b_after = right.get(1).copied();
    match () {
        () if before == Cr && class == Lf => true, // WB3
        () if is_line_end(before) || is_line_end(class) => false, // WB3a, WB3b
        () if before == Zwj && class.is_pictograph() => true, // WB3c
        () if before == WSegSpace && class == WSegSpace => true, // WB3d
        () if letter(a) && letter(b) => true,      // WB5
        () if letter(a) && mid_letter(b) && letter(b_after) => true, // WB6
        () if letter(a_before) && mid_letter(a) && letter(b) => true, // WB7
        () if hebrew(a) && b == Some(SingleQuote) => true, // WB7a
        () if hebrew(a) && b == Some(DoubleQuote) && hebrew(b_after) => true, // WB7b
        () if hebrew(a_before) && a == Some(DoubleQuote) && hebrew(b) => true, // WB7c
        () if number(a) && number(b) => true,      // WB8
        () if letter(a) && number(b) => true,      // WB9
        () if number(a) && letter(b) => true,      // WB10
        () if number(a_before) && mid_number(a) && number(b) => true, // WB11
        () if number(a) && mid_number(b) && number(b_after) => true, // WB12
        () if katakana(a) && katakana(b) => true,  // WB13
        () if (letter(a) || number(a) || katakana(a) || connector(a)) && connector(b) => true, // WB13a
        () if connector(a) && (letter(b) || number(b) || katakana(b)) => true, // WB13b
        () if class == RegionalIndicator => {
            left.iter()
                .rev()
                .take_while(|&&class| class == RegionalIndicator)
                .count()
                % 2
                == 1 // WB15, WB16
        }
        () => false, // WB999
    }
}

/// All characters of each class, those most texts have first.
fn members() -> Vec<(Class, Vec<char>)> {
    let mut members: Vec<(Class, Vec<char>)> = Class::ALL
        .iter()
        .map(|&(class, _)| (class, Vec::new()))
        .collect();
    for character in '\0'..=char::MAX {
        members[Class::of(character) as usize].1.push(character);
    }
    members.retain(|(_, characters)| !characters.is_empty());
    members
}

/// Random text in which every rule has something to do: all classes alike, typical sequences, long runs.
pub fn any_text() -> impl Strategy<Value = String> {
    let members = members();
    let of_class = proptest::sample::select(members)
        .prop_flat_map(|(_, characters)| proptest::sample::select(characters));
    let mark = proptest::sample::select(vec![
        "\u{301}",
        "\u{200D}",
        "\u{AD}",
        "\u{FE0F}",
        "\u{1F3FD}",
        "\u{308}\u{200D}",
    ]);
    let common = proptest::sample::select(
        "abcXYZ019_.,:;'\" \t\n\r-–—’“”éжא\u{5F3}ア日ｰ\u{A0}\u{202F}\u{3000}\u{2003}\u{85}\u{2028}©ℹ🅰😀🇩🇪".chars().collect::<Vec<_>>(),
    );
    let typical = proptest::sample::select(vec![
        "can't",
        "3.14",
        "1,000;2",
        "U.S.A.",
        "a:b",
        "x_1",
        "\r\n",
        "  ",
        "👩\u{200D}👩\u{200D}👧",
        "🇩🇪🇫",
        "צה\"ל",
        "ג'",
        "it’s",
        "テスト",
        "e\u{301}",
        "не.да",
        "٣٫١٤",
        "a.\u{200D}©",
        "1,\u{200D}©",
        "\u{200D}ℹa",
        "москва",
        "ελληνικά",
        "العربية",
        "한국어",
        "naïve",
        "żółć",
        "не\u{301}т",
        "שלום",
        ".\u{308}b",
        " \u{308}",
        "  \u{200D}😀",
    ]);
    let run = (
        proptest::sample::select(vec![
            " ", "a", "7", "_", ".", "\n", "é", "\u{301}", "\u{200D}", "\u{3000}", "日", "a.", "🇩",
        ]),
        1..150usize,
    )
        .prop_map(|(unit, times)| unit.repeat(times));
    let piece = prop_oneof![
        6 => of_class.prop_map(String::from),
        3 => mark.prop_map(String::from),
        8 => common.prop_map(String::from),
        4 => typical.prop_map(String::from),
        4 => "[a-z]{1,9}",
        1 => run,
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The folder of shared data: `NGRAMSCOPE_SHARED`, else `../shared` beside the repository. Says so when there is none.
pub fn shared(part: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("NGRAMSCOPE_SHARED")
        .map_or_else(beside, PathBuf::from)
        .join(part);
    if !folder.exists() {
        eprintln!(
            "skipped: {} does not exist (set NGRAMSCOPE_SHARED)",
            folder.display()
        );
        return None;
    }
    Some(folder)
}

/// The JSON records of a file of lines, unpacked if its name ends in .zst. Lines that are no JSON objects are left out.
pub fn records(path: &Path) -> Vec<serde_json::Value> {
    let mut bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|ending| ending == "zst") {
        bytes = zstd::decode_all(&bytes[..]).unwrap();
    }
    bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}
