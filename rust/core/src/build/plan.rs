//! From options and counts to geometry, shards and memory passes. Nothing of size is allocated before this has passed.

use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result, human_bytes};
use crate::filter::FilterKind;
use crate::filter::exact::KEY_RANGES;
use crate::filter::math::{Geometry, Impossible, blocked_geometry};
use crate::manifest::Sizing;
use crate::memory;
use crate::ngram::MAX_N;
use crate::shard::{CHUNK_BYTES, TIERS};
use crate::sketch::Sketch;
use crate::tokenize::SimdPath;

use super::BuildOptions;
use super::layout::Layout;

/// Smallest memory for filter ranges that is accepted.
pub const MINIMUM_MEMORY: u64 = 64 << 20;
/// Used where the system does not say what is available.
const FALLBACK_MEMORY: u64 = 2 << 30;
/// Payload of one shard unless `--shards` says otherwise.
const SHARD_BYTES: u64 = 16 << 30;
/// Most shards of one set.
pub const MAX_SHARDS: u32 = 9999;
/// While an exact set is collected, repeated keys and array growth take up to this many bytes for each distinct key and tier.
const EXACT_BYTES_PER_KEY: u64 = 32;

/// One set of keys to make.
#[derive(Clone)]
pub struct SetPlan {
    pub n: u32,
    pub kind: FilterKind,
    /// Blocks, bits a key, tiers; exact sets: key ranges and 0 bits.
    pub geometry: Geometry,
    pub sizing: Sizing,
    /// Blocks of each shard.
    pub shards: Vec<Range<u64>>,
}

/// A contiguous range of one set's blocks held in memory during a pass.
#[derive(Clone)]
pub struct Window {
    /// Index in [`Plan::sets`].
    pub set: usize,
    pub blocks: Range<u64>,
}

/// All that is decided before inserting.
pub struct Plan {
    pub sets: Vec<SetPlan>,
    pub passes: Vec<Vec<Window>>,
    pub memory: u64,
    pub target_rate: f64,
    /// Bytes of the whole index on disk, about.
    pub disk_bytes: u64,
}

/// Checks everything about the options that needs no corpus; sorts and unites the lengths n.
pub fn check_options(options: &BuildOptions) -> Result<BuildOptions> {
    let refuse = |option: &'static str, value: String, advice: &str| {
        Err(Error::Option {
            option,
            value,
            advice: advice.into(),
        })
    };
    SimdPath::from_env()?;
    let mut options = options.clone();
    options.ns.sort_unstable();
    options.ns.dedup();
    if options.ns.is_empty() {
        return refuse("--n", "nothing".into(), "give at least one n-gram length");
    }
    if let Some(&n) = options.ns.iter().find(|&&n| n == 0 || n > MAX_N) {
        return refuse(
            "--n",
            n.to_string(),
            &format!("n-grams have 1 to {MAX_N} words"),
        );
    }
    if !(options.filter_fpr > 0.0 && options.filter_fpr < 1.0) {
        return refuse(
            "--filter-fpr",
            options.filter_fpr.to_string(),
            "a rate lies between 0 and 1, both excluded (0.005 is usual)",
        );
    }
    if !TIERS.contains(&options.tiers) {
        return refuse(
            "--tiers",
            options.tiers.to_string(),
            "1 (which n-grams there are) or 2 (also which at least two documents have)",
        );
    }
    if let Some(expected) = options.expected_ngrams
        && (expected == 0 || expected >= 1 << 63)
    {
        return refuse(
            "--expected-ngrams",
            expected.to_string(),
            "give a number of distinct n-grams from 1 to 2^63 - 1, or leave it out to have them counted first",
        );
    }
    if let Some(shards) = options.shards
        && (shards == 0 || shards > MAX_SHARDS)
    {
        return refuse(
            "--shards",
            shards.to_string(),
            &format!("from 1 to {MAX_SHARDS}"),
        );
    }
    if options.threads == Some(0) {
        return refuse("--threads", "0".into(), "at least 1");
    }
    if let Some(memory) = options.memory
        && memory < MINIMUM_MEMORY
    {
        return refuse(
            "--memory",
            human_bytes(memory as f64),
            &format!("at least {}", human_bytes(MINIMUM_MEMORY as f64)),
        );
    }
    Ok(options)
}

