//! What the script says is what happens, and the report tells it.

use std::io::Write;
use std::time::Duration;

use crate::client::*;
use tare_stub::{Fault, Report, Script, Service, Stall, Stub};

const READ: &str = "SELECT * FROM keyspace1.standard1 WHERE key = ?";
const WRITE: &str = "INSERT INTO keyspace1.standard1 (key, \"C0\") VALUES (?, ?)";

/// Sends `requests` reads at once and takes all answers.
fn reads(script: Script, requests: usize) -> (Vec<Answer>, Report) {
    let stub = Stub::start(script).expect("a stub");
    let mut client = Client::connect(stub.address());
    let id = client.prepare(READ);
    let body = execute(&id, &[b"key"]);
    let frames = (0..requests).flat_map(|stream| frame(stream as i16, EXECUTE, &body));
    client
        .0
        .write_all(&frames.collect::<Vec<u8>>())
        .expect("open");
    let answers = (0..requests)
        .map(|_| client.receive().expect("an answer"))
        .collect();
    (answers, stub.stop().expect("a report"))
}

#[test]
fn every_request_of_the_load_is_counted_and_no_other() {
    let (answers, report) = reads(Script::default(), 500);
    assert_eq!(answers.len(), 500);
    assert_eq!(
        (report.requests, report.answers, report.unanswered),
        (500, 500, 0)
    );
    assert_eq!(report.connections, 1);
}

#[test]
fn a_constant_service_time_is_what_the_script_promised() {
    let script = Script {
        service: Service::Constant(500_000.0),
        ..Script::default()
    };
    let (_, report) = reads(script, 20);
    assert_eq!(report.mean_service_us, 500.0);
    // The histogram keeps three digits.
    assert!((report.scripted_us.max - 500.0).abs() <= 0.5);
    // No answer is sent before it is due: what is left is lateness.
    assert!(report.written_us.max >= report.lateness_us.max);
}

#[test]
fn what_each_request_is_to_cost_on_top_is_spent_and_counted() {
    let script = Script {
        spend: Duration::from_micros(200),
        ..Script::default()
    };
    let (_, report) = reads(script, 50);
    assert_eq!(report.mean_spent_us, 200.0);
    assert!(report.spent_us.p50 > 20.0, "{:?}", report.spent_us);
    // Each request is asked after the answer to the one before.
    assert!(report.seconds >= 49.0 * 100e-6, "{}", report.seconds);
    assert_eq!(reads(Script::default(), 5).1.mean_spent_us, 0.0);
}

#[test]
fn a_stall_holds_the_answers() {
    let stall = Stall {
        at: Duration::ZERO,
        length: Duration::from_millis(50),
    };
    let (_, report) = reads(
        Script {
            stalls: vec![stall],
            ..Script::default()
        },
        1,
    );
    assert!((report.scripted_us.max - 50_000.0).abs() <= 50.0);
}

#[test]
fn shorter_requests_overtake_longer_ones_without_a_queue() {
    let times = [50e6, 1e3, 25e6];
    let script = Script {
        service: Service::Listed(times.into()),
        ..Script::default()
    };
    let (answers, _) = reads(script, 3);
    let order: Vec<i16> = answers.iter().map(|answer| answer.0).collect();
    assert_eq!(order, [1, 2, 0]);
}

#[test]
fn errors_come_in_their_share_and_with_their_codes() {
    let errors = vec![(Fault::Unavailable, 0.01), (Fault::Timeout, 0.02)];
    let (answers, report) = reads(
        Script {
            errors,
            ..Script::default()
        },
        1000,
    );
    let count = |wanted| {
        let failed = answers.iter().filter(|answer| answer.1 == ERROR);
        failed.filter(|answer| code(&answer.2) == wanted).count()
    };
    assert_eq!((count(0x1000), count(0x1200)), (10, 20));
    assert_eq!(
        (report.errors["unavailable"], report.errors["timeout"]),
        (10, 20)
    );
}

#[test]
fn a_write_times_out_as_a_write() {
    let errors = vec![(Fault::Timeout, 1.0)];
    let stub = Stub::start(Script {
        errors,
        ..Script::default()
    })
    .expect("a stub");
    let mut client = Client::connect(stub.address());
    let id = client.prepare(WRITE);
    let (_, opcode, body) = client.ask(EXECUTE, &execute(&id, &[b"key", b"value"]));
    assert_eq!((opcode, code(&body)), (ERROR, 0x1100));
    assert!(body.ends_with(b"\0\x01\0\0\0\0\0\0\0\x01\0\x06SIMPLE"));
}

#[test]
fn a_silent_stub_answers_all_but_the_load() {
    let script = Script {
        silent_from: Some(Duration::ZERO),
        ..Script::default()
    };
    let stub = Stub::start(script).expect("a stub");
    let mut client = Client::connect(stub.address());
    let id = client.prepare(READ);
    client.send(1, EXECUTE, &execute(&id, &[b"key"]));
    // Requests of one connection are taken in order: this answer shows that the read was passed over.
    assert_eq!(client.ask(OPTIONS, b"").1, SUPPORTED);
    let report = stub.stop().expect("a report");
    assert_eq!(
        (report.requests, report.answers, report.unanswered),
        (1, 0, 1)
    );
}

#[test]
fn dropped_connections_are_closed_and_new_ones_served() {
    let script = Script {
        drops: vec![Duration::from_millis(1)],
        ..Script::default()
    };
    let stub = Stub::start(script).expect("a stub");
    let mut client = Client::connect(stub.address());
    let id = client.prepare(READ);
    client.send(1, EXECUTE, &execute(&id, &[b"key"]));
    while client.receive().is_some() {}
    let mut next = Client::connect(stub.address());
    assert_eq!(next.ask(EXECUTE, &execute(&id, &[b"key"])).1, RESULT);
    assert_eq!(stub.stop().expect("a report").connections, 2);
}

#[test]
fn empty_reads_have_no_rows() {
    let (answers, _) = reads(
        Script {
            rows: 0,
            ..Script::default()
        },
        1,
    );
    assert!(answers[0].2.ends_with(&[0, 0, 0, 0]));
}
