//! tar and zip.

use std::io::{Cursor, Write};

use ngramscope_core::read::ReadOptions;

use crate::read_support::*;

fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip_of(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An archive of two members.
pub fn small_zip() -> Vec<u8> {
    let members: [(&str, &[u8]); 2] = [("a.txt", b"one"), ("b.txt", b"two")];
    zip_of(&members, zip::CompressionMethod::Deflated)
}

#[test]
fn archives_are_read_member_by_member() {
    let folder = tempfile::tempdir().unwrap();
    let lines = json_lines("m", 3);
    let packed = gz(lines.as_bytes());
    let long = format!("{}/long name.txt", "d".repeat(150));
    let members: Vec<(&str, &[u8])> = vec![
        ("a.txt", b"first text\nwith two lines"),
        ("sub/b.jsonl", lines.as_bytes()),
        ("sub/c.jsonl.gz", &packed),
        (".hidden.txt", b"left out"),
        ("__x/._a.txt", b"left out"),
        ("empty.txt", b""),
        (&long, b"long"),
    ];
    let tar = tar_of(&members);
    let forms = [
        ("t.tar", tar.clone()),
        ("t.tar.gz", gz(&tar)),
        ("t.tar.zst", zst(&tar)),
        ("t.tar.bz2", bz2(&tar)),
        ("t.tar.xz", xz(&tar)),
        ("t.zip", zip_of(&members, zip::CompressionMethod::Deflated)),
        ("s.zip", zip_of(&members, zip::CompressionMethod::Stored)),
    ];
    for (name, bytes) in &forms {
        let path = put(folder.path(), name, bytes);
        let (seen, report) = read_ok(&path, &ReadOptions::default());
        assert_eq!(report.documents, 8, "{name}");
        assert_eq!(
            report.sources[0].blake3.as_deref(),
            Some(&*blake3::hash(bytes).to_hex()),
            "{name}"
        );
        assert_eq!(seen[0].id, Some(format!("\"{name}/a.txt\"")));
        assert_eq!((seen[6].line, seen[6].position), (3, 6));
        assert_eq!(seen[6].member.as_deref(), Some("sub/c.jsonl.gz"));
        assert_eq!(seen[7].member.as_deref(), Some(&*long));
    }
    let cut = put(folder.path(), "cut.tar", &tar[..tar.len() - 1024 - 512]);
    assert!(error_of(&cut, &ReadOptions::default()).contains("cut off"));
    let mut bad = zip_of(&members, zip::CompressionMethod::Stored);
    let place = memchr::memmem::find(&bad, b"first text").unwrap();
    bad[place] = b'F';
    let message = error_of(&put(folder.path(), "bad.zip", bad), &ReadOptions::default());
    assert!(
        message.contains("checksum") && message.contains("a.txt"),
        "{message}"
    );
    let inner = put(folder.path(), "inner.tar", tar_of(&[("x.tar", &tar)]));
    assert!(error_of(&inner, &ReadOptions::default()).contains("archive inside an archive"));
    let bad_line = put(
        folder.path(),
        "line.tar",
        tar_of(&[("ok.jsonl", lines.as_bytes()), ("b.jsonl", b"{}\n[]\n")]),
    );
    let message = error_of(&bad_line, &ReadOptions::default());
    assert!(message.contains("line.tar/b.jsonl:1:"), "{message}");
}

#[test]
fn a_pass_goes_on_in_the_middle_of_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (json_lines("one", 9), json_lines("two", 9));
    let members: [(&str, &[u8]); 3] = [
        ("one.jsonl", one.as_bytes()),
        ("text.txt", b"a text"),
        ("two.jsonl", two.as_bytes()),
    ];
    let files = [
        put(folder.path(), "a.tar", tar_of(&members)),
        put(folder.path(), "b.tar.zst", zst(&tar_of(&members))),
        put(
            folder.path(),
            "c.zip",
            zip_of(&members, zip::CompressionMethod::Deflated),
        ),
    ];
    goes_on(&files);
}
