//! Loads that are done, parts of operations, and runs that are stopped.

use tare_engine::run::{run, Stop};
use tare_stub::{Script, Servers, Service, Stub};

use super::reads::{closed, counted, order, seen, within, Reads, Seen};

#[test]
fn a_counted_load_is_done_to_the_last_operation() {
    let stub = Stub::start(Script::default()).unwrap();
    let (seen, totals) = seen(&order(&stub, closed(7), None), counted(1000));
    assert_eq!((totals.counts.answered, totals.counts.failed), (1000, 0));
    assert_eq!(totals.counts.operations[0].service.len(), 1000);
    let ready = seen.ready.unwrap();
    assert_eq!(
        (ready.nodes, ready.slots, ready.protocol.as_str()),
        (1, 7, "v4")
    );
    assert_eq!(stub.stop().unwrap().requests, 1000);
}

#[test]
fn several_workers_share_the_slots_and_lose_nothing() {
    let stub = Stub::start(Script::default()).unwrap();
    let mut order = order(&stub, closed(9), None);
    order.workers = Some(3);
    let (seen, totals) = seen(&order, counted(3000));
    assert_eq!((totals.counts.answered, totals.workers.len()), (3000, 3));
    assert_eq!(seen.ready.unwrap().workers, 3);
    assert_eq!(stub.stop().unwrap().answers, 3000);
}

#[test]
fn parts_are_recorded_beside_their_operation() {
    let stub = Stub::start(Script::default()).unwrap();
    let workload = Reads {
        twice: true,
        ..counted(100)
    };
    let (_, totals) = seen(&order(&stub, closed(2), None), workload);
    assert_eq!(
        (
            totals.counts.operations[0].ok,
            totals.counts.operations[1].ok
        ),
        (100, 100)
    );
    assert_eq!(totals.counts.answered, 100);
    assert_eq!(stub.stop().unwrap().requests, 200);
}

#[test]
fn the_service_time_is_what_the_server_took() {
    let stub = Stub::start(Script {
        service: Service::Constant(20e6),
        servers: Servers::Count(1),
        ..Script::default()
    })
    .unwrap();
    let (_, totals) = seen(&order(&stub, closed(2), None), counted(20));
    // Two wait for one server of 20 ms: each takes 40 ms once the queue is there.
    let median = totals.counts.operations[0].service.value_at_quantile(0.5);
    within(median, 39_900_000..80_000_000);
}

#[test]
fn an_observer_can_stop_the_run() {
    let stub = Stub::start(Script::default()).unwrap();
    let mut seen = Seen {
        stop_after: Some(3),
        ..Seen::default()
    };
    let order = order(&stub, closed(1), Some(3600.0));
    run(&order, Reads::default(), &mut seen, &Stop::default()).unwrap();
    assert!(seen.intervals <= 5, "{}", seen.intervals);
}

#[test]
fn intervals_are_told_in_time_also_after_a_worker_has_ended() {
    let stub = Stub::start(Script::default()).unwrap();
    let mut seen = Seen {
        stop_after: Some(3),
        ..Seen::default()
    };
    let mut order = order(&stub, closed(2), Some(3.0));
    order.workers = Some(2);
    let workload = Reads {
        idle: Some(0),
        ..Reads::default()
    };
    run(&order, workload, &mut seen, &Stop::default()).unwrap();
    // Of thirty; had they been told at the end, nothing would have stopped the run.
    assert!(seen.intervals <= 8, "{}", seen.intervals);
}

#[test]
fn a_run_that_is_told_to_stop_says_so() {
    let stub = Stub::start(Script::default()).unwrap();
    let stop = Stop::default();
    stop.stop();
    let mut seen = Seen::default();
    let order = order(&stub, closed(1), Some(3600.0));
    run(&order, Reads::default(), &mut seen, &stop).unwrap();
    assert!(seen.stopped);
}
