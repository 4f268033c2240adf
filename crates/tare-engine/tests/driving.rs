//! The engine against a server whose behaviour is known: what it sends, counts and survives.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tare_cql::{Consistency, Statement};
use tare_engine::errors::{ErrorKind, Fatal};
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::order::{Arrivals, Cluster, Order, Pace, Rate};
use tare_engine::record::{Interval, Notes};
use tare_engine::request::Request;
use tare_engine::run::{run, Stop};
use tare_engine::totals::{Outlook, Totals};
use tare_engine::workload::{Answer, Begin, Follow, Seat, Source, StatementText, Workload};
use tare_stub::{Fault, Script, Servers, Service, Stub};

const READ: &str = r#"SELECT * FROM keyspace1.standard1 WHERE key = ?"#;

/// Reads of rows that all exist.
#[derive(Clone, Default)]
struct Reads {
    /// Operations in all; none is without end.
    most: Option<u64>,
    retries: u32,
    begun: Arc<AtomicU64>,
    /// The second request of every operation, where there is one.
    twice: bool,
    refused: bool,
}

struct ReadsSource(Reads, Vec<bool>);

impl Workload for Reads {
    type Source = ReadsSource;

    fn statements(&self) -> Vec<StatementText> {
        vec![StatementText::new(READ, Consistency::One)]
    }

    fn operations(&self) -> Vec<String> {
        vec!["READ".to_owned(), "PART".to_owned()]
    }

    fn check(&self, statements: &[Statement]) -> Result<(), Fatal> {
        assert_eq!(statements[0].columns[0].name, "key");
        match self.refused {
            true => Err(Fatal::spec("values.key", "does not fit")),
            false => Ok(()),
        }
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> ReadsSource {
        ReadsSource(self.clone(), vec![false; seat.slots.len()])
    }
}

impl Source for ReadsSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        let begun = self.0.begun.fetch_add(1, Ordering::Relaxed);
        if self.0.most.is_some_and(|most| begun >= most) {
            return Begin::Finished;
        }
        self.1[slot] = self.0.twice;
        request.execute(0).value(b"0P37709P21");
        Begin::Send { operation: 0 }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        match answer {
            Answer::Failed { kind, .. } if notes.retries < self.0.retries => Follow::Retry {
                kind: *kind,
                after: Duration::from_millis(1),
            },
            Answer::Failed { kind, .. } => Follow::Done(Err(*kind)),
            Answer::Rows(rows) if rows.is_empty() => Follow::Done(Err(ErrorKind::NotFound)),
            _ if self.1[slot] => {
                self.1[slot] = false;
                notes.also(1, notes.sent, Ok(()));
                request.execute(0).value(b"0P37709P21");
                Follow::Send
            }
            _ => Follow::Done(Ok(())),
        }
    }
}

/// What the engine told.
#[derive(Default)]
struct Seen {
    ready: Option<Ready>,
    intervals: usize,
    totals: Mutex<Option<Totals>>,
    stopped: bool,
    stop_after: Option<usize>,
}

impl Observer for Seen {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.ready = Some(ready.clone());
        Ok(())
    }

    fn interval(
        &mut self,
        _interval: &Interval,
        _outlook: &Outlook,
        _totals: &Totals,
    ) -> Result<Control, Fatal> {
        self.intervals += 1;
        Ok(match self.stop_after == Some(self.intervals) {
            true => Control::Stop,
            false => Control::GoOn,
        })
    }

    fn finished(&mut self, totals: &Totals, outlook: &Outlook) -> Result<(), Fatal> {
        *self.totals.lock().unwrap() = Some(totals.clone());
        self.stopped = outlook.stopped;
        Ok(())
    }
}

fn order(stub: &Stub, pace: Pace, measure: Option<f64>) -> Order {
    Order {
        client: "c1".to_owned(),
        cluster: Cluster {
            contact_points: vec![stub.address().to_string()],
            options: tare_cql::Options::default(),
        },
        keyspace: None,
        pace,
        warmup: Duration::ZERO,
        measure: measure.map(Duration::from_secs_f64),
        interval: Duration::from_millis(100),
        start_at: None,
        timeout: Duration::from_secs(5),
        workers: None,
        links: None,
        seed: 7,
    }
}

fn closed(slots: usize) -> Pace {
    Pace::Closed { slots }
}

