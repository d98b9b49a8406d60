//! The distinct keys of a document: what a set with two tiers is given.

/// With more keys than this they are sorted: a table of them would be large, and the document may be anything.
const MAX_TABLE_KEYS: usize = 1 << 16;

/// Collects the keys of one document after another, for each n.
pub struct DocumentKeys {
    keys: Vec<Vec<u64>>,
    table: Vec<u64>,
}

impl DocumentKeys {
    /// For `sets` different n.
    pub fn new(sets: usize) -> DocumentKeys {
        DocumentKeys {
            keys: vec![Vec::new(); sets],
            table: Vec::new(),
        }
    }

    /// Adds keys of the document at hand.
    pub fn push(&mut self, set: usize, keys: &[u64]) {
        self.keys[set].extend_from_slice(keys);
    }

    /// Hands the distinct keys of the document to `emit` and is ready for the next one.
    pub fn finish(&mut self, mut emit: impl FnMut(usize, &[u64])) {
        for (set, keys) in self.keys.iter_mut().enumerate() {
            if keys.len() <= MAX_TABLE_KEYS {
                keep_first(keys, &mut self.table);
            } else {
                keys.sort_unstable();
                keys.dedup();
            }
            if !keys.is_empty() {
                emit(set, keys);
            }
            keys.clear();
        }
    }
}

/// Removes keys that came before, with a hash table in `table`.
fn keep_first(keys: &mut Vec<u64>, table: &mut Vec<u64>) {
    // Keys are finalised hashes: their low bits serve as they are. 0 marks an empty slot; the key 0 itself is looked after apart.
    let mask = (keys.len() * 2).next_power_of_two() - 1;
    table.clear();
    table.resize(mask + 1, 0);
    let mut zero_seen = false;
    keys.retain(|&key| {
        if key == 0 {
            return !std::mem::replace(&mut zero_seen, true);
        }
        let mut slot = key as usize & mask;
        while table[slot] != 0 && table[slot] != key {
            slot = (slot + 1) & mask;
        }
        std::mem::replace(&mut table[slot], key) == 0
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::finalize;

    #[test]
    fn each_key_of_a_document_comes_once_however_long_it_is() {
        let mut document = DocumentKeys::new(2);
        for length in [0, 1, 2, 1000, MAX_TABLE_KEYS as u64, 300_000] {
            let mut got = [Vec::new(), Vec::new()];
            // Keys with equal low bits too, and 0, which no table of keys could hold.
            let keys = |i: u64| [finalize(i % (length / 3 + 1)), (i % 7) << 40];
            for i in 0..length {
                document.push(0, &keys(i));
                document.push(1, &[0]);
            }
            document.finish(|set, keys| got[set].extend_from_slice(keys));
            let mut want: Vec<u64> = (0..length).flat_map(keys).collect();
            want.sort_unstable();
            want.dedup();
            got[0].sort_unstable();
            assert_eq!(got[0], want, "{length}");
            assert_eq!(got[1], vec![0; usize::from(length > 0)]);
        }
    }
}
