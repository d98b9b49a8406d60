//! Texts that share n-grams with a reference: judged, and cut or left out.

mod cut;
mod judge;
mod rules;

pub use cut::{Cut, Rest};
pub use judge::{Judge, LookUp, Match, Rules, Verdict};
pub use rules::{Thresholds, Unit, UnitCounts, Why};