impl Plan {
    /// `counted` has a sketch for each n of the (checked) options, unless a number was given.
    pub fn new(options: &BuildOptions, counted: Option<&[Sketch]>) -> Result<Plan> {
        let sizings: Vec<Sizing> = (0..options.ns.len())
            .map(|set| sizing(options, counted.map(|sketches| &sketches[set])))
            .collect();
        Plan::sized(options, &sizings)
    }

    /// `sizings` has one for each n of the (checked) options.
    pub fn sized(options: &BuildOptions, sizings: &[Sizing]) -> Result<Plan> {
        let sets: Vec<SetPlan> = options
            .ns
            .iter()
            .zip(sizings)
            .map(|(&n, sizing)| SetPlan::new(n, options, sizing.clone()))
            .collect::<Result<_>>()?;
        Ok(Plan::of_sets(sets, options.filter_fpr, options.memory))
    }

    /// The sets of a layout, in passes of the memory allowed.
    pub fn of_layout(layout: &Layout, memory: Option<u64>) -> Plan {
        let sets = layout
            .sets
            .iter()
            .map(|set| SetPlan {
                n: set.n,
                kind: set.kind,
                geometry: set.geometry(layout.tiers),
                sizing: set.sizing.clone(),
                shards: shards(set.blocks, set.shards),
            })
            .collect();
        Plan::of_sets(sets, layout.target_rate, memory)
    }

    fn of_sets(sets: Vec<SetPlan>, target_rate: f64, memory: Option<u64>) -> Plan {
        let memory = memory
            .unwrap_or_else(|| memory::available().map_or(FALLBACK_MEMORY, |bytes| bytes / 5 * 4));
        let disk_bytes: u64 = sets
            .iter()
            .map(SetPlan::disk_bytes)
            .fold(0, u64::saturating_add);
        let mut plan = Plan {
            passes: Vec::new(),
            memory,
            target_rate,
            disk_bytes,
            sets,
        };
        // With less nothing is built; passes of such pieces would have no end.
        if memory >= MINIMUM_MEMORY {
            plan.passes = match plan.sets[0].kind {
                FilterKind::Blocked => plan.blocked_passes(),
                FilterKind::Exact => plan.exact_passes(),
            };
        }
        plan
    }

    /// What a checkpoint of a pass holds: its ranges, each in one file.
    pub fn of_pass(&self, pass: u32) -> Plan {
        let windows = &self.passes[pass as usize - 1];
        let set = |(index, set): (usize, &SetPlan)| SetPlan {
            shards: windows
                .iter()
                .filter(|window| window.set == index)
                .map(|window| window.blocks.clone())
                .collect(),
            ..set.clone()
        };
        Plan {
            sets: self.sets.iter().enumerate().map(set).collect(),
            passes: vec![windows.clone()],
            memory: self.memory,
            target_rate: self.target_rate,
            disk_bytes: self.disk_bytes + self.checkpoint_bytes(),
        }
    }

    /// Bytes on disk that checkpoints take besides the index: the last one stays until the next is complete.
    pub fn checkpoint_bytes(&self) -> u64 {
        let bytes = |set: &SetPlan, share: f64| (set.disk_bytes() as f64 * share) as u64;
        2 * self.largest_pass(bytes)
    }

    /// Bytes of memory that the largest pass takes.
    pub fn pass_bytes(&self) -> u64 {
        let bytes = |set: &SetPlan, share: f64| match set.kind {
            FilterKind::Blocked => {
                (set.geometry.blocks as f64 * share) as u64 * set.geometry.block_bytes()
            }
            FilterKind::Exact => (set.sizing.sized_for as f64 * share) as u64 * EXACT_BYTES_PER_KEY,
        };
        self.largest_pass(bytes)
    }

    /// The most that any pass has of something, told what a share of a set has.
    fn largest_pass(&self, of_share: impl Fn(&SetPlan, f64) -> u64) -> u64 {
        let of_window = |window: &Window| {
            let set = &self.sets[window.set];
            let blocks = window.blocks.end - window.blocks.start;
            of_share(set, blocks as f64 / set.geometry.blocks as f64)
        };
        let passes = self.passes.iter();
        let of_passes = passes.map(|pass| pass.iter().map(of_window).sum());
        of_passes.max().unwrap_or(0)
    }

    /// An error when the passes, which were cut for another memory, need more than `asked`, or than there is.
    pub fn check_memory(&self, asked: Option<u64>) -> Result<()> {
        let needed = self.pass_bytes();
        let available = asked.or_else(memory::available).unwrap_or(u64::MAX);
        if needed <= available {
            return Ok(());
        }
        Err(Error::NoRoom {
            needed,
            available,
            place: if asked.is_some() { "--memory" } else { "memory" }.into(),
            detail: "a block range of the unfinished build".into(),
            advice: "give --memory as much, or remove the folder OUT.partial to start anew with smaller ranges".into(),
        })
    }

