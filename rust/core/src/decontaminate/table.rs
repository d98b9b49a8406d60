//! Rows as JSON Lines.

use serde::Serialize;
use serde_json::value::RawValue;

use super::judge::{Match, Row};
use super::reference::Reference;

/// What rows are written with.
pub struct RowFormat<'a> {
    /// Length of the n-grams.
    pub n: u32,
    /// Names of the texts' sources; empty: rows do not name theirs.
    pub sources: &'a [String],
    /// Names of the reference's sources.
    pub reference_sources: &'a [String],
    /// Names of the fields.
    pub fields: &'a [String],
    /// Ids, fields and evidence as strings, of their JSON unless they are strings: for tables, whose columns have one type.
    pub flat: bool,
}

/// An item, as rows name it.
#[derive(Serialize)]
struct ItemName<'a> {
    source: &'a str,
    line: u64,
    id: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct MatchRow<'a> {
    start: u64,
    end: u64,
    text: &'a str,
    ngrams: u64,
    near: bool,
    items: Vec<ItemName<'a>>,
    items_total: u64,
}

impl RowFormat<'_> {
    /// Appends `row` as a line of JSON.
    pub fn write(&self, row: &Row, reference: &Reference, out: &mut Vec<u8>) {
        let verdict = &row.verdict;
        let counts = verdict.counts;
        let mut line = Line { out, first: true };
        line.raw("id", &self.cell(row.id.as_deref()));
        line.value("position", &row.position);
        if let Some(name) = self.sources.get(row.source) {
            line.value("source", name);
        }
        line.value("line", &row.line);
        line.value("n", &self.n);
        line.value("words", &counts.words);
        line.value("ngrams", &counts.ngrams);
        line.value("hits", &counts.hits);
        let share = counts.hits as f64 / counts.ngrams as f64;
        line.value("overlap", &(counts.ngrams > 0).then_some(share));
        line.value(
            "longest_run",
            &row.null_reason.is_none().then_some(counts.longest_run),
        );
        line.value("units", &verdict.units);
        line.value("contaminated_units", &verdict.contaminated);
        // A text too short for the other rules can still have a near match.
        let judged = row.null_reason.is_none() || verdict.why.is_some();
        line.value("contaminated", &judged.then_some(verdict.why.is_some()));
        line.value("rule", &verdict.why.map(|why| why.name()));
        line.value("removal", &verdict.removal.map(|removal| removal.name()));
        line.value("removed_characters", &verdict.removed);
        line.value("near_score", &verdict.near.map(|near| near.score));
        let nearest = verdict
            .near
            .and_then(|near| self.item(near.item, reference));
        self.nested("near_item", nearest.as_ref(), &mut line);
        line.value("null_reason", &row.null_reason);
        let evidence: Vec<MatchRow<'_>> = verdict
            .evidence
            .iter()
            .map(|each| self.evidence(each, reference))
            .collect();
        self.nested("evidence", Some(&evidence), &mut line);
        line.value("evidence_total", &verdict.matches);
        for (name, value) in self.fields.iter().zip(&row.fields) {
            line.raw(name, &self.cell(value.as_deref()));
        }
        out.extend_from_slice(b"}\n");
    }

    fn cell(&self, json: Option<&str>) -> String {
        match json {
            None => "null".into(),
            Some(json) if self.flat && !json.starts_with('"') => {
                serde_json::Value::from(json).to_string()
            }
            Some(json) => json.to_string(),
        }
    }

    fn nested(&self, name: &str, value: Option<&impl Serialize>, line: &mut Line<'_>) {
        if self.flat {
            let text = value.map(|value| serde_json::to_string(value).expect("plain data"));
            line.value(name, &text);
        } else {
            line.value(name, &value);
        }
    }

    fn item<'a>(&'a self, number: u32, reference: &'a Reference) -> Option<ItemName<'a>> {
        let Reference::Exact(items) = reference else {
            return None;
        };
        let item = &items.list[number as usize];
        Some(ItemName {
            source: self
                .reference_sources
                .get(item.source)
                .map_or("", String::as_str),
            line: item.line,
            id: item
                .id
                .as_deref()
                .and_then(|json| serde_json::from_str(json).ok()),
        })
    }

    fn evidence<'a>(&'a self, each: &'a Match, reference: &'a Reference) -> MatchRow<'a> {
        let items = each.items.iter();
        MatchRow {
            start: each.points.0,
            end: each.points.1,
            text: &each.text,
            ngrams: each.ngrams,
            near: each.near,
            items: items
                .filter_map(|&item| self.item(item, reference))
                .collect(),
            items_total: each.items_total,
        }
    }
}

/// A line that is being written.
struct Line<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl Line<'_> {
    fn raw(&mut self, name: &str, json: &str) {
        let before = if std::mem::take(&mut self.first) {
            "{"
        } else {
            ", "
        };
        self.out.extend_from_slice(before.as_bytes());
        serde_json::to_writer(&mut *self.out, name).expect("memory can be written to");
        self.out.extend_from_slice(b": ");
        self.out.extend_from_slice(json.as_bytes());
    }

    fn value(&mut self, name: &str, value: &impl Serialize) {
        self.raw(name, "");
        serde_json::to_writer(&mut *self.out, value).expect("memory can be written to");
    }
}
