//! A short run of the fuzz targets' bodies on seeded random inputs; the long runs are `cargo +nightly fuzz run words|reading|index`.

mod fuzz_bodies;

use ngramscope_core::hash::finalize;

/// Pieces that random bytes seldom hit upon.
const PIECES: [&[u8]; 24] = [
    b"{\"text\": \"",
    b"\"}\n",
    b"\\u00e9",
    b"\\ud800",
    b"\n",
    b"\r\n",
    b"{",
    b"}",
    b"[",
    b"null",
    b"1e400",
    b"NaN",
    b"\"id\": 7, ",
    b"\xEF\xBB\xBF",
    "naïve – ‘curly’".as_bytes(),
    "日本語".as_bytes(),
    "a\u{200D}\u{308}".as_bytes(),
    b"\x1F\x8B\x08\0\0\0\0\0",
    b"\x28\xB5\x2F\xFD",
    b"PAR1",
    b"PK\x03\x04",
    b"BZh9",
    b"  ",
    b"word ",
];

fn run(count: u64, body: impl Fn(&[u8])) {
    let mut state = 0x5EED_u64;
    let mut next = |below: usize| {
        state = finalize(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        (state % below as u64) as usize
    };
    for _ in 0..count {
        let mut data: Vec<u8> = (0..3).map(|_| next(256) as u8).collect();
        for _ in 0..next(40) {
            match next(3) {
                0 => data.push(next(256) as u8),
                _ => data.extend_from_slice(PIECES[next(PIECES.len())]),
            }
        }
        body(&data);
    }
}

#[test]
fn words() {
    run(20_000, fuzz_bodies::words);
}

#[test]
fn reading() {
    run(5_000, fuzz_bodies::reading);
}

#[test]
fn index() {
    run(1_500, fuzz_bodies::index);
}