    /// An error when the disk of the folder `out` or the memory lacks room. With checkpoints in a folder that has `partial` bytes
    /// already, there must be room for both.
    pub fn check_room(&self, out: &Path, partial: Option<u64>) -> Result<()> {
        let mut sizes: Vec<String> = self.sets.iter().map(SetPlan::describe).collect();
        let mut needed = self.disk_bytes;
        if let Some(there) = partial {
            let checkpoints = self.checkpoint_bytes();
            sizes.push(format!("checkpoints: {}", human_bytes(checkpoints as f64)));
            needed = needed.saturating_add(checkpoints).saturating_sub(there);
        }
        let no_room = |available: u64, place: &str, advice: String| {
            Err(Error::NoRoom {
                needed,
                available,
                place: place.into(),
                detail: sizes.join(", "),
                advice,
            })
        };
        let memory = human_bytes(self.memory as f64);
        if let Some(free) = memory::disk_free(out)
            && needed > free
        {
            let advice = format!(
                "nothing was allocated ({memory} of memory would do, in {} passes); use another --out, a higher --filter-fpr, or a smaller corpus; without --expected-ngrams the distinct n-grams are counted first",
                self.disk_bytes.div_ceil(self.memory.max(1))
            );
            return no_room(free, "the disk", advice);
        }
        if self.memory < MINIMUM_MEMORY {
            let advice = format!(
                "at least {} must be left for filter ranges (--memory overrides the estimate)",
                human_bytes(MINIMUM_MEMORY as f64)
            );
            return no_room(self.memory, "memory", advice);
        }
        Ok(())
    }

    /// What the user should be told before the work begins.
    pub fn announcements(&self) -> Vec<String> {
        if self.passes.len() < 2 {
            return Vec::new();
        }
        vec![format!(
            "the filter ({}) does not fit in the memory allowed ({}): the corpus is read in {} passes over block ranges",
            human_bytes(self.disk_bytes as f64),
            human_bytes(self.memory as f64),
            self.passes.len()
        )]
    }

    /// Cuts all sets, one after the other, into pieces of at most `memory` bytes, at chunk borders of the shard files.
    fn blocked_passes(&self) -> Vec<Vec<Window>> {
        let block_bytes = self.sets[0].geometry.block_bytes(); // all sets have the same tiers
        let (limit, chunk_blocks) = (self.memory / block_bytes, CHUNK_BYTES / block_bytes);
        let mut passes = vec![Vec::new()];
        let mut used = 0;
        for (index, set) in self.sets.iter().enumerate() {
            for shard in &set.shards {
                let mut start = shard.start;
                while start < shard.end {
                    let left = (limit - used) / chunk_blocks * chunk_blocks;
                    if left == 0 {
                        passes.push(Vec::new());
                        used = 0;
                        continue;
                    }
                    let end = shard.end.min(start + left);
                    used += end - start;
                    extend(passes.last_mut().expect("never empty"), index, start..end);
                    start = end;
                }
            }
        }
        passes
    }

    /// All sets at once when they fit, else each in equal ranges of keys.
    fn exact_passes(&self) -> Vec<Vec<Window>> {
        let needs: Vec<u64> = self
            .sets
            .iter()
            .map(|set| {
                let bytes = EXACT_BYTES_PER_KEY * u64::from(set.geometry.tiers);
                set.sizing.sized_for.saturating_mul(bytes)
            })
            .collect();
        if needs
            .iter()
            .fold(0, |sum: u64, &need| sum.saturating_add(need))
            <= self.memory
        {
            return vec![
                (0..self.sets.len())
                    .map(|set| Window {
                        set,
                        blocks: 0..KEY_RANGES,
                    })
                    .collect(),
            ];
        }
        let mut passes = Vec::new();
        for (set, need) in needs.iter().enumerate() {
            let parts = need.div_ceil(self.memory).clamp(1, KEY_RANGES);
            passes.extend((0..parts).map(|part| {
                vec![Window {
                    set,
                    blocks: share(KEY_RANGES, part, parts)..share(KEY_RANGES, part + 1, parts),
                }]
            }));
        }
        passes
    }
}

