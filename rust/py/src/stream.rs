//! Standard input and pipes as sources that can be told to stop: a blocked `read` would outlive Ctrl-C.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a read may go on after the stop flag was set, at most.
const POLL_MILLISECONDS: libc::c_int = 50;

/// Whether `descriptor` is open for reading.
pub fn is_readable(descriptor: i32) -> bool {
    // SAFETY: `fcntl` takes any number and answers EBADF for one that is not an open descriptor.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_WRONLY
}

/// Reads a descriptor while a flag is not set.
pub struct StoppableReader {
    file: File,
    stop: Arc<AtomicBool>,
}

impl StoppableReader {
    /// Reads a duplicate of `descriptor`, which stays the caller's.
    pub fn new(descriptor: i32, stop: Arc<AtomicBool>) -> io::Result<StoppableReader> {
        if !is_readable(descriptor) {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        // SAFETY: the descriptor was open a moment ago and is borrowed for the duplication only.
        let owned: OwnedFd = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()?;
        Ok(StoppableReader {
            file: File::from(owned),
            stop,
        })
    }

    /// Whether there is something to read (or the end); false when the wait was too short.
    fn ready(&self) -> io::Result<bool> {
        let mut poll = libc::pollfd {
            fd: self.file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `poll` is one valid pollfd.
        match unsafe { libc::poll(&mut poll, 1, POLL_MILLISECONDS) } {
            0 => Ok(false),
            count if count > 0 => Ok(true),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
                error => Err(error),
            },
        }
    }
}

impl Read for StoppableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                // Not `Interrupted`: readers retry on that.
                return Err(io::Error::other("stopped"));
            }
            if self.ready()? {
                return self.file.read(buffer);
            }
        }
    }
}
