//! A timer that wakes within microseconds: the runtime's own rounds up to milliseconds.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags,
    Timespec,
};
use tokio::io::unix::AsyncFd;

/// A timerfd in the runtime's poll set.
pub struct Timer {
    fd: AsyncFd<OwnedFd>,
}

impl Timer {
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Registering is unsafe for types that may close their descriptor early.
        #[allow(unsafe_code)]
        // SAFETY: an OwnedFd keeps the same open descriptor until it is dropped.
        let fd = unsafe { AsyncFd::register(fd) }?;
        Ok(Timer { fd })
    }

    /// Waits for a duration, at least one nanosecond.
    pub async fn wait(&self, duration: Duration) -> io::Result<()> {
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let duration = duration.max(Duration::from_nanos(1));
        let value = Timespec {
            tv_sec: duration.as_secs() as i64,
            tv_nsec: i64::from(duration.subsec_nanos()),
        };
        let once = Itimerspec {
            it_interval: zero,
            it_value: value,
        };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        loop {
            let mut guard = self.fd.readable().await?;
            let mut expirations = [0u8; 8];
            match guard.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut expirations)?)) {
                Ok(result) => {
                    // One read takes all expirations, so that there is nothing left to read.
                    guard.clear_ready();
                    return result.map(drop);
                }
                Err(_would_block) => {}
            }
        }
    }
}
