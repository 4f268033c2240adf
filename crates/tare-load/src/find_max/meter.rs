//! Measures one level with the engine.

use std::time::Instant;

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer};
use tare_engine::record::{Interval, OperationRecord};
use tare_engine::run::Stop;
use tare_engine::timeline::Part;
use tare_engine::totals::{per, RunState, Totals};

use super::level::By;
use super::{Meter, Observation};
use crate::run::{drive, Limits};
use crate::spec::Spec;
use crate::steady;

/// Share of a measurement that is left out at its start.
const SETTLE: f64 = 0.2;
/// Intervals of a measurement: enough for MSER-5 to judge.
const INTERVALS: f64 = 60.0;
const SHORTEST_INTERVAL: f64 = 0.05;
/// Open loop: most operations in flight are those of so many seconds. A cluster that cannot keep
/// up then shows it by its throughput, not by a queue that it needs minutes to work off.
const IN_FLIGHT_S: f64 = 0.5;
const LEAST_IN_FLIGHT: f64 = 64.0;
const MOST_IN_FLIGHT: f64 = 20_000.0;

/// A meter that runs a specification again and again, at other levels.
pub struct EngineMeter {
    pub spec: Spec,
    pub by: By,
    /// Quantile of the latency target, 0 to 1.
    pub quantile: Option<f64>,
    pub workers: Option<usize>,
    pub stop: Stop,
}

impl Meter for EngineMeter {
    type Error = Fatal;

    fn measure(&mut self, level: f64, seconds: f64) -> Result<Observation, Fatal> {
        let begun = Instant::now();
        let mut limits = Limits {
            workers: self.workers,
            ..Limits::default()
        };
        let spec = &mut self.spec;
        // Measurements of one level must not ask for the same rows one after the other.
        spec.seed = spec.seed.wrapping_add(1);
        match self.by {
            By::Threads => (spec.threads, spec.rate) = (level as usize, None),
            By::Rate => {
                let most = (level * IN_FLIGHT_S).clamp(LEAST_IN_FLIGHT, MOST_IN_FLIGHT);
                limits.in_flight = most as usize;
                spec.rate = Some(level);
            }
        }
        spec.warmup_s = seconds * SETTLE;
        spec.measure_s = seconds - spec.warmup_s;
        spec.interval_s = (spec.measure_s / INTERVALS).max(SHORTEST_INTERVAL);
        let mut seen = Seen::default();
        drive(spec, &limits, &mut seen, &self.stop)?;
        if self.stop.is_asked() {
            return Err(Fatal::internal(
                "find-max",
                "stopped before the search was over",
            ));
        }
        Ok(seen.observation(level, begun.elapsed().as_secs_f64(), self.quantile))
    }
}

/// Keeps what a search needs of a run.
#[derive(Default)]
struct Seen {
    /// Successful operations per second, by interval of the measured part.
    series: Vec<f64>,
    totals: Totals,
}

impl Observer for Seen {
    fn interval(&mut self, interval: &Interval, _: &RunState) -> Result<Control, Fatal> {
        if interval.slot.part == Part::Measure {
            self.series.push(interval.throughput());
        }
        Ok(Control::GoOn)
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        self.totals = run.totals.clone();
        Ok(())
    }
}

impl Seen {
    fn observation(&self, level: f64, seconds: f64, quantile: Option<f64>) -> Observation {
        let counts = &self.totals.counts;
        let failed = counts.sum(OperationRecord::failures);
        let ok = counts.sum(|record| record.ok);
        let timed = counts.sum(OperationRecord::timed);
        let latency = |quantile: f64| {
            // Failed operations never came: they are slower than all that did.
            let rank = quantile * (timed + failed) as f64;
            if timed == 0 || rank > timed as f64 {
                return f64::MAX;
            }
            counts.responses().value_at_quantile(rank / timed as f64) as f64 / 1000.0
        };
        Observation {
            level,
            seconds,
            throughput: self.totals.throughput(),
            failed_share: per(failed as f64, (ok + failed) as f64),
            latency_us: quantile.map(latency),
            steady: steady::judge(&self.series).map(|judged| judged.steady),
            client: self.totals.saturation(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tare_engine::errors::ErrorKind;

    use super::*;

    /// 90 answers of 2 ms and 10 failures.
    fn seen() -> Seen {
        let mut totals = Totals::new(1, false);
        let record = &mut totals.counts.operations[0];
        record.ok = 90;
        record.errors[ErrorKind::Timeout as usize] = 10;
        for _ in 0..90 {
            record.service.saturating_record(2_000_000);
        }
        Seen {
            series: Vec::new(),
            totals,
        }
    }

    #[test]
    fn what_failed_is_slower_than_all_that_came() {
        let latency = |quantile| seen().observation(1.0, 1.0, Some(quantile)).latency_us;
        assert!((latency(0.5).unwrap() / 2000.0 - 1.0).abs() < 0.001);
        assert!((latency(0.9).unwrap() / 2000.0 - 1.0).abs() < 0.001);
        assert_eq!(latency(0.95), Some(f64::MAX));
    }

    #[test]
    fn failures_count_whenever_they_came() {
        assert_eq!(seen().observation(1.0, 1.0, None).failed_share, 0.1);
    }

    #[test]
    fn without_an_answer_no_target_is_met() {
        let nothing = Seen::default().observation(1.0, 1.0, Some(0.5));
        assert_eq!(nothing.latency_us, Some(f64::MAX));
    }
}
