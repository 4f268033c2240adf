//! What the stub did, and whether it kept its word: how late its own answers were.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::script::Fault;

/// Quantiles of a time, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// The account of one stub. Requests are those of the load, as the script has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub requests: u64,
    /// Answers sent, errors among them.
    pub answers: u64,
    /// Errors sent, by kind.
    pub errors: BTreeMap<&'static str, u64>,
    /// Requests that were never answered: lost, silent, or their connection was closed.
    pub unanswered: u64,
    pub connections: u64,
    /// From the first request to the last answer, seconds.
    pub seconds: f64,
    pub mean_service_us: f64,
    /// For how long each request was to keep the CPU busy on purpose.
    pub mean_spent_us: f64,
    /// For how long it did, by the requests that were timed.
    pub spent_us: Times,
    /// From a request's arrival to when its answer was due: what the script says.
    pub scripted_us: Times,
    /// From when answers were due to when their write began: the stub's own fault.
    pub lateness_us: Times,
    /// From when answers were due to when their write had ended. On the loopback the kernel hands
    /// the bytes over within the write, so that a client can have them from here on at the latest.
    pub written_us: Times,
}

/// Counts while the stub runs.
#[derive(Debug)]
pub struct Tally {
    pub requests: u64,
    pub answers: u64,
    pub connections: u64,
    pub errors: BTreeMap<&'static str, u64>,
    service: f64,
    spent: u64,
    took: Histogram<u64>,
    first: Option<u64>,
    last: u64,
    scripted: Histogram<u64>,
    lateness: Histogram<u64>,
    written: Histogram<u64>,
}

impl Tally {
    pub fn new() -> Tally {
        // Up to an hour in nanoseconds, three digits: within what the histogram can hold.
        let empty = || Histogram::new_with_bounds(1, 3_600_000_000_000, 3);
        let (Ok(scripted), Ok(lateness), Ok(written), Ok(took)) =
            (empty(), empty(), empty(), empty())
        else {
            unreachable!("the bounds are constants that fit");
        };
        let (requests, answers, connections) = (0, 0, 0);
        let errors = BTreeMap::new();
        Tally {
            requests,
            answers,
            connections,
            errors,
            service: 0.0,
            spent: 0,
            took,
            first: None,
            last: 0,
            scripted,
            lateness,
            written,
        }
    }

    /// A request that arrived, nanoseconds, with its service time and when its answer is due.
    pub fn admitted(&mut self, arrival: u64, service: f64, due: Option<u64>) {
        self.first.get_or_insert(arrival);
        self.requests += 1;
        self.service += service;
        if let Some(due) = due {
            self.scripted.saturating_record(due.saturating_sub(arrival));
        }
    }

    /// For how long a request was to keep the CPU busy on purpose, and did, nanoseconds.
    pub fn spent(&mut self, (wanted, took): (u64, Option<u64>)) {
        self.spent += wanted;
        if let Some(took) = took {
            self.took.saturating_record(took);
        }
    }

    pub fn failed(&mut self, fault: Fault) {
        *self.errors.entry(fault.name()).or_default() += 1;
    }

    /// An answer that was due then, whose write began and ended at these times.
    pub fn sent(&mut self, due: u64, began: u64, ended: u64) {
        self.answers += 1;
        self.last = ended;
        self.lateness.saturating_record(began.saturating_sub(due));
        self.written.saturating_record(ended.saturating_sub(due));
    }

    pub fn report(self) -> Report {
        let first = self.first.unwrap_or(self.last);
        Report {
            requests: self.requests,
            answers: self.answers,
            unanswered: self.requests - self.answers,
            connections: self.connections,
            seconds: self.last.saturating_sub(first) as f64 / 1e9,
            mean_service_us: self.service / self.requests.max(1) as f64 / 1e3,
            mean_spent_us: self.spent as f64 / self.requests.max(1) as f64 / 1e3,
            spent_us: times(&self.took),
            scripted_us: times(&self.scripted),
            lateness_us: times(&self.lateness),
            written_us: times(&self.written),
            errors: self.errors,
        }
    }
}

fn times(histogram: &Histogram<u64>) -> Times {
    let quantile = |share| histogram.value_at_quantile(share) as f64 / 1e3;
    Times {
        mean: histogram.mean() / 1e3,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: histogram.max() as f64 / 1e3,
    }
}
