//! Text to words.
//!
//! ```text
//! text ─normalize─▶ text ─uax29 | whitespace─▶ word bounds in batches ─short_hash─▶ word hashes
//! ```
//!
//! The cuts and the hash are compiled once for each set of processor instructions ([`SimdPath`]); all give the same words.

mod bounds;
mod gpt3;
mod lanes;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod lanes_arm;
#[cfg(target_arch = "x86_64")]
mod lanes_x86;
mod mixed;
mod normalize;
mod property;
mod rules;
mod short_hash;
#[cfg(target_arch = "x86_64")]
mod short_hash_avx2;
mod simd;
mod tables;
mod uax29;
mod whitespace;

use serde::{Deserialize, Serialize};

pub use property::Class;
pub use simd::{SIMD_VARIABLE, SimdError, SimdPath};
pub use tables::UNICODE_VERSION;

use bounds::Bounds;
use normalize::Normalized;
use simd::Kernels;

/// How a document is cut into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordMode {
    /// Unicode UAX #29 word-boundary segments (Unicode 15.0) that are not only white space; case and punctuation kept.
    Uax29,
    /// Runs of characters that are not Unicode `White_Space`.
    Whitespace,
    /// White-space words, ASCII letters lower-cased, ASCII punctuation deleted, empty words dropped.
    Gpt3,
    /// Pre-tokenised: decimal integers separated by white space, as the reader makes them of lists of integers. The cut
    /// takes any word as it is, so that it cannot fail.
    Ids,
}

impl WordMode {
    /// All modes, for tables and choices.
    pub const ALL: [WordMode; 4] = [
        WordMode::Uax29,
        WordMode::Whitespace,
        WordMode::Gpt3,
        WordMode::Ids,
    ];

    /// Name in options and headers.
    pub fn name(self) -> &'static str {
        match self {
            WordMode::Uax29 => "uax29",
            WordMode::Whitespace => "whitespace",
            WordMode::Gpt3 => "gpt3",
            WordMode::Ids => "ids",
        }
    }
}

/// Unicode normalisation applied before words are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// Text as it is.
    None,
    /// Canonical composition.
    Nfc,
    /// Compatibility composition.
    Nfkc,
}

impl Normalization {
    /// All forms, for tables and choices.
    pub const ALL: [Normalization; 3] =
        [Normalization::None, Normalization::Nfc, Normalization::Nfkc];

    /// Name in options and headers.
    pub fn name(self) -> &'static str {
        match self {
            Normalization::None => "none",
            Normalization::Nfc => "nfc",
            Normalization::Nfkc => "nfkc",
        }
    }
}

/// Everything that decides which words a text has. Stored in every index; index and candidates must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordRule {
    /// The cut.
    pub mode: WordMode,
    /// Applied first.
    pub normalization: Normalization,
    /// Unicode lower-casing, character by character, after normalisation.
    pub lowercase: bool,
}

impl std::fmt::Display for WordRule {
    /// `uax29`, `whitespace nfkc lowercase` and the like.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.mode.name())?;
        if self.normalization != Normalization::None {
            write!(f, " {}", self.normalization.name())?;
        }
        if self.lowercase {
            f.write_str(" lowercase")
        } else {
            Ok(())
        }
    }
}

/// A word's byte range in the ORIGINAL text (before normalisation and lower-casing).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Cuts texts into words by one [`WordRule`]; reusable, one per thread (it owns scratch space).
pub struct Tokenizer {
    rule: WordRule,
    path: SimdPath,
    normalized: Normalized,
    cutter: Cutter,
    hashes: Box<[u64]>,
    word: Vec<u8>,
}

impl Tokenizer {
    /// A tokenizer for `rule`, with the fastest code path of this processor (or the one `NGRAMSCOPE_SIMD` names).
    ///
    /// If the variable names a path that does not exist or cannot run here, the fastest one is used; programs check it once at
    /// their start with [`SimdPath::from_env`], or use [`Tokenizer::try_new`].
    pub fn new(rule: WordRule) -> Tokenizer {
        Tokenizer::on_path(
            rule,
            SimdPath::from_env().unwrap_or_else(|_| SimdPath::best()),
        )
    }

    /// As [`Tokenizer::new`], but a wrong `NGRAMSCOPE_SIMD` is an error.
    pub fn try_new(rule: WordRule) -> Result<Tokenizer, SimdError> {
        Ok(Tokenizer::on_path(rule, SimdPath::from_env()?))
    }