fn open(rate: f64, arrivals: Arrivals) -> Pace {
    Pace::Open {
        rate: Rate::constant(rate),
        arrivals,
        most: 10_000,
    }
}

fn seen(order: &Order, workload: Reads) -> (Seen, Totals) {
    let mut seen = Seen::default();
    run(order, workload, &mut seen, &Stop::default()).unwrap();
    let totals = seen.totals.lock().unwrap().take().unwrap();
    (seen, totals)
}

fn counted(most: u64) -> Reads {
    Reads {
        most: Some(most),
        ..Reads::default()
    }
}

#[test]
fn a_counted_load_is_done_to_the_last_operation() {
    let stub = Stub::start(Script::default()).unwrap();
    let (seen, totals) = seen(&order(&stub, closed(7), None), counted(1000));
    assert_eq!((totals.answered, totals.failed), (1000, 0));
    assert_eq!(totals.operations[0].service.len(), 1000);
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
    assert_eq!((totals.answered, totals.workers.len()), (3000, 3));
    assert_eq!(seen.ready.unwrap().workers, 3);
    assert_eq!(stub.stop().unwrap().answers, 3000);
}

#[test]
fn the_open_loop_sends_as_many_as_fall_due() {
    let stub = Stub::start(Script::default()).unwrap();
    let order = order(&stub, open(2000.0, Arrivals::Fixed), Some(1.0));
    let (_, totals) = seen(&order, Reads::default());
    assert_eq!(totals.due, 2000);
    // On a busy machine the last ones are sent after the end.
    assert!((1000..=2000).contains(&totals.sent), "{}", totals.sent);
    assert!(totals.lateness.is_some());
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
    let record = &totals.operations[0];
    // Two requests of 400 ms each: the last ones would end 1.1 s after the beginning.
    assert_eq!(totals.due, 15);
    assert_eq!(record.ok + record.failures(), 15);
    assert!(record.errors[ErrorKind::Timeout as usize] >= 5);
}

#[test]
fn slots_with_deadlines_keep_to_the_rate() {
    let stub = Stub::start(Script::default()).unwrap();
    let pace = Pace::PerSlot {
        slots: 10,
        rate: 1000.0,
        stagger: true,
    };
    let (_, totals) = seen(&order(&stub, pace, Some(1.0)), Reads::default());
    assert!((990..=1010).contains(&totals.due), "{}", totals.due);
    assert!(totals.answered <= 1010, "{}", totals.answered);
}

#[test]
fn deadlines_that_no_slot_could_keep_count_as_due_and_are_the_clusters_doing() {
    let stub = Stub::start(Script {
        service: Service::Constant(10e6),
        ..Script::default()
    })
    .unwrap();
    let pace = Pace::PerSlot {
        slots: 2,
        rate: 1000.0,
        stagger: false,
    };
    let (_, totals) = seen(&order(&stub, pace, Some(1.0)), Reads::default());
    // Two slots of 10 ms answer at most 200 of 1000.
    assert!((990..=1010).contains(&totals.due), "{}", totals.due);
    assert!(totals.answered <= 200, "{}", totals.answered);
    assert!(
        totals.facts().held_share > 0.7,
        "{}",
        totals.facts().held_share
    );
    assert!(totals.facts().rate_error.unwrap() < -0.7);
}

#[test]
fn failures_have_their_kind_and_no_part_in_latencies() {
    let stub = Stub::start(Script {
        errors: vec![(Fault::Unavailable, 0.1), (Fault::Overloaded, 0.1)],
        ..Script::default()
    })
    .unwrap();
    let (_, totals) = seen(&order(&stub, closed(4), None), counted(1000));
    let record = &totals.operations[0];
    let kinds = [ErrorKind::Unavailable, ErrorKind::Overloaded];
    let errors = kinds.map(|kind| record.errors[kind as usize]);
    assert_eq!(errors.iter().sum::<u64>() + record.ok, 1000);
    assert!(
        errors.iter().all(|errors| (95..=105).contains(errors)),
        "{errors:?}"
    );
    assert_eq!(record.service.len(), record.ok);
    assert_eq!(
        (totals.answered, totals.failed),
        (record.ok, 1000 - record.ok)
    );
}

