//! Makes a JSON Lines corpus of a given size out of real texts: each text as it is, and as many copies as it takes whose
//! words are shuffled inside each sentence. So vocabulary, layout, compression and the share of non-ASCII text are
//! real, while almost every n-gram of a copy is new. The same inputs, size and seed give the same bytes.
//!
//! `--list FILE` names the inputs, one a line (.jsonl.zst with a `text` field; anything else is one document);
//! `--held-out FILE` also writes documents to score: `verbatim` ones from the corpus's first part, and `fresh` ones.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use ngramscope_rivals::{Arguments, Outcome, Random};
use serde::{Deserialize, Serialize};

/// A text is taken when it has at least this many bytes: shorter ones are titles and stubs.
const SHORTEST: usize = 300;
/// Sentences of lists and code have no full stop: they end here.
const LONGEST_SENTENCE: usize = 60;
/// A copy that no corpus holds.
const FRESH: u64 = 1 << 40;

#[derive(Deserialize)]
struct Input {
    text: Option<String>,
}

#[derive(Serialize)]
struct Output<'a> {
    id: String,
    text: &'a str,
}

fn read_texts(list: &Path) -> Outcome<Vec<String>> {
    let mut texts = Vec::new();
    for path in std::fs::read_to_string(list)?.lines() {
        if path.ends_with(".jsonl.zst") {
            for line in BufReader::new(zstd::Decoder::new(File::open(path)?)?).lines() {
                texts.extend(serde_json::from_str::<Input>(&line?)?.text);
            }
        } else if let Ok(text) = std::fs::read_to_string(path) {
            texts.push(text);
        }
    }
    texts.retain(|text| text.len() >= SHORTEST);
    Ok(texts)
}

/// The text with the words of each sentence in another order; the white space stays where it is.
fn shuffled(text: &str, random: &mut Random) -> String {
    let mut out = String::with_capacity(text.len());
    let body = text.trim_start();
    out.push_str(&text[..text.len() - body.len()]);
    let mut words: Vec<&str> = Vec::new();
    let mut spaces: Vec<&str> = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        let (space, after) = after.split_at(
            after
                .find(|c: char| !c.is_whitespace())
                .unwrap_or(after.len()),
        );
        rest = after;
        words.push(word);
        spaces.push(space);
        if word.ends_with(['.', '!', '?']) || words.len() == LONGEST_SENTENCE || rest.is_empty() {
            random.shuffle(&mut words);
            for (word, space) in words.drain(..).zip(spaces.drain(..)) {
                out.push_str(word);
                out.push_str(space);
            }
        }
    }
    out
}

fn record(texts: &[String], text: usize, copy: u64, seed: u64, out: &mut Vec<u8>) -> Outcome<()> {
    let mut random = Random(seed ^ (copy << 20) ^ text as u64);
    let words = if copy == 0 {
        None
    } else {
        Some(shuffled(&texts[text], &mut random))
    };
    let id = format!("{copy}-{text}");
    serde_json::to_writer(
        &mut *out,
        &Output {
            id,
            text: words.as_deref().unwrap_or(&texts[text]),
        },
    )?;
    out.push(b'\n');
    Ok(())
}

fn main() -> Outcome<()> {
    let arguments = Arguments::read()?;
    let texts = read_texts(&arguments.get::<PathBuf>("list")?)?;
    let out: PathBuf = arguments.get("out")?;
    let target: u64 = arguments.get("bytes")?;
    let seed: u64 = arguments.get_or("seed", 20)?;
    let held_out: Option<PathBuf> = arguments
        .has("held-out")
        .then(|| arguments.get("held-out"))
        .transpose()?;

    let real: u64 = texts.iter().map(|text| text.len() as u64).sum();
    if real == 0 {
        return Err("no usable text among the inputs".into());
    }
    // Escapes and ids only add to `real`, so these copies are always enough.
    let copies = target.div_ceil(real);
    let mut plan: Vec<(usize, u64)> = (0..copies)
        .flat_map(|copy| (0..texts.len()).map(move |text| (text, copy)))
        .collect();
    Random(seed).shuffle(&mut plan);

    let mut writer = BufWriter::with_capacity(4 << 20, File::create(&out)?);
    let (mut written, mut documents, mut verbatim) = (0u64, 0usize, Vec::new());
    'all: for round in plan.chunks(4096) {
        let halves = std::thread::scope(|scope| -> Outcome<Vec<Vec<Vec<u8>>>> {
            let texts = &texts;
            let running: Vec<_> = round
                .chunks(round.len().div_ceil(2))
                .map(|half| {
                    scope.spawn(move || -> Result<Vec<Vec<u8>>, String> {
                        let one = |&(text, copy): &(usize, u64)| {
                            let mut line = Vec::new();
                            record(texts, text, copy, seed, &mut line)
                                .map(|()| line)
                                .map_err(|e| e.to_string())
                        };
                        half.iter().map(one).collect()
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|thread| Ok(thread.join().map_err(|_| "a thread failed")??))
                .collect()
        })?;
        for line in halves.into_iter().flatten() {
            writer.write_all(&line)?;
            written += line.len() as u64;
            documents += 1;
            // Every tenth of the first two thousand: a rival that is fed only the file's start has them too.
            if documents % 10 == 0 && documents <= 2000 {
                verbatim.push(line);
            }
            if written >= target {
                break 'all;
            }
        }
    }
    writer.flush()?;
    if let Some(path) = held_out {
        let mut fresh = Vec::new();
        for text in (0..texts.len())
            .step_by((texts.len() / 200).max(1))
            .take(200)
        {
            record(&texts, text, FRESH, seed, &mut fresh)?;
        }
        std::fs::write(path.with_extension("verbatim.jsonl"), verbatim.concat())?;
        std::fs::write(path.with_extension("fresh.jsonl"), fresh)?;
    }
    println!(
        "{}",
        serde_json::json!({"bytes": written, "documents": documents, "real_bytes": real, "texts": texts.len(), "copies": copies})
    );
    Ok(())
}
