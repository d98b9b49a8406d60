//! Makes a corpus of any size with the statistics of real text, as JSON Lines shards: how often words occur, how the
//! vocabulary grows, how long documents are, and how large a share of the 7- and 13-grams has occurred before at every size.
//! The constants are fitted to real English (see benchmarks/synthetic.py, which also checks the outcome).
//!
//! Words follow Zipf's law with Mandelbrot's shift, with a steeper tail from a knee on (Ferrer i Cancho and Solé 2001), over an
//! endless vocabulary. A text is a chain of fresh words and of spans, and every span is one of endlessly many fixed ones, of which
//! some are much more frequent than others: so the share of spans that have occurred before rises with the size
//! of the corpus by itself, and nothing has to be remembered. Spans are of two kinds: phrases and passages. Documents also repeat
//! themselves: some pieces are copied from further up.
//!
//! `--out DIR`, `--first I`, `--shards K`, `--bytes B`: makes shards I to I + K - 1 of about B bytes each; a shard is the same
//! whatever others are made. `--seed S`; `--spans S` (default: the seed) chooses the spans: texts of other spans have hardly an
//! n-gram of this length in common.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ngramscope_rivals::{Arguments, Outcome, Random};

/// Ranks with a weight of their own; those behind follow the tail's law.
const TABLE: usize = 1 << 16;
/// Of a word with this rank (from 0) the weight is 1 / (rank + SHIFT) ...
const SHIFT: f64 = 2.0;
/// ... up to this rank, and falls by this power from there on.
const KNEE: f64 = 1300.0;
const TAIL: f64 = 1.57;

/// Words of a document: log-normal.
const MEDIAN_WORDS: f64 = 520.0;
const SPREAD: f64 = 1.35;
const MOST_WORDS: f64 = 200_000.0;

/// A kind of span.
struct Kind {
    /// Share of all words that are in such spans.
    share: f64,
    /// Numbers of spans follow a Zipf-Mandelbrot law: P(number >= t) = (1 + t / shift)^-power.
    shift: f64,
    power: f64,
    length: Length,
}

/// Words of a span.
enum Length {
    /// `least`, and one more again and again with this probability.
    Geometric { least: u64, more: f64 },
    /// P(length >= l) = (l / least)^-power, up to `most`.
    Pareto { least: f64, power: f64, most: f64 },
}

const PHRASES: Kind = Kind {
    share: 0.2743,
    shift: 209.1,
    power: 0.431,
    length: Length::Geometric {
        least: 7,
        more: 0.8047,
    },
};
const PASSAGES: Kind = Kind {
    share: 0.2221,
    shift: 1830.0,
    power: 0.1509,
    length: Length::Pareto {
        least: 14.2,
        power: 1.11,
        most: 3000.0,
    },
};
/// Share of all words that are copied from further up in the same document; such copies are as long as passages.
const COPIES: f64 = 0.0351;

/// The commonest words, in about the order they have in English; all others are made of syllables.
const HEAD: [&str; 60] = [
    ",", "the", ".", "of", "and", "to", "in", "a", "-", "that", "is", "for", ")", "(", "it", "was",
    "on", "with", "as", "be", ":", "are", "by", "this", "I", "you", "from", "or", "at", "not",
    "have", "an", "we", "The", "which", "can", "has", "but", "1", "will", "he", "were", "his",
    "their", "they", "all", ";", "one", "if", "would", "2", "been", "more", "In", "when", "other",
    "its", "there", "who", "what",
];
const CONSONANTS: &[u8; 20] = b"tnsrldcmphgbfwvkjxzq";
const VOWELS: &[u8; 5] = b"eaoiu";

