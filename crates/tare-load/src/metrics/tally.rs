//! What is counted for Prometheus: sums since the start of the run, warm-up included, as counters
//! must never fall, and the state of the last interval.

use hdrhistogram::Histogram;
use tare_engine::record::{ByKind, Interval, OperationRecord};
use tare_engine::saturation::Facts;
use tare_engine::totals::Totals;

/// Upper bounds of the histogram buckets, nanoseconds: 1, 2 and 5 times powers of ten, from 50
/// microseconds to 10 seconds.
pub const BOUNDS: [u64; 17] = [
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];
/// Quantiles of the last interval.
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// A latency distribution in the form of Prometheus.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Buckets {
    /// Observations at or below each bound; `count` has them all.
    pub at_most: [u64; BOUNDS.len()],
    pub count: u64,
    pub sum_ns: u64,
    /// Of the last interval, nanoseconds; none where nothing was seen.
    pub quantiles: Option<[u64; QUANTILES.len()]>,
}

impl Buckets {
    fn add(&mut self, histogram: &Histogram<u64>, sum_ns: u64) {
        for value in histogram.iter_recorded() {
            let highest = value.value_iterated_to();
            let first = BOUNDS.partition_point(|&bound| !within(histogram, highest, bound));
            for count in &mut self.at_most[first..] {
                *count += value.count_at_value();
            }
        }
        self.count += histogram.len();
        self.sum_ns += sum_ns;
        let seen = !histogram.is_empty();
        self.quantiles = seen.then(|| QUANTILES.map(|q| histogram.value_at_quantile(q)));
    }
}

/// Whether a recorded value is at most the bound, as well as the histogram can tell.
fn within(histogram: &Histogram<u64>, value: u64, bound: u64) -> bool {
    value <= bound || histogram.equivalent(value, bound)
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Operation {
    pub name: String,
    pub ok: u64,
    pub errors: ByKind,
    pub retries: ByKind,
    pub service: Buckets,
    pub response: Buckets,
}

impl Operation {
    fn add(&mut self, record: &OperationRecord) {
        self.ok += record.ok;
        tare_engine::record::add(&mut self.errors, &record.errors);
        tare_engine::record::add(&mut self.retries, &record.retries);
        self.service.add(&record.service, record.service_sum);
        let sum = match record.response {
            Some(_) => record.response_sum,
            None => record.service_sum,
        };
        self.response.add(record.response(), sum);
    }
}

/// Everything that is served.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    pub operations: Vec<Operation>,
    /// warmup, measure, finished; none before the first interval.
    pub phase: Option<&'static str>,
    /// Successful operations per second in the last interval.
    pub throughput: f64,
    pub intervals: u64,
    /// CPU of the client's process, nanoseconds.
    pub cpu_ns: u64,
    /// The client over the measured part so far; all 0 before.
    pub client: Facts,
    pub saturated: bool,
}

impl Tally {
    pub fn begin(&mut self, operations: &[String]) {
        let named = |name: &String| Operation {
            name: name.clone(),
            ..Operation::default()
        };
        self.operations = operations.iter().map(named).collect();
    }

    pub fn add(&mut self, interval: &Interval, totals: &Totals) {
        for (operation, record) in self.operations.iter_mut().zip(&interval.counts.operations) {
            operation.add(record);
        }
        self.phase = Some(interval.slot.part.name());
        self.throughput = interval.throughput();
        self.intervals += 1;
        self.cpu_ns += interval.process_cpu();
        self.judge(totals);
    }

    pub fn finish(&mut self, totals: &Totals) {
        self.phase = Some("finished");
        self.throughput = 0.0;
        self.judge(totals);
    }

    fn judge(&mut self, totals: &Totals) {
        self.client = totals.facts();
        self.saturated = totals.seconds > 0.0 && !totals.saturation().is_empty();
    }
}
