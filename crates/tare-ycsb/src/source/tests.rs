//! Whole runs against a stub server: what is asked, and what is made of its answers.

use std::sync::Arc;

use tare_engine::errors::ErrorKind;
use tare_engine::observe::Keeper;
use tare_engine::record::OperationRecord;
use tare_engine::run::{run, Stop};
use tare_engine::totals::Totals;
use tare_stub::{Fault, Report, Script, Service, Stub};

use crate::operations::{Measured, Operations};
use crate::session::cql_order;
use crate::settings::tests::settings;
use crate::settings::Binding;
use crate::workload::CoreWorkload;

struct Run {
    operations: Operations,
    totals: Totals,
    report: Report,
}

impl Run {
    /// Runs 1000 operations unless told otherwise.
    fn new(properties: &str, script: Script) -> Run {
        Run::with(properties, script, true)
    }

    /// The same; `parts` as in `Settings`.
    fn with(properties: &str, script: Script, parts: bool) -> Run {
        let stub = Stub::start(script).unwrap();
        let address = stub.address();
        let properties = format!(
            "recordcount=1000 operationcount=1000 threadcount=8 tare.seed=7 \
             tare.contact_points_only=true hosts={address} {properties}"
        );
        let mut settings = settings(&properties);
        settings.parts = parts;
        let settings = Arc::new(settings);
        let Binding::Cql(binding) = &settings.binding else {
            panic!("not a binding for CQL");
        };
        let workload = CoreWorkload::cql(Arc::clone(&settings), binding);
        let operations = workload.shared().operations.clone();
        let mut keeper = Keeper::default();
        let order = cql_order(&settings, binding);
        run(&order, workload, &mut keeper, &Stop::default()).unwrap();
        Run {
            operations,
            totals: keeper.0.unwrap(),
            report: stub.stop().unwrap(),
        }
    }

    fn record(&self, operation: Measured) -> &OperationRecord {
        &self.totals.counts.operations[self.operations.position(operation)]
    }

    fn ok(&self, operation: Measured) -> u64 {
        self.record(operation).ok
    }
}

fn answering() -> Script {
    Script {
        service: Service::Constant(0.0),
        rows: 1,
        ..Script::default()
    }
}

fn failing(fault: Fault, share: f64) -> Script {
    Script {
        errors: vec![(fault, share)],
        ..answering()
    }
}

const LOAD: &str = "dotransactions=false";
const READS: &str = "readproportion=1 updateproportion=0";
const INSERTS: &str = "readproportion=0 updateproportion=0 insertproportion=1";

#[test]
fn a_load_inserts_every_record_once() {
    let run = Run::new(LOAD, answering());
    assert_eq!(run.ok(Measured::Insert), 1000);
    assert_eq!(run.report.requests, 1000);
}

#[test]
fn a_mix_has_its_shares() {
    let run = Run::new("readproportion=0.5 updateproportion=0.5", answering());
    let (reads, updates) = (run.ok(Measured::Read), run.ok(Measured::Update));
    assert_eq!(reads + updates, 1000);
    assert!((430..570).contains(&reads), "{reads}");
}

#[test]
fn a_read_modify_write_is_a_read_an_update_and_both() {
    let run = Run::new(
        "readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5",
        answering(),
    );
    assert_eq!(run.ok(Measured::Read), 1000);
    assert_eq!(run.ok(Measured::Update), run.ok(Measured::ReadModifyWrite));
    assert_eq!(run.totals.counts.answered, 1000);
    assert_eq!(run.report.requests, 1000 + run.ok(Measured::Update));
}

#[test]
fn scans_and_inserts_run() {
    let run = Run::new(
        "readproportion=0 updateproportion=0 scanproportion=0.5 insertproportion=0.5",
        answering(),
    );
    assert_eq!(run.ok(Measured::Scan) + run.ok(Measured::Insert), 1000);
}

#[test]
fn every_distribution_finds_keys() {
    for distribution in [
        "uniform",
        "zipfian",
        "zipf",
        "latest",
        "hotspot",
        "exponential",
        "sequential",
    ] {
        let run = Run::new(
            &format!("{READS} requestdistribution={distribution}"),
            answering(),
        );
        assert_eq!(run.ok(Measured::Read), 1000, "{distribution}");
    }
}

