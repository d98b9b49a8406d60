//! What a token's likelihood needs of the logits over a vocabulary, in two passes over each row.
//!
//! Frameworks take a dozen operations for this, each of which walks through memory again; here a row is read twice, the second
//! time from the cache. Arithmetic is in 32 bits, sums of blocks are added up in 64.

use std::thread;

/// Statistics of one token under the distribution that a row of logits describes; natural logarithms.
///
/// All are NaN, and the rank 0, if a logit is NaN or plus infinity, or all are minus infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogitStatistics {
    /// Log-probability of the token; minus infinity if it cannot come.
    pub log_prob: f32,
    /// Mean log-probability over the vocabulary, weighted by probability.
    pub mu: f32,
    /// Standard deviation of the same.
    pub sigma: f32,
    /// Tokens with a higher logit.
    pub rank: i32,
    /// Highest log-probability.
    pub top1_log_prob: f32,
    /// Logarithm of the sum of the exponentials of the logits.
    pub logsumexp: f32,
}

const BROKEN: LogitStatistics = LogitStatistics {
    log_prob: f32::NAN,
    mu: f32::NAN,
    sigma: f32::NAN,
    rank: 0,
    top1_log_prob: f32::NAN,
    logsumexp: f32::NAN,
};

/// Numbers worked on side by side: several vectors of any processor, so that sums do not wait for each other.
const LANES: usize = 16;
/// Numbers whose sums are kept in 32 bits.
const BLOCK: usize = 2048;
/// Where the exponential is as good as zero and still a normal number.
const LEAST: f32 = -87.0;

/// The statistics of each row of `logits`, with up to `threads` threads.
///
/// `logits` holds `targets.len()` rows of equal length; `targets` says which token of each row has come.
///
/// # Panics
///
/// If the lengths do not fit each other, or a target is not below the length of a row.
pub fn logit_statistics(logits: &[f32], targets: &[usize], threads: usize) -> Vec<LogitStatistics> {
    let rows = targets.len();
    let mut found = vec![BROKEN; rows];
    if rows == 0 {
        return found;
    }
    let width = logits.len() / rows;
    assert_eq!(logits.len(), rows * width, "rows of equal length");
    let kernel = kernel();
    let fill = |logits: &[f32], targets: &[usize], found: &mut [LogitStatistics]| {
        for ((row, &target), found) in logits.chunks_exact(width).zip(targets).zip(found) {
            *found = kernel(row, row[target]);
        }
    };
    let part = rows.div_ceil(threads.clamp(1, rows));
    thread::scope(|scope| {
        let mut parts = logits
            .chunks(part * width)
            .zip(targets.chunks(part))
            .zip(found.chunks_mut(part));
        let first = parts.next();
        for ((logits, targets), found) in parts {
            scope.spawn(move || fill(logits, targets, found));
        }
        if let Some(((logits, targets), found)) = first {
            fill(logits, targets, found);
        }
    });
    found
}

type Kernel = fn(&[f32], f32) -> LogitStatistics;

