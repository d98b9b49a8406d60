//! What the machine can do at most: random updates of 64-byte lines with prefetching (each anywhere, or 256 at a time
//! inside 2 MiB), reading and writing in order.
//! `--bytes` (default 4 GiB, in huge pages), `--threads`, `--seconds` a loop lasts about.

use std::time::Instant;

use ngramscope_rivals::{Arguments, Outcome, Random, room};
use serde_json::json;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// How many updates ahead a line is asked for.
const AHEAD: usize = 32;

#[inline(always)]
fn prefetch(line: *const Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching is a hint and never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast())
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; the instruction touches no register or flag.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{0}]", in(reg) line, options(nostack, preserves_flags))
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = line;
}

/// The memory, shared by threads that keep to lines of their own.
struct Shared(*mut Line);

// SAFETY: each thread touches only lines whose number has its own remainder, see `update`.
unsafe impl Sync for Shared {}

impl Shared {
    fn line(&self, index: usize) -> *mut Line {
        // SAFETY: callers stay below the number of lines.
        unsafe { self.0.add(index) }
    }
}

/// How many updates `update` makes in one region before it goes to another.
#[derive(Clone, Copy)]
struct Grouping {
    updates: usize,
    lines: usize,
}

/// Every update anywhere, which misses the translation cache nearly each time.
const SCATTERED: Grouping = Grouping {
    updates: 1,
    lines: 1,
};
/// As a filter is filled that collects keys by region: 256 updates inside 2 MiB, then another 2 MiB.
const GROUPED: Grouping = Grouping {
    updates: 256,
    lines: (2 << 20) / 64,
};

/// Thread `own` of `threads` updates `count` random lines of those with number = `own` modulo `threads`: together they
/// cover the whole memory, and no two threads meet on a line.
fn update(
    memory: &Shared,
    lines: usize,
    own: usize,
    threads: usize,
    count: usize,
    grouping: Grouping,
) {
    let mut random = Random(own as u64 + 1);
    let below = |bits: u64, bound: usize| ((u128::from(bits) * bound as u128) >> 64) as usize;
    let (mut region, mut left) = (0, 0);
    let mut next = || {
        if left == 0 {
            region = below(random.bits(), lines / grouping.lines) * grouping.lines;
            left = grouping.updates;
        }
        left -= 1;
        let key = random.bits();
        let index = (region + below(key, grouping.lines)) / threads * threads + own;
        (
            index.min(lines - threads + own),
            key.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        )
    };
    let mut queue = [(own, 0u64); AHEAD];
    for step in 0..count {
        let slot = &mut queue[step % AHEAD];
        let (index, mask) = *slot;
        // SAFETY: the index is below `lines`, and this thread alone touches it.
        let line = unsafe { &mut *memory.line(index) };
        for (lane, word) in line.0.iter_mut().enumerate() {
            *word |= mask >> (lane * 7);
        }
        *slot = next();
        prefetch(memory.line(slot.0));
    }
}

/// Runs `act(thread)` on every thread at once; the seconds it took.
fn timed(threads: usize, act: impl Fn(usize) + Sync) -> f64 {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for own in 0..threads {
            let act = &act;
            scope.spawn(move || act(own));
        }
    });
    started.elapsed().as_secs_f64()
}

fn main() -> Outcome<()> {
    let arguments = Arguments::read()?;
    let bytes: usize = arguments.get_or("bytes", 4 << 30)?;
    let threads: usize = arguments.get_or("threads", 1)?;
    let seconds: f64 = arguments.get_or("seconds", 2.0)?;
    let lines = (bytes / 64 / threads * threads).max(GROUPED.lines);
    let mut memory: Vec<Line> = room(lines, true);
    memory.resize(lines, Line([0; 8]));

    let shared = Shared(memory.as_mut_ptr());
    let updates_per_s = |grouping: Grouping| {
        let run = |count: usize| {
            timed(threads, |own| {
                update(&shared, lines, own, threads, count, grouping)
            })
        };
        let trial = 2_000_000;
        let count = (trial as f64 / run(trial) * seconds) as usize;
        (count * threads) as f64 / run(count)
    };
    let scattered = updates_per_s(SCATTERED);
    let grouped = updates_per_s(GROUPED);

    let share = lines / threads;
    let mut sums = vec![0u64; threads];
    let started = Instant::now();
    std::thread::scope(|scope| {
        for (part, sum) in memory.chunks(share).zip(&mut sums) {
            scope.spawn(move || {
                let mut lanes = [0u64; 8];
                for line in part {
                    for (lane, word) in lanes.iter_mut().zip(line.0) {
                        *lane = lane.wrapping_add(word);
                    }
                }
                *sum = lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane));
            });
        }
    });
    let reading = started.elapsed().as_secs_f64();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for part in memory.chunks_mut(share) {
            scope.spawn(move || part.fill(Line([u64::MAX; 8])));
        }
    });
    let writing = started.elapsed().as_secs_f64();

    let gigabytes = (lines * 64) as f64 * 1e-9;
    println!(
        "{}",
        json!({
            "threads": threads, "bytes": lines * 64,
            "line_updates_per_s": scattered, "grouped_line_updates_per_s": grouped,
            "read_gb_per_s": gigabytes / reading, "write_gb_per_s": gigabytes / writing,
            // Printed so that no loop can be left out by the compiler.
            "checksum": sums.iter().fold(memory[lines / 2].0[3], |sum, part| sum ^ part),
        })
    );
    Ok(())
}
