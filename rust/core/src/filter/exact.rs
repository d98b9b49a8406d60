//! The exact set: sorted unique 64-bit keys. Ground truth for the filter, and the smaller choice at very low rates.

/// Number of key ranges an exact set is laid out by: shards and memory passes are ranges of these, as they are of a filter's blocks.
pub const KEY_RANGES: u64 = 1 << 32;

/// Whether `key` is in `sorted`, found by interpolation: keys are uniform, so a guess from the value lands within ~√len of the place.
pub fn contains(sorted: &[u64], key: u64) -> bool {
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return false;
    };
    if key < first || key > last {
        return false;
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
    sorted[low..high].binary_search(&key).is_ok()
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
            assert!(keys.iter().all(|&k| contains(&keys, k)));
            let absent = (0..100_000)
                .map(|i| finalize(i + (1 << 50)))
                .filter(|&k| contains(&keys, k))
                .count();
            assert_eq!(absent, 0);
        }
    }

    #[test]
    fn skewed_keys_are_found_too() {
        let keys: Vec<u64> = (0..1000)
            .chain((0..1000).map(|i| u64::MAX - 5000 + i * 5))
            .collect();
        assert!(keys.iter().all(|&k| contains(&keys, k)));
        assert!(!contains(&keys, 5_000_000) && !contains(&keys, u64::MAX));
    }
}