fn unit(random: &mut Random) -> f64 {
    // Never 0.
    ((random.bits() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * unit(random).ln()).sqrt() * (std::f64::consts::TAU * unit(random)).cos()
}

/// Draws words, and spells them.
struct Vocabulary {
    /// Walker's alias method: the chance (of 2^32) that a place keeps its own rank, and the other rank.
    alias: Vec<(u32, u32)>,
    /// Spelling of the table's ranks.
    text: Vec<u8>,
    start: Vec<u32>,
}

impl Vocabulary {
    fn new() -> Vocabulary {
        let weight = |rank: f64| {
            if rank < KNEE {
                1.0 / (rank + SHIFT)
            } else {
                (rank / KNEE).powf(-TAIL) / (KNEE + SHIFT)
            }
        };
        let mut weights: Vec<f64> = (0..TABLE).map(|rank| weight(rank as f64)).collect();
        // The last place stands for the whole tail.
        let tail = TABLE as f64 - 1.0;
        weights[TABLE - 1] = weight(tail) * tail / (TAIL - 1.0);
        let sum: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights
            .iter()
            .map(|weight| weight / sum * TABLE as f64)
            .collect();
        let mut alias = vec![(u32::MAX, 0); TABLE];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..TABLE).partition(|&rank| scaled[rank] < 1.0);
        while let (Some(less), Some(&more)) = (small.pop(), large.last()) {
            alias[less] = ((scaled[less] * u32::MAX as f64) as u32, more as u32);
            scaled[more] -= 1.0 - scaled[less];
            if scaled[more] < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        let (mut text, mut start) = (Vec::new(), vec![0]);
        for rank in 0..TABLE as u64 {
            spell(rank, &mut text);
            start.push(text.len() as u32);
        }
        Vocabulary { alias, text, start }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let bits = random.bits();
        let place = (bits >> 48) as usize;
        let (keep, other) = self.alias[place];
        let rank = if bits as u32 <= keep {
            place
        } else {
            other as usize
        };
        if rank < TABLE - 1 {
            return rank as u64;
        }
        ((TABLE - 1) as f64 * unit(random).powf(-1.0 / (TAIL - 1.0))).min(1e15) as u64
    }

    /// Appends a word to a text, after a space unless it is punctuation that stands close, or the first; some sentences are
    /// followed by an empty line.
    fn write(&self, rank: u64, first: bool, out: &mut Vec<u8>) {
        let close =
            rank < HEAD.len() as u64 && matches!(HEAD[rank as usize], "," | "." | ")" | ":" | ";");
        if !close && !first {
            let paragraph = rank % 8 == 5 && out.last() == Some(&b'.');
            out.extend_from_slice(if paragraph { b"\\n\\n" } else { b" " });
        }
        match self.start.get(rank as usize..rank as usize + 2) {
            Some(bounds) => {
                out.extend_from_slice(&self.text[bounds[0] as usize..bounds[1] as usize])
            }
            None => spell(rank, out),
        }
    }
}

/// Appends the spelling of a rank: no two have the same.
fn spell(rank: u64, out: &mut Vec<u8>) {
    if let Some(word) = HEAD.get(rank as usize) {
        out.extend_from_slice(word.as_bytes());
        return;
    }
    // From two syllables on: some of those of one are in the list.
    let mut rest = rank - HEAD.len() as u64 + 100;
    // Some of the rarer words are names, and some are not ASCII.
    let first = out.len();
    let (name, foreign) = (rest.is_multiple_of(7), rest % 64 == 63);
    // Bijective in base 100: words of the same number of syllables differ in one, others in length.
    loop {
        let digit = (rest % 100) as usize;
        out.push(CONSONANTS[digit / 5]);
        out.push(VOWELS[digit % 5]);
        rest /= 100;
        if rest == 0 {
            break;
        }
        rest -= 1;
    }
    if name {
        out[first] = out[first].to_ascii_uppercase();
    }
    if foreign {
        out.extend_from_slice("é".as_bytes());
    }
}

impl Kind {
    fn mean_length(&self) -> f64 {
        match self.length {
            Length::Geometric { least, more } => least as f64 + more / (1.0 - more),
            Length::Pareto { least, power, most } => {
                // Mean of the truncated law, by its own definition.
                (1..most as u64)
                    .map(|l| {
                        if (l as f64) < least {
                            1.0
                        } else {
                            (l as f64 / least).powf(-power)
                        }
                    })
                    .sum()
            }
        }
    }

    fn draw_number(&self, random: &mut Random) -> u64 {
        let number = self.shift * (unit(random).powf(-1.0 / self.power) - 1.0);
        // Those beyond any counting are all different.
        if number < 1e18 {
            number as u64
        } else {
            random.bits() | 1 << 63
        }
    }

    fn draw_length(&self, random: &mut Random) -> u64 {
        match self.length {
            Length::Geometric { least, more } => least + (unit(random).ln() / more.ln()) as u64,
            Length::Pareto { least, power, most } => {
                (least * unit(random).powf(-1.0 / power)).min(most) as u64
            }
        }
    }
}

/// Makes documents.
struct Author {
    vocabulary: Vocabulary,
    spans: u64,
    /// Chances that the next piece is a phrase, a passage or a copy, added up; else it is a fresh word.
    chances: [f64; 3],
}

impl Author {
    fn new(spans: u64) -> Author {
        let passage = PASSAGES.mean_length();
        let pieces = [
            PHRASES.share / PHRASES.mean_length(),
            PASSAGES.share / passage,
            COPIES / passage,
        ];
        let fresh = 1.0 - PHRASES.share - PASSAGES.share - COPIES;
        let all = pieces.iter().sum::<f64>() + fresh;
        let mut sum = 0.0;
        let chances = pieces.map(|piece| {
            sum += piece / all;
            sum
        });
        Author {
            vocabulary: Vocabulary::new(),
            spans,
            chances,
        }
    }

    /// The words of a document, by rank.
    fn words(&self, random: &mut Random, out: &mut Vec<u64>) {
        let words = MEDIAN_WORDS * (SPREAD * normal(random)).exp();
        let words = words.clamp(1.0, MOST_WORDS) as usize;
        out.clear();
        while out.len() < words {
            let chance = unit(random);
            let piece = self.chances.iter().position(|&upto| chance < upto);
            let left = (words - out.len()) as u64;
            match piece {
                Some(kind @ (0 | 1)) => {
                    let number = [&PHRASES, &PASSAGES][kind].draw_number(random);
                    let mut span =
                        Random(self.spans ^ number.wrapping_mul(2).wrapping_add(kind as u64));
                    span.0 = span.bits();
                    let length = [&PHRASES, &PASSAGES][kind].draw_length(&mut span);
                    out.extend((0..length.min(left)).map(|_| self.vocabulary.draw(&mut span)));
                }
                Some(_) if !out.is_empty() => {
                    let start = random.below(out.len() as u64) as usize;
                    let length = PASSAGES.draw_length(random).min(left) as usize;
                    let end = out.len().min(start + length);
                    out.extend_from_within(start..end);
                }
                _ => out.push(self.vocabulary.draw(random)),
            }
        }
    }

    /// Appends a document as a line of JSON.
    fn document(&self, id: &str, random: &mut Random, words: &mut Vec<u64>, out: &mut Vec<u8>) {
        self.words(random, words);
        out.extend_from_slice(b"{\"id\":\"");
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(b"\",\"text\":\"");
        for (place, &rank) in words.iter().enumerate() {
            self.vocabulary.write(rank, place == 0, out);
        }
        out.extend_from_slice(b"\"}\n");
    }
}

struct Made {
    bytes: u64,
    documents: u64,
}

fn make_shard(
    author: &Author,
    folder: &Path,
    shard: u64,
    bytes: u64,
    seed: u64,
) -> std::io::Result<Made> {
    let path = folder.join(format!("{shard:04}.jsonl"));
    let part = path.with_extension("part");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&part)?);
    let mut random = Random(seed);
    random.0 = random.bits() ^ Random(shard).bits();
    let mut made = Made {
        bytes: 0,
        documents: 0,
    };
    let (mut words, mut line) = (Vec::new(), Vec::new());
    while made.bytes < bytes {
        line.clear();
        let id = format!("{shard}-{}", made.documents);
        author.document(&id, &mut random, &mut words, &mut line);
        file.write_all(&line)?;
        made.bytes += line.len() as u64;
        made.documents += 1;
    }
    file.flush()?;
    std::fs::rename(part, path)?;
    Ok(made)
}

