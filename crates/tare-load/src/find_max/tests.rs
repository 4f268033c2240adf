//! The search on synthetic clusters whose capacity is known.

use std::convert::Infallible;

mod cluster;
mod latency;

use super::level::By;
use super::outcome::Verdict;
use super::{search, Meter, Observation, Wish};
pub use cluster::seen;
use cluster::{found, knee, rate, retrograde, smooth, synthetic, wish, Synthetic, CAPACITY};

/// Shares of seeds whose estimate is within 5% of the capacity, and whose verdict is `found`.
fn shares(seeds: u64, by: By, noise: f64, curve: fn(f64) -> f64) -> (f64, f64) {
    let (mut close, mut decided) = (0, 0);
    for seed in 0..seeds {
        let wish = Wish { seed, ..wish(by) };
        let outcome = found(&wish, synthetic(seed * 7919 + 1, noise, curve));
        assert!(outcome.spent_s <= wish.budget_s);
        assert!(outcome.steps <= 80, "{}", outcome.steps);
        let estimate = outcome.throughput.unwrap().estimate;
        close += usize::from((estimate / CAPACITY - 1.0).abs() <= 0.05);
        decided += usize::from(outcome.verdict == Verdict::Found);
    }
    (close as f64 / seeds as f64, decided as f64 / seeds as f64)
}

/// Checks all curves at all noises with so many seeds each.
fn check_capacities(seeds: u64) {
    for noise in [0.005, 0.02, 0.04] {
        for (name, by, curve) in [
            ("knee", By::Threads, knee as fn(f64) -> f64),
            ("smooth", By::Threads, smooth),
            ("retrograde", By::Threads, retrograde),
            ("rate", By::Rate, rate),
        ] {
            let (close, decided) = shares(seeds, by, noise, curve);
            println!("{name} {noise}: within 5% {close}, found {decided}");
            assert!(close >= 0.95, "{name} {noise}: {close}");
            // Too much noise for the budget is said, not hidden.
            let least = if noise > 0.03 { 0.6 } else { 0.95 };
            assert!(decided >= least, "{name} {noise}: {decided}");
        }
    }
}

#[test]
fn the_capacity_is_found_within_5_percent_in_95_percent_of_searches() {
    check_capacities(20);
}

#[test]
#[ignore = "400 searches of each curve take minutes: cargo test --profile checked -p tare-load --bin tare-load -- --ignored"]
fn the_capacity_is_found_within_5_percent_in_95_percent_of_many_searches() {
    check_capacities(400);
}

#[test]
fn the_interval_holds_the_capacity_about_as_often_as_it_says() {
    let seeds = 60;
    let holds = (0..seeds).filter(|&seed| {
        let wish = Wish {
            seed,
            ..wish(By::Rate)
        };
        let outcome = found(&wish, synthetic(seed + 77, 0.02, rate));
        let throughput = outcome.throughput.unwrap();
        (throughput.low..=throughput.high).contains(&CAPACITY)
    });
    let share = holds.count() as f64 / seeds as f64;
    assert!(share >= 0.93, "{share}");
}

#[test]
fn the_saturation_point_is_the_lowest_level_that_reaches_the_maximum() {
    let outcome = found(&wish(By::Threads), synthetic(3, 0.01, knee));
    let level = outcome.level.unwrap();
    assert!((45.0..=60.0).contains(&level.estimate), "{level:?}");
    assert!(level.low < 50.0 && level.low >= 32.0, "{level:?}");
    let two_thirds = &outcome.fractions[0];
    assert!((30.0..=36.0).contains(&two_thirds.level), "{two_thirds:?}");
    assert!((two_thirds.throughput.estimate / 33_000.0 - 1.0).abs() < 0.05);
}

#[test]
fn a_client_that_was_the_limit_makes_no_maximum() {
    let cluster = Synthetic {
        client: 30_000.0,
        ..synthetic(4, 0.01, knee)
    };
    let outcome = found(&wish(By::Threads), cluster);
    assert_eq!(outcome.verdict, Verdict::ClientLimit);
    assert!(
        outcome.reasons[0].contains("client was the limit"),
        "{:?}",
        outcome.reasons
    );
    assert_eq!(outcome.reasons[1], "busy");
}

#[test]
fn a_throughput_that_still_rises_is_undecided() {
    let wish = Wish {
        most: 32.0,
        ..wish(By::Threads)
    };
    let outcome = found(&wish, synthetic(5, 0.01, knee));
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(
        outcome.reasons[0].contains("still rose"),
        "{:?}",
        outcome.reasons
    );
}

#[test]
fn a_small_budget_is_kept_and_said() {
    for budget_s in [0.0, 20.0, 60.0, 90.0] {
        let wish = Wish {
            budget_s,
            ..wish(By::Threads)
        };
        let outcome = found(&wish, synthetic(6, 0.05, knee));
        assert!(outcome.spent_s <= budget_s);
        assert_eq!(outcome.verdict, Verdict::Undecided, "{budget_s}");
        assert!(!outcome.reasons.is_empty());
    }
}

#[test]
fn a_noisy_cluster_is_undecided_when_the_budget_is_spent() {
    let outcome = found(&wish(By::Threads), synthetic(7, 0.4, knee));
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(outcome
        .reasons
        .iter()
        .any(|reason| reason.contains("interval of")));
}

#[test]
fn a_cluster_that_warms_up_during_the_search_is_measured_at_its_later_speed() {
    let cluster = Synthetic {
        speed: 0.6,
        warming: 0.02,
        ..synthetic(8, 0.005, knee)
    };
    let outcome = found(&wish(By::Threads), cluster);
    let throughput = outcome.throughput.unwrap();
    assert!(
        (throughput.estimate / CAPACITY - 1.0).abs() < 0.06,
        "{throughput:?}"
    );
}

#[test]
fn levels_with_failures_are_no_maximum() {
    struct Failing;
    impl Meter for Failing {
        type Error = Infallible;
        fn measure(&mut self, level: f64, seconds: f64) -> Result<Observation, Infallible> {
            let failed_share = if level > 64.0 { 0.2 } else { 0.0 };
            Ok(Observation {
                seconds,
                failed_share,
                ..seen(level, level * 1000.0)
            })
        }
    }
    let outcome = match search(&wish(By::Threads), &mut Failing, &mut |_| ()) {
        Ok(outcome) => outcome,
        Err(never) => match never {},
    };
    assert!(
        outcome.plateau.iter().all(|&level| level <= 64.0),
        "{outcome:?}"
    );
}

#[test]
fn the_same_seed_asks_for_the_same_levels() {
    let levels = || {
        let mut levels = Vec::new();
        let mut cluster = synthetic(10, 0.02, smooth);
        let told = &mut |step: &super::Step| levels.push(step.observation.level);
        assert!(search(&wish(By::Threads), &mut cluster, told).is_ok());
        levels
    };
    assert_eq!(levels(), levels());
}

#[test]
fn the_text_says_answer_interval_and_levels() {
    let outcome = found(&wish(By::Threads), synthetic(11, 0.01, knee));
    let text = super::table::text(&outcome);
    assert!(text.starts_with("Highest throughput: "), "{text}");
    assert!(text.contains("66% of it: 3"), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.ends_with("top")).count(),
        outcome.plateau.len()
    );
}
