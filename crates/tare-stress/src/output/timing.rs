//! What one operation, or all of them, did in an interval or in the whole run.

use hdrhistogram::Histogram;
use tare_engine::record::{histogram, OperationRecord};

/// Counts and latencies as the tool keeps them: failed operations are among the operations, their
/// latency spans all tries.
#[derive(Debug, Clone)]
pub struct Timing {
    /// From the first send, nanoseconds.
    pub service: Histogram<u64>,
    /// From the intended send, nanoseconds; empty unless a rate is set.
    pub response: Histogram<u64>,
    pub partitions: u64,
    pub rows: u64,
    pub errors: u64,
    /// Retried requests. The tool does not show them.
    pub retries: u64,
    /// Nanoseconds of the run.
    pub begin: u64,
    pub end: u64,
    /// Whether response time is what is reported (`-rate fixed=`).
    fixed: bool,
}

impl Timing {
    pub fn new(fixed: bool) -> Timing {
        Timing {
            service: histogram(),
            response: histogram(),
            partitions: 0,
            rows: 0,
            errors: 0,
            retries: 0,
            begin: u64::MAX,
            end: 0,
            fixed,
        }
    }

    /// What the engine recorded of one operation in an interval.
    pub fn of(record: &OperationRecord, fixed: bool, begin: u64, end: u64) -> Timing {
        let mut timing = Timing::new(fixed);
        (timing.begin, timing.end) = (begin, end);
        timing.errors = record.failures();
        timing.retries = record.retries.iter().sum();
        // All of these histograms have the same bounds, so that adding cannot fail.
        let _ = timing.service.add(&record.service);
        if let Some(response) = &record.response {
            let _ = timing.response.add(response);
        }
        if let Some(failed) = &record.failed {
            let _ = timing.service.add(failed);
        }
        if let Some(failed) = &record.failed_response {
            let _ = timing.response.add(failed);
        }
        timing
    }

    pub fn add(&mut self, other: &Timing) {
        self.begin = self.begin.min(other.begin);
        self.end = self.end.max(other.end);
        self.partitions += other.partitions;
        self.rows += other.rows;
        self.errors += other.errors;
        self.retries += other.retries;
        let _ = self.service.add(&other.service);
        let _ = self.response.add(&other.response);
    }

    /// The latencies that are reported.
    fn latencies(&self) -> &Histogram<u64> {
        if self.fixed && !self.response.is_empty() {
            &self.response
        } else {
            &self.service
        }
    }

    pub fn operations(&self) -> u64 {
        self.latencies().len()
    }

    pub fn op_rate(&self) -> f64 {
        self.per_second(self.operations())
    }

    pub fn partition_rate(&self) -> f64 {
        self.per_second(self.partitions)
    }

    pub fn row_rate(&self) -> f64 {
        self.per_second(self.rows)
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 / (self.end.saturating_sub(self.begin) as f64 * 1e-9)
    }

    /// Rows per second of the interval less its longest latency: the tool takes its standard error
    /// of these.
    pub fn adjusted_row_rate(&self) -> f64 {
        let length = self.end as f64 - (self.begin as f64 + self.latencies().max() as f64);
        self.rows as f64 / (length * 1e-9)
    }

    pub fn mean_ms(&self) -> f64 {
        self.latencies().mean() * 1e-6
    }

    pub fn max_ms(&self) -> f64 {
        self.latencies().max() as f64 * 1e-6
    }

    /// `quantile` is in 0 to 1.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.latencies().value_at_quantile(quantile) as f64 * 1e-6
    }

    pub fn run_ms(&self) -> u64 {
        self.end.saturating_sub(self.begin) / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_fixed_rate_what_failed_counts_from_when_it_was_due() {
        let mut record = OperationRecord::new(true);
        record.errors[0] = 1;
        let of = |ns| {
            let mut one = histogram();
            one.saturating_record(ns);
            Some(one)
        };
        record.failed = of(1_000_000_000);
        record.failed_response = of(11_000_000_000);
        let timing = Timing::of(&record, true, 0, 11_000_000_000);
        assert_eq!((timing.operations(), timing.errors), (1, 1));
        assert!((timing.max_ms() / 11_000.0 - 1.0).abs() < 0.001);
        assert!((timing.service.max() as f64 / 1e9 - 1.0).abs() < 0.001);
    }
}
