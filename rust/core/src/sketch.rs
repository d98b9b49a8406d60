//! How many distinct keys: HyperLogLog (Flajolet et al. 2007) with Ertl's improved estimator (arXiv 1702.01284, §4), which is
//! unbiased from zero to far beyond 2^40 without the original's correction ranges.

use libm::{fabs, log};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The sketch that sizes a filter: relative standard error 0.2 %.
pub type Sketch = Registers<18>;
/// The sketch that an index keeps: small, for counting what several indexes have together; relative standard error 0.8 %.
pub type KeptSketch = Registers<14>;

/// Distinct-count sketch of 64-bit keys with 2^`BITS` registers, addressed by the first `BITS` bits of a key (`BITS` even).
/// Order and multiplicity of insertions do not matter; sketches merge by maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Registers<const BITS: u32>(Vec<u8>);

impl<const BITS: u32> Default for Registers<BITS> {
    fn default() -> Self {
        Registers(vec![0; 1 << BITS])
    }
}

impl<const BITS: u32> Registers<BITS> {
    /// Relative standard error of [`Registers::estimate`]: 1.04 / √registers.
    pub const STANDARD_ERROR: f64 = 1.04 / (1u32 << (BITS / 2)) as f64;
    /// Bits of a key left for the rank.
    const RANK_BITS: u32 = 64 - BITS;

    /// Adds keys (uniform bits are assumed: keys are finalised hashes).
    pub fn insert(&mut self, keys: &[u64]) {
        let registers = &mut self.0[..1 << BITS]; // a length that is known needs no checks below
        for &key in keys {
            // The guard bit bounds the rank where all other bits are zero.
            let rank = ((key << BITS) | (1 << (BITS - 1))).leading_zeros() as u8 + 1;
            let register = &mut registers[(key >> Self::RANK_BITS) as usize];
            *register = rank.max(*register);
        }
    }

    /// Takes in what `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// A sketch of its registers; `None` if they are not as many as it has, or too large.
    pub fn of_registers(registers: Vec<u8>) -> Option<Self> {
        let possible = |&rank: &u8| u32::from(rank) <= Self::RANK_BITS + 1;
        (registers.len() == 1 << BITS && registers.iter().all(possible))
            .then_some(Registers(registers))
    }

    /// The registers, one byte each.
    pub fn registers(&self) -> &[u8] {
        &self.0
    }

    /// Estimated number of distinct keys.
    pub fn estimate(&self) -> f64 {
        let top = Self::RANK_BITS as usize + 1;
        let mut count = vec![0u32; top + 1];
        for &rank in &self.0 {
            count[rank as usize] += 1;
        }
        let m = self.0.len() as f64;
        let mut z = m * tau(1.0 - f64::from(count[top]) / m);
        for rank in (1..top).rev() {
            z = 0.5 * (z + f64::from(count[rank]));
        }
        z += m * sigma(f64::from(count[0]) / m);
        if z.is_infinite() {
            0.0
        } else {
            m * m / (2.0 * log(2.0) * z)
        }
    }
}

/// The alphabet of base64: ranks are at most 51 and have one character each.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl<const BITS: u32> Serialize for Registers<BITS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = self
            .0
            .iter()
            .map(|&rank| char::from(DIGITS[usize::from(rank)]));
        serializer.serialize_str(&digits.collect::<String>())
    }
}

impl<'de, const BITS: u32> Deserialize<'de> for Registers<BITS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let rank = |digit: u8| DIGITS.iter().position(|&each| each == digit);
        let ranks: Option<Vec<u8>> = text
            .bytes()
            .map(|digit| rank(digit).map(|at| at as u8))
            .collect();
        ranks
            .and_then(Self::of_registers)
            .ok_or_else(|| serde::de::Error::custom("these are no registers of a sketch"))
    }
}

/// Σ of the empty registers' share (Ertl, eq. 23).
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

/// Share of the saturated registers (Ertl, eq. 25).
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = libm::sqrt(x);
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if fabs(z - before) < f64::EPSILON * z {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::finalize;

    fn estimates_well<const BITS: u32>() {
        for count in [0u64, 1, 10, 1_000, 100_000, 300_000, 1_000_000, 5_000_000] {
            let mut sketch = Registers::<BITS>::default();
            for i in 0..count {
                sketch.insert(&[finalize(i ^ 0x1234_5678_9abc_def0)]);
            }
            let error = (sketch.estimate() - count as f64).abs();
            assert!(
                error <= 4.0 * Registers::<BITS>::STANDARD_ERROR * count as f64 + 0.5,
                "{count}: off by {error}"
            );
        }
    }

    #[test]
    fn estimates_lie_within_four_standard_errors() {
        estimates_well::<18>();
        estimates_well::<14>();
    }

    #[test]
    fn kept_registers_come_back_and_others_are_refused() {
        let mut sketch = KeptSketch::default();
        sketch.insert(&(0..100_000).map(finalize).collect::<Vec<_>>());
        sketch.insert(&[1 << 50]); // the largest rank there is
        let text = serde_json::to_string(&sketch).expect("text");
        assert_eq!(text.len(), (1 << 14) + 2);
        assert_eq!(
            serde_json::from_str::<KeptSketch>(&text).expect("registers"),
            sketch
        );
        for bad in [
            text.replacen('A', "0", 1),
            text[1..].into(),
            text.replace('B', "/"),
        ] {
            assert!(serde_json::from_str::<KeptSketch>(&bad).is_err());
        }
    }

    #[test]
    fn order_repetition_and_merging_do_not_matter() {
        let keys: Vec<u64> = (0..50_000).map(finalize).collect();
        let mut once = Sketch::default();
        once.insert(&keys);
        let (mut a, mut b) = (Sketch::default(), Sketch::default());
        keys[..30_000].iter().rev().for_each(|&k| a.insert(&[k]));
        b.insert(&keys[20_000..]);
        a.merge(&b);
        assert_eq!(a.registers(), once.registers());
        let text = serde_json::to_string(&a).expect("text");
        let again: Sketch = serde_json::from_str(&text).expect("the same registers");
        assert_eq!((again, text.len()), (a, (1 << 18) + 2));
        assert!(serde_json::from_str::<Sketch>("\"##\"").is_err());
    }
}
