//! Memory: what there is, and large zeroed arrays in huge pages.

use std::io;

use memmap2::MmapMut;

/// A zeroed array of 64-bit words outside the heap, in huge pages where the system grants them (random access to more than a few
/// MiB is bound by page walks otherwise). Pages are taken when first written.
pub struct Words {
    map: Option<MmapMut>,
    len: usize,
}

impl Words {
    /// `len` zero words.
    pub fn zeroed(len: usize) -> io::Result<Words> {
        if len == 0 {
            return Ok(Words { map: None, len });
        }
        let bytes = len
            .checked_mul(8)
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let map = MmapMut::map_anon(bytes)?;
        // Advice only: a system without huge pages still works, slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Words {
            map: Some(map),
            len,
        })
    }

    /// Start of the array, for writers that share it by region.
    pub fn as_ptr(&self) -> *mut u64 {
        self.map
            .as_ref()
            .map_or(std::ptr::NonNull::dangling().as_ptr(), |map| {
                map.as_ptr().cast_mut().cast()
            })
    }

    /// Gives the memory of the words `range` back to the system where it can (whole huge pages); they read as zero or as before.
    ///
    /// # Safety
    /// Nobody holds a reference to these words.
    pub unsafe fn release(&self, range: std::ops::Range<usize>) {
        const HUGE_PAGE: usize = 2 << 20;
        let base = self.as_ptr() as usize;
        let start = (base + range.start * 8).next_multiple_of(HUGE_PAGE);
        let end = (base + range.end * 8) / HUGE_PAGE * HUGE_PAGE;
        #[cfg(target_os = "linux")]
        if start < end {
            // SAFETY: the pages lie inside the private anonymous map. Failure leaves them as they are.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, end);
    }

    /// The words.
    pub fn as_slice(&self) -> &[u64] {
        // SAFETY: the map is page-aligned, `len` words long and initialised (zero at first).
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }
    }

    /// The words, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        // SAFETY: as in `as_slice`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.len) }
    }
}

/// Bytes that this process may still take: the least of what the system and the control groups leave. `None` where the system does not say.
pub fn available() -> Option<u64> {
    let system = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find(|line| line.starts_with("MemAvailable:"))?;
            line.split_ascii_whitespace()
                .nth(1)?
                .parse::<u64>()
                .ok()
                .map(|kib| kib * 1024)
        });
    match (system, control_group()) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// What the control groups (version 2, or the memory controller of version 1) leave, over the group and its parents.
fn control_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: String| {
        std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
    };
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (root, limit, usage) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max", "memory.current")
        } else if controllers.split(',').any(|c| c == "memory") {
            (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            )
        } else {
            continue;
        };
        let mut group = group.trim_end_matches('/');
        loop {
            if let (Some(limit), Some(usage)) = (
                number(format!("{root}{group}/{limit}")),
                number(format!("{root}{group}/{usage}")),
            ) {
                let left = limit.saturating_sub(usage);
                least = Some(least.map_or(left, |l: u64| l.min(left)));
            }
            match group.rfind('/') {
                Some(cut) => group = &group[..cut],
                None => break,
            }
        }
    }
    least
}

/// Free bytes on the file system that holds `path`, for this user.
#[cfg(unix)]
pub fn disk_free(path: &std::path::Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: `statvfs` fills the zeroed struct, which is valid as all zeros; the path is a valid C string.
    unsafe {
        let mut info: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut info) == 0)
            .then(|| info.f_bavail as u64 * info.f_frsize as u64)
    }
}

/// Free bytes on the file system that holds `path`: not known on this system.
#[cfg(not(unix))]
pub fn disk_free(_path: &std::path::Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_zeroed_and_keep_what_is_written() {
        let mut words = Words::zeroed(1 << 20).expect("8 MiB");
        assert!(words.as_slice().iter().all(|&w| w == 0));
        words.as_mut_slice()[12_345] = 7;
        assert_eq!(words.as_slice()[12_345], 7);
        assert!(Words::zeroed(0).expect("nothing").as_slice().is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_says_what_is_left() {
        assert!(available().expect("Linux says") > 1 << 20);
        assert!(disk_free(std::path::Path::new("/")).expect("Linux says") > 0);
    }
}
