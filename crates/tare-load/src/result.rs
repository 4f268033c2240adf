//! The final report of the client, summed up over the intervals of the measured part.

use std::collections::BTreeMap;
use std::path::Path;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::errors::ErrorKind;
use crate::progress::per;
use crate::record::{histogram, Interval};
use crate::saturation::{self, Facts};
use crate::workload::Class;

/// One class of operations over the measured part; times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationResult {
    pub operation: &'static str,
    pub ok: u64,
    pub errors: u64,
    pub service_mean_us: f64,
    pub response_mean_us: f64,
}

/// The last line of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientResult {
    pub client: String,
    pub hlog: String,
    pub measured_s: f64,
    pub start_unix: f64,
    pub ok: u64,
    pub errors: u64,
    pub throughput: f64,
    pub operations: Vec<OperationResult>,
    pub errors_by_kind: BTreeMap<&'static str, u64>,
    pub cpu_us_per_op: f64,
    pub cpu_share: f64,
    pub send_lateness_p99_us: Option<f64>,
    pub rate_error: Option<f64>,
    pub saturated: bool,
    pub saturation_reasons: Vec<String>,
    pub version: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct ClassTotal {
    ok: u64,
    errors: u64,
    service_sum: u64,
    response_sum: u64,
}

/// Sums over the measured intervals.
#[derive(Debug, Clone)]
pub struct Totals {
    classes: [ClassTotal; 2],
    errors: [u64; ErrorKind::ALL.len()],
    answered: u64,
    due: u64,
    sent: u64,
    lateness: Option<Histogram<u64>>,
    seconds: f64,
    process_cpu: u64,
    /// Per worker: CPU and run-queue delay, nanoseconds.
    workers: BTreeMap<usize, (u64, u64)>,
}

/// What the totals do not know of the run.
pub struct Frame<'a> {
    pub client: &'a str,
    pub hlog: Option<&'a str>,
    pub start_unix: f64,
    pub operations: &'a [(Class, &'static str)],
    /// Time that the client's control group was throttled, nanoseconds.
    pub throttled: u64,
    pub stopped: bool,
}

