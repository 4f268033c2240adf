//! The command line as its caller sees it: JSON lines, messages and exit status.

mod program;

use std::net::TcpListener;
use std::process::Output;

use serde_json::{json, Value};

fn spec() -> Value {
    json!({
        "name": "t", "client": "c1", "targets": ["127.0.0.1:9042"],
        "keyspace": "ycsb", "table": "usertable", "phase": "run",
        "workload": {"kind": "ycsb", "read": 0.5, "update": 0.5},
        "records": 100, "threads": 2, "measure_s": 0.1,
    })
}

fn run(spec: &str) -> Output {
    program::run(&["run"], spec)
}

/// The only line, which must be an error.
fn error(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["event"], "error");
    line
}

#[test]
fn a_bad_specification_is_refused_by_the_name_of_its_field() {
    for (field, value) in [
        ("threads", json!(0)),
        ("records", json!("x")),
        ("phases", json!(1)),
    ] {
        let mut spec = spec();
        spec[field] = value;
        let output = run(&spec.to_string());
        assert_eq!(output.status.code(), Some(2));
        let line = error(&output);
        assert_eq!(
            (&line["kind"], &line["what"]),
            (&json!("spec"), &json!(field))
        );
        assert!(String::from_utf8_lossy(&output.stderr).contains(field));
    }
}

#[test]
fn a_missing_specification_file_is_wrong_usage() {
    let output = program::run(&["run", "--spec", "/nonexistent/spec.json"], "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(error(&output)["what"], "/nonexistent/spec.json");
}

#[test]
fn a_cluster_that_is_not_there_is_an_error_and_not_a_result() {
    // A port that was free a moment ago, so that nobody listens.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap().to_string();
    drop(listener);
    let mut spec = spec();
    spec["targets"] = json!([target]);
    let output = run(&spec.to_string());
    assert_eq!(output.status.code(), Some(1));
    let line = error(&output);
    assert_eq!(line["kind"], "unreachable");
    assert_eq!(line["what"], json!(target));
}

#[test]
fn a_histogram_log_that_cannot_be_written_is_told_before_connecting() {
    let mut spec = spec();
    spec["hlog"] = json!("/nonexistent/latency.hlog");
    let output = run(&spec.to_string());
    assert_eq!(output.status.code(), Some(1));
    let line = error(&output);
    assert_eq!(
        (&line["kind"], &line["what"]),
        (&json!("file"), &spec["hlog"])
    );
}
