//! A law together with its own Java random numbers, started by a seed.

use std::sync::atomic::{AtomicI64, Ordering};

use super::Distribution;
use crate::java::Random;
use crate::Rng;

/// Draws from a law as a `Distribution` of cassandra-stress does after `setSeed`: the same numbers for
/// the same seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    law: Distribution,
    random: Random,
    counter: i64,
}

impl Sampler {
    /// A sampler of `law`, started with seed 0.
    pub fn new(law: Distribution) -> Self {
        Self {
            law,
            random: Random::new(0),
            counter: 0,
        }
    }

    /// The law.
    pub fn law(&self) -> &Distribution {
        &self.law
    }

    /// Starts again with `seed`; a sequence goes on from there.
    pub fn set_seed(&mut self, seed: i64) {
        match self.law {
            Distribution::Fixed { .. } => {}
            Distribution::Sequence { .. } => self.counter = seed,
            _ => self.random.set_seed(seed),
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> i64 {
        self.law.draw(&mut self.random, &mut self.counter)
    }

    /// The next value, before it is made whole.
    pub fn draw_f64(&mut self) -> f64 {
        self.law.draw_f64(&mut self.random, &mut self.counter)
    }

    /// The next value from other random numbers than its own: where the tool seeds nothing.
    pub fn draw_from(&mut self, rng: &mut impl Rng) -> i64 {
        self.law.draw(rng, &mut self.counter)
    }

    /// As [`Sampler::draw_from`], before it is made whole.
    pub fn draw_f64_from(&mut self, rng: &mut impl Rng) -> f64 {
        self.law.draw_f64(rng, &mut self.counter)
    }
}

/// A law that many workers draw from, each with its own random numbers; a sequence goes on for all.
#[derive(Debug)]
pub(super) struct SharedSampler {
    law: Distribution,
    counter: AtomicI64,
}

impl SharedSampler {
    pub(super) fn new(law: Distribution) -> Self {
        Self {
            law,
            counter: AtomicI64::new(0),
        }
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> i64 {
        let mut at = match self.law {
            Distribution::Sequence { .. } => self.counter.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        self.law.draw(rng, &mut at)
    }
}
