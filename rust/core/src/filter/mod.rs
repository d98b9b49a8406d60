//! Sets of 64-bit keys: the blocked Bloom filter and the exact set.

pub mod blocked;
pub mod exact;
pub mod math;

use serde::{Deserialize, Serialize};

/// Which set an index holds its keys in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilterKind {
    /// Blocked Bloom filter: small, with a stated rate of false hits.
    Blocked,
    /// Sorted unique keys: 64 bits a key, no false hits beyond those of 64-bit keys.
    Exact,
}

impl FilterKind {
    /// All kinds, for tables and choices.
    pub const ALL: [FilterKind; 2] = [FilterKind::Blocked, FilterKind::Exact];

    /// Name in options and headers.
    pub fn name(self) -> &'static str {
        match self {
            FilterKind::Blocked => "blocked",
            FilterKind::Exact => "exact",
        }
    }
}

/// How often a key is in a set, in bits: it is there ...
pub const FOUND: u8 = 1;
/// ... and, of a set with two tiers, at least two documents have it.
pub const TWICE: u8 = 2;

/// What two sets have together of a key of which they have `a` and `b` ([`FOUND`], [`TWICE`]): once in each is twice.
#[inline(always)]
pub fn together(a: u8, b: u8) -> u8 {
    a | b | ((a & b & FOUND) << 1)
}

/// Which of `blocks` blocks `key` belongs to: its high bits, scaled, so that a shard or a memory pass is a contiguous range.
#[inline(always)]
pub fn block_of(key: u64, blocks: u64) -> u64 {
    ((u128::from(key) * u128::from(blocks)) >> 64) as u64
}

/// Asks the processor for the cache line at `address` ahead of use.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, whatever the address; SSE is part of the x86-64 baseline.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
