//! The run's clock and the CPU clocks of this process and its threads.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use std::sync::Arc;

use rustix::time::{clock_gettime, ClockId, Timespec};

use crate::slices::Slices;

/// Time since the first operation may be sent, shared by all workers. In a run of slices it stands
/// still between them.
#[derive(Debug, Clone)]
pub struct Clock {
    origin: Instant,
    slices: Option<Arc<Slices>>,
    /// Unix time of the origin, seconds.
    pub origin_unix: f64,
}

impl Clock {
    /// A clock whose zero is `at` (Unix seconds), or now if that has passed or is null.
    pub fn starting(at: Option<f64>, slices: Option<Arc<Slices>>) -> Clock {
        let unix = unix_now();
        let wait = at.map_or(0.0, |at| (at - unix).max(0.0));
        Clock {
            origin: Instant::now() + Duration::from_secs_f64(wait),
            slices,
            origin_unix: unix + wait,
        }
    }

    /// Nanoseconds since the origin; 0 before it.
    pub fn now(&self) -> u64 {
        let passed = Instant::now().saturating_duration_since(self.origin);
        let real = passed.as_nanos() as u64;
        self.slices
            .as_ref()
            .map_or(real, |slices| slices.shown(real))
    }

    /// Nanoseconds until the origin; 0 from then on.
    pub fn until_origin(&self) -> u64 {
        let wait = self.origin.saturating_duration_since(Instant::now());
        wait.as_nanos() as u64
    }

    /// Nanoseconds until the clock shows `time`; 0 from then on.
    pub fn until(&self, time: u64) -> u64 {
        let wait = self.instant(time).saturating_duration_since(Instant::now());
        wait.as_nanos() as u64
    }

    /// The instant at which the clock shows `time`.
    pub fn instant(&self, time: u64) -> Instant {
        self.origin + Duration::from_nanos(self.real(time))
    }

    /// Unix seconds at which the clock shows `time`.
    pub fn unix(&self, time: u64) -> f64 {
        self.origin_unix + self.real(time) as f64 / 1e9
    }

    fn real(&self, time: u64) -> u64 {
        self.slices
            .as_ref()
            .map_or(time, |slices| slices.real(time))
    }
}

/// Unix time, seconds.
pub fn unix_now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |elapsed| elapsed.as_secs_f64())
}

/// What a worker thread and its process have used so far, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuUse {
    pub thread: u64,
    pub process: u64,
    /// Time that the thread was ready to run but had no CPU (/proc/thread-self/schedstat).
    pub run_delay: u64,
}

impl CpuUse {
    /// Of the calling thread.
    pub fn now() -> CpuUse {
        CpuUse {
            thread: nanoseconds(clock_gettime(ClockId::ThreadCPUTime)),
            process: nanoseconds(clock_gettime(ClockId::ProcessCPUTime)),
            run_delay: std::fs::read_to_string("/proc/thread-self/schedstat")
                .ok()
                .and_then(|text| run_delay(&text))
                .unwrap_or(0),
        }
    }

    pub fn since(&self, earlier: &CpuUse) -> CpuUse {
        CpuUse {
            thread: self.thread.saturating_sub(earlier.thread),
            process: self.process.saturating_sub(earlier.process),
            run_delay: self.run_delay.saturating_sub(earlier.run_delay),
        }
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Second field of schedstat: run-queue delay in nanoseconds.
fn run_delay(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_delay_is_the_second_field_of_schedstat() {
        assert_eq!(run_delay("351091 77 2\n"), Some(77));
        assert_eq!(run_delay(""), None);
    }

    #[test]
    fn a_clock_that_starts_later_reads_zero_until_then() {
        let clock = Clock::starting(Some(unix_now() + 3600.0), None);
        assert_eq!(clock.now(), 0);
        assert!((clock.unix(1_500_000_000) - clock.origin_unix - 1.5).abs() < 1e-6);
    }
}
