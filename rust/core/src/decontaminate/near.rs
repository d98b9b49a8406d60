//! Lightly edited copies: the window of a text that has most of an item's n-grams.
//!
//! An edited word breaks n long n-grams, so few are left of an item of which every tenth word was changed; of shorter ones most are.
//! Short ones also occur by chance, but not many of the same item close together. So the score of a text is, over all items and over all
//! windows of 1.25 times an item's length, the largest share of the item's distinct n-grams that are in the window. n-grams that more
//! than [`NEAR_CAP`] items have do not speak for an item, unless it has no others.

use super::reference::Items;
use crate::scan::NgramSet;

/// n-grams that more items have do not speak for one.
pub const NEAR_CAP: usize = 64;
/// Items with fewer distinct n-grams have no score: a few n-grams occur together by chance.
pub const NEAR_MIN_NGRAMS: u64 = 8;

/// Lower scores are not given: they are of no use, and looking for them in every text costs time.
pub const NEAR_FLOOR: f64 = 0.25;

/// An item that a text has nearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Share of the item's n-grams in the window.
    pub score: f64,
    /// Number of the item.
    pub item: u32,
    /// First and last n-gram of the item in the window, as positions among the text's.
    pub ngrams: (usize, usize),
}

/// Reusable space.
#[derive(Default)]
pub struct Windows {
    /// By item: what the text has of it. All 0 between texts.
    shares: Vec<Share>,
    /// Items whose share is not 0.
    touched: Vec<u32>,
    /// By n-gram: the last text that had it.
    seen: Vec<u32>,
    text: u32,
    /// By n-gram: how often it is in the window at hand. All 0 between windows.
    inside: Vec<u32>,
    /// Position and number of the n-grams of those items that may be near, item by item.
    hits: Vec<(u32, u32)>,
}

/// What a text has of an item.
#[derive(Clone, Copy, Default)]
struct Share {
    /// Its n-grams, repeats counted.
    hits: u32,
    /// Those that differ.
    distinct: u32,
    /// Where its hits end in the list; of items that cannot be near, nothing.
    end: Option<usize>,
}

impl Windows {
    /// The best window for the n-grams found, as (position, number) in order of position; `None` below [`NEAR_FLOOR`].
    pub fn best(&mut self, found: &[(u32, u32)], items: &Items) -> Option<Near> {
        let set = items.near.as_ref()?;
        self.count(found, set);
        self.touched.sort_unstable();
        self.list(found, set);
        let mut best: Option<Near> = None;
        for item in self.touched.drain(..) {
            let share = std::mem::take(&mut self.shares[item as usize]);
            let tested = set.tested[item as usize] as f64;
            let Some(end) = share.end else { continue };
            if best.is_some_and(|best| f64::from(share.distinct) / tested <= best.score) {
                continue;
            }
            let hits = &self.hits[end - share.hits as usize..end];
            let length = set.keys(item as usize).len();
            let width = (length + length.div_ceil(4)) as u32;
            let (distinct, first, last) = fullest(hits, width, &mut self.inside);
            let score = f64::from(distinct) / tested;
            if score >= NEAR_FLOOR && best.is_none_or(|best| score > best.score) {
                best = Some(Near {
                    score,
                    item,
                    ngrams: (first as usize, last as usize),
                });
            }
        }
        best
    }

    /// Counts what the text has of each item.
    fn count(&mut self, found: &[(u32, u32)], set: &NgramSet) {
        self.shares.resize(set.tested.len(), Share::default());
        self.seen.resize(set.table.len(), 0);
        self.inside.resize(set.table.len(), 0);
        self.text = self.text.wrapping_add(1);
        if self.text == 0 {
            self.seen.fill(0);
            self.text = 1;
        }
        for &(_, number) in found {
            let last = std::mem::replace(&mut self.seen[number as usize], self.text);
            let new = u32::from(last != self.text);
            for &item in set.holders(number) {
                let share = &mut self.shares[item as usize];
                if share.hits == 0 {
                    self.touched.push(item);
                }
                share.hits += 1;
                share.distinct += new;
            }
        }
    }

    /// Lists the hits of the items that can come to [`NEAR_FLOOR`]: of nearly all texts none.
    fn list(&mut self, found: &[(u32, u32)], set: &NgramSet) {
        let mut total = 0;
        for &item in &self.touched {
            let share = &mut self.shares[item as usize];
            let tested = set.tested[item as usize];
            if tested >= NEAR_MIN_NGRAMS && f64::from(share.distinct) >= NEAR_FLOOR * tested as f64
            {
                share.end = Some(total);
                total += share.hits as usize;
            }
        }
        self.hits.clear();
        if total == 0 {
            return;
        }
        self.hits.resize(total, (0, 0));
        for &hit in found {
            for &item in set.holders(hit.1) {
                if let Some(end) = &mut self.shares[item as usize].end {
                    self.hits[*end] = hit;
                    *end += 1;
                }
            }
        }
    }
}

/// The first window of `width` positions with the most distinct n-grams: how many, first and last position.
fn fullest(hits: &[(u32, u32)], width: u32, inside: &mut [u32]) -> (u32, u32, u32) {
    let (mut start, mut distinct, mut best) = (0, 0, (0, 0, 0));
    for &(position, number) in hits {
        let count = &mut inside[number as usize];
        *count += 1;
        distinct += u32::from(*count == 1);
        while position - hits[start].0 >= width {
            let count = &mut inside[hits[start].1 as usize];
            *count -= 1;
            distinct -= u32::from(*count == 0);
            start += 1;
        }
        if distinct > best.0 {
            best = (distinct, hits[start].0, position);
        }
    }
    for &(_, number) in hits {
        inside[number as usize] = 0;
    }
    best
}
