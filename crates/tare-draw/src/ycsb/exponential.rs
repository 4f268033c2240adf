//! Exponential numbers.

use crate::{Error, Rng};

/// YCSB's `ExponentialGenerator`, which it counts back from the newest record.
#[derive(Debug, Clone, PartialEq)]
pub struct Exponential {
    gamma: f64,
}

impl Exponential {
    /// A share of `percentile` percent of the numbers is under `range`.
    ///
    /// # Errors
    /// When `percentile` is not between 0 and 100, or `range` is not above 0.
    pub fn new(percentile: f64, range: f64) -> Result<Self, Error> {
        let sensible = percentile > 0.0 && percentile < 100.0 && range > 0.0 && range.is_finite();
        if !sensible {
            return Err(Error::new(format!(
                "an exponential distribution with {percentile}% under {range}: expected a percentile between 0 and 100 and a range above 0"
            )));
        }
        Ok(Self {
            gamma: -(1.0 - percentile / 100.0).ln() / range,
        })
    }

    /// The next number.
    pub fn next(&self, rng: &mut impl Rng) -> f64 {
        self.value_at(rng.next_f64())
    }

    /// The number for the uniform number `u` in [0, 1); infinite for 0.
    pub fn value_at(&self, u: f64) -> f64 {
        -u.ln() / self.gamma
    }
}
