//! Speed of cutting and hashing words, beside `unicode-segmentation` with the same hash.
//!
//! ```text
//! cargo bench --bench words                        # the corpora of the shared data, and made text of other scripts
//! cargo bench --bench words -- --file some.txt     # one text file, UTF-8
//! ```
//!
//! Both sides read the same text in one run, in turns; printed are medians. The answers (number of words, XOR and sum of their
//! hashes) must be equal, else the run fails. `NGRAMSCOPE_SIMD` chooses the code path of ours.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ngramscope_core::hash::word_hash;
use ngramscope_core::tokenize::{Normalization, Tokenizer, WordMode, WordRule};
use unicode_segmentation::UnicodeSegmentation;

/// Timed runs of each side.
const RUNS: usize = 7;
/// Each run reads the corpus as often as it takes to read this much.
const BYTES_PER_RUN: usize = 24 << 20;

/// What both sides must agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answer {
    words: u64,
    xor: u64,
    sum: u64,
}

impl Answer {
    #[inline(always)]
    fn add(&mut self, hash: u64) {
        self.words += 1;
        self.xor ^= hash;
        self.sum = self.sum.wrapping_add(hash);
    }
}

fn ours(tokenizer: &mut Tokenizer, documents: &[String]) -> Answer {
    let mut answer = Answer::default();
    for document in documents {
        tokenizer.hash_words(document, |hashes| {
            hashes.iter().for_each(|&hash| answer.add(hash))
        });
    }
    answer
}

fn peer(documents: &[String]) -> Answer {
    let mut answer = Answer::default();
    for document in documents {
        for segment in document.split_word_bounds() {
            if !segment.chars().all(char::is_whitespace) {
                answer.add(word_hash(segment.as_bytes()));
            }
        }
    }
    answer
}

/// Megabytes a second, and the answer.
fn timed(bytes: usize, mut run: impl FnMut() -> Answer) -> (f64, Answer) {
    let rounds = (BYTES_PER_RUN / bytes.max(1)).max(1);
    let start = Instant::now();
    let mut answer = run();
    for _ in 1..rounds {
        answer = run();
    }
    (
        (bytes * rounds) as f64 / 1e6 / start.elapsed().as_secs_f64(),
        answer,
    )
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints one line; false if the answers differ.
fn compare(name: &str, documents: &[String], tokenizer: &mut Tokenizer) -> bool {
    let bytes: usize = documents.iter().map(String::len).sum();
    let (mut our_speeds, mut peer_speeds) = (Vec::new(), Vec::new());
    let mut answers = (Answer::default(), Answer::default());
    for _ in 0..RUNS {
        let (speed, answer) = timed(bytes, || ours(tokenizer, documents));
        our_speeds.push(speed);
        answers.0 = answer;
        let (speed, answer) = timed(bytes, || peer(documents));
        peer_speeds.push(speed);
        answers.1 = answer;
    }
    let (our_speed, peer_speed) = (median(our_speeds), median(peer_speeds));
    let words = answers.0.words;
    let nanoseconds = bytes as f64 / words as f64 / our_speed * 1e3;
    println!(
        "{name:<22} {:>8.2} MB {words:>9} words   ours {our_speed:>7.1} MB/s ({nanoseconds:>5.2} ns/word)   peer {peer_speed:>6.1} MB/s   ratio {:>5.1}{}",
        bytes as f64 / 1e6,
        our_speed / peer_speed,
        if answers.0 == answers.1 {
            ""
        } else {
            "   ANSWERS DIFFER"
        }
    );
    answers.0 == answers.1
}

/// The texts of a file of JSON Lines, packed with zstd.
fn texts(path: &Path) -> Vec<String> {
    let Ok(packed) = std::fs::read(path) else {
        return Vec::new();
    };
    let Ok(bytes) = zstd::decode_all(&packed[..]) else {
        return Vec::new();
    };
    let records = bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    records
        .filter_map(|record| record["text"].as_str().map(str::to_owned))
        .collect()
}

fn shared_data() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("NGRAMSCOPE_SHARED")
        .map_or_else(beside, PathBuf::from)
        .join("data")
}

