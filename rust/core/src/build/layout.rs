//! The geometry of an index without its content: what parts have in common, so that they can be merged.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::BuildOptions;
use super::plan::{Plan, SetPlan};
use crate::error::{Error, Result};
use crate::filter::FilterKind;
use crate::filter::math::{Geometry, MAX_K};
use crate::manifest::{KeySet, Manifest, Sizing, WordSettings};
use crate::ngram::MAX_N;
use crate::shard::TIERS;

/// Value of `format` in every plan file.
pub const PLAN_FORMAT: &str = "ngramscope-plan";
/// Version of plan files.
pub const PLAN_VERSION: u32 = 1;

/// Rules and geometry of an index; as JSON, a plan file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// [`PLAN_FORMAT`].
    pub format: String,
    /// [`PLAN_VERSION`].
    pub format_version: u32,
    /// How text becomes words.
    pub words: WordSettings,
    /// How words become keys.
    pub hash: String,
    /// Planes of the sets: 1, or 2 (document frequency).
    #[serde(default = "one_tier")]
    pub tiers: u32,
    /// False-positive rate that the filters were sized for.
    pub target_rate: f64,
    /// One for each n, ascending.
    pub sets: Vec<SetLayout>,
}

/// Plans of before there were tiers do not mention them.
fn one_tier() -> u32 {
    1
}

/// Geometry of one set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetLayout {
    /// n-gram length.
    pub n: u32,
    /// Kind of set.
    pub kind: FilterKind,
    /// Blocks (exact sets: key ranges).
    pub blocks: u64,
    /// Bits a key sets; 0 for exact sets.
    pub k: u32,
    /// What it was sized for.
    pub sizing: Sizing,
    /// Number of shards.
    pub shards: u64,
}

impl Layout {
    /// The layout of an index.
    pub fn of_index(manifest: &Manifest) -> Layout {
        let set = |set: &KeySet| SetLayout {
            n: set.n,
            kind: set.kind,
            blocks: set.blocks,
            k: set.k,
            sizing: set.sizing.clone().unwrap_or_else(|| {
                let distinct = set.distinct.unwrap_or(0.0);
                Sizing {
                    method: "expected".into(),
                    ngrams: distinct,
                    standard_error: None,
                    sized_for: distinct as u64,
                }
            }),
            shards: set.shards.len() as u64,
        };
        let rates = manifest.sets.iter().filter_map(|set| set.target_rate);
        Layout {
            format: PLAN_FORMAT.into(),
            format_version: PLAN_VERSION,
            words: manifest.words.clone(),
            hash: manifest.hash.clone(),
            tiers: manifest.tiers,
            target_rate: rates.fold(0.0, f64::max),
            sets: manifest.sets.iter().map(set).collect(),
        }
    }

    /// The layout that a build chooses.
    pub(super) fn of_plan(plan: &Plan, options: &BuildOptions) -> Layout {
        let set = |set: &SetPlan| SetLayout {
            n: set.n,
            kind: set.kind,
            blocks: set.geometry.blocks,
            k: set.geometry.k,
            sizing: set.sizing.clone(),
            shards: set.shards.len() as u64,
        };
        Layout {
            format: PLAN_FORMAT.into(),
            format_version: PLAN_VERSION,
            words: WordSettings::of(&options.rule),
            hash: crate::hash::HASH_ID.into(),
            tiers: options.tiers,
            target_rate: plan.target_rate,
            sets: plan.sets.iter().map(set).collect(),
        }
    }

