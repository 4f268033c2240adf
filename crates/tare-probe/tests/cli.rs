//! The command line as its caller sees it: sample lines, and the ways in which it ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{json, Value};

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tare-probe"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn config() -> Value {
    json!({"interval_s": 0.02, "units": [
        {"name": "self", "pids": [std::process::id()]},
        {"name": "none", "cgroups": {"unified": "/nonexistent/group"}},
    ]})
}

fn line(child: &mut Child) -> Value {
    let mut reader = BufReader::new(child.stdout.as_mut().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn samples_hold_the_machine_the_units_and_the_probe_itself() {
    let mut child = start(&[]);
    let text = config().to_string();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let sample = line(&mut child);
    assert_eq!(sample["event"], "sample");
    assert!(sample["dt"].as_f64().unwrap() > 0.0);
    assert!(sample["machine"]["mem_total_bytes"].as_f64().unwrap() > 0.0);
    assert!(sample["units"]["self"]["memory_bytes"].as_f64().unwrap() > 0.0);
    assert_eq!(sample["units"]["none"], json!({"gone": true}));
    assert!(sample["probe"]["cpu_s"].as_f64().unwrap() > 0.0);
    // The end of standard input ends the probe.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_configuration_from_a_file_leaves_the_end_to_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("probe.json");
    std::fs::write(&path, config().to_string()).unwrap();
    let mut child = start(&["--config", path.to_str().unwrap()]);
    drop(child.stdin.take());
    assert_eq!(line(&mut child)["event"], "sample");
    let pid = child.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_bad_configuration_is_refused_by_the_name_of_its_field() {
    let mut child = start(&[]);
    let text = json!({"interval_s": 1, "units": [{"name": "a", "pid": [1]}]}).to_string();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().contains("`pid`"));
}
