//! How large a filter must be, and what rate it then has.
//!
//! A blocked Bloom filter (Putze, Sanders, Singler 2009) of B blocks of m = 512 bits holds N keys; a key sets k bits of one block,
//! chosen with replacement. The number of keys in a block is Poisson with mean λ = N / B; a block of x keys has seen t = kx throws, and
//!
//! ```text
//! rate(λ, k) = Σ_x Poisson(x; λ) · E[(S_t / m)^k]
//! ```
//!
//! with S_t the number of set bits after t throws: mean `m (1 - (1 - 1/m)^t)`, variance from `P(two given bits unset) = (1 - 2/m)^t`.
//! `E[S^k]` uses both moments (`mean^k · exp(k (k-1) v / 2)`, v the squared coefficient of variation): the variance is worth 1 % at
//! k = 7 and 3 % at k = 10. The classic formula, which ignores the Poisson load, understates the rate by 1.5 to 4 times.
//!
//! Everything goes through `libm`, whose results do not depend on the platform; results are stored in the index, never recomputed.

use libm::{ceil, exp, fabs, lgamma, log, log1p, pow, sqrt};

/// Bits of a block: one cache line.
pub const BLOCK_BITS: u64 = 512;
/// Bytes of a block.
pub const BLOCK_BYTES: u64 = BLOCK_BITS / 8;
/// Largest number of bits a key sets: four mixed words of seven 9-bit positions.
pub const MAX_K: u32 = 28;
/// Beyond this many bits a key the exact set of 64-bit keys is smaller.
pub const MAX_BITS_PER_KEY: f64 = 64.0;

/// Geometry of a blocked filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Number of blocks.
    pub blocks: u64,
    /// Bits a key sets.
    pub k: u32,
    /// Bit planes: 1 (which n-grams there are), or 2 (and which at least two documents have).
    pub tiers: u32,
}

impl Geometry {
    /// Bytes of a block, all tiers.
    pub fn block_bytes(self) -> u64 {
        BLOCK_BYTES * u64::from(self.tiers)
    }

    /// 64-bit words of a block, all tiers.
    pub fn block_words(self) -> usize {
        self.block_bytes() as usize / 8
    }
}

/// False-positive rate of blocks that hold `load` keys on average, `k` bits a key, by the formula of this module.
pub fn blocked_rate(load: f64, k: u32) -> f64 {
    if load <= 0.0 {
        return 0.0;
    }
    let spread = 12.0 * sqrt(load) + 40.0;
    let (low, high) = ((load - spread).max(0.0) as u64, (load + spread) as u64);
    let mut sum = 0.0;
    for x in low..=high {
        let xf = x as f64;
        let probability = exp(xf * log(load) - load - lgamma(xf + 1.0));
        sum += probability * block_rate(xf * f64::from(k), k);
    }
    sum.min(1.0)
}

/// `E[(S_t / m)^k]` of one block after `throws` throws.
fn block_rate(throws: f64, k: u32) -> f64 {
    if throws <= 0.0 {
        return 0.0;
    }
    let m = BLOCK_BITS as f64;
    let unset = exp(throws * log1p(-1.0 / m));
    let both_unset = exp(throws * log1p(-2.0 / m));
    let mean = 1.0 - unset;
    let variance = ((m - 1.0) / m * both_unset + unset / m - unset * unset).max(0.0);
    let kf = f64::from(k);
    (exp(kf * log(mean) + kf * (kf - 1.0) / 2.0 * variance / (mean * mean))).min(1.0)
}

/// Share of bits set after `keys` keys.
pub fn blocked_fill(keys: f64, geometry: Geometry) -> f64 {
    // Throws per block are k·Poisson(λ): E[(1 - 1/m)^(kX)] = exp(-λ (1 - (1 - 1/m)^k)).
    let load = keys / geometry.blocks as f64;
    1.0 - exp(-load * (1.0 - pow(1.0 - 1.0 / BLOCK_BITS as f64, f64::from(geometry.k))))
}

/// Number of distinct keys that explains the share `fill` of set bits (inverse of [`blocked_fill`]); `None` when every bit is set.
pub fn keys_from_fill(fill: f64, geometry: Geometry) -> Option<f64> {
    if fill >= 1.0 {
        return None;
    }
    let per_key = 1.0 - pow(1.0 - 1.0 / BLOCK_BITS as f64, f64::from(geometry.k));
    Some(geometry.blocks as f64 * -log1p(-fill) / per_key)
}

/// Number of distinct keys that were inserted exactly once, from the shares of set bits of both tiers; `None` when every bit is set.
///
/// A bit sees a Poisson number of insertions; with mean a₁ of keys that come once and a₂ of all others, which set it twice at the first
/// stroke, `1 - once = exp(-a₁ - a₂)` and `1 - twice = exp(-a₁ - a₂) (1 + a₁)`.
pub fn single_keys_from_fills(once: f64, twice: f64, geometry: Geometry) -> Option<f64> {
    if once >= 1.0 {
        return None;
    }
    let per_key = 1.0 - pow(1.0 - 1.0 / BLOCK_BITS as f64, f64::from(geometry.k));
    Some(geometry.blocks as f64 * ((1.0 - twice) / (1.0 - once) - 1.0) / per_key)
}

