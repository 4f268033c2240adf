//! Finds the load at which a cluster saturates, and the highest load under a latency target, by
//! a search that reports its uncertainty.
//!
//! The search is pure: it asks a `Meter` for one measurement after another and never looks at a
//! clock. Each measurement reports its own cost.

mod bootstrap;
mod bracket;
mod climb;
pub mod command;
mod curve;
mod journal;
mod level;
mod meter;
mod monotone;
mod outcome;
mod peak;
mod quantities;
mod table;
mod target;
mod top;

use level::By;
use serde::Serialize;

/// One measurement at one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observation {
    /// Threads, or operations per second asked for.
    pub level: f64,
    /// What the measurement cost: warm-up and measured part, seconds.
    pub seconds: f64,
    /// Successful operations per second.
    pub throughput: f64,
    /// Failed operations out of all.
    pub failed_share: f64,
    /// The quantile of the latency target, microseconds; none without a target.
    pub latency_us: Option<f64>,
    /// Whether the measured part settled; none where it was too short to tell.
    pub steady: Option<bool>,
    /// Reasons to believe that the client was the limit; empty if there are none.
    pub client: Vec<String>,
}

/// Measures one level for about so many seconds.
pub trait Meter {
    type Error;

    fn measure(&mut self, level: f64, seconds: f64) -> Result<Observation, Self::Error>;
}

/// Where in the search a measurement was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Twice the level, again and again, until nothing is gained.
    Climb,
    /// The levels around the best, repeated in random order.
    Round,
    /// Levels around the crossing of the latency target.
    Target,
}

/// Told after every measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// 1, 2, ...
    pub number: usize,
    pub stage: Stage,
    /// Seconds spent so far, this step included.
    pub spent_s: f64,
    #[serde(flatten)]
    pub observation: Observation,
}

/// What is searched, and how hard.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    pub by: By,
    /// Where the search begins, and the highest level that it may try.
    pub first: f64,
    pub most: f64,
    /// Half width of the interval over the estimate at which the search is done: 0.05 is 5%.
    pub within: f64,
    /// Seconds that all measurements together may cost.
    pub budget_s: f64,
    /// Seconds of one full measurement; the climb takes half.
    pub step_s: f64,
    /// Highest share of failed operations at which a level still counts.
    pub failures: f64,
    /// Highest value of the target's quantile, microseconds; none searches the maximum.
    pub latency_us: Option<f64>,
    /// Fractions of what is found that are wanted too: 0.66 is two thirds.
    pub fractions: Vec<f64>,
    /// Seed of the order within rounds and of the bootstrap.
    pub seed: u64,
}

/// Runs the search; `told` hears of every step.
pub fn search<M: Meter>(
    wish: &Wish,
    meter: &mut M,
    told: &mut dyn FnMut(&Step),
) -> Result<outcome::Outcome, M::Error> {
    let mut journal = journal::Journal::new(wish, meter, told);
    match wish.latency_us {
        None => peak::search(wish, &mut journal),
        Some(limit) => target::search(wish, limit, &mut journal),
    }
}

#[cfg(test)]
mod tests;
