//! Bytes that another program brings.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use ngramscope_core::read::{FileFault, ReadOptions, Remote, Source};

use crate::archives::small_zip;
use crate::read_support::*;
use crate::tables::{small_arrow, small_parquet};

/// Bytes from memory; `fails` at any place from that one on.
struct Memory {
    bytes: Vec<u8>,
    announced: u64,
    at_any_place: bool,
    fails: Option<(u64, FileFault)>,
}

impl Memory {
    fn new(bytes: &[u8]) -> Memory {
        Memory {
            bytes: bytes.to_vec(),
            announced: bytes.len() as u64,
            at_any_place: true,
            fails: None,
        }
    }

    fn read(self) -> (Vec<Seen>, Result<ngramscope_core::read::ReadReport, String>) {
        let options = ReadOptions {
            max_bad_files: 1,
            ..ReadOptions::default()
        };
        let (seen, report) = read_sources(vec![Source::Remote(Arc::new(self))], options, 2);
        (seen, report.map_err(|error| error.to_string()))
    }
}

impl Remote for Memory {
    fn name(&self) -> &str {
        "far://away/a"
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.announced)
    }

    fn at_any_place(&self) -> bool {
        self.at_any_place
    }

    fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.bytes.clone())))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if let Some((from, fault)) = &self.fails
            && offset + out.len() as u64 > *from
        {
            return Err(fault.clone().into());
        }
        out.copy_from_slice(&self.bytes[offset as usize..][..out.len()]);
        Ok(())
    }
}

#[test]
fn a_remote_source_is_read_like_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let lines = json_lines("far", 20);
    for bytes in [
        lines.clone().into_bytes(),
        gz(lines.as_bytes()),
        small_parquet(),
        small_arrow(),
        small_zip(),
    ] {
        let path = put(folder.path(), "a", &bytes);
        let (wanted, local) = read_ok(&path, &ReadOptions::default());
        let (seen, report) = Memory::new(&bytes).read();
        let source = &report.unwrap().sources[0];
        let texts = |seen: &[Seen]| -> Vec<_> {
            seen.iter()
                .map(|record| (record.position, record.text.clone()))
                .collect()
        };
        assert_eq!(texts(&seen), texts(&wanted));
        assert_eq!(source.name, "far://away/a");
        assert_eq!(source.bytes, bytes.len() as u64);
        assert_eq!(source.blake3, local.sources[0].blake3);
    }
}

#[test]
fn what_kept_bytes_from_coming_is_told_and_not_taken_for_damage() {
    for bytes in [small_parquet(), small_arrow(), small_zip()] {
        let lost = FileFault::Unreadable("the line is dead".to_owned());
        let mut remote = Memory::new(&bytes);
        remote.fails = Some((0, lost));
        let (_, report) = remote.read();
        assert_eq!(
            report.unwrap().sources[0].incomplete.as_deref(),
            Some("cannot be read: the line is dead")
        );
        let mut remote = Memory::new(&bytes);
        remote.fails = Some((0, FileFault::Changed("another version".to_owned())));
        let error = remote.read().1.unwrap_err(); // however many bad files are allowed
        assert!(error.contains("far://away/a: changed"), "{error}");
    }
}

#[test]
fn fewer_bytes_than_announced_are_an_error() {
    let lines = json_lines("far", 20);
    let mut remote = Memory::new(lines.as_bytes());
    remote.announced += 1;
    let error = remote.read().1.unwrap_err();
    assert!(error.contains("bytes read"), "{error}");
}

#[test]
fn some_formats_need_any_place() {
    for bytes in [small_parquet(), small_arrow(), small_zip()] {
        let mut remote = Memory::new(&bytes);
        remote.at_any_place = false;
        let incomplete = remote.read().1.unwrap().sources[0].incomplete.clone();
        assert!(incomplete.unwrap().contains("download it first"));
    }
}
