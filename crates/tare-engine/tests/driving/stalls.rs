//! A server that stops for a while is noticed, whenever and however long it stops.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tare_engine::errors::ErrorKind;
use tare_engine::order::{Arrivals, Order, Pace};
use tare_engine::slices::Slices;
use tare_engine::totals::Totals;
use tare_stub::{Protocol, Script, Service, Stall, Stub};

use super::documents;
use super::reads::{closed, open, order, seen, within, Reads};

const MS: u64 = 1_000_000;
/// Length of a run, milliseconds.
const RUN: u64 = 400;
/// How late a thread of a busy machine may be, milliseconds.
const TOLERANCE: u64 = 60;
/// The usual interval: no run here is longer.
const SECOND: Duration = Duration::from_secs(1);

/// A server of 1 ms that stands still for `length` milliseconds, `at` after its first request.
fn stalling(at: u64, length: u64) -> Stub {
    Stub::start(stalling_script(at, length)).unwrap()
}

fn stalling_script(at: u64, length: u64) -> Script {
    Script {
        service: Service::Constant(1e6),
        stalls: vec![Stall {
            at: Duration::from_millis(at),
            length: Duration::from_millis(length),
        }],
        ..Script::default()
    }
}

/// What is seen of a run against such a server, over either protocol.
fn seen_over(protocol: Protocol, at: u64, length: u64, pace: Pace) -> Totals {
    let script = stalling_script(at, length);
    let stub = Stub::start(Script { protocol, ..script }).unwrap();
    let order = run_for(&stub, pace);
    match protocol {
        Protocol::Cql => seen(&order, Reads::default()).1,
        Protocol::Mongodb => {
            let hosts = documents::hosts(std::slice::from_ref(&stub));
            let own = documents::order(&hosts, 1, "");
            let order = Order {
                pace: order.pace,
                measure: order.measure,
                ..own
            };
            documents::totals(&order, documents::finds(u64::MAX))
        }
    }
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop_oneof![Just(Protocol::Cql), Just(Protocol::Mongodb)]
}

fn run_for(stub: &Stub, pace: Pace) -> Order {
    order(stub, pace, Some(RUN as f64 / 1000.0))
}

fn slowest_ms(totals: &Totals) -> u64 {
    totals.counts.operations[0].response().max() / MS
}

fn gap_ms(totals: &Totals) -> u64 {
    totals.longest_gap / MS
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_closed_loop_sees_a_stall_as_far_as_it_lasts_within_the_run(
        at in 5..RUN - TOLERANCE, length in 2 * TOLERANCE..2 * RUN, protocol in protocol(),
    ) {
        let totals = seen_over(protocol, at, length, closed(4));
        let visible = length.min(RUN - at);
        prop_assert!(slowest_ms(&totals) + TOLERANCE >= visible, "{}", slowest_ms(&totals));
        prop_assert!(slowest_ms(&totals) <= RUN);
        if visible >= 200 {
            prop_assert!(gap_ms(&totals) + TOLERANCE >= visible, "{}", gap_ms(&totals));
        }
        let record = &totals.counts.operations[0];
        prop_assert_eq!(record.service.len(), record.ok + record.under_way);
    }

    #[test]
    fn an_open_loop_sees_the_whole_stall(
        at in 5..RUN - TOLERANCE, length in 2 * TOLERANCE..2 * RUN, protocol in protocol(),
    ) {
        let totals = seen_over(protocol, at, length, open(1000.0, Arrivals::Fixed));
        prop_assert!(slowest_ms(&totals) + TOLERANCE >= length, "{}", slowest_ms(&totals));
        let record = &totals.counts.operations[0];
        prop_assert_eq!((totals.counts.due, record.under_way), (RUN, 0));
        prop_assert_eq!(record.ok + record.failures(), RUN);
    }
}

#[test]
fn a_stall_that_is_not_over_at_the_end_leaves_its_operations_under_way() {
    let stub = stalling(100, 10_000);
    let (_, totals) = seen(&run_for(&stub, closed(4)), Reads::default());
    let record = &totals.counts.operations[0];
    assert_eq!((record.under_way, record.failures()), (4, 0));
    assert!(slowest_ms(&totals) >= 200, "{}", slowest_ms(&totals));
    // They are no answers: the throughput is of those before the stall.
    assert_eq!(totals.counts.answered, record.ok);
    assert_eq!(stub.stop().unwrap().requests, record.ok + record.under_way);
}

