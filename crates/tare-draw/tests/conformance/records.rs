//! The generators of record numbers.

use tare_draw::ycsb::{
    fnv64, Chooser, Discrete, Exponential, Hotspot, ScrambledZipfian, SkewedLatest, UniformLong,
    Zipf, Zipfian,
};
use tare_draw::{Rng, Xoshiro};

use crate::chi_square::assert_follows;

/// Asserts that the numbers of `draw`, from 0, follow `distribution`.
fn check(seed: u64, distribution: &[f64], mut draw: impl FnMut(&mut Xoshiro) -> i64) {
    let mut rng = Xoshiro::new(seed);
    assert_follows(distribution, || {
        usize::try_from(draw(&mut rng)).unwrap_or(usize::MAX)
    });
}

/// zeta(n, theta).
fn zeta(n: i64, theta: f64) -> f64 {
    (1..=n).map(|i| (i as f64).powf(-theta)).sum()
}

/// The probability of each rank below `shown` among `items`, as YCSB's formula has it: the length of
/// the interval of u that it maps to the rank. What remains stands last.
fn zipfian_distribution(items: i64, shown: usize, theta: f64, zeta_items: f64) -> Vec<f64> {
    let n = items as f64;
    let eta = (1.0 - (2.0 / n).powf(1.0 - theta)) / (1.0 - zeta(2, theta) / zeta_items);
    // The u from which on the formula gives `rank` or more.
    let from = |rank: usize| match rank {
        0 => 0.0,
        1 => 1.0 / zeta_items,
        _ => {
            let formula = ((rank as f64 / n).powf(1.0 - theta) + eta - 1.0) / eta;
            formula.max((1.0 + 0.5f64.powf(theta)) / zeta_items)
        }
    };
    let ends: Vec<f64> = (0..=shown).map(from).collect();
    let mut distribution: Vec<f64> = ends.windows(2).map(|ends| ends[1] - ends[0]).collect();
    if (shown as i64) < items {
        distribution.push(1.0 - ends[shown]);
    }
    distribution
}

#[test]
fn the_generator_below_a_bound() {
    for (seed, bound) in [(11, 7), (12, 1000)] {
        let distribution = vec![1.0 / bound as f64; bound];
        check(seed, &distribution, |rng| {
            rng.next_below(bound as u64) as i64
        });
    }
}

#[test]
fn uniform() {
    let distribution = UniformLong::new(0, 999).expect("a range");
    check(21, &[0.001; 1000], |rng| distribution.next(rng));
}

#[test]
fn zipfian() {
    for (seed, theta) in [(31, 0.99), (32, 0.7)] {
        let distribution = Zipfian::new(0, 999, theta).expect("a range");
        let expected = zipfian_distribution(1000, 1000, theta, zeta(1000, theta));
        check(seed, &expected, |rng| distribution.next(rng));
    }
}

#[test]
fn scrambled_zipfian() {
    let (records, ranks) = (100, 3_000_000);
    let distribution = ScrambledZipfian::new(0, records - 1).expect("a range");
    let zeta_items = 26.469_028_201_783_02;
    let mut expected = vec![0.0; records as usize];
    let by_rank = zipfian_distribution(10_000_000_001, ranks, 0.99, zeta_items);
    for (rank, share) in by_rank[..ranks].iter().enumerate() {
        expected[(fnv64(rank as i64) % records) as usize] += share;
    }
    // The ranks beyond have shares under 10^-8 each and fall on all records alike.
    for share in &mut expected {
        *share += by_rank[ranks] / records as f64;
    }
    check(41, &expected, |rng| distribution.next(rng));
}

#[test]
fn latest() {
    let last = 999;
    let mut distribution = SkewedLatest::new(last).expect("a record");
    let expected = zipfian_distribution(last, last as usize, 0.99, zeta(last, 0.99));
    check(51, &expected, |rng| last - distribution.next(rng, last));
}

#[test]
fn latest_after_growth_keeps_the_old_eta() {
    let (old, last) = (500, 1000);
    let mut distribution = SkewedLatest::new(old).expect("a record");
    let zeta_last = zeta(last, 0.99);
    let n = last as f64;
    let eta = (1.0 - (2.0 / old as f64).powf(0.01)) / (1.0 - zeta(2, 0.99) / zeta_last);
    let second = (1.0 + 0.5f64.powf(0.99)) / zeta_last;
    let from = |rank: i64| match rank {
        0 => 0.0,
        1 => 1.0 / zeta_last,
        // The old eta lets the formula begin above rank 2 or end below the last one.
        _ => (((rank as f64 / n).powf(0.01) + eta - 1.0) / eta).clamp(second, 1.0),
    };
    let expected: Vec<f64> = (0..=last)
        .map(|rank| {
            if rank == last {
                1.0 - from(rank)
            } else {
                from(rank + 1) - from(rank)
            }
        })
        .collect();
    check(52, &expected, |rng| last - distribution.next(rng, last));
}

#[test]
fn hotspot() {
    let distribution = Hotspot::new(0, 999, 0.2, 0.8).expect("a range");
    let mut expected = vec![0.8 / 200.0; 200];
    expected.extend([0.2 / 800.0; 800]);
    check(61, &expected, |rng| distribution.next(rng));
}

#[test]
fn exponential() {
    let distribution = Exponential::new(95.0, 85.714).expect("a distribution");
    let gamma = -(0.05f64).ln() / 85.714;
    let beyond = |from: i32| (-gamma * f64::from(from)).exp();
    let mut expected: Vec<f64> = (0..400).map(|at| beyond(at) - beyond(at + 1)).collect();
    expected.push(beyond(400));
    check(71, &expected, |rng| {
        (distribution.next(rng) as i64).min(400)
    });
}

#[test]
fn the_true_zipf_distribution() {
    for (seed, items, exponent) in [
        (81, 1000, 0.99),
        (82, 500, 1.0),
        (83, 1000, 2.5),
        (84, 3, 0.2),
    ] {
        let distribution = Zipf::new(items, exponent).expect("a distribution");
        let total = zeta(items, exponent);
        let expected: Vec<f64> = (1..=items)
            .map(|rank| (rank as f64).powf(-exponent) / total)
            .collect();
        check(seed, &expected, |rng| distribution.next(rng));
    }
}

#[test]
fn the_choice_of_operations() {
    let choice = Discrete::new(vec![(95.0, 0), (4.0, 1), (0.0, 2), (1.0, 3)]).expect("weights");
    check(91, &[0.95, 0.04, 0.0, 0.01], |rng| *choice.next(rng));
}

#[test]
fn draws_beyond_the_last_record_are_drawn_again() {
    let distribution = UniformLong::new(0, 999).expect("a range");
    let mut chooser = Chooser::Uniform(distribution);
    check(92, &[1.0 / 600.0; 600], |rng| chooser.next(rng, 599));
}

#[test]
fn exponential_counts_back_from_the_last_record() {
    let distribution = Exponential::new(95.0, 85.714).expect("a distribution");
    let mut chooser = Chooser::Exponential(distribution);
    let (gamma, last) = (-(0.05f64).ln() / 85.714, 99);
    let beyond = |from: i64| (-gamma * from as f64).exp();
    let expected: Vec<f64> = (0..=last)
        .map(|back| (beyond(back) - beyond(back + 1)) / (1.0 - beyond(last + 1)))
        .collect();
    check(93, &expected, |rng| last - chooser.next(rng, last));
}
