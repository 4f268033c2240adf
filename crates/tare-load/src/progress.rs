//! The lines on standard output: one JSON object each, flushed at once.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use tare_engine::clock::Clock;
use tare_engine::errors::Fatal;
use tare_engine::record::{Interval, OperationRecord};
use tare_engine::totals::per;

use crate::result::ClientResult;

/// Everything that the client says.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    Ready {
        version: &'static str,
        connections: usize,
        nodes: usize,
        protocol: &'a str,
        workers: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        stand_in: Option<&'a str>,
    },
    Interval(Progress),
    MeasureStart {
        unix: f64,
    },
    Result(&'a ClientResult),
    Error {
        kind: &'static str,
        what: &'a str,
        why: &'a str,
    },
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
    pub retries: u64,
    pub ops_per_s: f64,
    /// Whole operations that ended well before the drain of their slice, and in it.
    pub within: u64,
    pub drained: u64,
    pub mean_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
    pub cpu_us_per_op: f64,
    /// Of each operation by name.
    pub responses: BTreeMap<String, Responses>,
}

/// Response times of one operation in one interval: how many, and their mean in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Responses {
    pub timed: u64,
    pub mean_us: f64,
}

impl Progress {
    /// `origin` is where the phase began, nanoseconds of the run; `names` are the operations'.
    pub fn of(
        interval: &Interval,
        phase: &'static str,
        clock: &Clock,
        origin: u64,
        names: &[String],
    ) -> Progress {
        let counts = &interval.counts;
        let response = counts.responses();
        let us = |ns: u64| ns as f64 / 1000.0;
        Progress {
            phase,
            t: interval.end.saturating_sub(origin) as f64 / 1e9,
            unix: clock.unix(interval.end),
            ops: counts.sum(|record| record.ok),
            errors: counts.sum(OperationRecord::failures),
            retries: counts.sum(|record| record.retries.iter().sum()),
            ops_per_s: interval.throughput(),
            within: counts.within,
            drained: counts.drained,
            mean_us: response.mean() / 1000.0,
            p50_us: us(response.value_at_quantile(0.5)),
            p99_us: us(response.value_at_quantile(0.99)),
            max_us: us(response.max()),
            cpu_us_per_op: per(
                us(interval.process_cpu()),
                (counts.answered + counts.failed) as f64,
            ),
            responses: responses(interval, names),
        }
    }
}

fn responses(interval: &Interval, names: &[String]) -> BTreeMap<String, Responses> {
    let timed = names.iter().zip(&interval.counts.operations);
    timed
        .map(|(name, record)| {
            let timed = record.timed();
            let mean_us = per(record.response_sum as f64 / 1000.0, timed as f64);
            (name.clone(), Responses { timed, mean_us })
        })
        .collect()
}

/// Writes one line and flushes it.
pub fn tell(event: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Tells an event. The run ends if nobody reads standard output: nothing else is of use then.
pub fn say(event: &Event) -> Result<(), Fatal> {
    line(event)
}

/// Tells something that is no event of a run.
pub fn line(event: &impl Serialize) -> Result<(), Fatal> {
    tell(event).map_err(|e| Fatal::file("standard output", e))
}

#[cfg(test)]
mod tests {
    use tare_engine::clock::CpuUse;
    use tare_engine::timeline::{Part, Slot};

    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_line_shows_the_interval_in_microseconds() {
        let slot = Slot {
            index: 3,
            part: Part::Measure,
            begin: 3 * S,
            closes: 4 * S,
            end: 4 * S,
        };
        let mut interval = Interval::new(slot, 2, false);
        let counts = &mut interval.counts;
        for _ in 0..100 {
            counts.operations[0].service.record(2_000_000).unwrap();
        }
        counts.operations[0].ok = 100;
        counts.operations[0].response_sum = 100 * 2_000_000;
        counts.operations[1].errors[0] = 100;
        counts.operations[1].retries[1] = 7;
        (counts.answered, counts.failed) = (100, 100);
        (counts.within, counts.drained) = (100, 4);
        let cpu = CpuUse {
            process: 4_000_000,
            ..CpuUse::default()
        };
        interval.cpu.push((0, cpu));
        let clock = Clock::starting(None, None);
        let names = ["READ".to_owned(), "UPDATE".to_owned()];
        let progress = Progress::of(&interval, "measure", &clock, 2 * S, &names);
        assert_eq!((progress.phase, progress.t), ("measure", 2.0));
        assert!((progress.unix - clock.origin_unix - 4.0).abs() < 1e-6);
        assert_eq!((progress.ops, progress.errors), (100, 100));
        assert_eq!(progress.retries, 7);
        assert_eq!(progress.ops_per_s, 100.0);
        assert_eq!((progress.within, progress.drained), (100, 4));
        assert!((progress.mean_us / 2000.0 - 1.0).abs() < 0.001);
        assert!((progress.p99_us / 2000.0 - 1.0).abs() < 0.001);
        assert_eq!(progress.cpu_us_per_op, 20.0);
        let (timed, mean_us) = (100, 2000.0);
        assert_eq!(progress.responses["READ"], Responses { timed, mean_us });
        assert_eq!(progress.responses["UPDATE"].timed, 0);
    }

    #[test]
    fn events_carry_their_name() {
        let event = Event::MeasureStart { unix: 1.5 };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(json, r#"{"event":"measure_start","unix":1.5}"#);
    }
}