#[test]
fn a_retry_is_counted_and_its_operation_can_still_go_well() {
    let stub = Stub::start(Script {
        errors: vec![(Fault::Overloaded, 0.2)],
        ..Script::default()
    })
    .unwrap();
    let workload = Reads {
        retries: 20,
        ..counted(500)
    };
    let (_, totals) = seen(&order(&stub, closed(1), None), workload);
    let record = &totals.operations[0];
    assert_eq!((record.ok, record.failures()), (500, 0));
    let retries = record.retries[ErrorKind::Overloaded as usize];
    assert!((100..=150).contains(&retries), "{retries}");
    assert_eq!(stub.stop().unwrap().requests, 500 + retries);
}

#[test]
fn what_is_not_answered_times_out() {
    let stub = Stub::start(Script {
        errors: vec![(Fault::Lost, 0.5)],
        ..Script::default()
    })
    .unwrap();
    let mut order = order(&stub, closed(2), None);
    order.timeout = Duration::from_millis(500);
    let (_, totals) = seen(&order, counted(8));
    let record = &totals.operations[0];
    assert_eq!(record.ok, 4);
    assert_eq!(record.errors[ErrorKind::Timeout as usize], 4);
    let failed = record.failed.as_ref().unwrap();
    assert!(failed.min() >= 499_000_000, "{}", failed.min());
}

#[test]
fn a_dropped_connection_is_opened_again() {
    let stub = Stub::start(Script {
        service: Service::Constant(1e6),
        drops: vec![Duration::from_millis(200)],
        ..Script::default()
    })
    .unwrap();
    let (_, totals) = seen(&order(&stub, closed(4), Some(1.5)), Reads::default());
    let broken = totals.operations[0].errors[ErrorKind::Connection as usize];
    assert!(broken >= 1, "{broken}");
    let report = stub.stop().unwrap();
    // Control and data connection, and the data connection again.
    assert!(report.connections >= 3, "{}", report.connections);
    assert!(totals.operations[0].ok > 400, "{}", totals.operations[0].ok);
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
        (totals.operations[0].ok, totals.operations[1].ok),
        (100, 100)
    );
    assert_eq!(totals.answered, 100);
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
    let median = totals.operations[0].service.value_at_quantile(0.5);
    assert!((39_900_000..80_000_000).contains(&median), "{median}");
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
fn a_run_that_is_told_to_stop_says_so() {
    let stub = Stub::start(Script::default()).unwrap();
    let stop = Stop::default();
    stop.stop();
    let mut seen = Seen::default();
    let order = order(&stub, closed(1), Some(3600.0));
    run(&order, Reads::default(), &mut seen, &stop).unwrap();
    assert!(seen.stopped);
}

#[test]
fn nobody_there_is_told_at_once_with_the_address() {
    let stub = Stub::start(Script::default()).unwrap();
    let order = order(&stub, closed(1), Some(1.0));
    let address = stub.address().to_string();
    stub.stop().unwrap();
    let fatal = run(
        &order,
        Reads::default(),
        &mut Seen::default(),
        &Stop::default(),
    )
    .unwrap_err();
    assert_eq!(fatal.kind, "unreachable");
    assert!(fatal.to_string().contains(&address), "{fatal}");
}

#[test]
fn a_workload_can_refuse_what_was_prepared() {
    let stub = Stub::start(Script::default()).unwrap();
    let workload = Reads {
        refused: true,
        ..Reads::default()
    };
    let order = order(&stub, closed(1), Some(1.0));
    let fatal = run(&order, workload, &mut Seen::default(), &Stop::default()).unwrap_err();
    assert_eq!((fatal.kind, fatal.exit_code()), ("spec", 2));
    assert_eq!(stub.stop().unwrap().requests, 0);
}

#[test]
fn a_statement_that_does_not_exist_is_named() {
    struct Wrong;
    impl Workload for Wrong {
        type Source = ReadsSource;
        fn statements(&self) -> Vec<StatementText> {
            vec![StatementText::new("SELECT nothing", Consistency::One)]
        }
        fn operations(&self) -> Vec<String> {
            vec!["READ".to_owned()]
        }
        fn source(&self, _seat: Seat, _statements: &[Statement]) -> ReadsSource {
            unreachable!("nothing was prepared")
        }
    }
    let stub = Stub::start(Script::default()).unwrap();
    let order = order(&stub, closed(1), Some(1.0));
    let fatal = run(&order, Wrong, &mut Seen::default(), &Stop::default()).unwrap_err();
    assert_eq!(
        (fatal.kind, fatal.place.as_str()),
        ("schema", "SELECT nothing")
    );
}
