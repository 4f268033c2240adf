//! What a search found, as JSON.

use serde::Serialize;

use super::journal::{mean, Tried};
use super::level::By;

/// Whether the answer can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Found within the wished precision.
    Found,
    /// What is known is said, but it is not what was wished; the reasons say why.
    Undecided,
    /// The load client was the limit: the cluster can do at least this.
    ClientLimit,
}

impl Verdict {
    /// By whether the client was the limit, and what is not as it was wished.
    pub fn of(client_limited: bool, reasons: &[String]) -> Verdict {
        match (client_limited, reasons.is_empty()) {
            (true, _) => Verdict::ClientLimit,
            (false, true) => Verdict::Found,
            (false, false) => Verdict::Undecided,
        }
    }
}

/// A number with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    pub fn times(self, factor: f64) -> Estimate {
        Estimate {
            estimate: self.estimate * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }
}

/// A share of what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fraction {
    pub fraction: f64,
    /// Threads or rate that gives it.
    pub level: f64,
    /// Operations per second.
    pub throughput: Estimate,
}

/// All measurements of one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    pub level: f64,
    pub measurements: usize,
    /// Mean of successful operations per second, and the lowest and the highest measurement.
    pub throughput: f64,
    pub lowest: f64,
    pub highest: f64,
    pub failed_share: f64,
    /// Mean of the quantile of the latency target, microseconds.
    pub latency_us: Option<f64>,
    /// Measurements that never settled, and in which the client was the limit.
    pub never_steady: usize,
    pub client_limited: usize,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    pub verdict: Verdict,
    /// Why the answer is not what was wished; empty if it is.
    pub reasons: Vec<String>,
    pub by: By,
    /// Wished half width over the estimate.
    pub within: f64,
    /// Highest value of the latency target's quantile, microseconds.
    pub latency_limit_us: Option<f64>,
    /// Operations per second at the answer.
    pub throughput: Option<Estimate>,
    /// The answer: the lowest level that reaches the maximum, or the highest level that meets
    /// the target. `low` to `high` holds it.
    pub level: Option<Estimate>,
    /// Levels whose throughput cannot be told from the maximum.
    pub plateau: Vec<f64>,
    pub fractions: Vec<Fraction>,
    pub levels: Vec<Measured>,
    pub steps: usize,
    pub spent_s: f64,
}

/// One line per level.
pub fn measured(tried: &[Tried]) -> Vec<Measured> {
    let line = |one: &Tried| {
        let throughputs = one.throughputs();
        let count = |holds: &dyn Fn(&super::Observation) -> bool| {
            one.observations.iter().filter(|seen| holds(seen)).count()
        };
        let latencies = || one.observations.iter().filter_map(|seen| seen.latency_us);
        Measured {
            level: one.level,
            measurements: throughputs.len(),
            throughput: one.throughput(),
            lowest: throughputs.iter().copied().fold(f64::INFINITY, f64::min),
            highest: throughputs.iter().copied().fold(0.0, f64::max),
            failed_share: one.failed_share(),
            latency_us: latencies().next().map(|_| mean(latencies())),
            never_steady: count(&|seen| seen.steady == Some(false)),
            client_limited: count(&|seen| !seen.client.is_empty()),
        }
    };
    tried.iter().map(line).collect()
}
