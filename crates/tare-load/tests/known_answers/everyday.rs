//! Short runs with wide limits: what any machine that builds the project can show.

use std::time::Duration;

use serde_json::json;
use tare_stub::{Fault, Script, Servers, Service, Stall};

use crate::bench::{alone, client, judge, point, run, spec, PROTOCOLS};

/// A stall of length s within T seconds of open loop holds the operations that fall due in it:
/// one due at time u of the stall waits s - u. So a share (s - x) / T of all waits longer than x,
/// and quantile q is s - (1 - q) T.
pub fn stalled(stall: f64, length: f64, quantile: f64) -> f64 {
    stall - (1.0 - quantile) * length
}

#[test]
fn a_stall_shows_in_the_quantiles_of_open_loop_as_theory_says() {
    let stall = Stall {
        at: Duration::from_millis(2_500),
        length: Duration::from_millis(200),
    };
    for protocol in PROTOCOLS {
        let script = Script {
            protocol,
            service: Service::Constant(0.0),
            stalls: vec![stall],
            ..Script::default()
        };
        let spec = spec(json!({"rate": 2000.0, "arrivals": "fixed", "measure_s": 6.0}));
        judge(
            &script,
            &spec,
            |seen| seen.punctual(2_000.0),
            |seen| {
                for quantile in [0.99, 0.999] {
                    let expected = stalled(0.2, 6.0, quantile) * 1e6;
                    let found = seen.response_us(quantile);
                    assert!(
                        (found / expected - 1.0).abs() < 0.03,
                        "{protocol:?} {quantile}: {found} for {expected}"
                    );
                }
                // What was in flight when the stall began is all that a closed loop would have seen.
                assert!(seen.response_us(0.9) < 50_000.0);
            },
        );
    }
}

#[test]
fn injected_errors_are_counted_and_are_no_goodput() {
    let _alone = alone();
    for protocol in PROTOCOLS {
        let script = Script {
            protocol,
            errors: vec![(Fault::Unavailable, 0.01)],
            ..Script::default()
        };
        let seen = run(script, spec(json!({"threads": 8, "measure_s": 1.0})));
        let (ok, failed) = (seen.number("ok"), seen.number("errors"));
        assert!(
            (failed / (ok + failed) - 0.01).abs() <= 0.001,
            "{protocol:?} {ok} {failed}"
        );
        assert_eq!(seen.result["errors_by_kind"]["unavailable"], failed);
        // What was under way at the end has its age, and is no goodput either.
        assert_eq!(seen.response.len() as f64, ok + seen.number("under_way"));
        assert!(seen.number("under_way") <= 8.0);
        let goodput = seen.number("throughput") * seen.number("measured_s");
        assert!((goodput / ok - 1.0).abs() < 0.001, "{goodput} {ok}");
    }
}

#[test]
fn the_queue_in_front_of_a_server_is_seen_as_it_was() {
    // M/M/1 with half load. What was drawn is in the stub's report: the client must see that.
    for protocol in PROTOCOLS {
        let at_once = Script {
            protocol,
            ..Script::default()
        };
        let script = Script {
            service: Service::Exponential { mean: 2e6 },
            servers: Servers::Count(1),
            ..at_once.clone()
        };
        let spec = spec(json!({"rate": 250.0, "warmup_s": 0.0, "measure_s": 3.0}));
        judge(
            &script,
            &spec,
            |seen| seen.punctual(1_000.0) && seen.result["saturated"] == false,
            |seen| {
                // The way there and back, and the client's waking up, are no part of the queue.
                let way = run(at_once.clone(), spec.clone()).response_us(0.5);
                let scripted = &seen.stub.scripted_us;
                for (quantile, queue) in [(0.5, scripted.p50), (0.9, scripted.p90)] {
                    let (found, expected) = (seen.response_us(quantile), queue + way);
                    let allowed = 0.02 * expected + 500.0;
                    println!("{protocol:?} {quantile}: {found} for {queue} and the way {way}");
                    assert!(
                        (found - expected).abs() <= allowed,
                        "{protocol:?} {quantile}: {found} for {queue} and the way {way}"
                    );
                }
            },
        );
    }
}

#[test]
fn rate_error_and_lateness_are_printed_and_the_rate_is_kept() {
    for protocol in PROTOCOLS {
        let script = Script {
            protocol,
            ..Script::default()
        };
        let spec = spec(json!({"rate": 1000.0, "measure_s": 2.0}));
        judge(
            &script,
            &spec,
            |seen| seen.punctual(2_000.0),
            |seen| {
                println!("p99 lateness {} us", seen.number("send_lateness_p99_us"));
                assert!(seen.number("rate_error").abs() <= 0.001, "{}", seen.result);
            },
        );
    }
}

#[test]
fn the_capacity_of_a_cluster_is_found() {
    let _alone = alone();
    let script = Script {
        capacity: Some(2_000.0),
        service: Service::Constant(1e6),
        ..Script::default()
    };
    let stub = tare_stub::Stub::start(script).unwrap();
    let mut spec = spec(json!({}));
    point(&mut spec, &stub, tare_stub::Protocol::Cql);
    let words = [
        "find-max", "--step", "500ms", "--budget", "12s", "--within", "5%", "--quiet",
    ];
    let lines = client(&words, &spec);
    let result = lines.last().unwrap();
    assert_eq!(result["event"], "result");
    assert!(lines.len() > 5 && lines[0]["event"] == "step", "{lines:?}");
    let found = result["throughput"]["estimate"].as_f64().unwrap();
    // Steps of half a second on a machine that does other things: the 5% are shown by simulation.
    assert!((found / 2_000.0 - 1.0).abs() <= 0.2, "{result}");
}
