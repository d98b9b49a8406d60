//! Every format, made on the spot: the same documents must come out of each.

mod archives;
#[path = "../read_support/mod.rs"]
mod read_support;
mod remote;
mod tables;

use std::io::{Cursor, Read, Write};
use std::path::Path;

use ngramscope_core::read::{ReadOptions, Source};
use read_support::*;

const ZST_SKIPPABLE: [u8; 11] = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];

fn documents(path: &Path) -> u64 {
    read_ok(path, &ReadOptions::default()).1.documents
}

/// What a file has to become: 20 documents, cut into parts in the middle of a line.
fn parts() -> (Vec<u8>, usize) {
    let whole = json_lines("p", 20).into_bytes();
    let middle = whole.len() / 2 + 3;
    (whole, middle)
}

#[test]
fn compressed_files_of_many_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, middle) = parts();
    let (a, b) = whole.split_at(middle);
    type Pack = fn(&[u8]) -> Vec<u8>;
    for (name, pack) in [("gz", gz as Pack), ("zst", zst), ("bz2", bz2), ("xz", xz)] {
        let put =
            |kind: &str, bytes: Vec<u8>| put(folder.path(), &format!("{kind}.jsonl.{name}"), bytes);
        let one = put("one", pack(&whole));
        let (seen, report) = read_ok(&one, &ReadOptions::default());
        assert_eq!(seen[19].id.as_deref(), Some("\"p-19\""));
        assert_eq!(seen[19].text(), "document 19 of p, naïve\n");
        let digest = blake3::hash(&std::fs::read(&one).unwrap())
            .to_hex()
            .to_string();
        assert_eq!(
            report.sources[0].blake3,
            Some(digest),
            "{name}: digest of the compressed bytes"
        );
        assert_eq!(
            documents(&put("two", [pack(a), pack(b)].concat())),
            20,
            "{name}"
        );
        assert_eq!(
            documents(&put(
                "with_empty",
                [pack(b""), pack(a), pack(b""), pack(b), pack(b"")].concat()
            )),
            20,
            "{name}"
        );
        assert_eq!(
            documents(&put(
                "first_byte",
                [pack(&whole[..1]), pack(&whole[1..])].concat()
            )),
            20,
            "{name}"
        );
        assert_eq!(documents(&put("empty", pack(b""))), 0, "{name}");
        assert_eq!(documents(&put("nothing", Vec::new())), 0, "{name}");
        // A name that promises something else.
        assert_eq!(
            documents(&read_support::put(
                folder.path(),
                &format!("{name}.jsonl.other"),
                pack(&whole)
            )),
            20
        );

        // Cut anywhere: never a silently short file.
        let packed = pack(&whole);
        for cut in [packed.len() - 1, packed.len() - 5, packed.len() / 2, 20, 12] {
            let message = error_of(&put("cut", packed[..cut].to_vec()), &ReadOptions::default());
            assert!(
                message.contains("damaged") && message.contains("cut off"),
                "{name} at {cut}: {message}"
            );
        }
        let message = error_of(
            &put(
                "garbage",
                [packed.clone(), b"\0\x01garbage".to_vec()].concat(),
            ),
            &ReadOptions::default(),
        );
        assert!(
            message.contains("something else follows"),
            "{name}: {message}"
        );
        let mut flipped = packed.clone();
        let place = flipped.len() / 2;
        flipped[place] ^= 0x10;
        let message = error_of(&put("flipped", flipped), &ReadOptions::default());
        // Where the damage gives data, a record may be the first to show it.
        assert!(
            message.contains("damaged") || message.contains("flipped.jsonl"),
            "{name}: {message}"
        );
        let (_, report) = read_ok(
            &folder.path().join(format!("flipped.jsonl.{name}")),
            &lenient(),
        );
        assert!(
            report.sources[0]
                .incomplete
                .as_deref()
                .is_some_and(|why| why.contains("damaged")),
            "{name}"
        );
        let message = error_of(&put("twice", pack(&packed)), &ReadOptions::default());
        assert!(message.contains("compressed twice"), "{name}: {message}");
    }
    let padded = put(
        folder.path(),
        "padded.gz",
        [gz(&whole), vec![0; 70_000]].concat(),
    );
    assert_eq!(documents(&padded), 20);
    let padded = put(
        folder.path(),
        "padded.xz",
        [xz(a), vec![0; 8], xz(b), vec![0; 4]].concat(),
    );
    assert_eq!(documents(&padded), 20);
    let skippable = [
        &ZST_SKIPPABLE[..],
        &zst(a),
        &ZST_SKIPPABLE,
        &zst(b),
        &ZST_SKIPPABLE,
    ]
    .concat();
    assert_eq!(
        documents(&put(folder.path(), "skippable.zst", skippable)),
        20
    );
}

