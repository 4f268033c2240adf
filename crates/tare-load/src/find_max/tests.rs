//! The search on synthetic clusters whose capacity is known.

use std::convert::Infallible;

use super::bootstrap::Random;
use super::level::By;
use super::outcome::{Outcome, Verdict};
use super::{search, Meter, Observation, Wish};

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
struct Synthetic<F: Fn(f64) -> f64> {
    throughput: F,
    noise: f64,
    random: Random,
    /// Relative speed gained with every measurement, until it is 1 (a cluster that warms up).
    speed: f64,
    warming: f64,
    /// Throughput that the client can make at most.
    client: f64,
    /// Capacity of an open M/M/1 server whose p99 response time is told.
    queue: Option<f64>,
}

fn synthetic<F: Fn(f64) -> f64>(seed: u64, noise: f64, throughput: F) -> Synthetic<F> {
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

fn wish(by: By) -> Wish {
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

fn found<F: Fn(f64) -> f64>(wish: &Wish, mut cluster: Synthetic<F>) -> Outcome {
    match search(wish, &mut cluster, &mut |_| ()) {
        Ok(outcome) => outcome,
        Err(never) => match never {},
    }
}

/// Curves of a cluster of 50 000 operations/s: threads.
const CAPACITY: f64 = 50_000.0;

/// Balanced bottleneck: a straight line, then flat.
fn knee(threads: f64) -> f64 {
    (threads * 1000.0).min(CAPACITY)
}

/// A smooth approach to the capacity.
fn smooth(threads: f64) -> f64 {
    CAPACITY * threads / (threads.powi(4) + 40f64.powi(4)).powf(0.25)
}

/// Universal scalability law with its peak at 90 threads (Gunther, Guerrilla Capacity Planning,
/// 2007): contention 0.02, coherence (1 - 0.02) / 90^2.
fn retrograde(threads: f64) -> f64 {
    let law = |n: f64| n / (1.0 + 0.02 * (n - 1.0) + 0.98 / 8100.0 * n * (n - 1.0));
    CAPACITY * law(threads) / law(90.0)
}

fn rate(rate: f64) -> f64 {
    rate.min(CAPACITY)
}

/// Shares of seeds whose estimate is within 5% of the capacity, and whose verdict is `found`.
fn shares(by: By, noise: f64, curve: fn(f64) -> f64) -> (f64, f64) {
    let seeds = 200;
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

#[test]
fn the_capacity_is_found_within_5_percent_in_95_percent_of_searches() {
    for noise in [0.005, 0.02, 0.04] {
        for (name, by, curve) in [
            ("knee", By::Threads, knee as fn(f64) -> f64),
            ("smooth", By::Threads, smooth),
            ("retrograde", By::Threads, retrograde),
            ("rate", By::Rate, rate),
        ] {
            let (close, decided) = shares(by, noise, curve);
            println!("{name} {noise}: within 5% {close}, found {decided}");
            assert!(close >= 0.95, "{name} {noise}: {close}");
            // Too much noise for the budget is said, not hidden.
            let least = if noise > 0.03 { 0.6 } else { 0.95 };
            assert!(decided >= least, "{name} {noise}: {decided}");
        }
    }
}

#[test]
fn the_interval_holds_the_capacity_about_as_often_as_it_says() {
    let seeds = 400;
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
fn the_highest_rate_under_a_latency_target_is_found_within_5_percent() {
    // p99 of 10 ms: capacity - ln(100) / 10 ms.
    let capacity = 5000.0;
    let truth = capacity - 100f64.ln() / 0.010;
    let seeds = 300;
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
            panic!("{}", super::table::text(&outcome))
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
