//! The exact set: sorted 64-bit keys. Ground truth for the filter, and the smaller choice at very low rates.
//!
//! Every key stands there once; with two tiers a key that at least two documents have stands there twice.

use super::{FOUND, TWICE};

/// Number of key ranges an exact set is laid out by: shards and memory passes are ranges of these, as they are of a filter's blocks.
pub const KEY_RANGES: u64 = 1 << 32;

/// Sorts keys and leaves at most `tiers` of each.
pub fn settle(keys: &mut Vec<u64>, tiers: u32) {
    keys.sort_unstable();
    let (mut last, mut run) = (None, 0);
    keys.retain(|&key| {
        run = if last == Some(key) { run + 1 } else { 1 };
        last = Some(key);
        run <= tiers
    });
}

/// What `sorted` knows of `key` ([`FOUND`], [`TWICE`]).
pub fn find(sorted: &[u64], key: u64) -> u8 {
    let same = |at: usize| sorted.get(at) == Some(&key);
    match position(sorted, key) {
        None => 0,
        Some(at) if same(at + 1) || same(at.wrapping_sub(1)) => FOUND | TWICE,
        Some(_) => FOUND,
    }
}

/// A place of `key`, found by interpolation: keys are uniform, so a guess from the value lands within ~√len of the place.
fn position(sorted: &[u64], key: u64) -> Option<usize> {
    let (&first, &last) = (sorted.first()?, sorted.last()?);
    if key < first || key > last {
        return None;
    }
    let spread = u128::from(last - first).max(1);
    let guess = (u128::from(key - first) * (sorted.len() as u128 - 1) / spread) as usize;
    // Gallop from the guess to a bracket, then search it.
    let mut step = 8;
    let (mut low, mut high) = (guess, guess + 1);
    while low > 0 && sorted[low] > key {
        high = low;
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 8;
    while high < sorted.len() && sorted[high] <= key {
        low = high;
        high = (high + step).min(sorted.len());
        step *= 2;
    }
    let place = sorted[low..high].binary_search(&key).ok()?;
    Some(low + place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::finalize;

    #[test]
    fn finds_all_members_and_nothing_else() {
        for size in [0u64, 1, 2, 3, 100, 50_000] {
            let mut keys: Vec<u64> = (0..size).map(finalize).collect();
            keys.sort_unstable();
            assert!(keys.iter().all(|&k| find(&keys, k) == FOUND));
            let absent = (0..100_000)
                .map(|i| finalize(i + (1 << 50)))
                .filter(|&k| find(&keys, k) != 0)
                .count();
            assert_eq!(absent, 0);
        }
    }

    #[test]
    fn skewed_keys_are_found_too() {
        let keys: Vec<u64> = (0..1000)
            .chain((0..1000).map(|i| u64::MAX - 5000 + i * 5))
            .collect();
        assert!(keys.iter().all(|&k| find(&keys, k) == FOUND));
        assert!(find(&keys, 5_000_000) == 0 && find(&keys, u64::MAX) == 0);
    }

    #[test]
    fn two_tiers_tell_one_from_more() {
        let mut keys: Vec<u64> = (0..3000)
            .flat_map(|i| vec![finalize(i); i as usize % 4])
            .collect();
        settle(&mut keys, 2);
        for i in 0..3000 {
            let want = [0, FOUND, FOUND | TWICE, FOUND | TWICE][i as usize % 4];
            assert_eq!(find(&keys, finalize(i)), want);
        }
        settle(&mut keys, 1);
        assert_eq!(keys.len(), 2250);
        assert!(keys.is_sorted_by(|a, b| a < b));
    }
}