#[test]
fn gzip_checks_its_trailer() {
    let folder = tempfile::tempdir().unwrap();
    let good = gz(&parts().0);
    for (back, word) in [(8, "checksum"), (4, "size")] {
        let mut bad = good.clone();
        let place = bad.len() - back;
        bad[place] ^= 1;
        let message = error_of(&put(folder.path(), "bad.gz", bad), &ReadOptions::default());
        assert!(message.contains(word), "{message}");
    }
    // Extra field, name, comment and header checksum, as other writers set them.
    let mut member = vec![
        0x1f,
        0x8b,
        8,
        2 | 4 | 8 | 16,
        0,
        0,
        0,
        0,
        0,
        255,
        3,
        0,
        1,
        2,
        3,
    ];
    member.extend(b"name\0comment\0\x12\x34");
    member.extend(&good[10..]);
    assert_eq!(documents(&put(folder.path(), "fields.gz", member)), 20);
}

#[test]
fn zstd_windows_are_limited_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(&parts().0).unwrap();
    let path = put(folder.path(), "wide.zst", encoder.finish().unwrap());
    let message = error_of(&path, &ReadOptions::default());
    assert!(
        message.contains("256 MiB") && message.contains("--max-window-log 28"),
        "{message}"
    );
    assert_eq!(
        read_ok(
            &path,
            &ReadOptions {
                max_window_log: 28,
                ..ReadOptions::default()
            }
        )
        .1
        .documents,
        20
    );
}

#[test]
fn streams_are_read_like_files() {
    let (whole, _) = parts();
    for bytes in [whole.clone(), gz(&whole), zst(&whole)] {
        let digest = blake3::hash(&bytes).to_hex().to_string();
        let source = Source::Stream("-".to_owned(), Box::new(Cursor::new(bytes)));
        let (seen, report) = read_sources(vec![source], ReadOptions::default(), 2);
        let report = report.unwrap();
        assert_eq!(
            (seen.len(), report.sources[0].blake3.as_deref()),
            (20, Some(&*digest))
        );
        assert_eq!(report.sources[0].name, "-");
    }
    let failing = b"{\"text\":\"a\"}\n".chain(Failing);
    let (seen, report) = read_sources(
        vec![Source::Stream("-".to_owned(), Box::new(failing))],
        lenient(),
        1,
    );
    assert_eq!(seen.len(), 1);
    assert!(
        report.unwrap().sources[0]
            .incomplete
            .as_deref()
            .unwrap()
            .contains("no more")
    );
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("no more"))
    }
}

#[test]
fn texts_and_other_formats() {
    let folder = tempfile::tempdir().unwrap();
    let source = put(folder.path(), "code.py", "{'a': 1}\nprint('grün')\n");
    let (seen, _) = read_ok(&source, &ReadOptions::default());
    assert_eq!(
        (seen[0].id.as_deref(), seen[0].text()),
        (Some("\"code.py\""), "{'a': 1}\nprint('grün')\n")
    );
    let bom = put(folder.path(), "bom.txt", "\u{feff}text");
    assert_eq!(read_ok(&bom, &ReadOptions::default()).0[0].text(), "text");
    let latin = put(folder.path(), "latin.txt", b"first\ncaf\xe9");
    let message = error_of(&latin, &ReadOptions::default());
    assert!(
        message.contains("invalid_utf8") && message.contains("line 2"),
        "{message}"
    );
    let lines = put(folder.path(), "lines.txt", "one\r\n\r\n \ntwo\nthree");
    let (seen, _) = read_ok(
        &lines,
        &ReadOptions {
            text_lines: true,
            ..ReadOptions::default()
        },
    );
    assert_eq!(
        seen.iter().map(|r| (r.line, r.text())).collect::<Vec<_>>(),
        [(1, "one"), (4, "two"), (5, "three")]
    );
    // No ending: what is inside decides.
    assert_eq!(
        documents(&put(folder.path(), "part-0", json_lines("x", 2))),
        2
    );
    assert_eq!(
        documents(&put(folder.path(), "notes", "[1] a note\n[2] another")),
        1
    );
    for (name, bytes, word) in [
        ("a.7z", &b"7z\xbc\xaf\x27\x1c\0\x04"[..], "7z archive"),
        ("a.csv", b"id,text\n1,x\n", "CSV"),
        (
            "a.parquet",
            b"nothing of the kind",
            "not the format that its name says",
        ),
        ("a.bin", b"\x01\x02\0\x03", "binary data"),
        ("utf16", b"\xff\xfea\0b\0", "UTF-16LE"),
        ("p.gz", &gz(&tables::small_parquet()), "Parquet file inside"),
    ] {
        let message = error_of(&put(folder.path(), name, bytes), &ReadOptions::default());
        assert!(message.contains(word), "{name}: {message}");
    }
}