#[test]
fn an_empty_read_is_not_found() {
    let script = Script {
        rows: 0,
        ..answering()
    };
    let run = Run::new(READS, script);
    assert_eq!(
        run.record(Measured::Read).errors[ErrorKind::NotFound as usize],
        1000
    );
    let counts = &run.totals.counts;
    assert_eq!((counts.answered, counts.failed), (0, 1000));
}

#[test]
fn rows_of_another_make_fail_their_verification() {
    let run = Run::new(&format!("{READS} dataintegrity=true"), answering());
    assert_eq!(run.ok(Measured::Read), 1000);
    assert_eq!(
        run.record(Measured::Verify).errors[ErrorKind::WrongValue as usize],
        1000
    );
}

#[test]
fn where_parts_are_not_recorded_rows_of_another_make_fail_their_read() {
    let mix = "readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5";
    let run = Run::with(&format!("{mix} dataintegrity=true"), answering(), false);
    assert_eq!(run.operations.names(), ["READ", "READ-MODIFY-WRITE"]);
    let wrong = [Measured::Read, Measured::ReadModifyWrite]
        .map(|of| run.record(of).errors[ErrorKind::WrongValue as usize]);
    assert!(wrong[0] > 0 && wrong[1] > 0, "{wrong:?}");
    assert_eq!(wrong[0] + wrong[1], 1000);
    let counts = &run.totals.counts;
    assert_eq!((counts.answered, counts.failed), (0, 1000));
}

#[test]
fn a_failed_insert_of_a_run_is_counted_and_the_run_goes_on() {
    let run = Run::new(INSERTS, failing(Fault::Unavailable, 0.2));
    let record = run.record(Measured::Insert);
    let failed = record.errors[ErrorKind::Unavailable as usize];
    assert_eq!(record.ok + failed, 1000);
    assert_eq!(run.report.errors["unavailable"], failed);
    assert!((130..270).contains(&failed), "{failed}");
}

#[test]
fn a_thread_of_a_load_gives_up_at_its_first_failure() {
    let run = Run::new(LOAD, failing(Fault::Overloaded, 1.0));
    let failed = run.record(Measured::Insert).errors[ErrorKind::Overloaded as usize];
    assert_eq!((run.ok(Measured::Insert), failed), (0, 8));
}

#[test]
fn an_insert_of_a_load_is_tried_again_as_often_as_asked() {
    let run = Run::new(
        "dotransactions=false core_workload_insertion_retry_limit=50 \
         core_workload_insertion_retry_interval=0",
        failing(Fault::Overloaded, 0.3),
    );
    let record = run.record(Measured::Insert);
    assert_eq!((record.ok, record.failures()), (1000, 0));
    let retries = record.retries[ErrorKind::Overloaded as usize];
    assert_eq!(run.report.requests, 1000 + retries);
    assert!(retries > 200, "{retries}");
}

#[test]
fn failures_kept_apart_are_recorded_under_their_status() {
    let run = Run::new(
        &format!("{READS} reportlatencyforeacherror=true"),
        failing(Fault::Timeout, 0.2),
    );
    let failed = run.record(Measured::Read).failures();
    let apart = run
        .operations
        .position_apart(Measured::Read, ErrorKind::Timeout)
        .unwrap();
    assert_eq!(run.totals.counts.operations[apart].ok, failed);
    assert_eq!(run.totals.counts.answered + run.totals.counts.failed, 1000);
}

#[test]
fn a_target_is_kept_by_deadlines() {
    let run = Run::new(
        &format!("{READS} operationcount=200 target=2000"),
        answering(),
    );
    assert_eq!(run.ok(Measured::Read), 200);
    assert!(run.record(Measured::Read).response.is_some());
    // 25 operations a thread, 4 ms apart: the last deadline is 96 ms after the first.
    assert!(run.totals.seconds >= 0.09, "{}", run.totals.seconds);
}
