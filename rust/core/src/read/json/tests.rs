//! The scanner against `serde_json`: both accept or both refuse, and values are equal.

use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

fn accepts(line: &[u8]) -> bool {
    Scanner::default().document(line).is_ok()
}

/// `serde_json` checks UTF-8 in strings; the scanner is given text only.
fn oracle(line: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(line).is_ok()
}

/// All members of an object, keys and strings unescaped.
fn members(line: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut scratch = Vec::new();
    let object = Scanner::default().object(line.as_bytes(), |key, value| {
        let name = unescape(&line[key.start + 1..key.end - 1], &mut scratch).to_owned();
        found.push((name, line[value.start..value.end].to_owned()));
    });
    object.ok()?.then_some(found)
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        (-1e300f64..1e300).prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
        "[ -~\\n\\t\"\\\\/]{0,40}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn valid_json_is_accepted_and_values_are_equal(value in json(), pretty in any::<bool>()) {
        let line = if pretty { serde_json::to_string_pretty(&value)? } else { value.to_string() };
        let scanned = Scanner::default().document(line.as_bytes());
        prop_assert_eq!(scanned.map(|value| (value.start, value.end)), Ok((0, line.len())));
        if let serde_json::Value::Object(object) = &value {
            let found = members(&line).unwrap();
            prop_assert_eq!(found.len(), object.len());
            for ((name, raw), (wanted_name, wanted)) in found.iter().zip(object) {
                prop_assert_eq!(name, wanted_name);
                // Both sides through the same parser: `serde_json` rounds some decimals to the neighbouring double.
                let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text);
                prop_assert_eq!(parsed(raw)?, parsed(&wanted.to_string())?);
                if let serde_json::Value::String(wanted) = wanted {
                    let mut out = Vec::new();
                    prop_assert_eq!(unescape(&raw[1..raw.len() - 1], &mut out), wanted);
                }
            }
        }
    }

    #[test]
    fn mutated_json_is_accepted_or_refused_alike(
        value in json(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(
            &[b'"', b'\\', b'{', b'}', b'[', b']', b':', b',', b'0', b'1', b'-', b'+', b'.', b'e', b'u', b't', b'n', b' ', b'\n', 1, 0x1f, b'a'][..]
        ), 0..3u8), 1..5),
    ) {
        let mut line = value.to_string().into_bytes();
        for (place, byte, action) in edits {
            let at = place.index(line.len() + 1);
            match action {
                0 => line.insert(at, byte),
                1 if at < line.len() => { line.remove(at); }
                _ if at < line.len() => line[at] = byte,
                _ => {}
            }
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        prop_assert_eq!(accepts(line.as_bytes()), oracle(&line), "{}", line);
    }

    #[test]
    fn random_bytes_of_json_never_panic(line in "[{}\\[\\],:\"\\\\u0-9eE.+\\-ntfNI a-f\\n]{0,60}") {
        // NaN and Infinity are ours alone.
        if !line.contains(['N', 'I']) {
            prop_assert_eq!(accepts(line.as_bytes()), oracle(&line), "{}", line);
        }
        let _ = members(&line);
    }

    #[test]
    fn escapes_of_any_code_units(units in prop::collection::vec(any::<u16>(), 0..20)) {
        let raw: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        // The buffer has held something longer before.
        let mut out = vec![b'x'; 500];
        prop_assert_eq!(unescape(&raw, &mut out), String::from_utf16_lossy(&units));
    }
}

#[test]
fn numbers_follow_the_grammar() {
    for good in [
        "0",
        "-0",
        "10",
        "12345678901234567890123",
        "1.5",
        "-0.25e-7",
        "1E+400",
        "1e400",
        "0e0",
    ] {
        assert!(accepts(good.as_bytes()), "{good}");
    }
    for bad in [
        "", "-", "01", "+1", ".5", "1.", "1e", "1e+", "--1", "0x1", "1_000", "-a", "٣",
    ] {
        assert!(!accepts(bad.as_bytes()), "{bad}");
    }
}

#[test]
fn non_finite_words_are_values_and_become_null() {
    for good in [
        "NaN",
        "Infinity",
        "-Infinity",
        "[NaN]",
        "{\"a\":-Infinity,\"b\":[1,NaN]}",
    ] {
        let value = Scanner::default().document(good.as_bytes()).unwrap();
        assert!(value.nonfinite, "{good}");
    }
    for bad in ["nan", "Nan", "inf", "-NaN", "+Infinity", "Infinit", "-Inf"] {
        assert!(!accepts(bad.as_bytes()), "{bad}");
    }
    let raw = r#"{"NaN":NaN,"a":"Infinity -Infinity","b":[Infinity,-Infinity,-1]}"#;
    assert_eq!(
        without_nonfinite(raw),
        r#"{"NaN":null,"a":"Infinity -Infinity","b":[null,null,-1]}"#
    );
}

#[test]
fn errors_say_where() {
    let error = |line: &str| {
        Scanner::default()
            .object(line.as_bytes(), |_, _| {})
            .unwrap_err()
    };
    assert_eq!(
        error(r#"{"a": 1 "b": 2}"#),
        SyntaxError { at: 8, what: CLOSE }
    );
    assert_eq!(
        error(r#"{"a" 1}"#),
        SyntaxError {
            at: 5,
            what: "expected : after a key"
        }
    );
    assert_eq!(
        error(r#"{"a": "x"#),
        SyntaxError {
            at: 8,
            what: END_IN_STRING
        }
    );
    assert_eq!(error(r#"{"a": "x"#).what, END_IN_STRING);
    assert_eq!(error(r#"{"a": "\u12"#).what, END_IN_STRING);
    assert_eq!(error(r#"{"a": tru"#).what, END);
    assert_eq!(error(r#"{"a": [1, {"b": 2}"#).what, END);
    assert_eq!(
        error("{\"a\": \"x\ty\"}"),
        SyntaxError {
            at: 8,
            what: "control character inside a string"
        }
    );
    assert_eq!(
        error(r#"{"a": 1} x"#),
        SyntaxError {
            at: 9,
            what: "something follows the value"
        }
    );
    assert_eq!(error(r#"{"a": 1}{"b": 2}"#).at, 8);
}

#[test]
fn deep_nesting_is_followed_to_its_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(accepts(nested(MAX_DEPTH).as_bytes()));
    assert!(!accepts(nested(MAX_DEPTH + 1).as_bytes()));
    assert!(!accepts("[".repeat(1 << 20).as_bytes()));
}
