//! The one clock of a stub: monotonic, nanoseconds.

use rustix::event::Timespec;
use rustix::time::{clock_gettime, ClockId};

const SECOND: u64 = 1_000_000_000;

/// Now, nanoseconds since some moment in the past.
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * SECOND + now.tv_nsec as u64
}

/// A length of time as the kernel takes it.
pub fn timespec(nanoseconds: u64) -> Timespec {
    Timespec {
        tv_sec: (nanoseconds / SECOND) as i64,
        tv_nsec: (nanoseconds % SECOND) as i64,
    }
}
