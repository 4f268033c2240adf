//! Pearson's chi-square test of draws against the probabilities of their values.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// How many draws tell a distribution that is one percent off from the right one.
const ENOUGH: usize = 10_000_000;
/// How often each generator is drawn from: a slow build draws less.
pub const DRAWS: usize = if cfg!(debug_assertions) {
    ENOUGH / 10
} else {
    ENOUGH
};
/// A distribution is refused below this probability.
pub const ALPHA: f64 = 1e-4;
/// No bin expects fewer draws.
const LEAST_EXPECTED: f64 = 10.0;

/// The probability of a statistic at least as large as that of `draws` draws, each giving the number of
/// a value, when value `i` has the probability `distribution[i]`. A value beyond the distribution has probability 0.
pub fn probability(distribution: &[f64], draws: usize, mut draw: impl FnMut() -> usize) -> f64 {
    let total: f64 = distribution.iter().sum();
    assert!(
        (total - 1.0).abs() < 1e-9,
        "the distribution sums to {total}"
    );
    let mut counts = vec![0u64; distribution.len()];
    for _ in 0..draws {
        match counts.get_mut(draw()) {
            Some(count) => *count += 1,
            None => return 0.0,
        }
    }
    let (mut statistic, mut bins) = (0.0, 0);
    let (mut expected, mut found) = (0.0, 0);
    let mut rest = draws as f64;
    for (share, count) in distribution.iter().zip(&counts) {
        expected += share * draws as f64;
        found += count;
        // What is left must fill a bin, too; otherwise it joins this one.
        if expected >= LEAST_EXPECTED && rest - expected >= LEAST_EXPECTED {
            statistic += (found as f64 - expected).powi(2) / expected;
            bins += 1;
            rest -= expected;
            (expected, found) = (0.0, 0);
        }
    }
    if expected > 0.0 {
        statistic += (found as f64 - expected).powi(2) / expected;
        bins += 1;
    } else if found > 0 {
        return 0.0;
    }
    let degrees = (bins - 1) as f64;
    assert!(degrees > 0.0, "one bin tells nothing");
    ChiSquared::new(degrees).expect("degrees").sf(statistic)
}

/// Asserts that `draw` follows `distribution`.
pub fn assert_follows(distribution: &[f64], draw: impl FnMut() -> usize) {
    let found = probability(distribution, DRAWS, draw);
    assert!(
        found >= ALPHA,
        "refused: probability {found:e} under {ALPHA}"
    );
}

#[test]
fn a_distribution_that_is_one_percent_off_is_refused() {
    let mut off = vec![0.1; 10];
    off[0] = 0.101;
    off[1] = 0.099;
    let mut rng = tare_draw::Xoshiro::new(3);
    let draw = || tare_draw::Rng::next_below(&mut rng, 10) as usize;
    assert!(probability(&off, ENOUGH, draw) < ALPHA);
}

#[test]
fn a_value_that_the_distribution_excludes_is_refused() {
    let distribution = [0.5, 0.5, 0.0];
    assert!(probability(&distribution, 100, || 2) < ALPHA);
    assert!(probability(&distribution, 100, || 3) < ALPHA);
}
