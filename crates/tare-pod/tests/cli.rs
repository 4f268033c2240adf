//! The command line as pods call it: one pod answers, another asks.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

fn tare_pod(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tare-pod"));
    command.args(arguments);
    command
}

/// A port that nobody listens on, just now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

struct Answering(Child);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn one_that_asks_learns_who_answered_and_that_nothing_was_translated() {
    let port = free_port().to_string();
    let _pod = Answering(
        tare_pod(&["answer", &port])
            .env("TARE_POD", "c-0")
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let target = format!("localhost:{port}");
    let asked = tare_pod(&["ask", "--within", "10", &target])
        .output()
        .unwrap();
    assert!(asked.status.success());
    let told: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(told["answer"]["name"], "c-0");
    assert_eq!(told["answer"]["peer"], told["from"]);
    assert_eq!(told["answer"]["local"], told["to"]);
}

#[test]
fn a_target_that_nobody_answers_is_told_and_is_no_failure_of_asking() {
    let target = format!("127.0.0.1:{}", free_port());
    let asked = tare_pod(&["ask", "--within", "0.2", &target])
        .output()
        .unwrap();
    assert!(asked.status.success());
    let told: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert!(told["answer"].is_null());
    assert_ne!(told["why"], "");
}

#[test]
fn what_cannot_be_done_is_said_on_standard_error() {
    let done = tare_pod(&["hand-over", "/nonexistent"]).output().unwrap();
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).starts_with("tare-pod: "));
}