/// Frequent words of some languages, from which text is drawn.
const SCRIPTS: [(&str, &str, &str, &str); 8] = [
    (
        "Russian",
        " ",
        ". ",
        "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой так от ты же бы время год люди сказать когда только может после жизнь человек очень другой первый государство правительство",
    ),
    (
        "Greek",
        " ",
        ". ",
        "και το να του η της με που την από για είναι ο στο θα τα δεν οι σε των μια ένα τον στην αυτό όταν πολύ μετά χρόνια άνθρωπος κυβέρνηση πρώτη ημέρα σήμερα",
    ),
    (
        "Arabic",
        " ",
        ". ",
        "في من على إلى أن عن هذا التي مع كان ما هو بعد قد كل بين ذلك هذه عند لم حيث أو يوم قال عام خلال غير الذي الدولة الحكومة العالم الناس الحياة الأولى",
    ),
    (
        "Hebrew",
        " ",
        ". ",
        "של את על הוא לא עם זה היא גם כי אבל אני או כל היה יש בין אחרי צה\"ל ג'ירפה שנים אנשים ממשלה מדינה ראשון עולם היום",
    ),
    (
        "Hindi",
        " ",
        "। ",
        "के में की है और से का को पर इस एक यह भी कि हैं नहीं लिए ने था तो हो कर कहा गया बाद सरकार लोगों दिन समय पहले भारत दुनिया जीवन",
    ),
    (
        "Korean",
        " ",
        ". ",
        "이 그 저 것 수 있다 하다 되다 없다 나 사람 우리 아니다 보다 같다 때 년 가다 한국 정부 세계 시간 오늘 이야기 생각하다 그러나 때문에",
    ),
    (
        "Chinese",
        "",
        "。",
        "的 一 是 不 了 人 我 在 有 他 这 中 大 来 上 国 个 到 说 们 为 子 和 你 地 出 道 也 时 年 得 就 那 要 下 以 生 会 自 着 去 之 过 家 学 对 可 她 里 后",
    ),
    (
        "Japanese",
        "",
        "。",
        "の に は を た が で て と し れ さ ある いる も する から な こと として い や など なっ ない この ため その 日本 世界 東京 時間 コンピュータ テスト ニュース 人々 政府",
    ),
];

/// About 2 MB of documents made of a script's words; the same in every run.
fn made(words: &str, space: &str, stop: &str) -> Vec<String> {
    let words: Vec<&str> = words.split(' ').collect();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(0xD129_0D57_6F81_B0C5).wrapping_add(1);
        ((state >> 33) as usize) % bound
    };
    let mut documents = Vec::new();
    while documents.len() < 400 {
        let mut document = String::new();
        while document.len() < 5000 {
            for _ in 0..4 + next(15) {
                // Frequent words come first in the list.
                document.push_str(words[next(words.len()).min(next(words.len()))]);
                document.push_str(space);
            }
            document.truncate(document.trim_end().len());
            document.push_str(stop);
        }
        documents.push(document);
    }
    documents
}

fn main() -> ExitCode {
    let rule = WordRule {
        mode: WordMode::Uax29,
        normalization: Normalization::None,
        lowercase: false,
    };
    let mut tokenizer = match Tokenizer::try_new(rule) {
        Ok(tokenizer) => tokenizer,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!(
        "uax29 and XXH3-64, one thread, code path {}; peer: unicode-segmentation 1.10.1; medians of {RUNS}",
        tokenizer.path()
    );
    let arguments: Vec<String> = std::env::args().collect();
    let mut same = true;
    if let Some(at) = arguments.iter().position(|argument| argument == "--file") {
        match arguments.get(at + 1).map(std::fs::read_to_string) {
            Some(Ok(text)) => same = compare(&arguments[at + 1], &[text], &mut tokenizer),
            _ => {
                eprintln!("--file: cannot be read as UTF-8 text");
                return ExitCode::from(2);
            }
        }
    } else {
        for part in [
            "mimir-ngram7/wikipedia_en",
            "dated-specs/peps",
            "dated-web/us-gov-blogs",
            "c4-sample/c4-sample",
            "dated-abstracts/arxiv-cs",
            "mimir-ngram7/uspto_backgrounds",
            "mimir-ngram7/dm_mathematics",
        ] {
            let path = shared_data().join(format!("{part}.jsonl.zst"));
            let documents = texts(&path);
            if documents.is_empty() {
                println!(
                    "{part}: no texts at {} (set NGRAMSCOPE_SHARED)",
                    path.display()
                );
                continue;
            }
            same &= compare(
                part.rsplit('/').next().unwrap_or(part),
                &documents,
                &mut tokenizer,
            );
        }
        for (name, space, stop, words) in SCRIPTS {
            same &= compare(name, &made(words, space, stop), &mut tokenizer);
        }
    }
    if same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
