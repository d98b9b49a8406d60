//! What the benchmark programs share: arguments, pseudo-random numbers, processor time, huge pages.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The result of a program here: any error ends it with its message.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// `--name value` pairs of the command line; a name without a value is a switch.
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads the process's arguments.
    pub fn read() -> Outcome<Arguments> {
        let mut pairs = BTreeMap::new();
        let mut rest = std::env::args().skip(1).peekable();
        while let Some(argument) = rest.next() {
            let name = argument
                .strip_prefix("--")
                .ok_or_else(|| format!("expected --NAME, found {argument}"))?;
            let value = rest
                .next_if(|next| !next.starts_with("--"))
                .unwrap_or_default();
            pairs.insert(name.to_owned(), value);
        }
        Ok(Arguments(pairs))
    }

    /// The value of `--name`, or an error that names it.
    pub fn get<T: FromStr>(&self, name: &str) -> Outcome<T> {
        let value = self
            .0
            .get(name)
            .ok_or_else(|| format!("--{name} is missing"))?;
        value
            .parse()
            .map_err(|_| format!("--{name} {value}: not understood").into())
    }

    /// The value of `--name`, or `default` where it is not given.
    pub fn get_or<T: FromStr>(&self, name: &str, default: T) -> Outcome<T> {
        if self.0.contains_key(name) {
            self.get(name)
        } else {
            Ok(default)
        }
    }

    /// Whether `--name` is given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// SplitMix64: a seed gives the same sequence everywhere.
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` (multiply-high: no division, the bias is below 2^-40 here).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Fisher-Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// User and system seconds this process has used so far.
pub fn cpu_seconds() -> f64 {
    // SAFETY: rusage is plain integers, for which zero bytes are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// An empty vector with room for `count` items, in huge pages when `huge` and the kernel allows it.
pub fn room<T>(count: usize, huge: bool) -> Vec<T> {
    let items: Vec<T> = Vec::with_capacity(count);
    if huge {
        const PAGE: usize = 2 << 20;
        let start = (items.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (items.as_ptr() as usize + count * size_of::<T>()) / PAGE * PAGE;
        if start < end {
            // SAFETY: the range lies inside the vector's own allocation, and the advice changes no contents.
            // A refusal only leaves small pages.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    items
}
