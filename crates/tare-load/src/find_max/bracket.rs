//! Where a latency target is crossed: the levels on both sides of it, with an interval.

use super::bootstrap::{quantile, Random};
use super::journal::{mean, Tried};
use super::level::By;
use super::monotone::{crossing, rising};
use super::{Observation, Wish};

const RESAMPLES: usize = 400;
/// A level that does not keep up, or fails, misses the target by at least this factor (its log).
const OVERLOADED: f64 = 1.0;
const KEEPS_UP: f64 = 0.95;

/// Where the target is crossed: the highest level that meets it and the lowest that misses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    pub meets: Option<f64>,
    pub misses: Option<f64>,
}

/// A bracket, and the interval of where it may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub bracket: Bracket,
    /// The crossing between the two sides, by a straight line.
    pub crossing: f64,
    pub low: f64,
    pub high: f64,
}

impl Found {
    pub fn precision(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.crossing
    }
}

/// Log of the quantile over its limit: above 0 misses the target. Overload misses it whatever
/// the few answers took.
pub fn excess(wish: &Wish, limit: f64, seen: &Observation) -> f64 {
    let latency = seen.latency_us.unwrap_or(f64::INFINITY).max(0.001);
    let excess = (latency / limit).ln().min(10.0 * OVERLOADED);
    let behind = match wish.by {
        // Poisson arrivals scatter by the root of their number; half of a step is measured.
        By::Rate => {
            let scatter = 3.0 * (seen.level / (wish.step_s / 2.0)).sqrt();
            seen.throughput < KEEPS_UP * seen.level - scatter
        }
        By::Threads => false,
    };
    if behind || seen.failed_share > wish.failures {
        excess.max(OVERLOADED)
    } else {
        excess
    }
}

/// The levels' mean excesses, and how many measurements each rests on.
pub struct Sample {
    pub levels: Vec<f64>,
    excesses: Vec<Vec<f64>>,
}

impl Sample {
    pub fn of(wish: &Wish, limit: f64, tried: &[Tried]) -> Sample {
        let excesses = |one: &Tried| -> Vec<f64> {
            one.observations
                .iter()
                .map(|seen| excess(wish, limit, seen))
                .collect()
        };
        Sample {
            levels: tried.iter().map(|one| one.level).collect(),
            excesses: tried.iter().map(excesses).collect(),
        }
    }

    pub fn fit(&self, means: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = self
            .excesses
            .iter()
            .map(|values| values.len() as f64)
            .collect();
        rising(means, &weights)
    }

    pub fn means(&self) -> Vec<f64> {
        self.excesses
            .iter()
            .map(|values| mean(values.iter().copied()))
            .collect()
    }

    fn bracket(&self, fit: &[f64]) -> Bracket {
        let (meets, misses) = crossing(fit, 0.0);
        Bracket {
            meets: meets.map(|i| self.levels[i]),
            misses: misses.map(|i| self.levels[i]),
        }
    }

    /// Residuals of levels near the target: further up, queues make other noise.
    fn residuals(&self) -> Vec<f64> {
        let near = self
            .excesses
            .iter()
            .filter(|values| values.len() > 1 && mean(values.iter().copied()).abs() <= OVERLOADED);
        let of = |values: &Vec<f64>| {
            let (mean, n) = (mean(values.iter().copied()), values.len() as f64);
            let widen = (n / (n - 1.0)).sqrt();
            values
                .iter()
                .map(|value| (value - mean) * widen)
                .collect::<Vec<f64>>()
        };
        near.flat_map(of).collect()
    }

    /// Means as another search might have seen them.
    fn resample(&self, means: &[f64], residuals: &[f64], random: &mut Random) -> Vec<f64> {
        let again = |(mean, values): (&f64, &Vec<f64>)| {
            let n = values.len();
            let sum: f64 = (0..n)
                .map(|_| residuals[random.below(residuals.len())])
                .sum();
            mean + sum / n as f64
        };
        means.iter().zip(&self.excesses).map(again).collect()
    }
}

/// The bracket by a rising fit of all excesses, and the interval that holds the brackets of 95%
/// of resamples on both sides: it is never narrower than the bracket itself.
pub fn locate(wish: &Wish, limit: f64, tried: &[Tried], random: &mut Random) -> Option<Found> {
    let sample = Sample::of(wish, limit, tried);
    let means = sample.means();
    let fit = sample.fit(&means);
    let bracket = sample.bracket(&fit);
    let (meets, misses) = (bracket.meets?, bracket.misses?);
    let at = |level: f64| {
        sample
            .levels
            .iter()
            .position(|&one| one == level)
            .map(|i| fit[i])
    };
    let (low_fit, high_fit) = (at(meets)?, at(misses)?);
    let crossing = meets + (misses - meets) * (-low_fit / (high_fit - low_fit)).clamp(0.0, 1.0);
    let residuals = sample.residuals();
    let (mut lows, mut highs) = (vec![meets], vec![misses]);
    if !residuals.is_empty() {
        for _ in 0..RESAMPLES {
            let again = sample.fit(&sample.resample(&means, &residuals, random));
            let bracket = sample.bracket(&again);
            lows.push(bracket.meets.unwrap_or(sample.levels[0] / 2.0));
            highs.push(
                bracket
                    .misses
                    .unwrap_or(sample.levels[sample.levels.len() - 1] * 2.0),
            );
        }
    }
    lows.sort_by(f64::total_cmp);
    highs.sort_by(f64::total_cmp);
    Some(Found {
        bracket,
        crossing,
        low: quantile(&lows, 0.025),
        high: quantile(&highs, 0.975),
    })
}