#[test]
fn a_longer_stall_before_hides_no_later_one() {
    let stub = Stub::start(Script {
        stalls: [(10, 250), (500, 10_000)]
            .map(|(at, length)| Stall {
                at: Duration::from_millis(at),
                length: Duration::from_millis(length),
            })
            .to_vec(),
        service: Service::Constant(1e6),
        ..Script::default()
    })
    .unwrap();
    let mut order = run_for(&stub, closed(1));
    order.warmup = Duration::from_millis(300);
    let (_, totals) = seen(&order, Reads::default());
    assert!(slowest_ms(&totals) >= 100, "{}", slowest_ms(&totals));
}

#[test]
fn what_is_under_way_for_longer_than_the_timeout_has_failed() {
    let stub = stalling(50, 10_000);
    let mut order = run_for(&stub, closed(4));
    order.timeout = Duration::from_millis(150);
    let (_, totals) = seen(&order, Reads::default());
    let record = &totals.counts.operations[0];
    let timeouts = record.errors[ErrorKind::Timeout as usize];
    within(timeouts, 4..=8);
    assert_eq!(record.under_way, 4);
    assert_eq!(
        stub.stop().unwrap().requests,
        record.ok + timeouts + record.under_way
    );
    // The client's own timeouts are no answers.
    assert!(gap_ms(&totals) >= 250, "{}", gap_ms(&totals));
}

#[test]
fn a_stall_between_answers_of_one_interval_is_a_gap_of_its_length() {
    for pace in [closed(4), open(1000.0, Arrivals::Fixed)] {
        for workers in [1, 2] {
            let stub = stalling(100, 200);
            let order = Order {
                interval: SECOND,
                workers: Some(workers),
                ..run_for(&stub, pace.clone())
            };
            let (_, totals) = seen(&order, Reads::default());
            let gap = gap_ms(&totals);
            assert!(
                (190..200 + 2 * TOLERANCE).contains(&gap),
                "{gap} ms, {order:?}"
            );
        }
    }
}

#[test]
fn a_healthy_server_leaves_no_gap() {
    for interval in [Duration::from_millis(100), SECOND] {
        let stub = stalling(10_000, 1);
        let order = Order {
            interval,
            ..run_for(&stub, closed(4))
        };
        let (_, totals) = seen(&order, Reads::default());
        assert!(gap_ms(&totals) < 100, "{}", gap_ms(&totals));
        assert!(totals.counts.operations[0].under_way <= 4);
    }
}

/// Slices of 100 ms with drains of 20 ms, of which the first one is warm-up, without a break.
fn sliced(stub: &Stub, pace: Pace, count: u64) -> Order {
    let ms = Duration::from_millis;
    let begins: Vec<Duration> = (0..count).map(|number| ms(121 * number)).collect();
    let slices = Slices::new(ms(100), ms(20), 1, &begins).unwrap();
    Order {
        slices: Some(Arc::new(slices)),
        ..order(stub, pace, None)
    }
}

#[test]
fn a_stall_across_the_last_slices_end_is_seen_and_its_operations_are_undrained() {
    let loops = [(closed(4), 4), (open(500.0, Arrivals::Fixed), 1)];
    for (pace, least) in loops {
        let stub = stalling(300, 10_000);
        let (_, totals) = seen(&sliced(&stub, pace, 4), Reads::default());
        let record = &totals.counts.operations[0];
        // From 300 ms to the last drain's end at 483.
        assert!(slowest_ms(&totals) >= 100, "{}", slowest_ms(&totals));
        assert!(record.under_way >= least, "{}", record.under_way);
        assert_eq!(totals.counts.undrained, record.under_way);
        assert!(gap_ms(&totals) >= 100, "{}", gap_ms(&totals));
    }
}

#[test]
fn a_stall_across_slices_has_its_length_on_their_clock() {
    let stub = stalling(150, 150);
    let (_, totals) = seen(&sliced(&stub, closed(4), 5), Reads::default());
    assert!(slowest_ms(&totals) >= 100, "{}", slowest_ms(&totals));
    let counts = &totals.counts;
    assert_eq!((counts.undrained, counts.operations[0].under_way), (4, 0));
}
