//! The lines on standard output: one JSON object each, flushed at once.

use std::io::{self, Write};

use serde::Serialize;

use crate::clock::Clock;
use crate::errors::Fatal;
use crate::record::{histogram, Interval};
use crate::result::ClientResult;
use crate::timeline::Part;

/// Everything that the client says.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    Ready {
        version: &'static str,
        connections: usize,
        nodes: usize,
    },
    Interval(Progress),
    MeasureStart {
        unix: f64,
    },
    Result(&'a ClientResult),
    Error(&'a Fatal),
}

/// One interval as it is shown: response times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    pub phase: &'static str,
    /// Seconds since the phase began, at the interval's end.
    pub t: f64,
    /// Unix time of the interval's end.
    pub unix: f64,
    pub ops: u64,
    pub errors: u64,
    pub ops_per_s: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
    pub cpu_us_per_op: f64,
}

impl Progress {
    /// `measure` is the end of the warm-up, nanoseconds of the run.
    pub fn of(interval: &Interval, clock: &Clock, measure: u64) -> Progress {
        let mut response = histogram();
        for class in &interval.classes {
            // Equal bounds, so that adding cannot fail.
            let _ = response.add(class.response());
        }
        let origin = match interval.slot.part {
            Part::Measure => measure,
            Part::Populate | Part::Warmup => 0,
        };
        let ops = interval.ok();
        let cpu = interval.cpu.iter().map(|(_, cpu)| cpu.process).max();
        let us = |ns: u64| ns as f64 / 1000.0;
        Progress {
            phase: interval.slot.part.name(),
            t: interval.end.saturating_sub(origin) as f64 / 1e9,
            unix: clock.unix(interval.end),
            ops,
            errors: interval.failed(),
            ops_per_s: per(interval.answered as f64, interval.seconds()),
            p50_us: us(response.value_at_quantile(0.5)),
            p99_us: us(response.value_at_quantile(0.99)),
            max_us: us(response.max()),
            cpu_us_per_op: per(
                us(cpu.unwrap_or(0)),
                (interval.answered + interval.failed()) as f64,
            ),
        }
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

/// Writes one line and flushes it.
pub fn tell(event: &Event) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::CpuUse;
    use crate::timeline::Slot;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_line_shows_the_interval_in_microseconds() {
        let slot = Slot {
            index: 3,
            part: Part::Measure,
            begin: 3 * S,
            end: 4 * S,
        };
        let mut interval = Interval::new(slot, false);
        for _ in 0..100 {
            interval.classes[0].service.record(2_000_000).unwrap();
        }
        interval.classes[0].ok = 100;
        interval.classes[1].errors = 100;
        interval.answered = 100;
        let cpu = CpuUse {
            process: 4_000_000,
            ..CpuUse::default()
        };
        interval.cpu.push((0, cpu));
        let clock = Clock::starting(None);
        let progress = Progress::of(&interval, &clock, 2 * S);
        assert_eq!((progress.phase, progress.t), ("measure", 2.0));
        assert!((progress.unix - clock.origin_unix - 4.0).abs() < 1e-6);
        assert_eq!((progress.ops, progress.errors), (100, 100));
        assert_eq!(progress.ops_per_s, 100.0);
        assert!((progress.p99_us / 2000.0 - 1.0).abs() < 0.001);
        assert_eq!(progress.cpu_us_per_op, 20.0);
    }

    #[test]
    fn events_carry_their_name() {
        let event = Event::MeasureStart { unix: 1.5 };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(json, r#"{"event":"measure_start","unix":1.5}"#);
    }
}
