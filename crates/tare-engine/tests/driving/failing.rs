//! Failures, and how they are counted and told.

use std::time::Duration;

use tare_cql::{Consistency, Statement};
use tare_engine::errors::ErrorKind;
use tare_engine::run::{run, Stop};
use tare_engine::workload::{Seat, StatementText, Workload};
use tare_stub::{Fault, Script, Service, Stub};

use super::reads::{closed, counted, order, seen, within, Reads, ReadsSource, Seen};

#[test]
fn failures_have_their_kind_and_no_part_in_latencies() {
    let stub = Stub::start(Script {
        errors: vec![(Fault::Unavailable, 0.1), (Fault::Overloaded, 0.1)],
        ..Script::default()
    })
    .unwrap();
    let (_, totals) = seen(&order(&stub, closed(4), None), counted(1000));
    let record = &totals.counts.operations[0];
    let kinds = [ErrorKind::Unavailable, ErrorKind::Overloaded];
    let errors = kinds.map(|kind| record.errors[kind as usize]);
    assert_eq!(errors.iter().sum::<u64>() + record.ok, 1000);
    assert!(
        errors.iter().all(|errors| (95..=105).contains(errors)),
        "{errors:?}"
    );
    assert_eq!(record.service.len(), record.ok);
    let counts = &totals.counts;
    assert_eq!(
        (counts.answered, counts.failed),
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
    let record = &totals.counts.operations[0];
    assert_eq!((record.ok, record.failures()), (500, 0));
    let retries = record.retries[ErrorKind::Overloaded as usize];
    within(retries, 100..=150);
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
    let record = &totals.counts.operations[0];
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
    let broken = totals.counts.operations[0].errors[ErrorKind::Connection as usize];
    assert!(broken >= 1, "{broken}");
    let report = stub.stop().unwrap();
    // Control and data connection, and the data connection again.
    assert!(report.connections >= 3, "{}", report.connections);
    within(totals.counts.operations[0].ok, 401..);
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
