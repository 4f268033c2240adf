//! When operations are sent, and what is due but is not sent.

use std::time::Duration;

use tare_engine::errors::ErrorKind;
use tare_engine::order::{Arrivals, Pace};
use tare_engine::totals::Totals;
use tare_stub::{Script, Service, Stub};

use super::reads::{counted, open, order, seen, within, Reads};

#[test]
fn the_open_loop_sends_as_many_as_fall_due() {
    let stub = Stub::start(Script::default()).unwrap();
    let order = order(&stub, open(2000.0, Arrivals::Fixed), Some(1.0));
    let (_, totals) = seen(&order, Reads::default());
    assert_eq!(totals.counts.due, 2000);
    // On a busy machine the last ones are sent after the end.
    within(totals.counts.sent, 1000..=2000);
    assert!(totals.counts.lateness.is_some());
}

#[test]
fn a_counted_load_has_no_send_due_after_its_last_one() {
    let stub = Stub::start(Script::default()).unwrap();
    let mut order = order(&stub, open(1000.0, Arrivals::Fixed), None);
    order.workers = Some(3);
    let (_, totals) = seen(&order, counted(20));
    assert_eq!((totals.counts.due, totals.counts.sent), (20, 20));
    assert_eq!(totals.facts().rate_error, Some(0.0));
}

#[test]
fn what_is_still_under_way_long_after_the_end_has_failed() {
    let stub = Stub::start(Script {
        service: Service::Constant(400e6),
        ..Script::default()
    })
    .unwrap();
    let mut order = order(&stub, open(50.0, Arrivals::Fixed), Some(0.3));
    order.timeout = Duration::from_millis(450);
    let workload = Reads {
        twice: true,
        ..Reads::default()
    };
    let (_, totals) = seen(&order, workload);
    let record = &totals.counts.operations[0];
    // Two requests of 400 ms each: the last ones would end 1.1 s after the beginning.
    assert_eq!(totals.counts.due, 15);
    assert_eq!(record.ok + record.failures(), 15);
    assert!(record.errors[ErrorKind::Timeout as usize] >= 5);
}

/// The totals of one second of a thousand operations, with deadlines in so many slots.
fn with_deadlines(slots: usize, stagger: bool, script: Script) -> Totals {
    let stub = Stub::start(script).unwrap();
    let pace = Pace::PerSlot {
        slots,
        rate: 1000.0,
        stagger,
    };
    let (_, totals) = seen(&order(&stub, pace, Some(1.0)), Reads::default());
    within(totals.counts.due, 990..=1010);
    totals
}

#[test]
fn slots_with_deadlines_keep_to_the_rate() {
    let totals = with_deadlines(10, true, Script::default());
    within(totals.counts.answered, ..=1010);
}

#[test]
fn deadlines_that_no_slot_could_keep_count_as_due_and_are_the_clusters_doing() {
    let script = Script {
        service: Service::Constant(10e6),
        ..Script::default()
    };
    let totals = with_deadlines(2, false, script);
    // Two slots of 10 ms answer at most 200 of 1000.
    within(totals.counts.answered, ..=200);
    let facts = totals.facts();
    assert!(facts.held_share > 0.7, "{}", facts.held_share);
    assert!(facts.rate_error.unwrap() < -0.7);
}
