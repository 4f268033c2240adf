//! Whole runs against documents in memory: what is written, and what is made of the answers.

mod server;

use std::sync::Arc;

use bson::spec::BinarySubtype;
use bson::{doc, Bson};
use tare_engine::errors::{ErrorKind, Fatal};
use tare_engine::observe::Keeper;
use tare_engine::record::OperationRecord;
use tare_engine::run::{run, Stop};
use tare_engine::totals::Totals;

use crate::operations::{Measured, Operations};
use crate::session::mongo_order;
use crate::settings::tests::settings;
use crate::settings::Binding;
use crate::workload::CoreWorkload;
use server::Store;

/// A server, and the runs against it.
struct Bench {
    store: Arc<Store>,
    place: String,
}

struct Seen {
    operations: Operations,
    totals: Totals,
}

impl Bench {
    fn new() -> Bench {
        let (store, address) = Store::serve();
        let place = format!("db=mongodb mongodb.url=mongodb://{address}/ycsb?w=1");
        Bench { store, place }
    }

    /// 500 records and operations unless told otherwise.
    fn run(&self, properties: &str) -> Seen {
        self.try_run(properties).unwrap()
    }

    fn try_run(&self, properties: &str) -> Result<Seen, Fatal> {
        let properties = format!(
            "{} recordcount=500 operationcount=500 threadcount=8 tare.seed=7 {properties}",
            self.place
        );
        let settings = Arc::new(settings(&properties));
        let Binding::Mongo(binding) = &settings.binding else {
            panic!("not the binding for MongoDB");
        };
        let workload = CoreWorkload::mongo(Arc::clone(&settings), binding).unwrap();
        let operations = workload.shared().operations.clone();
        let mut keeper = Keeper::default();
        let order = mongo_order(&settings, binding);
        run(&order, workload, &mut keeper, &Stop::default())?;
        Ok(Seen {
            operations,
            totals: keeper.0.unwrap(),
        })
    }

    fn loaded() -> Bench {
        let bench = Bench::new();
        bench.run(LOAD);
        bench
    }
}

impl Seen {
    fn record(&self, operation: Measured) -> &OperationRecord {
        &self.totals.counts.operations[self.operations.position(operation)]
    }

    fn ok(&self, operation: Measured) -> u64 {
        self.record(operation).ok
    }

    fn not_found(&self, operation: Measured) -> u64 {
        self.record(operation).errors[ErrorKind::NotFound as usize]
    }
}

const LOAD: &str = "dotransactions=false";
const READS: &str = "readproportion=1 updateproportion=0";

#[test]
fn a_load_makes_documents_of_a_key_and_binaries() {
    let bench = Bench::new();
    let seen = bench.run(LOAD);
    assert_eq!(
        (seen.ok(Measured::Insert), seen.totals.counts.answered),
        (500, 500)
    );
    let documents = bench.store.documents.lock().unwrap();
    assert_eq!(documents.len(), 500);
    let first = &documents["user6284781860667377211"];
    // The key, then the fields as a Java map gives them.
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    let wanted = "_id field1 field0 field7 field6 field9 field8 field3 field2 field5 field4";
    assert_eq!(names, wanted.split(' ').collect::<Vec<_>>());
    match first.get("field0") {
        Some(Bson::Binary(value)) => {
            assert_eq!(
                (value.subtype, value.bytes.len()),
                (BinarySubtype::Generic, 100)
            );
        }
        other => panic!("not a binary: {other:?}"),
    }
    let asked = bench.store.asked.lock().unwrap();
    let insert = asked
        .iter()
        .find(|(body, _)| body.contains_key("insert"))
        .unwrap();
    let wanted = doc! {
        "insert": "usertable", "$db": "ycsb", "ordered": true, "writeConcern": { "w": 1 },
    };
    assert_eq!(insert, &(wanted, 1));
}

#[test]
fn the_core_workloads_find_what_was_loaded() {
    let mixes = [
        ("readproportion=0.5 updateproportion=0.5", Measured::Update),
        ("readproportion=0.95 updateproportion=0.05", Measured::Read),
        (READS, Measured::Read),
        (
            "readproportion=0.95 updateproportion=0 insertproportion=0.05 requestdistribution=latest",
            Measured::Insert,
        ),
        (
            "readproportion=0 updateproportion=0 scanproportion=0.95 insertproportion=0.05 \
             maxscanlength=100",
            Measured::Scan,
        ),
        (
            "readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5",
            Measured::ReadModifyWrite,
        ),
    ];
    for (mix, some) in mixes {
        let seen = Bench::loaded().run(&format!("requestdistribution=zipfian {mix}"));
        assert_eq!(
            (seen.totals.counts.answered, seen.totals.counts.failed),
            (500, 0),
            "{mix}"
        );
        assert!(seen.ok(some) > 0, "{mix}");
    }
}

