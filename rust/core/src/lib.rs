//! The overlap engine of ngramscope, without Python.
//!
//! ```text
//! files ─read─▶ records ─tokenize─▶ word hashes ─ngram─▶ 64-bit keys ─build─▶ filter ─shard─▶ index directory
//! candidates ─read─▶ records ─tokenize─▶ … ─▶ keys ─query─▶ hits per position
//! ```
//!
//! Each arrow is a module; a module knows those to its left only.

#[cfg(target_endian = "big")]
compile_error!(
    "index files are mapped as little-endian words; big-endian systems are not supported"
);

pub mod build;
pub mod decontaminate;
pub mod error;
pub mod filter;
pub mod hash;
pub mod logits;
pub mod manifest;
pub mod memory;
pub mod ngram;
pub mod pass;
pub mod points;
pub mod query;
pub mod read;
pub mod scan;
pub mod shard;
pub mod sketch;
pub mod tokenize;

pub use error::{Category, Error, Result};
