//! Tests of the recorder: which operations count, and into which interval.

use std::sync::mpsc::{channel, Receiver};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::order::{Cluster, Order, Pace};
use crate::slices::Slices;

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

const READ: usize = 0;
const WRITE: usize = 1;

/// One second of warm-up, two of measurement.
fn recorder(scheduled: bool) -> (Recorder, Receiver<Interval>) {
    let (sink, intervals) = channel();
    let timeline = Timeline::new(&order());
    (Recorder::new(0, timeline, 2, scheduled, sink), intervals)
}

fn order() -> Order {
    Order {
        warmup: Duration::from_secs(1),
        measure: Some(Duration::from_secs(2)),
        ..Order::new(Cluster::default(), Pace::Closed { slots: 1 })
    }
}

fn sealed(intervals: Receiver<Interval>) -> Vec<Interval> {
    intervals.try_iter().collect()
}

fn ok(interval: &Interval) -> u64 {
    interval.counts.sum(|record| record.ok)
}

fn failed(interval: &Interval) -> u64 {
    interval.counts.sum(OperationRecord::failures)
}

fn times(intended: u64, sent: u64, done: u64) -> Times {
    Times {
        intended,
        sent,
        done,
    }
}

#[test]
fn closed_loop_operations_count_where_they_are_done() {
    let (mut recorder, intervals) = recorder(false);
    let mut read = |sent, done| recorder.done(READ, times(sent, sent, done), Ok(()));
    read(100 * MS, 200 * MS);
    read(900 * MS, 1100 * MS);
    read(2900 * MS, 3100 * MS);
    recorder.finish(3200 * MS);
    let counts: Vec<u64> = sealed(intervals).iter().map(ok).collect();
    // In warm-up; across its end, measured; across the end of the run, not done in it.
    assert_eq!(counts, [1, 1, 0]);
}

#[test]
fn what_is_done_after_the_end_was_under_way_then_and_has_its_age() {
    let (mut recorder, intervals) = recorder(false);
    recorder.done(READ, times(2900 * MS, 2900 * MS, 3100 * MS), Ok(()));
    recorder.done(READ, times(3000 * MS, 3000 * MS, 3100 * MS), Ok(()));
    recorder.under_way(READ, times(2 * S, 2 * S, 3200 * MS));
    recorder.finish(3200 * MS);
    let last = &sealed(intervals)[2];
    let record = &last.counts.operations[READ];
    assert_eq!((record.ok, record.under_way), (0, 2));
    assert_eq!(last.counts.answered, 0);
    assert_eq!(record.service_sum, 1100 * MS);
    assert!(record.service.equivalent(record.service.max(), S));
    assert_eq!(record.service.len(), record.timed());
}

#[test]
fn open_loop_operations_count_where_they_were_meant_to_be_sent() {
    let (mut recorder, intervals) = recorder(true);
    let mut read = |intended, done| recorder.done(READ, times(intended, intended, done), Ok(()));
    read(900 * MS, 1100 * MS);
    read(1000 * MS, 1200 * MS);
    read(2900 * MS, 3100 * MS);
    recorder.finish(3200 * MS);
    let intervals = sealed(intervals);
    let counts: Vec<u64> = intervals.iter().map(ok).collect();
    assert_eq!(counts, [0, 1, 1]);
    // Throughput counts answers that came within the time, whenever they were asked for.
    let answered = |interval: &Interval| interval.counts.answered;
    assert_eq!(
        intervals.iter().map(answered).collect::<Vec<_>>(),
        [0, 2, 0]
    );
}

#[test]
fn response_time_starts_at_the_intended_send_and_service_time_at_the_actual() {
    let (mut recorder, intervals) = recorder(true);
    recorder.done(WRITE, times(S, S + 30 * MS, S + 40 * MS), Ok(()));
    recorder.finish(3 * S);
    let record = &sealed(intervals)[1].counts.operations[WRITE];
    assert_eq!(
        (record.service_sum, record.response_sum),
        (10 * MS, 40 * MS)
    );
    assert!(record.service.equivalent(record.service.max(), 10 * MS));
    assert!(record
        .response()
        .equivalent(record.response().max(), 40 * MS));
}

