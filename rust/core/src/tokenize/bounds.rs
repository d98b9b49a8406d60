//! A batch of word boundaries.

/// Words per batch.
pub const BATCH: usize = 512;
/// Before a batch is seen to be full, the boundaries of 64 more bytes may be added, and one that had been pending, and a last one; positions
/// are written eight at a time.
pub const ROOM: usize = BATCH + 64 + 2 + 8;

/// Starts and ends of consecutive words, as byte offsets. The last start may wait for its end.
///
/// Words never overlap and are found in order, so the k-th start belongs to the k-th end.
pub struct Bounds {
    starts: [usize; ROOM],
    ends: [usize; ROOM],
    starts_len: usize,
    ends_len: usize,
}

impl Bounds {
    pub fn new() -> Bounds {
        Bounds {
            starts: [0; ROOM],
            ends: [0; ROOM],
            starts_len: 0,
            ends_len: 0,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        (self.starts_len, self.ends_len) = (0, 0);
    }

    /// Hands the complete words to `batch` and forgets them; a start without end stays.
    pub fn take_complete(&mut self, batch: impl FnOnce(&[usize], &[usize])) {
        let complete = self.ends_len;
        debug_assert!(self.starts_len == complete || self.starts_len == complete + 1);
        batch(&self.starts[..complete], &self.ends[..complete]);
        self.starts[0] = self.starts[complete];
        (self.starts_len, self.ends_len) = (self.starts_len - complete, 0);
    }

    /// True when the batch must be taken before more is added.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.starts_len >= BATCH
    }

    /// For adding boundaries one by one.
    #[inline(always)]
    pub fn tail(&mut self) -> Tail<'_> {
        Tail {
            starts_len: self.starts_len,
            ends_len: self.ends_len,
            bounds: self,
        }
    }

    /// Adds the positions `base + i` of the bits i of both masks. Not to be called on a full batch.
    #[inline(always)]
    pub fn push_bits(&mut self, base: usize, starts: u64, ends: u64) {
        self.starts_len = push(&mut self.starts, self.starts_len, base, starts);
        self.ends_len = push(&mut self.ends, self.ends_len, base, ends);
    }
}

/// Appends the positions of the bits and returns the new length.
#[inline(always)]
fn push(list: &mut [usize; ROOM], len: usize, base: usize, mut bits: u64) -> usize {
    let count = bits.count_ones() as usize;
    assert!(len <= BATCH, "the batch is full");
    let mut at = len;
    // Eight at a time whether or not there are so many bits left: a branch a bit would cost more than the idle writes.
    while bits != 0 {
        // SAFETY: every round but the last clears eight of the at most 64 bits, so `at` stays within `len + 64`, and ROOM is
        // BATCH + 64 + 8.
        let eight = unsafe { list.get_unchecked_mut(at..at + 8) };
        for slot in eight {
            *slot = base + bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
        }
        at += 8;
    }
    len + count
}

/// The end of a batch, with its lengths in registers.
pub struct Tail<'b> {
    bounds: &'b mut Bounds,
    starts_len: usize,
    ends_len: usize,
}

impl Tail<'_> {
    /// Adds a word's start if `really`.
    #[inline(always)]
    pub fn push_start(&mut self, position: usize, really: bool) {
        self.bounds.starts[self.starts_len] = position;
        self.starts_len += usize::from(really);
    }

    /// Adds a word's end if `really`.
    #[inline(always)]
    pub fn push_end(&mut self, position: usize, really: bool) {
        self.bounds.ends[self.ends_len] = position;
        self.ends_len += usize::from(really);
    }

    /// Gives the lengths back to the batch.
    #[inline(always)]
    pub fn finish(self) {
        self.bounds.starts_len = self.starts_len;
        self.bounds.ends_len = self.ends_len;
    }
}