#[test]
fn what_is_not_there_is_an_error_of_a_read_and_not_found_of_an_update() {
    let seen = Bench::new().run("readproportion=0.5 updateproportion=0.5");
    let (reads, updates) = (
        seen.not_found(Measured::Read),
        seen.not_found(Measured::Update),
    );
    assert_eq!((reads + updates, seen.totals.counts.answered), (500, 0));
    let status = |of| seen.operations.status(of, ErrorKind::NotFound);
    assert_eq!(
        (status(Measured::Read), status(Measured::Update)),
        ("ERROR", "NOT_FOUND")
    );
}

#[test]
fn a_scan_fetches_what_does_not_fit_into_its_first_batch() {
    let bench = Bench::loaded();
    let seen = bench.run(
        "readproportion=0 updateproportion=0 scanproportion=1 minscanlength=200 maxscanlength=200 \
         operationcount=50",
    );
    assert_eq!(seen.ok(Measured::Scan), 50);
    assert!(
        bench.store.count("getMore") > 10,
        "{}",
        bench.store.count("getMore")
    );
    let empty = Bench::new().run("readproportion=0 updateproportion=0 scanproportion=1");
    assert_eq!(empty.not_found(Measured::Scan), 500);
}

#[test]
fn batches_are_counted_by_their_records() {
    let bench = Bench::new();
    let seen = bench.run(&format!("{LOAD} batchsize=20 threadcount=4"));
    assert_eq!(
        (seen.ok(Measured::Insert), seen.totals.counts.answered),
        (500, 500)
    );
    assert_eq!(bench.store.documents.lock().unwrap().len(), 500);
    // 125 records a thread: six batches of 20, and the five that YCSB would lose.
    assert_eq!(bench.store.count("insert"), 4 * 7);
    let asked = bench.store.asked.lock().unwrap();
    let insert = asked
        .iter()
        .find(|(body, _)| body.contains_key("insert"))
        .unwrap();
    assert!(!insert.0.get_bool("ordered").unwrap());
}

#[test]
fn an_upsert_can_be_loaded_twice_and_an_insert_cannot() {
    let bench = Bench::loaded();
    let again = bench.run(LOAD);
    assert_eq!(again.ok(Measured::Insert), 0);
    let upserts = bench.run(&format!("{LOAD} mongodb.upsert=true"));
    assert_eq!(upserts.ok(Measured::Insert), 500);
}

#[test]
fn values_that_can_be_checked_are_checked() {
    let bench = Bench::new();
    bench.run(&format!("{LOAD} dataintegrity=true"));
    let right = bench.run(&format!("{READS} dataintegrity=true"));
    assert_eq!(
        (right.ok(Measured::Read), right.ok(Measured::Verify)),
        (500, 500)
    );
    let wrong = Bench::loaded().run(&format!("{READS} dataintegrity=true"));
    let failed = wrong.record(Measured::Verify).errors[ErrorKind::WrongValue as usize];
    assert_eq!((wrong.ok(Measured::Read), failed), (500, 500));
}

#[test]
fn a_projection_is_sent_where_not_all_fields_are_read() {
    let bench = Bench::loaded();
    bench.run(&format!("{READS} readallfields=false"));
    let asked = bench.store.asked.lock().unwrap();
    let finds: Vec<_> = asked
        .iter()
        .filter(|(body, _)| body.contains_key("find"))
        .collect();
    assert_eq!(finds.len(), 500);
    assert!(finds
        .iter()
        .all(|(body, _)| body.get_document("projection").unwrap().len() == 1));
}

#[test]
fn a_write_that_no_primary_took_is_sent_once_more() {
    let bench = Bench::loaded();
    *bench.store.not_primary.lock().unwrap() = 1;
    let updates = "readproportion=0 updateproportion=1 threadcount=1 operationcount=20";
    let seen = bench.run(updates);
    assert_eq!(seen.ok(Measured::Update), 20);
    assert_eq!(seen.totals.counts.failed, 0);
    let retries = seen.record(Measured::Update).retries;
    assert_eq!(retries[ErrorKind::Unavailable as usize], 1);
    *bench.store.not_primary.lock().unwrap() = 2;
    assert_eq!(bench.run(updates).totals.counts.failed, 1);
}

#[test]
fn what_says_that_it_is_not_mongodb_is_refused_unless_it_is_asked_for() {
    let bench = Bench::new();
    let build = doc! { "version": "7.0.42", "ferretdbVersion": "v1.24.0", "ok": 1.0 };
    *bench.store.build.lock().unwrap() = build;
    let fatal = bench.try_run(LOAD).err().unwrap();
    assert_eq!((fatal.kind, fatal.exit_code()), ("stand_in", 2));
    assert!(fatal
        .why
        .starts_with("FerretDB v1.24.0 (a functional stand-in"));
    assert_eq!(bench.store.count("insert"), 0);
    let seen = bench.run(&format!("{LOAD} tare.stand_in=true"));
    assert_eq!(seen.ok(Measured::Insert), 500);
}
