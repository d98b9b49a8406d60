#![no_main]
//! `cargo +nightly fuzz run words`; the body is shared with the seeded run in the tests.

#[path = "../../tests/fuzz_bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::words(data));