impl Totals {
    pub fn new(open_loop: bool) -> Totals {
        Totals {
            classes: Default::default(),
            errors: Default::default(),
            answered: 0,
            due: 0,
            sent: 0,
            lateness: open_loop.then(histogram),
            seconds: 0.0,
            process_cpu: 0,
            workers: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, interval: &Interval) {
        for (total, class) in self.classes.iter_mut().zip(&interval.classes) {
            total.ok += class.ok;
            total.errors += class.errors;
            total.service_sum += class.service_sum;
            total.response_sum += class.response_sum;
        }
        for (total, count) in self.errors.iter_mut().zip(&interval.errors) {
            *total += count;
        }
        self.answered += interval.answered;
        self.due += interval.due;
        self.sent += interval.sent;
        if let (Some(total), Some(lateness)) = (&mut self.lateness, &interval.lateness) {
            // Equal bounds, so that adding cannot fail.
            let _ = total.add(lateness);
        }
        self.seconds += interval.seconds();
        let process = interval.cpu.iter().map(|(_, cpu)| cpu.process).max();
        self.process_cpu += process.unwrap_or(0);
        for (worker, cpu) in &interval.cpu {
            let total = self.workers.entry(*worker).or_default();
            total.0 += cpu.thread;
            total.1 += cpu.run_delay;
        }
    }

    pub fn result(&self, frame: &Frame) -> ClientResult {
        let ok = self.classes.iter().map(|class| class.ok).sum();
        let errors = self.classes.iter().map(|class| class.errors).sum();
        let facts = self.facts(frame.throttled);
        let reasons = saturation::reasons(&facts);
        ClientResult {
            client: frame.client.to_owned(),
            hlog: frame.hlog.map_or_else(String::new, file_name),
            measured_s: self.seconds,
            start_unix: frame.start_unix,
            ok,
            errors,
            throughput: per(self.answered as f64, self.seconds),
            operations: self.operations(frame.operations),
            errors_by_kind: self.errors_by_kind(),
            cpu_us_per_op: per(
                self.process_cpu as f64 / 1000.0,
                (self.answered + errors) as f64,
            ),
            cpu_share: facts.cpu_share,
            send_lateness_p99_us: facts.lateness_p99_us,
            rate_error: facts.rate_error,
            saturated: !reasons.is_empty(),
            saturation_reasons: reasons,
            version: env!("CARGO_PKG_VERSION"),
            stopped: frame.stopped,
        }
    }

    fn facts(&self, throttled: u64) -> Facts {
        let wall = self.seconds * 1e9;
        let busiest = self.workers.values().map(|use_| use_.0).max().unwrap_or(0);
        let delayed = self.workers.values().map(|use_| use_.1).max().unwrap_or(0);
        let lateness = self.lateness.as_ref();
        Facts {
            cpu_share: per(busiest as f64, wall).min(1.0),
            run_delay_share: per(delayed as f64, wall).min(1.0),
            throttled_share: per(throttled as f64, wall).min(1.0),
            lateness_p99_us: lateness.map(|late| late.value_at_quantile(0.99) as f64 / 1000.0),
            rate_error: lateness
                .filter(|_| self.due > 0)
                .map(|_| self.sent as f64 / self.due as f64 - 1.0),
        }
    }

    fn operations(&self, names: &[(Class, &'static str)]) -> Vec<OperationResult> {
        let operation = |&(class, operation): &(Class, &'static str)| {
            let total = &self.classes[class as usize];
            let mean = |sum: u64| per(sum as f64 / 1000.0, total.ok as f64);
            OperationResult {
                operation,
                ok: total.ok,
                errors: total.errors,
                service_mean_us: mean(total.service_sum),
                response_mean_us: mean(total.response_sum),
            }
        };
        names.iter().map(operation).collect()
    }

    fn errors_by_kind(&self) -> BTreeMap<&'static str, u64> {
        let counted = ErrorKind::ALL.iter().zip(&self.errors);
        counted
            .filter(|(_, &count)| count > 0)
            .map(|(kind, &count)| (kind.name(), count))
            .collect()
    }
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::CpuUse;
    use crate::timeline::{Part, Slot};

    const S: u64 = 1_000_000_000;

    /// Two seconds: 90 reads of 1 ms served, 2 ms answered; 10 timeouts; 0.5 s of CPU.
    fn interval(open_loop: bool) -> Interval {
        let slot = Slot {
            index: 0,
            part: Part::Measure,
            begin: 0,
            end: 2 * S,
        };
        let mut interval = Interval::new(slot, open_loop);
        interval.classes[0].ok = 90;
        interval.classes[0].errors = 10;
        interval.classes[0].service_sum = 90 * 1_000_000;
        interval.classes[0].response_sum = 90 * 2_000_000;
        interval.errors[ErrorKind::Timeout as usize] = 10;
        interval.answered = 80;
        interval.due = 100;
        interval.sent = 95;
        let cpu = |thread, process| CpuUse {
            thread,
            process,
            run_delay: 0,
        };
        interval.cpu = vec![(0, cpu(S / 2, S / 2)), (1, cpu(S / 4, S / 2))];
        interval
    }

    fn result(open_loop: bool, stopped: bool) -> ClientResult {
        let mut totals = Totals::new(open_loop);
        totals.add(&interval(open_loop));
        totals.add(&interval(open_loop));
        totals.result(&Frame {
            client: "c1",
            hlog: Some("/runs/x/latency-c1.hlog"),
            start_unix: 1e9,
            operations: &[(Class::Read, "READ"), (Class::Write, "UPDATE")],
            throttled: 0,
            stopped,
        })
    }

    #[test]
    fn counts_means_and_rates_are_over_the_measured_part() {
        let result = result(false, false);
        assert_eq!((result.ok, result.errors), (180, 20));
        assert_eq!(result.measured_s, 4.0);
        assert_eq!(result.throughput, 40.0);
        assert_eq!(result.errors_by_kind, BTreeMap::from([("timeout", 20)]));
        assert_eq!(result.operations[0].service_mean_us, 1000.0);
        assert_eq!(result.operations[0].response_mean_us, 2000.0);
        assert_eq!(result.operations[1].ok, 0);
        assert_eq!(result.hlog, "latency-c1.hlog");
    }

    #[test]
    fn cpu_is_the_process_per_operation_and_the_busiest_thread() {
        let result = result(false, false);
        // 1 s for 160 answers that came within the time and 20 errors.
        assert!((result.cpu_us_per_op - 1e6 / 180.0).abs() < 1e-6);
        assert_eq!(result.cpu_share, 0.25);
        assert!(!result.saturated);
    }

    #[test]
    fn only_the_open_loop_knows_lateness_and_rate() {
        let closed = result(false, false);
        assert_eq!(
            (closed.send_lateness_p99_us, closed.rate_error),
            (None, None)
        );
        let open = result(true, false);
        assert!((open.rate_error.unwrap() + 0.05).abs() < 1e-12);
        assert_eq!(open.saturation_reasons.len(), 1);
    }

    #[test]
    fn stopped_is_told_only_where_it_is_true() {
        let json = |stopped| serde_json::to_value(result(false, stopped)).unwrap();
        assert_eq!(json(true)["stopped"], true);
        assert_eq!(json(false).get("stopped"), None);
    }

    #[test]
    fn a_run_that_measured_nothing_has_a_result_without_infinities() {
        let frame = Frame {
            client: "c1",
            hlog: None,
            start_unix: 1e9,
            operations: &[(Class::Read, "READ")],
            throttled: 0,
            stopped: true,
        };
        let result = Totals::new(true).result(&frame);
        assert_eq!(
            (result.throughput, result.cpu_share, result.rate_error),
            (0.0, 0.0, None)
        );
    }
}