fn main() -> Outcome<()> {
    let arguments = Arguments::read()?;
    let folder: PathBuf = arguments.get("out")?;
    let (first, shards): (u64, u64) = (
        arguments.get_or("first", 0)?,
        arguments.get_or("shards", 1)?,
    );
    let bytes: u64 = arguments.get("bytes")?;
    let seed: u64 = arguments.get_or("seed", 20)?;
    let author = Author::new(Random(arguments.get_or("spans", seed)?).bits());
    std::fs::create_dir_all(&folder)?;
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism()?
        .get()
        .min(shards as usize);
    let all = std::thread::scope(|scope| -> Outcome<Made> {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| -> std::io::Result<Made> {
                    let mut sum = Made {
                        bytes: 0,
                        documents: 0,
                    };
                    loop {
                        let shard = next.fetch_add(1, Ordering::Relaxed);
                        if shard >= first + shards {
                            return Ok(sum);
                        }
                        let made = make_shard(&author, &folder, shard, bytes, seed)?;
                        sum.bytes += made.bytes;
                        sum.documents += made.documents;
                    }
                })
            })
            .collect();
        let mut sum = Made {
            bytes: 0,
            documents: 0,
        };
        for thread in running {
            let made = thread.join().map_err(|_| "a thread failed")??;
            sum.bytes += made.bytes;
            sum.documents += made.documents;
        }
        Ok(sum)
    })?;
    println!(
        "{}",
        serde_json::json!({"bytes": all.bytes, "documents": all.documents, "shards": shards})
    );
    Ok(())
}
