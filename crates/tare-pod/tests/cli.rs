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

/// What it prints, once it has ended well.
fn told(arguments: &[&str]) -> Value {
    let done = tare_pod(arguments).output().unwrap();
    assert!(done.status.success());
    serde_json::from_slice(&done.stdout).unwrap()
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
    let told = told(&["ask", "--within", "10", &target]);
    assert_eq!(told["answer"]["name"], "c-0");
    assert_eq!(told["answer"]["peer"], told["from"]);
    assert_eq!(told["answer"]["local"], told["to"]);
}

#[test]
fn a_target_that_nobody_answers_is_told_and_is_no_failure_of_asking() {
    let target = format!("127.0.0.1:{}", free_port());
    let told = told(&["ask", "--within", "0.2", &target]);
    assert!(told["answer"].is_null());
    assert_ne!(told["why"], "");
}

#[test]
fn what_cannot_be_done_is_said_on_standard_error() {
    let done = tare_pod(&["hand-over", "/nonexistent"]).output().unwrap();
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).starts_with("tare-pod: "));
}

/// Gives it a file, which is right; where the program ends, how.
fn given_a_file(taking: &mut Child) -> std::process::ExitStatus {
    let mut line = String::new();
    let mut out = BufReader::new(taking.stdout.as_mut().unwrap());
    out.read_line(&mut line).unwrap();
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
    taking.wait().unwrap()
}

#[test]
fn one_that_takes_files_waits_until_they_are_called_right() {
    let at = tempfile::tempdir().unwrap();
    let directory = at.path().join("data");
    let mut taking = tare_pod(&["take", directory.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(given_a_file(&mut taking).success());
    assert_eq!(fs::read(directory.join("rows")).unwrap(), b"ab");
}

#[test]
fn a_copy_of_it_becomes_what_is_to_run_once_the_files_are_there() {
    let at = tempfile::tempdir().unwrap();
    let words = ["copy-self", at.path().to_str().unwrap()];
    assert!(tare_pod(&words).status().unwrap().success());
    let directory = at.path().join("data");
    let mut taking = Command::new(at.path().join("tare-pod"))
        .args(["take", directory.to_str().unwrap(), "--"])
        .args(["/bin/sh", "-c", "test -f \"$0/rows\" && exit 7"])
        .arg(&directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(given_a_file(&mut taking).code(), Some(7));
}
