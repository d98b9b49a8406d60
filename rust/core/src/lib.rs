//! The overlap engine of ngramscope, without Python.
//!
//! ```text
//! files ─read─▶ records ─tokenize─▶ word hashes ─ngram─▶ 64-bit keys ─build─▶ filter ─shard─▶ index directory
//! candidates ─read─▶ records ─tokenize─▶ … ─▶ keys ─query─▶ hits per position
//! ```
//!
//! Each arrow is a module; a module knows those to its left only.

pub mod hash;
pub mod read;
pub mod tokenize;
