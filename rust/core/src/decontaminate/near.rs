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
    /// By item: n-grams of it in the text, repeats counted. All 0 between texts.
    counts: Vec<u32>,
    /// Items whose count is not 0.
    touched: Vec<u32>,
    /// Item, position, number of the n-gram.
    hits: Vec<(u32, u32, u32)>,
    /// Numbers of the n-grams of one item that the text has, and how often each is in the window at hand.
    numbers: Vec<u32>,
    inside: Vec<u32>,
}

impl Windows {
    /// The best window for the n-grams found, as (position, number) in order of position; `None` below [`NEAR_FLOOR`].
    pub fn best(&mut self, found: &[(u32, u32)], items: &Items) -> Option<Near> {
        let set = items.near.as_ref()?;
        self.collect(found, set);
        let Windows {
            hits,
            numbers,
            inside,
            ..
        } = self;
        let mut best: Option<Near> = None;
        for of_item in hits.chunk_by(|a, b| a.0 == b.0) {
            let item = of_item[0].0;
            let tested = set.tested[item as usize];
            numbers.clear();
            numbers.extend(of_item.iter().map(|hit| hit.2));
            numbers.sort_unstable();
            numbers.dedup();
            let share = |count: usize| count as f64 / tested as f64;
            if best.is_some_and(|best| share(numbers.len()) <= best.score) {
                continue;
            }
            let length = set.keys(item as usize).len();
            let width = (length + length.div_ceil(4)) as u32;
            inside.clear();
            inside.resize(numbers.len(), 0);
            let place = |number: u32| numbers.binary_search(&number).expect("listed above");
            let (mut start, mut distinct) = (0, 0);
            for (end, &(_, position, number)) in of_item.iter().enumerate() {
                let count = &mut inside[place(number)];
                *count += 1;
                distinct += usize::from(*count == 1);
                while position - of_item[start].1 >= width {
                    let count = &mut inside[place(of_item[start].2)];
                    *count -= 1;
                    distinct -= usize::from(*count == 0);
                    start += 1;
                }
                if best.map_or(NEAR_FLOOR, |best| best.score) < share(distinct)
                    || (best.is_none() && share(distinct) == NEAR_FLOOR)
                {
                    best = Some(Near {
                        score: share(distinct),
                        item,
                        ngrams: (of_item[start].1 as usize, of_item[end].1 as usize),
                    });
                }
            }
        }
        best
    }

    /// Sorts the hits by item, leaving out items that cannot come to [`NEAR_FLOOR`]: nearly all.
    fn collect(&mut self, found: &[(u32, u32)], set: &NgramSet) {
        let Windows {
            counts,
            touched,
            hits,
            ..
        } = self;
        counts.resize(set.tested.len(), 0);
        for &(_, number) in found {
            for &item in set.holders(number) {
                let count = &mut counts[item as usize];
                if *count == 0 {
                    touched.push(item);
                }
                *count += 1;
            }
        }
        let hopeful = |item: u32, count: u32| {
            let tested = set.tested[item as usize];
            tested >= NEAR_MIN_NGRAMS && f64::from(count) >= NEAR_FLOOR * tested as f64
        };
        hits.clear();
        if touched
            .iter()
            .any(|&item| hopeful(item, counts[item as usize]))
        {
            for &(position, number) in found {
                let holders = set.holders(number).iter();
                let hopeful = holders.filter(|&&item| hopeful(item, counts[item as usize]));
                hits.extend(hopeful.map(|&item| (item, position, number)));
            }
            hits.sort_unstable();
        }
        for item in touched.drain(..) {
            counts[item as usize] = 0;
        }
    }
}