    /// Reads a plan file.
    pub fn read(path: &Path) -> Result<Layout> {
        let damaged = |why: String| Error::Plan {
            path: path.to_path_buf(),
            why,
        };
        let text = std::fs::read(path).map_err(Error::io(path, "read"))?;
        let layout: Layout =
            serde_json::from_slice(&text).map_err(|cause| damaged(cause.to_string()))?;
        if layout.format != PLAN_FORMAT {
            return Err(damaged(format!("its format is {:?}", layout.format)));
        }
        if layout.format_version != PLAN_VERSION {
            return Err(Error::Version {
                path: path.to_path_buf(),
                found: layout.format_version.into(),
                known: PLAN_VERSION.into(),
            });
        }
        if layout.hash != crate::hash::HASH_ID {
            return Err(damaged(format!("unknown hash {:?}", layout.hash)));
        }
        if !TIERS.contains(&layout.tiers) {
            return Err(damaged(format!("{} tiers are unknown", layout.tiers)));
        }
        let ascending = layout.sets.windows(2).all(|pair| pair[0].n < pair[1].n);
        let possible = |set: &SetLayout| {
            let fits = match set.kind {
                FilterKind::Blocked => (1..=MAX_K).contains(&set.k) && set.blocks > 0,
                FilterKind::Exact => set.k == 0 && set.blocks == crate::filter::exact::KEY_RANGES,
            };
            fits && (1..=MAX_N).contains(&set.n) && (1..=set.blocks).contains(&set.shards)
        };
        if layout.sets.is_empty() || !ascending || !layout.sets.iter().all(possible) {
            return Err(damaged("its sets contradict themselves".into()));
        }
        Ok(layout)
    }

    /// Refuses options that contradict the layout, all of them at once, saying which would not.
    pub(super) fn check(&self, options: &BuildOptions) -> Result<()> {
        let lengths = |ns: &[u32]| {
            let each: Vec<String> = ns.iter().map(|n| format!("--n {n}")).collect();
            each.join(" ")
        };
        // Option, its value, and what would do.
        let mut wrong: Vec<(&'static str, String, String)> = Vec::new();
        if options.ns != self.ns() {
            wrong.push(("--n", format!("{:?}", options.ns), lengths(&self.ns())));
        }
        let words = WordSettings::of(&options.rule);
        if words != self.words {
            wrong.push(("--words", words.to_string(), self.words.to_string()));
        }
        if options.tiers != self.tiers {
            let wanted = format!("--tiers {}", self.tiers);
            wrong.push(("--tiers", options.tiers.to_string(), wanted));
        }
        // All sets of a layout are of one kind.
        if let Some(set) = self.sets.iter().find(|set| set.kind != options.kind) {
            let wanted = format!("--filter {}", set.kind.name());
            wrong.push(("--filter", options.kind.name().into(), wanted));
        } else if options.kind == FilterKind::Blocked && options.filter_fpr != self.target_rate {
            let wanted = format!("--filter-fpr {}", self.target_rate);
            wrong.push(("--filter-fpr", options.filter_fpr.to_string(), wanted));
        }
        let refuse = |option, value, advice| {
            Err(Error::Option {
                option,
                value,
                advice,
            })
        };
        match wrong.as_slice() {
            [] => {}
            [(option, value, wanted)] => {
                return refuse(option, value.clone(), format!("the plan is for {wanted}"));
            }
            several => {
                let given: Vec<String> = several
                    .iter()
                    .map(|(option, value, _)| match *option {
                        "--n" => lengths(&options.ns),
                        _ => format!("{option} {value}"),
                    })
                    .collect();
                let wanted: Vec<&str> = several.iter().map(|(.., each)| each.as_str()).collect();
                return refuse(
                    "--plan, --like",
                    format!("a build with {}", given.join(", ")),
                    format!("the plan is for {}", wanted.join(", ")),
                );
            }
        }
        if options.expected_ngrams.is_some() || options.shards.is_some() {
            return refuse(
                "--expected-ngrams, --shards",
                "a number".into(),
                "the plan has them; leave them out".into(),
            );
        }
        Ok(())
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data always serialises");
        text.push('\n');
        text
    }

    /// Lengths n.
    pub fn ns(&self) -> Vec<u32> {
        self.sets.iter().map(|set| set.n).collect()
    }
}

impl SetLayout {
    /// Blocks and bits a key, of a layout with `tiers` tiers.
    pub fn geometry(&self, tiers: u32) -> Geometry {
        Geometry {
            blocks: self.blocks,
            k: self.k,
            tiers,
        }
    }
}
