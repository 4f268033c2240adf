//! A weighted choice, as between operations.

use crate::{Error, Rng};

/// YCSB's `DiscreteGenerator`: one of several things, each with its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Discrete<T> {
    shares: Vec<(f64, T)>,
}

impl<T> Discrete<T> {
    /// A choice between things by their weights, which are normalised by their sum.
    ///
    /// # Errors
    /// When there is none, or a weight is negative or not finite, or all are 0.
    pub fn new(weighted: Vec<(f64, T)>) -> Result<Self, Error> {
        if let Some((weight, _)) = weighted.iter().find(|(w, _)| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::new(format!(
                "a weight is {weight}: expected a number from 0 up"
            )));
        }
        let sum: f64 = weighted.iter().map(|(weight, _)| weight).sum();
        if sum <= 0.0 || !sum.is_finite() {
            return Err(Error::new(
                "nothing to choose from: expected at least one weight above 0",
            ));
        }
        let shares = weighted
            .into_iter()
            .filter(|(weight, _)| *weight > 0.0)
            .map(|(weight, thing)| (weight / sum, thing))
            .collect();
        Ok(Self { shares })
    }

    /// The next choice.
    pub fn next(&self, rng: &mut impl Rng) -> &T {
        self.value_at(rng.next_f64())
    }

    /// The choice for the uniform number `u` in [0, 1).
    pub fn value_at(&self, u: f64) -> &T {
        let mut rest = u;
        for (share, thing) in &self.shares {
            if rest < *share {
                return thing;
            }
            rest -= share;
        }
        // Rounding can leave a last sliver that no share covers; there YCSB ends with an error.
        &self.shares[self.shares.len() - 1].1
    }
}
