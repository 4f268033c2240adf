//! Long runs with narrow limits, for a quiet machine of two CPUs. The stub spins on CPU 0; the client
//! has CPU 1, which never halts: a virtual CPU that wakes up adds tens of microseconds of its own.

use std::process::{Child, Command};
use std::time::Duration;

use rustix::thread::{sched_setaffinity, CpuSet};
use serde_json::json;
use tare_stub::{Script, Servers, Service, Stall};

use crate::bench::{alone, demand, punctually, run, spec, Seen};
use crate::everyday::stalled;

/// An endless loop on CPU 1 that gives way at once to whatever else wants to run there.
struct Awake(Child);

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Ties this thread, and the clients that it starts, to CPU 1, and keeps that from halting.
fn awake() -> Awake {
    let mut cpu = CpuSet::new();
    cpu.set(1);
    sched_setaffinity(None, &cpu).unwrap();
    let mut idle = Command::new("chrt");
    let idle = idle.args(["--idle", "0", "sh", "-c", "while :; do :; done"]);
    Awake(idle.spawn().expect("chrt of util-linux"))
}

/// Microseconds through the loopback and back, half of the times: of a stub that answers at once.
fn way() -> f64 {
    let spec = spec(json!({"rate": 500.0, "measure_s": 10.0}));
    run(constant(0.0), spec).service_us(0.5)
}

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
    let _awake = awake();
    let script = Script {
        stalls: vec![Stall {
            at: Duration::from_secs(20),
            length: Duration::from_secs(2),
        }],
        ..constant(0.0)
    };
    let spec = spec(json!({
        "rate": 1000.0, "arrivals": "fixed", "measure_s": 60.0, "timeout_s": 10.0,
    }));
    demand(
        &script,
        &spec,
        // The stub answers the 2,000 requests of the stall one after the other.
        |seen| seen.punctual(4_000.0),
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
#[ignore = "needs six minutes of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn the_response_times_of_m_m_1_are_those_of_theory() {
    let _awake = awake();
    // Exponential service of mean 10 ms, 50 arrivals a second: response times are exponential with
    // mean 1 / (100 - 50) s = 20 ms, so quantile q is -ln(1 - q) times that. But chance moves the
    // quantiles of 6,000 responses by many percent. So the client must find the queue's own times:
    // the stub tells them for the very arrivals and service times that were drawn, by Lindley's
    // recursion in virtual time (Lindley: The theory of queues with a single server, 1952). A test
    // of the stub, on 400,000 arrivals, shows its quantiles within 2% of the closed form's.
    // The way W there and back, and the client's waking up for it, are no part of the queue. With T
    // exponential of mean m, P(T + W > t) = exp(-t/m) E[exp(W/m)]. This adds m ln E[exp(W/m)], the
    // mean of W but for a term of its variance, which is far below 1% of it here. Times are
    // long beside the way, which itself moves by 50 us from run to run on a virtual machine.
    const MEAN_US: f64 = 20_000.0;
    let arrivals = |seconds: f64, seed: u64| {
        spec(json!({"rate": 50.0, "warmup_s": 0.5, "measure_s": seconds, "seed": seed}))
    };
    let way = || run(constant(0.0), arrivals(20.0, 9)).response;
    let mut ways = way();
    let mut seen = Vec::new();
    for seed in [1, 2] {
        let script = Script {
            servers: Servers::Count(1),
            seed,
            ..spinning(Service::Exponential { mean: 1e7 })
        };
        let kept = |seen: &Seen| seen.stub.lateness_us.p99 <= 100.0;
        let found = punctually(&script, &arrivals(120.0, seed), kept);
        seen.push(found.expect("the stub was late every time: the machine is not quiet"));
        ways.add(way()).unwrap();
    }
    let way = ways.mean() / 1_000.0;
    println!("the way alone {way:.1} us");
    for quantile in [0.5_f64, 0.9, 0.99] {
        let closed = -(1.0 - quantile).ln() * MEAN_US;
        let mut off = 0.0;
        for one in &seen {
            let queue = match quantile {
                0.5 => one.stub.scripted_us.p50,
                0.9 => one.stub.scripted_us.p90,
                _ => one.stub.scripted_us.p99,
            };
            let found = one.response_us(quantile);
            let share = found / (queue + way) - 1.0;
            println!(
                "quantile {quantile}: {found:.1} us; the queue {queue:.1} us and the way: {:+.2}%; \
                 closed form {closed:.1} us",
                share * 100.0
            );
            // Four standard deviations of chance at the 99th percentile, as simulated.
            assert!(
                (queue / closed - 1.0).abs() <= 0.35,
                "this is no M/M/1 queue"
            );
            off += share / seen.len() as f64;
        }
        println!("quantile {quantile}: {:+.2}% in the mean", off * 100.0);
        assert!(off.abs() <= 0.02, "{quantile}: {off}");
    }
}

#[test]
#[ignore = "needs half a minute of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn a_constant_service_time_of_500_us_is_recovered_within_5_us() {
    let _alone = alone();
    let _awake = awake();
    let way = way();
    let spec = spec(json!({"rate": 500.0, "measure_s": 10.0}));
    let recovered = run(constant(500.0), spec).service_us(0.5) - way;
    println!("{recovered:.1} us; the way alone {way:.1} us");
    assert!((recovered - 500.0).abs() <= 5.0, "{recovered}");
}

#[test]
#[ignore = "needs four minutes of a quiet machine: cargo test --profile checked -p tare-load --test known_answers -- --ignored --nocapture --test-threads 1"]
fn a_stub_that_is_1_percent_slower_is_told_apart_from_an_identical_one() {
    let _alone = alone();
    let _awake = awake();
    // Not the mean, in which a single pause of the machine weighs more than the 1%.
    let median = |factor: f64| {
        let script = Script {
            slowdown: factor,
            ..constant(2_000.0)
        };
        let seen = run(
            script,
            spec(json!({"threads": 4, "warmup_s": 0.2, "measure_s": 1.5})),
        );
        seen.service_us(0.5)
    };
    let interval = |factor: f64| {
        // The order within a pair is turned around every time.
        let log_ratio = |pair: usize| match pair % 2 {
            0 => {
                let slower = median(factor);
                (slower / median(1.0)).ln()
            }
            _ => {
                let plain = median(1.0);
                (median(factor) / plain).ln()
            }
        };
        let logs: Vec<f64> = (0..20).map(log_ratio).collect();
        let n = logs.len() as f64;
        let centre = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
        // Student's t, 19 degrees of freedom, 95%.
        let half = 2.093 * (squares / (n - 1.0) / n).sqrt();
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
fn the_rate_is_kept_and_sends_are_on_time_far_beyond_half_of_what_a_node_answers() {
    let _alone = alone();
    let _awake = awake();
    // One node of Cassandra on a CPU of its own answers some 50,000 reads a second.
    for rate in [5e3, 25e3, 50e3, 100e3, 200e3, 400e3] {
        let seen: Seen = run(
            constant(0.0),
            spec(json!({"rate": rate, "measure_s": 10.0})),
        );
        let (error, late) = (
            seen.number("rate_error"),
            seen.number("send_lateness_p99_us"),
        );
        println!("at {rate}/s: rate error {error:+.5}, p99 lateness {late} us (the aim is 100)");
        if rate <= 50e3 {
            assert!(error.abs() <= 0.001 && late <= 100.0, "{}", seen.result);
        } else if error.abs() > 0.001 {
            assert_eq!(
                seen.result["saturated"], true,
                "it says so: {}",
                seen.result
            );
        }
    }
}