#[test]
fn errors_are_counted_by_kind_and_leave_no_latency() {
    let (mut recorder, intervals) = recorder(false);
    let late = times(S, S, S + 500 * MS);
    recorder.done(READ, late, Err(ErrorKind::Timeout));
    recorder.done(READ, late, Err(ErrorKind::NotFound));
    recorder.finish(3 * S);
    let interval = &sealed(intervals)[1];
    let counts = &interval.counts;
    assert_eq!((ok(interval), failed(interval), counts.answered), (0, 2, 0));
    let record = &counts.operations[READ];
    for kind in [ErrorKind::Timeout, ErrorKind::NotFound] {
        assert_eq!(record.errors[kind as usize], 1);
    }
    assert_eq!(record.service.len(), 0);
}

#[test]
fn failures_keep_how_long_they_took_apart() {
    let (mut recorder, intervals) = recorder(false);
    recorder.done(READ, times(S, S, S + 500 * MS), Err(ErrorKind::Timeout));
    recorder.finish(3 * S);
    let record = &sealed(intervals)[1].counts.operations[READ];
    let failed = record.failed.as_ref().unwrap();
    assert!(failed.equivalent(failed.max(), 500 * MS));
    assert!(record.failed_response.is_none());
}

#[test]
fn what_failed_has_its_response_time_from_when_it_was_due() {
    let (mut recorder, intervals) = recorder(true);
    recorder.done(
        READ,
        times(S, S + 900 * MS, S + 950 * MS),
        Err(ErrorKind::Timeout),
    );
    recorder.finish(3 * S);
    let record = &sealed(intervals)[1].counts.operations[READ];
    let mut sum = OperationRecord::new(true);
    sum.add(record);
    for of in [record, &sum] {
        let failed = of.failed_response.as_ref().unwrap();
        assert!(failed.equivalent(failed.max(), 950 * MS));
        assert_eq!(of.failed.as_ref().unwrap().len(), failed.len());
    }
}

#[test]
fn parts_of_a_composite_operation_are_no_operations_of_their_own() {
    let (mut recorder, intervals) = recorder(false);
    recorder.part(READ, times(S, S, S + 10 * MS), Ok(()));
    recorder.done(WRITE, times(S, S, S + 20 * MS), Ok(()));
    recorder.retry(WRITE, ErrorKind::Timeout);
    recorder.finish(3 * S);
    let interval = &sealed(intervals)[1];
    assert_eq!((ok(interval), interval.counts.answered), (2, 1));
    let retries = interval.counts.operations[WRITE].retries;
    assert_eq!(retries[ErrorKind::Timeout as usize], 1);
}

#[test]
fn memory_that_is_used_again_is_empty() {
    let (mut recorder, intervals) = recorder(true);
    recorder.done(READ, times(0, 0, 10 * MS), Ok(()));
    recorder.advance(S);
    recorder.recycle(intervals.try_recv().unwrap());
    recorder.advance(2 * S);
    recorder.finish(3 * S);
    for interval in sealed(intervals) {
        assert_eq!((ok(&interval), interval.cpu.len()), (0, 1));
        assert_eq!(interval.counts.operations[READ].response().len(), 0);
    }
}

#[test]
fn every_interval_is_sealed_even_if_nothing_happens() {
    let (mut recorder, intervals) = recorder(false);
    recorder.finish(3 * S);
    let slots: Vec<u64> = sealed(intervals).iter().map(|i| i.slot.begin / S).collect();
    assert_eq!(slots, [0, 1, 2]);
}

#[test]
fn a_stopped_run_ends_its_last_interval_early() {
    let (mut recorder, intervals) = recorder(false);
    recorder.finish(1500 * MS);
    let intervals = sealed(intervals);
    assert_eq!(intervals.len(), 2);
    assert!((intervals[1].seconds() - 0.5).abs() < 1e-9);
}

#[test]
fn the_backlog_of_the_warm_up_is_not_due_again() {
    let (mut recorder, intervals) = recorder(true);
    recorder.advance(1200 * MS);
    recorder.due(900 * MS);
    recorder.sent(900 * MS, 900 * MS, 1300 * MS);
    recorder.held(900 * MS);
    recorder.due(1400 * MS);
    recorder.sent(1400 * MS, 1400 * MS, 1410 * MS);
    recorder.finish(3 * S);
    let interval = &sealed(intervals)[1];
    let counts = &interval.counts;
    assert_eq!((counts.due, counts.sent, counts.held), (1, 1, 0));
    let lateness = counts.lateness.as_ref().unwrap();
    assert!(lateness.equivalent(lateness.max(), 10 * MS));
}

