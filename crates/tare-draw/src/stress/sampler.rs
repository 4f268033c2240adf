//! A distribution together with its own Java random numbers, started by a seed.

use std::sync::atomic::{AtomicI64, Ordering};

use super::Distribution;
use crate::java::Random;
use crate::Rng;

/// Draws from a distribution as a `Distribution` of cassandra-stress does after `setSeed`: the same numbers for
/// the same seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    distribution: Distribution,
    random: Random,
    counter: i64,
}

impl Sampler {
    /// A sampler of `distribution`, started with seed 0.
    pub fn new(distribution: Distribution) -> Self {
        Self {
            distribution,
            random: Random::new(0),
            counter: 0,
        }
    }

    /// The distribution.
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// Starts again with `seed`; a sequence goes on from there.
    pub fn set_seed(&mut self, seed: i64) {
        match self.distribution {
            Distribution::Fixed { .. } => {}
            Distribution::Sequence { .. } => self.counter = seed,
            _ => self.random.set_seed(seed),
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> i64 {
        self.distribution.draw(&mut self.random, &mut self.counter)
    }

    /// The next value, before it is made whole.
    pub fn draw_f64(&mut self) -> f64 {
        self.distribution
            .draw_f64(&mut self.random, &mut self.counter)
    }

    /// The next value from other random numbers than its own: where the tool seeds nothing.
    pub fn draw_from(&mut self, rng: &mut impl Rng) -> i64 {
        self.distribution.draw(rng, &mut self.counter)
    }

    /// As [`Sampler::draw_from`], before it is made whole.
    pub fn draw_f64_from(&mut self, rng: &mut impl Rng) -> f64 {
        self.distribution.draw_f64(rng, &mut self.counter)
    }
}

/// A distribution that many workers draw from, each with its own random numbers; a sequence goes on for all.
#[derive(Debug)]
pub(super) struct SharedSampler {
    distribution: Distribution,
    counter: AtomicI64,
}

impl SharedSampler {
    pub(super) fn new(distribution: Distribution) -> Self {
        Self {
            distribution,
            counter: AtomicI64::new(0),
        }
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> i64 {
        let mut at = match self.distribution {
            Distribution::Sequence { .. } => self.counter.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        self.distribution.draw(rng, &mut at)
    }
}
