//! cassandra-stress' distributions.

use statrs::distribution::{ContinuousCDF, Normal};
use tare_draw::java::Random;
use tare_draw::stress::{Distribution, Sampler};
use tare_draw::{Rng, Xoshiro};

use crate::chi_square::assert_follows;

/// Asserts that the numbers min..=max follow the distribution `text`, drawn by Java's generator and by the fast
/// one; `below(x)` is the probability of a number under x.
fn check(seed: u64, text: &str, min: i64, max: i64, below: impl Fn(i64) -> f64) {
    let distribution: Vec<f64> = (min..=max)
        .map(|value| {
            let from = if value == min { 0.0 } else { below(value) };
            let to = if value == max { 1.0 } else { below(value + 1) };
            to - from
        })
        .collect();
    follows(text, min, &distribution, &mut Xoshiro::new(seed));
    follows(text, min, &distribution, &mut Random::new(seed as i64));
}

fn follows(text: &str, min: i64, distribution: &[f64], rng: &mut impl Rng) {
    let mut sampler = Sampler::new(Distribution::parse(text).expect(text));
    assert_follows(distribution, || {
        usize::try_from(sampler.draw_from(rng) - min).unwrap_or(usize::MAX)
    });
}

#[test]
fn uniform() {
    check(201, "uniform(1..1000)", 1, 1000, |x| {
        (x - 1) as f64 / 1000.0
    });
    // All of (-1, 1) becomes 0, and -2 is left with next to nothing: as coded.
    let edges = [0.0, 0.0, 0.2, 0.6, 0.8];
    check(202, "uniform(-2..2)", -2, 2, |x| edges[(x + 2) as usize]);
}

#[test]
fn gaussian() {
    let normal = Normal::new(50.5, 49.5 / 3.0).expect("a distribution");
    check(211, "gaussian(1..100)", 1, 100, |x| normal.cdf(x as f64));
    let normal = Normal::new(20.0, 7.5).expect("a distribution");
    check(212, "gaussian(1..60,20,7.5)", 1, 60, |x| {
        normal.cdf(x as f64)
    });
    check(213, "~gaussian(1..60,20,7.5)", 1, 60, |x| {
        1.0 - normal.cdf((62 - x) as f64)
    });
}

#[test]
fn exponential() {
    // The mean leaves sqrt(1 / 99) beyond the range.
    let mean = 99.0 / -(1.0f64 / 99.0).sqrt().ln();
    let below = |x: i64| 1.0 - (-((x - 1) as f64) / mean).exp();
    check(221, "exp(1..100)", 1, 100, below);
    check(222, "~exp(1..100)", 1, 100, |x| 1.0 - below(102 - x));
}

/// P(X < x) of extreme(1..100,shape).
fn weibull_below(shape: f64, x: i64) -> f64 {
    let tail = -(1.0f64 / 99.0).sqrt().ln();
    let scale = 99.0 / tail.powf(1.0 / shape);
    1.0 - (-((x - 1) as f64 / scale).powf(shape)).exp()
}

#[test]
fn extreme() {
    check(231, "extreme(1..100,0.7)", 1, 100, |x| {
        weibull_below(0.7, x)
    });
    check(232, "extreme(1..100,3)", 1, 100, |x| weibull_below(3.0, x));
}

#[test]
fn quantized_extreme() {
    let text = "qextreme(1..100,1.5,4)";
    let Distribution::Quantized { bounds, .. } = Distribution::parse(text).expect(text) else {
        panic!("{text} is not quantized");
    };
    // A part goes from behind its first bound to the next one; the last one to the end of the range.
    let share = |part: usize| {
        let from = if part == 0 {
            0.0
        } else {
            weibull_below(1.5, bounds[part] + 1)
        };
        let to = match bounds.get(part + 2) {
            Some(_) => weibull_below(1.5, bounds[part + 1] + 1),
            None => 1.0,
        };
        to - from
    };
    check(241, text, 1, 100, |x| {
        (0..4)
            .map(|part| {
                let (from, to) = (bounds[part], bounds[part + 1]);
                let within = (x.clamp(from, to) - from) as f64 / (to - from) as f64;
                share(part) * within
            })
            .sum()
    });
}

#[test]
fn the_gaussian_of_the_fast_generator() {
    let normal = Normal::new(0.0, 1.0).expect("a distribution");
    let ends: Vec<f64> = (-40..=40).map(|at| f64::from(at) / 10.0).collect();
    let mut distribution = vec![normal.cdf(ends[0])];
    distribution.extend(
        ends.windows(2)
            .map(|ends| normal.cdf(ends[1]) - normal.cdf(ends[0])),
    );
    distribution.push(1.0 - normal.cdf(ends[80]));
    let mut rng = Xoshiro::new(251);
    assert_follows(&distribution, || {
        let at = (rng.next_gaussian() * 10.0).floor() + 41.0;
        at.clamp(0.0, 81.0) as usize
    });
}
