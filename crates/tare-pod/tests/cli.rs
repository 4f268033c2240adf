//! The command line as pods call it: one pod answers, another asks.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
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

#[test]
fn one_that_takes_files_tells_its_port_and_waits_until_they_are_called_right() {
    let at = tempfile::tempdir().unwrap();
    let mut taking = tare_pod(&["take", at.path().to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(taking.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let port = u16::try_from(told["port"].as_u64().unwrap()).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .write_all(b"{\"file\":\"rows\",\"bytes\":2}\nab{\"end\":true}\n")
        .unwrap();
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let heard: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    assert!(heard[2].ends_with("  rows"));
    assert!(taking.try_wait().unwrap().is_none());
    stream.write_all(b"right\n").unwrap();
    assert!(taking.wait().unwrap().success());
    assert_eq!(fs::read(at.path().join("rows")).unwrap(), b"ab");
}