#[test]
fn a_send_that_waited_for_a_slot_is_late_from_when_it_was_free() {
    let (mut recorder, intervals) = recorder(true);
    recorder.due(1100 * MS);
    recorder.held(1100 * MS);
    recorder.sent(1100 * MS, 1500 * MS, 1501 * MS);
    recorder.finish(3 * S);
    let interval = &sealed(intervals)[1];
    assert_eq!((interval.counts.held, interval.counts.unserved), (1, 0));
    let lateness = interval.counts.lateness.as_ref().unwrap();
    assert!(lateness.equivalent(lateness.max(), MS));
}

#[test]
fn intervals_of_several_workers_add_up() {
    let (mut first, one) = recorder(true);
    let (mut second, other) = recorder(true);
    first.done(READ, times(S, S, S + 10 * MS), Ok(()));
    second.done(READ, times(S, S, S + 20 * MS), Ok(()));
    second.done(READ, times(S, S, S + 20 * MS), Err(ErrorKind::Overloaded));
    first.finish(3 * S);
    second.finish(3 * S);
    let mut sum = sealed(one).remove(1);
    sum.add(&sealed(other)[1]);
    assert_eq!((ok(&sum), failed(&sum), sum.counts.answered), (2, 1, 2));
    assert_eq!(sum.counts.operations[0].response().len(), 2);
    assert_eq!(sum.counts.operations[0].response_sum, 30 * MS);
    assert_eq!(sum.cpu.len(), 2);
}

/// Two slices of 20 ms, with drains of 6.
fn in_slices(scheduled: bool) -> (Recorder, Receiver<Interval>, Timeline) {
    let slices = Slices::new(
        Duration::from_millis(20),
        Duration::from_millis(6),
        0,
        &[Duration::ZERO, Duration::from_millis(100)],
    );
    let (sink, intervals) = channel();
    let timeline = Timeline::new(&Order {
        slices: slices.map(Arc::new),
        ..order()
    });
    let recorder = Recorder::new(0, timeline, 2, scheduled, sink);
    (recorder, intervals, timeline)
}

#[test]
fn whole_operations_are_counted_within_their_slice_and_in_its_drain() {
    for (scheduled, answered) in [(false, 2), (true, 3)] {
        let (mut recorder, intervals, timeline) = in_slices(scheduled);
        recorder.part(READ, times(0, 0, 5 * MS), Ok(()));
        recorder.done(READ, times(0, 0, 10 * MS), Ok(()));
        recorder.done(READ, times(0, 10 * MS, 19 * MS), Ok(()));
        recorder.done(READ, times(0, 19 * MS, 21 * MS), Ok(()));
        recorder.done(READ, times(0, 0, 19 * MS), Err(ErrorKind::Timeout));
        recorder.advance(timeline.first().end);
        let counts = &sealed(intervals)[0].counts;
        assert_eq!((counts.within, counts.drained), (2, 1));
        assert_eq!(counts.answered, answered);
    }
}

#[test]
fn in_slices_waiting_for_a_cpu_counts_until_the_drain_has_begun() {
    let (mut recorder, intervals, timeline) = in_slices(false);
    recorder.done(READ, times(0, 0, 19 * MS), Ok(()));
    assert_eq!(recorder.delay_in_drain, None);
    recorder.done(READ, times(0, 19 * MS, 21 * MS), Ok(()));
    assert!(recorder.delay_in_drain.is_some());
    // Later replies, and whatever follows them, change nothing.
    recorder.delay_in_drain = Some(recorder.cpu.run_delay + 7);
    recorder.done(READ, times(0, 19 * MS, 22 * MS), Ok(()));
    recorder.advance(timeline.first().end);
    assert_eq!(recorder.delay_in_drain, None);
    let (_, used) = sealed(intervals)[0].cpu[0];
    assert_eq!(used.run_delay, 7);
}
