//! Damaged files of every format: an error or a report whose counts add up, never a panic, and twice the same.

mod read_support;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use read_support::*;

/// A small generator (SplitMix64): the run is the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let lines = json_lines("f", 12);
    let texts: ArrayRef = Arc::new(StringArray::from_iter(
        (0..40).map(|n| (n % 5 != 0).then(|| format!("text {n}"))),
    ));
    let batch = RecordBatch::try_from_iter_with_nullable([("text", texts, true)]).unwrap();
    let mut parquet =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    let mut stream = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(lines.len() as u64);
    tar.append_data(&mut header, "m.jsonl", lines.as_bytes())
        .unwrap();
    vec![
        ("s.jsonl", lines.clone().into_bytes()),
        ("s.txt", lines.clone().into_bytes()),
        (
            "s.jsonl.gz",
            [gz(lines.as_bytes()), gz(lines.as_bytes())].concat(),
        ),
        (
            "s.jsonl.zst",
            [zst(lines.as_bytes()), zst(b""), zst(lines.as_bytes())].concat(),
        ),
        ("s.jsonl.bz2", bz2(lines.as_bytes())),
        ("s.jsonl.xz", xz(lines.as_bytes())),
        ("s.parquet", parquet.into_inner().unwrap()),
        ("s.arrows", stream.into_inner().unwrap()),
        ("s.tar", tar.into_inner().unwrap()),
    ]
}

#[test]
fn damaged_files_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(2024);
    for (name, seed) in seeds() {
        for _ in 0..120 {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                match random.below(5) {
                    0 => bytes.truncate(at),
                    1 => drop(bytes.splice(at..at, [random.next() as u8; 3])),
                    2 => drop(bytes.splice(at..(at + random.below(20)).min(bytes.len()), [])),
                    _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
                    _ => {}
                }
            }
            let path = put(folder.path(), name, &bytes);
            let first = read_with(std::slice::from_ref(&path), &lenient(), 1);
            assert_eq!(first, read_with(&[path], &lenient(), 2), "{name}");
        }
    }
}
