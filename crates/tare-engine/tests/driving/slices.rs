//! A run of slices drives its cluster within them alone, and says what did not end in time.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_engine::order::{Arrivals, Order, Pace};
use tare_engine::slices::Slices;
use tare_stub::{Script, Service, Stub};

use super::reads::{closed, open, order, seen, within, Reads};

/// Slices of 50 ms with drains of 20 ms, one each 100 ms, the first one warm-up.
fn sliced(stub: &Stub, pace: Pace, count: u64) -> Order {
    times_longer(1, stub, pace, count)
}

/// The same, with all times so many times longer.
fn times_longer(factor: u64, stub: &Stub, pace: Pace, count: u64) -> Order {
    let ms = |number| Duration::from_millis(factor * number);
    let begins: Vec<Duration> = (0..count).map(|number| ms(100 * number)).collect();
    let slices = Slices::new(ms(50), ms(20), 1, &begins).unwrap();
    Order {
        slices: Some(Arc::new(slices)),
        ..order(stub, pace, None)
    }
}

fn constant(milliseconds: f64) -> Stub {
    Stub::start(Script {
        service: Service::Constant(milliseconds * 1e6),
        ..Script::default()
    })
    .unwrap()
}

#[test]
fn throughput_is_over_the_time_in_which_operations_are_begun() {
    let stub = constant(5.0);
    let began = Instant::now();
    let (seen, totals) = seen(&sliced(&stub, closed(1), 6), Reads::default());
    assert!(began.elapsed() >= Duration::from_millis(570));
    // Five measured slices of 50 ms; an operation takes 5 ms and a little.
    assert!((totals.seconds - 0.25).abs() < 1e-6, "{}", totals.seconds);
    within(totals.counts.answered, 35..=50);
    // The last one of each slice is answered in its drain, and counts as done.
    let done = totals.counts.operations[0].ok;
    assert!(done > totals.counts.answered && done <= totals.counts.answered + 5);
    assert_eq!((totals.counts.undrained, seen.intervals), (0, 6));
}

#[test]
fn an_open_loop_keeps_its_rate_within_slices() {
    let stub = constant(1.0);
    let (_, totals) = seen(
        &sliced(&stub, open(1000.0, Arrivals::Fixed), 6),
        Reads::default(),
    );
    let counts = &totals.counts;
    assert_eq!((counts.due, counts.operations[0].ok), (250, 250));
    let throughput = totals.throughput();
    assert!((throughput - 1000.0).abs() < 0.001, "{throughput}");
    assert_eq!(counts.undrained, 0);
}

#[test]
fn each_operation_has_a_connection_of_its_own_and_a_slice_so_many_at_most() {
    let driven = |connections_per_slice, factor| {
        let (stub, reads) = (constant(0.0), Reads::default());
        let order = Order {
            connections_per_slice,
            ..times_longer(factor, &stub, closed(1), 4)
        };
        let (_, totals) = seen(&order, reads.clone());
        let begun = reads.begun.load(Ordering::Relaxed);
        (totals, begun, stub.stop().unwrap().connections)
    };
    let (_, _, lasting) = driven(None, 1);
    // Seven take a few milliseconds, but a busy machine has a thread wait for longer than a slice.
    let had_time = (0..10).any(|_| {
        let (totals, begun, connections) = driven(Some(7), 5);
        let answered = totals.counts.operations[0].ok;
        assert_eq!((connections - lasting, totals.counts.failed), (begun, 0));
        // Those of the warm-up have connections, too.
        assert!(answered <= 3 * 7 && begun <= 4 * 7, "{answered} of {begun}");
        (answered, begun) == (3 * 7, 4 * 7)
    });
    assert!(had_time, "no run had seven in each of its slices");
}

#[test]
fn replies_after_the_drain_are_counted() {
    let stub = constant(80.0);
    let (_, totals) = seen(&sliced(&stub, closed(4), 4), Reads::default());
    // Four in each of three measured slices, answered between them; the last ones never are.
    assert!(totals.counts.undrained >= 8, "{}", totals.counts.undrained);
}
