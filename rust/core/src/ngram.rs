//! Word hashes to n-gram keys, for several n in one pass.

use crate::hash::{MULTIPLIER, finalize};

/// Largest n-gram length accepted.
pub const MAX_N: u32 = 1024;

/// Rolls the polynomial of [`crate::hash`] over the words of one document after another.
///
/// The polynomial is kept as prefix values `P_i = P_{i-1}·M + h_i`, from which the n-gram that ends at word i is
/// `P_i - P_{i-n}·M^n`: one multiplication a word for all n together and one for each n, no word hash read twice.
pub struct NgramHasher {
    ns: Vec<u32>,
    /// `M^n`, in the order of `ns`.
    powers: Vec<u64>,
    /// `P` of the last `max n` words (index `max n` is the newest) followed by those of the batch at hand.
    prefix: Vec<u64>,
    keys: Vec<u64>,
    /// Words of this document so far.
    words: u64,
}

impl NgramHasher {
    /// A hasher for the lengths `ns`, each from 1 to [`MAX_N`].
    pub fn new(ns: &[u32]) -> NgramHasher {
        let longest = ns.iter().copied().max().unwrap_or(1) as usize;
        NgramHasher {
            ns: ns.to_vec(),
            powers: ns.iter().map(|&n| MULTIPLIER.wrapping_pow(n)).collect(),
            prefix: vec![0; longest + 1],
            keys: Vec::new(),
            words: 0,
        }
    }

    /// Starts a document: no n-gram reaches back over this point.
    pub fn start(&mut self) {
        self.words = 0;
        self.prefix.fill(0);
    }

    /// Words of the document so far.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// Adds the next words of the document and hands the keys of the n-grams that end in them to `emit`, as (index in `ns`, keys).
    #[inline]
    pub fn push(&mut self, hashes: &[u64], mut emit: impl FnMut(usize, &[u64])) {
        let held = self.prefix.len();
        let mut p = self.prefix[held - 1];
        self.prefix.extend(hashes.iter().map(|&h| {
            p = p.wrapping_mul(MULTIPLIER).wrapping_add(h);
            p
        }));
        for (index, (&n, &power)) in self.ns.iter().zip(&self.powers).enumerate() {
            let n = n as usize;
            // Of the batch's words, the first ones complete no n-gram while the document has fewer than n words.
            let short = (n as u64 - 1)
                .saturating_sub(self.words)
                .min(hashes.len() as u64) as usize;
            let first = held + short;
            self.keys.clear();
            self.keys.extend(
                self.prefix[first..]
                    .iter()
                    .zip(&self.prefix[first - n..])
                    .map(|(&new, &old)| finalize(new.wrapping_sub(old.wrapping_mul(power)))),
            );
            if !self.keys.is_empty() {
                emit(index, &self.keys);
            }
        }
        self.words += hashes.len() as u64;
        let added = self.prefix.len() - held;
        self.prefix.copy_within(added.., 0);
        self.prefix.truncate(held);
    }
}

/// The key of one n-gram, from the hashes of its words.
pub fn ngram_key(hashes: &[u64]) -> u64 {
    finalize(hashes.iter().fold(0u64, |polynomial, &hash| {
        polynomial.wrapping_mul(MULTIPLIER).wrapping_add(hash)
    }))
}

/// Number of n-grams of a document of `words` words.
pub fn ngram_count(words: u64, n: u32) -> u64 {
    (words + 1).saturating_sub(u64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::word_hash;

    /// Key of one n-gram straight from the definition.
    fn key_of(words: &[&str]) -> u64 {
        let polynomial = words.iter().fold(0u64, |p, w| {
            p.wrapping_mul(MULTIPLIER)
                .wrapping_add(word_hash(w.as_bytes()))
        });
        finalize(polynomial)
    }

    #[test]
    fn golden_vectors() {
        assert_eq!(word_hash(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(word_hash(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(key_of(&["the", "cat", "sat"]), 0xfc25_0c28_9aa8_8f54);
    }

    #[test]
    fn rolling_matches_the_definition_at_any_batch_size() {
        let text: Vec<String> = (0..200).map(|i| format!("w{}", i * i % 37)).collect();
        let words: Vec<&str> = text.iter().map(String::as_str).collect();
        let hashes: Vec<u64> = words.iter().map(|w| word_hash(w.as_bytes())).collect();
        let ns = [1, 2, 7, 13, 150, 201];
        for batch in [1, 3, 64, 500] {
            let mut hasher = NgramHasher::new(&ns);
            for _document in 0..2 {
                let mut got = vec![Vec::new(); ns.len()];
                hasher.start();
                for part in hashes.chunks(batch) {
                    hasher.push(part, |index, keys| got[index].extend_from_slice(keys));
                }
                for (index, &n) in ns.iter().enumerate() {
                    let want: Vec<u64> = words.windows(n as usize).map(key_of).collect();
                    assert_eq!(got[index], want, "n = {n}, batch = {batch}");
                    assert_eq!(want.len() as u64, ngram_count(words.len() as u64, n));
                }
            }
        }
    }

    #[test]
    fn word_joins_and_orders_are_distinct() {
        assert_ne!(key_of(&["ab", "cd"]), key_of(&["abc", "d"]));
        assert_ne!(key_of(&["a", "b"]), key_of(&["b", "a"]));
        assert_ne!(key_of(&["a", "b", "a", "b"]), key_of(&["b", "a", "b", "a"]));
    }
}