fn kernel() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the instructions.
            return |row, own| unsafe { with_avx512(row, own) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions.
            return |row, own| unsafe { with_avx2(row, own) };
        }
    }
    // Every AArch64 processor multiplies and adds at once.
    row_statistics::<{ cfg!(target_arch = "aarch64") }>
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn with_avx512(row: &[f32], own: f32) -> LogitStatistics {
    row_statistics::<true>(row, own)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(row: &[f32], own: f32) -> LogitStatistics {
    row_statistics::<true>(row, own)
}

#[inline(always)]
fn row_statistics<const FUSED: bool>(row: &[f32], own: f32) -> LogitStatistics {
    let (top, rank) = match top_and_rank(row, own) {
        Some(found) if found.0 > f32::NEG_INFINITY => found,
        _ => return BROKEN,
    };
    let mut sums = [0f64; 3];
    for block in row.chunks(BLOCK) {
        let mut lanes = [[0f32; LANES]; 3];
        let (vectors, rest) = block.as_chunks::<LANES>();
        for vector in vectors {
            for (lane, &logit) in vector.iter().enumerate() {
                add::<FUSED>(logit - top, lane, &mut lanes);
            }
        }
        for (lane, &logit) in rest.iter().enumerate() {
            add::<FUSED>(logit - top, lane, &mut lanes);
        }
        for (sum, lanes) in sums.iter_mut().zip(lanes) {
            *sum += lanes.iter().map(|&each| f64::from(each)).sum::<f64>();
        }
    }
    let [total, first, second] = sums;
    let log_total = total.ln();
    let (first, second) = (first / total, second / total);
    LogitStatistics {
        log_prob: (f64::from(own - top) - log_total) as f32,
        mu: (first - log_total) as f32,
        // Of logits less their greatest: of these, cancellation takes little.
        sigma: (second - first * first).max(0.0).sqrt() as f32,
        rank,
        top1_log_prob: -log_total as f32,
        logsumexp: (f64::from(top) + log_total) as f32,
    }
}

/// The greatest logit, and how many are greater than `own`; none if there is a NaN or plus infinity.
#[inline(always)]
fn top_and_rank(row: &[f32], own: f32) -> Option<(f32, i32)> {
    let mut tops = [f32::NEG_INFINITY; LANES];
    let mut ranks = [0i32; LANES];
    let mut finite = [true as i32; LANES];
    let mut see = |logit: f32, lane: usize| {
        tops[lane] = if logit > tops[lane] {
            logit
        } else {
            tops[lane]
        };
        ranks[lane] += i32::from(logit > own);
        finite[lane] &= i32::from(logit < f32::INFINITY);
    };
    let (vectors, rest) = row.as_chunks::<LANES>();
    for vector in vectors {
        for (lane, &logit) in vector.iter().enumerate() {
            see(logit, lane);
        }
    }
    for (lane, &logit) in rest.iter().enumerate() {
        see(logit, lane);
    }
    let top = tops.into_iter().fold(f32::NEG_INFINITY, f32::max);
    finite
        .iter()
        .all(|&each| each == 1)
        .then(|| (top, ranks.iter().sum()))
}

/// Add a logit (less the greatest) to the sums of its weight, and of its weight times it once and twice.
#[inline(always)]
fn add<const FUSED: bool>(logit: f32, lane: usize, sums: &mut [[f32; LANES]; 3]) {
    // Of minus infinity this makes a weight that is as good as zero, times a number.
    let logit = if logit > LEAST { logit } else { LEAST };
    let weight = exponential::<FUSED>(logit);
    let weighted = weight * logit;
    sums[0][lane] += weight;
    sums[1][lane] += weighted;
    sums[2][lane] = multiply_add::<FUSED>(weighted, logit, sums[2][lane]);
}

#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    // Without the instruction it would be a call, and slow.
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// `e` to the power of `x`, for x from -87 to 0, to two units in the last place.
///
/// By powers of two and a polynomial on [-ln 2 / 2, ln 2 / 2] (coefficients of Cephes, `expf`).
#[inline(always)]
fn exponential<const FUSED: bool>(x: f32) -> f32 {
    // Adding this leaves the nearest integer in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let rounded = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUND);
    let power = rounded - ROUND;
    let rest = multiply_add::<FUSED>(-power, LN2_HIGH, x);
    let rest = multiply_add::<FUSED>(-power, LN2_LOW, rest);
    let mut value = 1.987_569_1e-4;
    for coefficient in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
        1.0,
        1.0,
    ] {
        value = multiply_add::<FUSED>(value, rest, coefficient);
    }
    let scale = (rounded.to_bits() << 23).wrapping_add(1f32.to_bits());
    value * f32::from_bits(scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(row: &[f32], target: usize) -> LogitStatistics {
        logit_statistics(row, &[target], 1)[0]
    }

    /// By the definitions, in 64 bits.
    fn naive(row: &[f32], target: usize) -> [f64; 5] {
        let row: Vec<f64> = row.iter().map(|&each| f64::from(each)).collect();
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = row.iter().map(|each| (each - top).exp()).sum::<f64>().ln() + top;
        let logs = row.iter().map(|each| each - total);
        let logs: Vec<f64> = logs.filter(|each| each.is_finite()).collect();
        let mu: f64 = logs.iter().map(|each| each.exp() * each).sum();
        let variance: f64 = logs
            .iter()
            .map(|each| each.exp() * (each - mu).powi(2))
            .sum();
        [row[target] - total, mu, variance.sqrt(), top - total, total]
    }

    fn near(row: &[f32], target: usize) {
        let expected = naive(row, target);
        let rank = row.iter().filter(|&&each| each > row[target]).count();
        let mut found = vec![one(row, target)];
        found.push(row_statistics::<false>(row, row[target]));
        for found in found {
            assert_eq!(found.rank as usize, rank);
            for (found, expected) in [
                found.log_prob,
                found.mu,
                found.sigma,
                found.top1_log_prob,
                found.logsumexp,
            ]
            .into_iter()
            .zip(expected)
            {
                let scale = expected.abs().max(1.0);
                assert!(
                    (f64::from(found) - expected).abs() < 4e-6 * scale,
                    "{found} {expected}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn matches_the_definitions(row in prop::collection::vec(-60f32..30.0, 1..5000), target in any::<prop::sample::Index>()) {
            near(&row, target.index(row.len()));
        }
    }

    #[test]
    fn the_exponential_is_near_everywhere() {
        for step in 0..=870_000 {
            let x = step as f32 * -1e-4;
            let exact = f64::from(x).exp();
            for found in [exponential::<true>(x), exponential::<false>(x)] {
                assert!(
                    (f64::from(found) - exact).abs() < 3e-7 * exact,
                    "{x}: {found}"
                );
            }
        }
        assert_eq!(exponential::<true>(0.0), 1.0);
    }

    #[test]
    fn a_flat_law_has_no_spread() {
        for width in [1, 6, 33, 49_152] {
            let found = one(&vec![-3.7; width], 0);
            assert_eq!((found.sigma, found.rank), (0.0, 0));
            assert!((found.mu + (width as f32).ln()).abs() < 1e-6);
        }
    }

    #[test]
    fn tokens_that_cannot_come_weigh_nothing() {
        let never = f32::NEG_INFINITY;
        let (with, without) = (one(&[1.0, never, 0.5], 0), one(&[1.0, 0.5], 0));
        assert_eq!(with, without);
        assert_eq!(one(&[1.0, never], 1).log_prob, never);
    }

    #[test]
    fn broken_logits_are_seen() {
        for bad in [f32::NAN, f32::INFINITY] {
            for place in [0, 40, 99] {
                let mut row = vec![0.0; 100];
                row[place] = bad;
                assert!(one(&row, 7).log_prob.is_nan());
            }
        }
        assert!(one(&[f32::NEG_INFINITY; 3], 0).mu.is_nan());
    }

    #[test]
    fn threads_share_the_rows() {
        let logits: Vec<f32> = (0..7 * 50).map(|each| (each * 37 % 101) as f32).collect();
        let targets = [0, 1, 2, 3, 4, 5, 49];
        let alone = logit_statistics(&logits, &targets, 1);
        for threads in [2, 3, 7, 100] {
            assert_eq!(logit_statistics(&logits, &targets, threads), alone);
        }
        assert_eq!(alone[6], one(&logits[300..], 49));
    }
}
