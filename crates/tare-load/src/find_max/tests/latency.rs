//! The search under a latency target.

use super::super::level::By;
use super::super::outcome::Verdict;
use super::super::{table, Wish};
use super::cluster::{found, rate, synthetic, wish, Synthetic};

#[test]
fn the_highest_rate_under_a_latency_target_is_found_within_5_percent() {
    // p99 of 10 ms: capacity - ln(100) / 10 ms.
    let capacity = 5000.0;
    let truth = capacity - 100f64.ln() / 0.010;
    let seeds = 40;
    let (mut close, mut holds, mut decided) = (0, 0, 0);
    for seed in 0..seeds {
        let wish = Wish {
            latency_us: Some(10_000.0),
            seed,
            ..wish(By::Rate)
        };
        let cluster = Synthetic {
            queue: Some(capacity),
            ..synthetic(seed + 5, 0.02, |rate: f64| rate.min(5000.0))
        };
        let outcome = found(&wish, cluster);
        assert!(outcome.spent_s <= wish.budget_s);
        let Some(level) = outcome.level else {
            panic!("{}", table::text(&outcome))
        };
        close += usize::from((level.estimate / truth - 1.0).abs() <= 0.05);
        holds += usize::from((level.low..=level.high).contains(&truth));
        decided += usize::from(outcome.verdict == Verdict::Found);
    }
    let share = |count: usize| count as f64 / seeds as f64;
    println!(
        "within 5% {}, held {}, found {}",
        share(close),
        share(holds),
        share(decided)
    );
    assert!(share(close) >= 0.95, "{}", share(close));
    assert!(share(holds) >= 0.93, "{}", share(holds));
    assert!(share(decided) >= 0.9, "{}", share(decided));
}

#[test]
fn a_target_that_is_never_met_or_always_met_is_undecided() {
    for (limit, words) in [
        (1.0, "missed at the lowest"),
        (1e9, "still met at the highest"),
    ] {
        let wish = Wish {
            latency_us: Some(limit),
            most: 4000.0,
            ..wish(By::Rate)
        };
        let cluster = Synthetic {
            queue: Some(5000.0),
            ..synthetic(9, 0.01, rate)
        };
        let outcome = found(&wish, cluster);
        assert_eq!(outcome.verdict, Verdict::Undecided);
        assert!(outcome.reasons[0].contains(words), "{:?}", outcome.reasons);
    }
}
