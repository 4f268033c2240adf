//! Synthetic clusters whose capacity is known, and a search on them.

use std::convert::Infallible;

use super::super::bootstrap::Random;
use super::super::level::By;
use super::super::outcome::Outcome;
use super::super::{search, Meter, Observation, Wish};

/// A measurement without anything special.
pub fn seen(level: f64, throughput: f64) -> Observation {
    Observation {
        level,
        seconds: 10.0,
        throughput,
        failed_share: 0.0,
        latency_us: None,
        steady: Some(true),
        client: Vec::new(),
    }
}

/// A cluster with a known curve; measurements carry relative noise.
pub struct Synthetic<F: Fn(f64) -> f64> {
    pub throughput: F,
    pub noise: f64,
    pub random: Random,
    /// Relative speed gained with every measurement, until it is 1 (a cluster that warms up).
    pub speed: f64,
    pub warming: f64,
    /// Throughput that the client can make at most.
    pub client: f64,
    /// Capacity of an open M/M/1 server whose p99 response time is told.
    pub queue: Option<f64>,
}

pub fn synthetic<F: Fn(f64) -> f64>(seed: u64, noise: f64, throughput: F) -> Synthetic<F> {
    Synthetic {
        throughput,
        noise,
        random: Random::seeded(seed),
        speed: 1.0,
        warming: 0.0,
        client: f64::INFINITY,
        queue: None,
    }
}

impl<F: Fn(f64) -> f64> Synthetic<F> {
    /// About normal: a sum of 12 uniform numbers.
    fn normal(&mut self) -> f64 {
        let uniform = |random: &mut Random| (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        (0..12).map(|_| uniform(&mut self.random)).sum::<f64>() - 6.0
    }
}

impl<F: Fn(f64) -> f64> Meter for Synthetic<F> {
    type Error = Infallible;

    fn measure(&mut self, level: f64, seconds: f64) -> Result<Observation, Infallible> {
        let noise = self.noise * (10.0 / seconds).sqrt() * self.normal();
        let truth = (self.throughput)(level) * self.speed * (1.0 + noise);
        self.speed = (self.speed + self.warming).min(1.0);
        // p99 of an M/M/1 queue: ln(100) / (capacity - rate), seconds.
        let spread = (5.0 * self.noise * self.normal()).exp();
        let p99 = self.queue.map(|capacity| match capacity - level {
            room if room > 0.0 => 100f64.ln() / room * 1e6 * spread,
            _ => 10e6,
        });
        let limited = truth > self.client;
        Ok(Observation {
            seconds,
            latency_us: p99,
            client: limited.then(|| "busy".to_owned()).into_iter().collect(),
            ..seen(level, truth.min(self.client))
        })
    }
}

pub fn wish(by: By) -> Wish {
    Wish {
        by,
        first: match by {
            By::Threads => 4.0,
            By::Rate => 1000.0,
        },
        most: 1e6,
        within: 0.05,
        budget_s: 600.0,
        step_s: 10.0,
        failures: 0.01,
        latency_us: None,
        fractions: vec![0.66],
        seed: 1,
    }
}

pub fn found<F: Fn(f64) -> f64>(wish: &Wish, mut cluster: Synthetic<F>) -> Outcome {
    match search(wish, &mut cluster, &mut |_| ()) {
        Ok(outcome) => outcome,
        Err(never) => match never {},
    }
}

/// Curves of a cluster of 50 000 operations/s: threads.
pub const CAPACITY: f64 = 50_000.0;

/// Balanced bottleneck: a straight line, then flat.
pub fn knee(threads: f64) -> f64 {
    (threads * 1000.0).min(CAPACITY)
}

/// A smooth approach to the capacity.
pub fn smooth(threads: f64) -> f64 {
    CAPACITY * threads / (threads.powi(4) + 40f64.powi(4)).powf(0.25)
}

/// Universal scalability law with its peak at 90 threads (Gunther, Guerrilla Capacity Planning,
/// 2007): contention 0.02, coherence (1 - 0.02) / 90^2.
pub fn retrograde(threads: f64) -> f64 {
    let law = |n: f64| n / (1.0 + 0.02 * (n - 1.0) + 0.98 / 8100.0 * n * (n - 1.0));
    CAPACITY * law(threads) / law(90.0)
}

pub fn rate(rate: f64) -> f64 {
    rate.min(CAPACITY)
}
