//! How many distinct keys: HyperLogLog (Flajolet et al. 2007) with Ertl's improved estimator (arXiv 1702.01284, §4), which is
//! unbiased from zero to far beyond 2^40 without the original's correction ranges.

use libm::{fabs, log};

/// Registers are addressed by this many bits of a key.
pub const REGISTER_BITS: u32 = 18;
const REGISTERS: usize = 1 << REGISTER_BITS;
/// Bits of a key left for the rank.
const RANK_BITS: u32 = 64 - REGISTER_BITS;

/// Distinct-count sketch of 64-bit keys. Order and multiplicity of insertions do not matter; sketches merge by maximum.
#[derive(Clone)]
pub struct Sketch {
    registers: Vec<u8>,
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch {
            registers: vec![0; REGISTERS],
        }
    }
}

impl Sketch {
    /// Relative standard error of [`Sketch::estimate`]: 1.04 / √registers.
    pub const STANDARD_ERROR: f64 = 1.04 / 512.0;

    /// Adds a key (uniform bits are assumed: keys are finalised hashes).
    #[inline]
    pub fn insert(&mut self, key: u64) {
        let register = (key >> RANK_BITS) as usize;
        // The guard bit bounds the rank where all other bits are zero.
        let rank = ((key << REGISTER_BITS) | (1 << (REGISTER_BITS - 1))).leading_zeros() as u8 + 1;
        if rank > self.registers[register] {
            self.registers[register] = rank;
        }
    }

    /// Takes in what `other` has seen.
    pub fn merge(&mut self, other: &Sketch) {
        for (mine, &theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = (*mine).max(theirs);
        }
    }

    /// The registers, one byte each, for storing.
    pub fn registers(&self) -> &[u8] {
        &self.registers
    }

    /// Estimated number of distinct keys.
    pub fn estimate(&self) -> f64 {
        let top = RANK_BITS as usize + 1;
        let mut count = vec![0u32; top + 1];
        for &rank in &self.registers {
            count[rank as usize] += 1;
        }
        let m = REGISTERS as f64;
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

    #[test]
    fn estimates_lie_within_four_standard_errors() {
        for count in [0u64, 1, 10, 1_000, 100_000, 300_000, 1_000_000, 5_000_000] {
            let mut sketch = Sketch::default();
            for i in 0..count {
                sketch.insert(finalize(i ^ 0x1234_5678_9abc_def0));
            }
            let error = (sketch.estimate() - count as f64).abs();
            assert!(
                error <= 4.0 * Sketch::STANDARD_ERROR * count as f64 + 0.5,
                "{count}: off by {error}"
            );
        }
    }

    #[test]
    fn order_repetition_and_merging_do_not_matter() {
        let keys: Vec<u64> = (0..50_000).map(finalize).collect();
        let mut once = Sketch::default();
        keys.iter().for_each(|&k| once.insert(k));
        let (mut a, mut b) = (Sketch::default(), Sketch::default());
        keys[..30_000].iter().rev().for_each(|&k| a.insert(k));
        keys[20_000..].iter().for_each(|&k| b.insert(k));
        a.merge(&b);
        assert_eq!(a.registers(), once.registers());
    }
}
