//! Long runs with narrow limits, for a quiet machine. The stub spins on CPU 0.

use std::time::Duration;

use serde_json::json;
use tare_stub::{Script, Servers, Service, Stall};

use crate::bench::{alone, demand, run, spec, Seen};
use crate::everyday::stalled;

fn spinning(service: Service) -> Script {
    Script {
        service,
        spin: true,
        cpu: Some(0),
        ..Script::default()
    }
}

fn constant(us: f64) -> Script {
    spinning(Service::Constant(us * 1000.0))
}

fn assert_within(found: f64, expected: f64, share: f64) {
    println!("{found:.1} for {expected:.1} us");
    assert!(
        (found / expected - 1.0).abs() <= share,
        "{found} for {expected}"
    );
}

#[test]
#[ignore = "needs a minute of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn a_2_s_stall_in_60_s_gives_p99_of_1400_ms_and_p999_of_1940_ms() {
    let script = Script {
        stalls: vec![Stall {
            at: Duration::from_secs(20),
            length: Duration::from_secs(2),
        }],
        ..constant(0.0)
    };
    let spec = spec(json!({
        "rate": 5000.0, "arrivals": "fixed", "measure_s": 60.0, "timeout_s": 10.0,
    }));
    demand(
        &script,
        &spec,
        |seen| seen.punctual(1_000.0),
        |seen| {
            for quantile in [0.99, 0.999] {
                assert_within(
                    seen.response_us(quantile),
                    stalled(2.0, 60.0, quantile) * 1e6,
                    0.01,
                );
            }
        },
    );
}

#[test]
#[ignore = "needs ten minutes of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn the_response_times_of_m_m_1_are_those_of_theory() {
    // Exponential service of mean 1 ms, 500 arrivals a second: response times are exponential
    // with mean 1 / (1000 - 500) s = 2 ms, so that quantile q is -ln(1 - q) times that.
    let script = Script {
        servers: Servers::Count(1),
        ..spinning(Service::Exponential { mean: 1e6 })
    };
    let spec = spec(json!({"rate": 500.0, "warmup_s": 5.0, "measure_s": 600.0}));
    demand(
        &script,
        &spec,
        |seen| seen.punctual(100.0),
        |seen| {
            for quantile in [0.5, 0.9, 0.99] {
                let expected = -(1.0f64 - quantile).ln() * 2_000.0;
                assert_within(seen.response_us(quantile), expected, 0.02);
            }
        },
    );
}

#[test]
#[ignore = "needs half a minute of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn a_constant_service_time_of_500_us_is_recovered_within_5_us() {
    // The way through the loopback is measured with a stub that answers at once.
    let _alone = alone();
    let measure = |us: f64| {
        run(
            constant(us),
            spec(json!({"rate": 500.0, "measure_s": 10.0})),
        )
    };
    let (none, all) = (measure(0.0), measure(500.0));
    let recovered = all.service_us(0.5) - none.service_us(0.5);
    println!(
        "{recovered:.1} us; the way alone {:.1} us",
        none.service_us(0.5)
    );
    assert!((recovered - 500.0).abs() <= 5.0, "{recovered}");
}

#[test]
#[ignore = "needs two minutes of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn a_stub_that_is_1_percent_slower_is_told_apart_from_an_identical_one() {
    let _alone = alone();
    let mean = |factor: f64| {
        let script = Script {
            slowdown: factor,
            ..constant(2_000.0)
        };
        let seen = run(
            script,
            spec(json!({"threads": 4, "warmup_s": 0.2, "measure_s": 2.0})),
        );
        seen.service.mean()
    };
    let interval = |factor: f64| {
        // The order within a pair is turned around every time.
        let log_ratio = |pair: usize| match pair % 2 {
            0 => {
                let slower = mean(factor);
                (slower / mean(1.0)).ln()
            }
            _ => {
                let plain = mean(1.0);
                (mean(factor) / plain).ln()
            }
        };
        let logs: Vec<f64> = (0..12).map(log_ratio).collect();
        let n = logs.len() as f64;
        let centre = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
        // Student's t, 11 degrees of freedom, 95%.
        let half = 2.201 * (squares / (n - 1.0) / n).sqrt();
        ((centre - half).exp(), (centre + half).exp())
    };
    let (low, high) = interval(1.01);
    println!("slower: {low:.4} to {high:.4}");
    assert!(low > 1.0 && (1.005..1.015).contains(&((low + high) / 2.0)));
    let (low, high) = interval(1.0);
    println!("identical: {low:.4} to {high:.4}");
    assert!(low > 0.995 && high < 1.005);
}

#[test]
#[ignore = "needs a minute of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn the_rate_is_kept_and_sends_are_on_time_at_half_of_saturation() {
    let _alone = alone();
    let saturation = run(
        constant(0.0),
        spec(json!({"threads": 64, "measure_s": 5.0})),
    );
    let rate = (saturation.number("throughput") / 2.0).round();
    let seen: Seen = run(
        constant(0.0),
        spec(json!({"rate": rate, "measure_s": 20.0})),
    );
    println!(
        "at {rate}/s: rate error {:+.5}, p99 lateness {} us (the aim is 100)",
        seen.number("rate_error"),
        seen.number("send_lateness_p99_us"),
    );
    assert!(seen.number("rate_error").abs() <= 0.001, "{}", seen.result);
}
