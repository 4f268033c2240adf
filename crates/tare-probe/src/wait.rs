//! Waiting for the next tick, or for a reason to end: a signal or the end of standard input.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Wakes at multiples of an interval after its creation.
pub struct Ticker {
    next: Instant,
    interval: Duration,
    signals: OwnedFd,
    /// Whether the end of standard input ends the probe.
    watch_stdin: bool,
}

impl Ticker {
    pub fn new(interval: Duration, watch_stdin: bool) -> io::Result<Ticker> {
        let (signals, write) = rustix::pipe::pipe()?;
        pipe::register(SIGTERM, write.try_clone()?)?;
        pipe::register(SIGINT, write)?;
        Ok(Ticker {
            next: Instant::now() + interval,
            interval,
            signals,
            watch_stdin,
        })
    }

    /// Waits for the next tick; false when it is time to end.
    pub fn tick(&mut self) -> bool {
        loop {
            let left = self.next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.schedule();
                return true;
            }
            if self.ended(left) {
                return false;
            }
        }
    }

    /// Waits until then; false when it is time to end.
    pub fn until(&mut self, then: Instant) -> bool {
        loop {
            let left = then.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            if self.ended(left) {
                return false;
            }
        }
    }

    /// Ticks that were slept over are left out, not made up for.
    fn schedule(&mut self) {
        let now = Instant::now();
        while self.next <= now {
            self.next += self.interval;
        }
    }

    fn ended(&self, left: Duration) -> bool {
        let stdin = io::stdin();
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if self.watch_stdin {
            fds.push(PollFd::new(&stdin, PollFlags::IN));
        }
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        // Interrupted: the signal's pipe is ready at the next look.
        if poll(&mut fds, Some(&timeout)).is_err() {
            return false;
        }
        let ready = |i: usize| fds.get(i).is_some_and(|fd| !fd.revents().is_empty());
        ready(0) || (ready(1) && stdin_is_over())
    }
}

fn stdin_is_over() -> bool {
    let mut ignored = [0; 1024];
    !matches!(io::stdin().lock().read(&mut ignored), Ok(length) if length > 0)
}
