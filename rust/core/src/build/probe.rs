//! How fast this machine inserts, measured: for telling how long a build will take.

use std::time::Instant;

use crate::error::Result;
use crate::filter::FilterKind;
use crate::hash::finalize;
use crate::pass;

use super::BuildOptions;
use super::insert::Ranges;
use super::plan::{Plan, check_options};

/// A filter for so many n-grams (about 1 GiB at 0.5 %) is larger than any cache; a larger one is hardly slower.
const MOST_NGRAMS: u64 = 700_000_000;
/// An exact set keeps every key it is given.
const MOST_EXACT: u64 = 16_000_000;
/// Keys that each thread inserts while the clock runs.
const KEYS: u64 = 4_000_000;
/// Keys between two pushes, as a document has them.
const BATCH: u64 = 1000;

/// n-gram occurrences that all threads together insert in a second, once their keys are there. Takes less than a second and at most
/// 1 GiB, or the memory that `options` allow.
pub fn insertion_rate(options: &BuildOptions) -> Result<f64> {
    let mut options = check_options(options)?;
    options.ns.truncate(1);
    let most = match options.kind {
        FilterKind::Blocked => MOST_NGRAMS,
        FilterKind::Exact => MOST_EXACT,
    };
    options.expected_ngrams = Some(options.expected_ngrams.unwrap_or(most).min(most));
    let plan = Plan::new(&options, None)?;
    // The first range; keys outside it are cheaper, and left out here.
    let ranges = Ranges::new(&plan, &plan.passes[0])?;
    let blocks = plan.passes[0][0].blocks.clone();
    let inside = (blocks.end - blocks.start) as f64 / plan.sets[0].geometry.blocks as f64;
    let threads = pass::threads(options.threads) as u64;
    let insert = |from: u64, keys: u64| {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (ranges, first) = (&ranges, from + thread * keys);
                scope.spawn(move || {
                    let mut buffers = ranges.buffers();
                    let mut batch = Vec::with_capacity(BATCH as usize);
                    for start in (first..first + keys).step_by(BATCH as usize) {
                        batch.clear();
                        batch.extend((start..start + BATCH).map(finalize));
                        buffers.push(0, &batch);
                    }
                    buffers.flush();
                });
            }
        });
    };
    // Every page of the range has to be there before the clock starts.
    insert(0, KEYS / 8);
    let started = Instant::now();
    insert(KEYS * threads, KEYS);
    Ok((KEYS * threads) as f64 * inside / started.elapsed().as_secs_f64())
}
