//! Latencies in microseconds, as YCSB records them, from what the engine records.

use hdrhistogram::Histogram;
use tare_engine::record::OperationRecord;

/// One hour: more is held as that.
const LARGEST_US: u64 = 3_600_000_000;

/// Latencies of one operation: a histogram of microseconds with 3 significant digits, which is
/// YCSB's, and the exact mean.
#[derive(Debug, Clone)]
pub struct Latencies {
    pub histogram: Histogram<u64>,
    sum_us: f64,
}

impl Latencies {
    pub fn none() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LARGEST_US, 3);
        Latencies {
            histogram: histogram.expect("constant bounds are valid"),
            sum_us: 0.0,
        }
    }

    /// Of operations that took no time.
    pub fn zeros(count: u64) -> Latencies {
        let mut latencies = Latencies::none();
        latencies.histogram.saturating_record_n(0, count);
        latencies
    }

    /// Successful operations, from their sends.
    pub fn sent(record: &OperationRecord) -> Latencies {
        Latencies::none().and(&record.service, record.service_sum as f64)
    }

    /// Successful operations, from the times at which they were meant to be sent.
    pub fn intended(record: &OperationRecord) -> Latencies {
        Latencies::none().and(record.response(), record.response_sum as f64)
    }

    /// The same with the operations that failed, from their sends.
    pub fn and_failed(self, record: &OperationRecord) -> Latencies {
        match &record.failed {
            Some(failed) => {
                let sum = failed.mean() * failed.len() as f64;
                self.and(failed, sum)
            }
            None => self,
        }
    }

    /// Adds a histogram of nanoseconds whose values add up to `sum`.
    pub fn and(mut self, nanoseconds: &Histogram<u64>, sum: f64) -> Latencies {
        for value in nanoseconds.iter_recorded() {
            let middle = nanoseconds.median_equivalent(value.value_iterated_to());
            let count = value.count_at_value();
            self.histogram.saturating_record_n(middle / 1000, count);
        }
        self.sum_us += sum / 1000.0;
        self
    }

    /// Both together.
    pub fn plus(mut self, other: &Latencies) -> Latencies {
        // Equal bounds, so that adding cannot fail.
        let _ = self.histogram.add(&other.histogram);
        self.sum_us += other.sum_us;
        self
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn mean(&self) -> f64 {
        self.sum_us / self.count() as f64
    }

    /// Least latency; Java's largest long where there is none.
    pub fn min(&self) -> u64 {
        match self.count() {
            0 => i64::MAX as u64,
            _ => self.histogram.min(),
        }
    }

    pub fn max(&self) -> u64 {
        match self.count() {
            0 => 0,
            _ => self.histogram.max(),
        }
    }

    /// As HdrHistogram 2.1.4 for Java, which rounds the rank to the nearest one.
    pub fn percentile(&self, percentile: f64) -> u64 {
        let rank = (percentile.min(100.0) / 100.0 * self.count() as f64 + 0.5) as u64;
        let mut seen = 0;
        for value in self.histogram.iter_recorded() {
            seen += value.count_at_value();
            if seen >= rank.max(1) {
                return value.value_iterated_to();
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100, 137, 174 ... microseconds, as given to YCSB's own classes for the expected numbers.
    fn ladder() -> Latencies {
        let mut record = OperationRecord::new(false);
        for i in 0..100 {
            let ns = (100 + i * 37) * 1000;
            record.service.record(ns).unwrap();
            record.service_sum += ns;
        }
        Latencies::sent(&record)
    }

    #[test]
    fn numbers_are_those_of_ycsbs_histograms() {
        let all = ladder();
        assert_eq!((all.count(), all.min(), all.max()), (100, 100, 3763));
        let percentiles = [90.0, 95.0, 99.0, 99.9].map(|p| all.percentile(p));
        assert_eq!(percentiles, [3393, 3579, 3727, 3763]);
        // YCSB prints 1931.73: the mean of its buckets. The exact mean is kept here.
        assert!((all.mean() - 1931.5).abs() < 1e-9);
    }

    #[test]
    fn no_latencies_have_javas_odd_extremes() {
        let none = Latencies::none();
        assert_eq!((none.min(), none.max()), (9_223_372_036_854_775_807, 0));
        assert_eq!(none.percentile(99.0), 0);
        assert!(none.mean().is_nan());
    }

    #[test]
    fn operations_without_duration_count() {
        let cleanup = Latencies::zeros(16);
        assert_eq!((cleanup.count(), cleanup.min(), cleanup.max()), (16, 0, 0));
        assert_eq!((cleanup.mean(), cleanup.percentile(99.0)), (0.0, 0));
    }
}