/// Rate at which two different n-grams share a 64-bit key, for `keys` stored keys.
pub fn collision_rate(keys: f64) -> f64 {
    keys / 18_446_744_073_709_551_616.0
}

/// Largest mean load whose rate stays at or below `rate`, for `k` bits a key.
fn load_for(rate: f64, k: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while blocked_rate(high, k) <= rate && high < 4096.0 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if blocked_rate(middle, k) <= rate {
            low = middle;
        } else {
            high = middle;
        }
        if fabs(high - low) <= 1e-9 * high {
            break;
        }
    }
    low
}

/// Why no filter fits a wish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Impossible {
    /// Keys of 64 bits collide more often than the wished rate.
    KeysTooShort {
        /// The rate of key collisions alone.
        collisions: f64,
    },
    /// More bits a key than an exact set takes.
    ExactIsSmaller {
        /// Bits a key of the smallest blocked filter.
        bits_per_key: f64,
    },
}

/// The smallest blocked filter of one tier for `keys` distinct keys at `rate`, key collisions included.
///
/// Of all k, the smallest whose filter is at most 1 % larger than the best: a bit less to set and test a key.
pub fn blocked_geometry(keys: u64, rate: f64) -> Result<Geometry, Impossible> {
    let collisions = collision_rate(keys as f64);
    let filter_rate = rate - collisions;
    if filter_rate <= 0.0 {
        return Err(Impossible::KeysTooShort { collisions });
    }
    let loads: Vec<f64> = (1..=MAX_K).map(|k| load_for(filter_rate, k)).collect();
    let best = loads.iter().copied().fold(0.0, f64::max);
    let bits_per_key = BLOCK_BITS as f64 / best;
    if bits_per_key > MAX_BITS_PER_KEY {
        return Err(Impossible::ExactIsSmaller { bits_per_key });
    }
    let chosen = loads
        .iter()
        .position(|&load| load >= best / 1.01)
        .unwrap_or(0);
    let blocks = ceil(keys as f64 / loads[chosen]).max(1.0) as u64;
    Ok(Geometry {
        blocks,
        k: chosen as u32 + 1,
        tiers: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::blocked;
    use crate::hash::finalize;

    #[test]
    fn bits_per_key_are_within_the_promise() {
        for (rate, limit) in [(0.006, 11.23), (0.005, 11.63), (0.01, 10.1)] {
            let geometry = blocked_geometry(10_000_000, rate).expect("possible");
            let bits = geometry.blocks as f64 * 512.0 / 1e7;
            assert!(
                bits <= limit,
                "{rate}: {bits} bits a key, k = {}",
                geometry.k
            );
            assert!(blocked_rate(1e7 / geometry.blocks as f64, geometry.k) <= rate);
        }
    }

    #[test]
    fn formula_matches_simulation() {
        for (load, k) in [(20.0, 4), (45.0, 7), (33.0, 9), (150.0, 3), (16.0, 16)] {
            let geometry = Geometry {
                blocks: 20_000,
                k,
                tiers: 1,
            };
            let keys = (load * geometry.blocks as f64) as u64;
            let mut bits = vec![0u64; geometry.blocks as usize * 8];
            (0..keys).for_each(|i| blocked::insert(&mut bits, finalize(i), geometry));
            let filled: u64 = bits.iter().map(|w| u64::from(w.count_ones())).sum();
            let fill = filled as f64 / (geometry.blocks * 512) as f64;
            assert!((fill / blocked_fill(keys as f64, geometry) - 1.0).abs() < 0.003);
            let back = keys_from_fill(fill, geometry).expect("not full");
            assert!((back / keys as f64 - 1.0).abs() < 0.003, "{back} of {keys}");
            let probes = 4_000_000u64;
            let found = (0..probes)
                .filter(|i| blocked::contains(&bits, finalize(i + (1 << 40)), geometry))
                .count();
            let (measured, formula) = (found as f64 / probes as f64, blocked_rate(load, k));
            let noise = 4.0 * (formula / probes as f64).sqrt();
            assert!(
                (measured - formula).abs() < 0.02 * formula + noise,
                "load {load}, k {k}: {measured} against {formula}"
            );
        }
    }

    #[test]
    fn impossible_wishes_are_named() {
        assert!(matches!(
            blocked_geometry(1 << 50, 1e-5),
            Err(Impossible::KeysTooShort { .. })
        ));
        assert!(matches!(
            blocked_geometry(1_000, 1e-12),
            Err(Impossible::ExactIsSmaller { .. })
        ));
    }
}
