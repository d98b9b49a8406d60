//! When a unit of text counts as contaminated.

/// What is judged by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The whole text.
    Document,
    /// Its lines, each with its line feed, so that cutting one out leaves no half of a line's end behind. (bff has the line feed at the
    /// head of the next line; the words are the same.)
    Paragraph,
}

/// Thresholds; a unit that crosses any of them is contaminated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds {
    /// Share of its n-grams that are in the reference.
    pub max_overlap: Option<f64>,
    /// Exactly `max_overlap` is still clean.
    pub inclusive: bool,
    /// Number of its n-grams that are, occurrences counted.
    pub max_hits: Option<u64>,
    /// Most consecutive n-grams that are.
    pub max_run: Option<u64>,
    /// The near-match score of the whole text.
    pub max_near: Option<f64>,
}

/// Counts of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// Words.
    pub words: u64,
    /// n-grams, occurrences counted.
    pub ngrams: u64,
    /// Those in the reference.
    pub hits: u64,
    /// Most consecutive ones.
    pub longest_run: u64,
}

/// Why a unit is contaminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// [`Thresholds::max_overlap`].
    Overlap,
    /// [`Thresholds::max_hits`].
    Hits,
    /// [`Thresholds::max_run`].
    Run,
    /// [`Thresholds::max_near`].
    Near,
}

impl UnitCounts {
    /// Adds another unit; runs do not cross.
    pub fn add(&mut self, other: UnitCounts) {
        self.words += other.words;
        self.ngrams += other.ngrams;
        self.hits += other.hits;
        self.longest_run = self.longest_run.max(other.longest_run);
    }
}

impl Why {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Why::Overlap => "overlap",
            Why::Hits => "hits",
            Why::Run => "run",
            Why::Near => "near",
        }
    }
}

impl Thresholds {
    /// Which threshold the unit crosses, if any. A unit without n-grams crosses none: there is nothing to judge it by.
    pub fn crossed(&self, unit: UnitCounts) -> Option<Why> {
        if unit.ngrams == 0 {
            return None;
        }
        let overlap = unit.hits as f64 / unit.ngrams as f64;
        let by_overlap = self.max_overlap.is_some_and(|most| {
            if self.inclusive {
                overlap > most
            } else {
                overlap >= most
            }
        });
        let beyond = |most: Option<u64>, value: u64| most.is_some_and(|most| value > most);
        if by_overlap {
            Some(Why::Overlap)
        } else if beyond(self.max_hits, unit.hits) {
            Some(Why::Hits)
        } else if beyond(self.max_run, unit.longest_run) {
            Some(Why::Run)
        } else {
            None
        }
    }
}

/// The units of a text, as byte ranges that cover it.
pub fn units(text: &str, unit: Unit) -> Vec<std::ops::Range<usize>> {
    let mut end = 0;
    let mut next = |unit: &str| {
        let start = end;
        end += unit.len();
        start..end
    };
    match unit {
        Unit::Paragraph if !text.is_empty() => text.split_inclusive('\n').map(next).collect(),
        _ => vec![next(text)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(ngrams: u64, hits: u64, longest_run: u64) -> UnitCounts {
        UnitCounts {
            words: ngrams + 12,
            ngrams,
            hits,
            longest_run,
        }
    }

    #[test]
    fn the_border_belongs_to_the_side_that_is_asked_for() {
        let mut rule = Thresholds {
            max_overlap: Some(0.8),
            ..Thresholds::default()
        };
        assert_eq!(rule.crossed(unit(10, 8, 1)), Some(Why::Overlap));
        assert_eq!(rule.crossed(unit(10, 7, 1)), None);
        rule.inclusive = true;
        assert_eq!(rule.crossed(unit(10, 8, 1)), None);
        assert_eq!(rule.crossed(unit(10, 9, 1)), Some(Why::Overlap));
        assert_eq!(rule.crossed(unit(0, 0, 0)), None);
    }

    #[test]
    fn hits_and_runs_count_beyond_their_limits() {
        let rule = Thresholds {
            max_hits: Some(3),
            max_run: Some(2),
            ..Thresholds::default()
        };
        assert_eq!(rule.crossed(unit(100, 3, 2)), None);
        assert_eq!(rule.crossed(unit(100, 4, 1)), Some(Why::Hits));
        assert_eq!(rule.crossed(unit(100, 3, 3)), Some(Why::Run));
        let any = Thresholds {
            max_hits: Some(0),
            ..Thresholds::default()
        };
        assert_eq!(any.crossed(unit(100, 1, 1)), Some(Why::Hits));
    }

    #[test]
    fn paragraphs_keep_their_line_feed() {
        let of = |text, unit| -> Vec<String> {
            units(text, unit)
                .into_iter()
                .map(|range| text[range].to_string())
                .collect()
        };
        assert_eq!(of("a\nb\n\nc", Unit::Paragraph), ["a\n", "b\n", "\n", "c"]);
        assert_eq!(of("\na\n", Unit::Paragraph), ["\n", "a\n"]);
        assert_eq!(of("a\r\nb\r\n", Unit::Paragraph), ["a\r\n", "b\r\n"]);
        assert_eq!(of("a\nb", Unit::Document), ["a\nb"]);
        assert_eq!(of("", Unit::Paragraph), [""]);
    }
}