    /// A tokenizer that uses the code path `path`, if this processor can run it.
    pub fn with_path(rule: WordRule, path: SimdPath) -> Result<Tokenizer, SimdError> {
        Ok(Tokenizer::on_path(rule, path.checked()?))
    }

    fn on_path(rule: WordRule, path: SimdPath) -> Tokenizer {
        let cutter = Cutter {
            kernels: path.kernels(),
            by_white_space: rule.mode != WordMode::Uax29,
            bounds: Box::new(Bounds::new()),
        };
        let hashes = vec![0; bounds::ROOM].into_boxed_slice();
        Tokenizer {
            rule,
            path,
            normalized: Normalized::default(),
            cutter,
            hashes,
            word: Vec::new(),
        }
    }

    /// The rule.
    pub fn rule(&self) -> &WordRule {
        &self.rule
    }

    /// The code path.
    pub fn path(&self) -> SimdPath {
        self.path
    }

    /// Feeds the hashes ([`crate::hash::word_hash`]) of the words of `text`, in order, to `sink` in batches of bounded length
    /// (at most a few hundred, never empty).
    pub fn hash_words(&mut self, text: &str, mut sink: impl FnMut(&[u64])) {
        let Tokenizer {
            rule,
            normalized,
            cutter,
            hashes,
            word,
            ..
        } = self;
        let text = normalized.apply(text, rule).unwrap_or(text);
        let hash = cutter.kernels.hash;
        cutter.cut(text, |starts, ends| {
            let mut count = starts.len();
            if rule.mode == WordMode::Gpt3 {
                count = 0;
                for (&start, &end) in starts.iter().zip(ends) {
                    if gpt3::clean(&text[start..end], word) {
                        hashes[count] = crate::hash::word_hash(word);
                        count += 1;
                    }
                }
            } else {
                // SAFETY: `on_path` made the kernels for a path that this processor can run.
                unsafe { hash(text.as_bytes(), starts, ends, &mut hashes[..count]) };
            }
            if count > 0 {
                sink(&hashes[..count]);
            }
        });
    }

    /// Appends the spans of the words of `text` to `out`: as many as `hash_words` hashes, in the same order.
    ///
    /// Under normalisation or lower-casing a span covers the characters its word came from. Where several words came from one
    /// character their spans are the same.
    pub fn spans(&mut self, text: &str, out: &mut Vec<Span>) {
        let Tokenizer {
            rule,
            normalized,
            cutter,
            ..
        } = self;
        let first = out.len();
        let is_changed = normalized.apply(text, rule).is_some();
        let cut_text = if is_changed { normalized.text() } else { text };
        cutter.cut(cut_text, |starts, ends| {
            let spans = starts
                .iter()
                .zip(ends)
                .map(|(&start, &end)| Span { start, end });
            if rule.mode == WordMode::Gpt3 {
                out.extend(spans.filter_map(|Span { start, end }| {
                    gpt3::kept(&cut_text[start..end]).map(|kept| Span {
                        start: start + kept.start,
                        end: start + kept.end,
                    })
                }));
            } else {
                out.extend(spans);
            }
        });
        if is_changed {
            for span in &mut out[first..] {
                *span = normalized.original(*span);
            }
        }
    }
}

/// The cut of one rule on one code path.
struct Cutter {
    kernels: Kernels,
    by_white_space: bool,
    bounds: Box<Bounds>,
}

impl Cutter {
    /// Calls `batch` with the starts and ends of the words of `text`, in order.
    fn cut(&mut self, text: &str, mut batch: impl FnMut(&[usize], &[usize])) {
        let Cutter {
            kernels,
            by_white_space,
            bounds,
        } = self;
        bounds.clear();
        if *by_white_space {
            let mut cursor = whitespace::Cursor::new();
            while !cursor.is_done() {
                // SAFETY: `Tokenizer::on_path` made the kernels for a path that this processor can run.
                unsafe { (kernels.whitespace)(&mut cursor, text, bounds) };
                bounds.take_complete(&mut batch);
            }
        } else {
            let mut cursor = uax29::Cursor::new();
            while !cursor.is_done() {
                // SAFETY: as above.
                unsafe { (kernels.uax29)(&mut cursor, text, bounds) };
                bounds.take_complete(&mut batch);
            }
        }
    }
}