/// Adds a range to a pass, joining it to the range before when they touch.
fn extend(pass: &mut Vec<Window>, set: usize, blocks: Range<u64>) {
    match pass.last_mut() {
        Some(last) if last.set == set && last.blocks.end == blocks.start => {
            last.blocks.end = blocks.end
        }
        _ => pass.push(Window { set, blocks }),
    }
}

/// The blocks of each of `count` shards.
fn shards(blocks: u64, count: u64) -> Vec<Range<u64>> {
    (0..count)
        .map(|shard| share(blocks, shard, count)..share(blocks, shard + 1, count))
        .collect()
}

/// `total · part / parts` without overflow.
fn share(total: u64, part: u64, parts: u64) -> u64 {
    (u128::from(total) * u128::from(part) / u128::from(parts)) as u64
}

fn sizing(options: &BuildOptions, sketch: Option<&Sketch>) -> Sizing {
    match (sketch, options.expected_ngrams) {
        (Some(sketch), _) => {
            let estimate = sketch.estimate();
            let error = estimate * Sketch::STANDARD_ERROR;
            let sized_for = libm::ceil(estimate + 3.0 * error) as u64;
            Sizing {
                method: "counted".into(),
                ngrams: estimate,
                standard_error: Some(error),
                sized_for,
            }
        }
        (None, expected) => {
            let expected = expected.unwrap_or(0);
            Sizing {
                method: "expected".into(),
                ngrams: expected as f64,
                standard_error: None,
                sized_for: expected,
            }
        }
    }
}

impl SetPlan {
    fn new(n: u32, options: &BuildOptions, sizing: Sizing) -> Result<SetPlan> {
        let geometry = match options.kind {
            FilterKind::Exact => Geometry { blocks: KEY_RANGES, k: 0, tiers: 1 },
            FilterKind::Blocked => blocked_geometry(sizing.sized_for.max(1), options.filter_fpr).map_err(|why| Error::Option {
                option: "--filter-fpr",
                value: options.filter_fpr.to_string(),
                advice: match why {
                    Impossible::KeysTooShort { collisions } => {
                        format!("n-grams are told apart by 64-bit keys, which collide at a rate of {collisions:.1e} among {} n-grams; ask for more than that, or size for fewer (--expected-ngrams)", sizing.sized_for)
                    }
                    Impossible::ExactIsSmaller { bits_per_key } => format!("a blocked filter would take {bits_per_key:.0} bits an n-gram; --filter exact takes 64 and has no false positives"),
                },
            })?,
        };
        let geometry = Geometry {
            tiers: options.tiers,
            ..geometry
        };
        let bytes = payload_bytes(options.kind, geometry, &sizing);
        let shards = match options.shards {
            Some(shards) => u64::from(shards).min(geometry.blocks),
            None => bytes.div_ceil(SHARD_BYTES).clamp(1, u64::from(MAX_SHARDS)),
        };
        let shards = self::shards(geometry.blocks, shards);
        Ok(SetPlan {
            n,
            kind: options.kind,
            geometry,
            sizing,
            shards,
        })
    }

    /// Checksums of a shard that are known to come.
    pub fn chunks(&self, shard: usize) -> u64 {
        let blocks = &self.shards[shard];
        match self.kind {
            FilterKind::Blocked => {
                ((blocks.end - blocks.start) * self.geometry.block_bytes()).div_ceil(CHUNK_BYTES)
            }
            FilterKind::Exact => 0,
        }
    }

    /// Bytes on disk, about.
    pub fn disk_bytes(&self) -> u64 {
        let payload = payload_bytes(self.kind, self.geometry, &self.sizing);
        payload
            .saturating_add(payload / CHUNK_BYTES * 8)
            .saturating_add(self.shards.len() as u64 * 8192)
    }

    fn describe(&self) -> String {
        format!(
            "n = {}: {} for {} n-grams{}",
            self.n,
            human_bytes(self.disk_bytes() as f64),
            self.sizing.sized_for,
            if self.geometry.tiers == 2 {
                " in two tiers"
            } else {
                ""
            }
        )
    }
}

/// Bytes of a set without checksums; of an exact one at most.
fn payload_bytes(kind: FilterKind, geometry: Geometry, sizing: &Sizing) -> u64 {
    match kind {
        FilterKind::Exact => sizing
            .sized_for
            .saturating_mul(8 * u64::from(geometry.tiers)),
        FilterKind::Blocked => geometry.blocks.saturating_mul(geometry.block_bytes()),
    }
}
