//! The measured part summed up: counts, merged histograms, the client's own use of the machine.

use std::collections::BTreeMap;

use crate::clock::Clock;
use crate::record::{Counts, Interval};
use crate::saturation::{self, Facts};
use crate::steal::CpuTime;
use crate::timeline::{Part, Timeline};

/// Sums over the measured intervals.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    pub counts: Counts,
    /// Longest time without an answer within the measured part, nanoseconds of the run's clock;
    /// exact from 100 ms on.
    pub longest_gap: u64,
    /// When the last answer came, or the measured part began.
    answered_at: Option<u64>,
    /// Length of the measured part so far, seconds.
    pub seconds: f64,
    /// CPU of the whole process, nanoseconds.
    pub process_cpu: u64,
    /// Per worker: CPU and run-queue delay, nanoseconds.
    pub workers: BTreeMap<usize, (u64, u64)>,
    /// Time that the client's control group was throttled, nanoseconds.
    pub throttled: u64,
    /// Time that a hypervisor took from the machine's CPUs, and their time in all; any unit.
    pub stolen: CpuTime,
}

/// Where the run is: in time, and what it has measured so far.
#[derive(Debug, Clone)]
pub struct RunState {
    pub clock: Clock,
    pub timeline: Timeline,
    /// Stopped before its end.
    pub stopped: bool,
    pub totals: Totals,
}

impl RunState {
    /// Unix time at which the measured part begins, seconds.
    pub fn start_unix(&self) -> f64 {
        self.clock.unix(self.timeline.measure)
    }
}

impl Totals {
    pub fn new(operations: usize, scheduled: bool) -> Totals {
        Totals {
            counts: Counts::new(operations, scheduled),
            ..Totals::default()
        }
    }

    /// Adds an interval if it belongs to the measured part.
    pub fn add(&mut self, interval: &Interval) {
        if interval.slot.part == Part::Warmup {
            return;
        }
        self.counts.add(&interval.counts);
        self.see_gaps(interval);
        self.seconds += interval.seconds();
        self.process_cpu += interval.process_cpu();
        for (worker, cpu) in &interval.cpu {
            let total = self.workers.entry(*worker).or_default();
            total.0 += cpu.thread;
            total.1 += cpu.run_delay;
        }
    }

    /// Updates the longest time without an answer. The interval's first silence continues the last
    /// one of the interval before.
    fn see_gaps(&mut self, interval: &Interval) {
        let mut before = self.answered_at;
        for (begin, to) in interval.silences.until(interval.end) {
            let from = before.take().unwrap_or(begin);
            self.longest_gap = self.longest_gap.max(to.saturating_sub(from));
            self.answered_at = Some(from);
        }
    }

    /// Successful operations per second.
    pub fn throughput(&self) -> f64 {
        per(self.counts.answered as f64, self.seconds)
    }

    /// CPU of the client per operation, microseconds.
    pub fn cpu_us_per_op(&self) -> f64 {
        let operations = self.counts.answered + self.counts.failed;
        per(self.process_cpu as f64 / 1000.0, operations as f64)
    }

    /// What is known of the client's own state.
    pub fn facts(&self) -> Facts {
        let (wall, counts) = (self.seconds * 1e9, &self.counts);
        let busiest = self.workers.values().map(|used| used.0).max().unwrap_or(0);
        let delayed = self.workers.values().map(|used| used.1).max().unwrap_or(0);
        let lateness = counts.lateness.as_ref();
        Facts {
            cpu_share: per(busiest as f64, wall).min(1.0),
            run_delay_share: per(delayed as f64, wall).min(1.0),
            throttled_share: per(self.throttled as f64, wall).min(1.0),
            steal_share: per(self.stolen.steal as f64, self.stolen.all as f64),
            unserved_share: per(counts.unserved as f64, counts.due as f64),
            held_share: per(counts.held as f64, counts.due as f64).min(1.0),
            send_lateness_p99_us: lateness.map(|late| late.value_at_quantile(0.99) as f64 / 1000.0),
            rate_error: lateness
                .filter(|_| counts.due > 0)
                .map(|_| counts.sent as f64 / counts.due as f64 - 1.0),
        }
    }

    /// Every reason to believe that the client was the limit; empty if there is none.
    pub fn saturation(&self) -> Vec<String> {
        saturation::reasons(&self.facts())
    }
}

/// A quotient that is 0 where there is nothing to divide by.
pub fn per(amount: f64, unit: f64) -> f64 {
    if unit > 0.0 {
        amount / unit
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::CpuUse;
    use crate::errors::ErrorKind;
    use crate::timeline::Slot;

    const S: u64 = 1_000_000_000;

    /// Two seconds: 80 answers in time and 10 failures, 100 sends due and 95 made.
    fn interval(scheduled: bool, part: Part) -> Interval {
        let slot = Slot {
            index: 0,
            part,
            begin: 0,
            closes: 2 * S,
            end: 2 * S,
        };
        let mut interval = Interval::new(slot, 1, scheduled);
        interval.counts.operations[0].ok = 90;
        interval.counts.operations[0].errors[ErrorKind::Timeout as usize] = 10;
        interval.counts.operations[0].service_sum = 90 * 1_000_000;
        interval.counts.answered = 80;
        interval.counts.failed = 10;
        interval.counts.due = 100;
        interval.counts.sent = 95;
        let cpu = |thread, process| CpuUse {
            thread,
            process,
            run_delay: 0,
        };
        interval.cpu = vec![(0, cpu(S / 2, S / 2)), (1, cpu(S / 4, S / 2))];
        interval
    }

    fn totals(scheduled: bool) -> Totals {
        let mut totals = Totals::new(1, scheduled);
        totals.add(&interval(scheduled, Part::Measure));
        totals.add(&interval(scheduled, Part::Measure));
        totals
    }

    #[test]
    fn counts_and_rates_are_over_the_measured_part() {
        let mut totals = totals(false);
        totals.add(&interval(false, Part::Warmup));
        assert_eq!((totals.counts.answered, totals.counts.failed), (160, 20));
        assert_eq!((totals.seconds, totals.throughput()), (4.0, 40.0));
        assert_eq!(
            totals.counts.operations[0].errors[ErrorKind::Timeout as usize],
            20
        );
    }

    #[test]
    fn cpu_is_the_process_per_operation_and_the_busiest_thread() {
        let totals = totals(false);
        // 1 s for 160 answers and 20 failures.
        assert!((totals.cpu_us_per_op() - 1e6 / 180.0).abs() < 1e-6);
        assert_eq!(totals.facts().cpu_share, 0.25);
        assert!(totals.saturation().is_empty());
    }

    #[test]
    fn only_a_scheduled_pace_knows_lateness_and_rate() {
        let closed = totals(false).facts();
        assert_eq!(
            (closed.send_lateness_p99_us, closed.rate_error),
            (None, None)
        );
        let open = totals(true);
        assert!((open.facts().rate_error.unwrap() + 0.05).abs() < 1e-12);
        assert_eq!(open.saturation().len(), 1);
    }

    #[test]
    fn a_run_that_measured_nothing_has_no_infinities() {
        let totals = Totals::new(1, true);
        assert_eq!((totals.throughput(), totals.cpu_us_per_op()), (0.0, 0.0));
        assert_eq!(totals.facts().rate_error, None);
    }
}
