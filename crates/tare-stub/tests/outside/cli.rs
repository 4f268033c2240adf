//! The command line: it says where it listens, and prints its report when it is told to stop.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::client::*;
use rustix::process::{kill_process, Pid, Signal};

fn stub() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tare-stub"))
}

#[test]
fn it_serves_until_it_is_told_to_stop_and_reports() {
    let mut child = stub()
        .args([
            "--listen",
            "127.0.0.1:0",
            "--errors",
            "unavailable:50%",
            "--service",
            "constant:10us",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").expect(&line);
    let mut client = Client::connect(address.parse().expect("an address"));
    let id = client.prepare("SELECT * FROM ycsb.usertable WHERE y_id = ?");
    let opcodes: Vec<u8> = (0..2)
        .map(|_| client.ask(EXECUTE, &execute(&id, &[b"k"])).1)
        .collect();
    assert_eq!(opcodes, [ERROR, RESULT]);
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it runs");
    let mut json = String::new();
    output.read_to_string(&mut json).expect("text");
    assert!(child.wait().expect("it ends").success());
    let report: serde_json::Value = serde_json::from_str(&json).expect(&json);
    assert_eq!(
        (&report["requests"], &report["errors"]["unavailable"]),
        (&2.into(), &1.into())
    );
    assert!(report["lateness_us"]["p99"].is_number());
}

#[test]
fn what_it_does_not_understand_is_refused_with_status_2() {
    for wrong in [
        ["--service", "pareto:1us"],
        ["--stall", "at=1s"],
        ["--errors", "oops:1%"],
        ["--protocol", "redis"],
        ["--user", "ann"],
        ["--set", "127.0.0.1:1"],
    ] {
        let output = stub().args(wrong).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_port_in_use_is_said_with_a_way_out() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = stub()
        .args(["--listen", &address])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains(&address) && error.contains("free port"),
        "{error}"
    );
}
