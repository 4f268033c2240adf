//! The command line: it says that it is prepared, waits for its turns, and prints what it measured.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{json, Value};

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_secs_f64()
}

fn started(pieces: &str, directory: &std::path::Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tare-micro"))
        .args(["--pieces", pieces, "--wait", "20", "--turns"])
        .arg(directory.join("turns.json"))
        .arg("--data")
        .arg(directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    (child, output.lines())
}

fn value(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let line = lines.next().expect("a line").expect("text");
    serde_json::from_str(&line).expect(&line)
}

#[test]
fn it_measures_in_its_turns_and_prints_after_the_last() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut child, mut lines) = started("futex_wake,dependent,clock", directory.path());
    let ready = value(&mut lines);
    assert_eq!(ready["ready"], true);
    assert_eq!(ready["missing"], json!({}));
    assert!(
        ready["file_system"].is_string() && ready["device"].is_string(),
        "{ready}"
    );

    let first = now() + 0.3;
    let turns = json!({
        "turns": [
            {"at": first, "ms": 20, "pieces": ["futex_wake", "clock"]},
            {"at": first + 0.2, "ms": 20, "pieces": ["dependent"]},
        ],
        "ends": first + 0.4,
    });
    let aside = directory.path().join("new");
    fs::write(&aside, turns.to_string()).expect("written");
    fs::rename(&aside, directory.path().join("turns.json")).expect("named");

    let told: Vec<Value> = (0..3).map(|_| value(&mut lines)).collect();
    assert!(
        now() >= first + 0.4,
        "nothing is printed before the end of all turns"
    );
    assert!(child.wait().expect("it ends").success());
    let names: Vec<_> = told.iter().map(|one| &one["piece"]).collect();
    assert_eq!(names, ["futex_wake", "clock", "dependent"]);
    for (one, at) in told.iter().zip([first, first, first + 0.2]) {
        let began = one["began"].as_f64().expect("a time");
        assert!(began >= at && began < at + 0.15, "{one}");
        assert!(
            one["ended"].as_f64().expect("a time") >= began + 0.02,
            "{one}"
        );
        assert!(one["n"].as_u64().expect("a number") > 0, "{one}");
        assert!(one["cpu_ns"].as_f64().expect("a number") > 0.0, "{one}");
    }
}

#[test]
fn what_cannot_be_measured_is_said_with_the_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("created"), "in the way").expect("written");
    let (mut child, mut lines) = started("create,clock", directory.path());
    let ready = value(&mut lines);
    let why = ready["missing"]["create"].as_str().expect("a reason");
    assert!(!why.is_empty());
    let turns = json!({
        "turns": [{"at": now(), "ms": 20, "pieces": ["create", "clock"]}],
        "ends": now(),
    });
    let aside = directory.path().join("new");
    fs::write(&aside, turns.to_string()).expect("written");
    fs::rename(&aside, directory.path().join("turns.json")).expect("named");
    assert_eq!(value(&mut lines)["piece"], "clock");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn beside_an_orchestrator_it_makes_its_directory_and_stays_when_all_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("not/there");
    let turns = json!({
        "turns": [{"at": now(), "ms": 20, "pieces": ["clock"]}],
        "ends": now(),
    });
    fs::write(directory.path().join("turns.json"), turns.to_string()).expect("written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tare-micro"))
        .args(["--pieces", "clock", "--stays", "--turns"])
        .arg(directory.path().join("turns.json"))
        .arg("--data")
        .arg(&data)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert_eq!(value(&mut lines)["ready"], true);
    assert_eq!(value(&mut lines)["piece"], "clock");
    assert!(data.is_dir());
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        child.try_wait().expect("asked").is_none(),
        "nobody starts it again"
    );
    child.kill().expect("killed");
    child.wait().expect("it ends");
}

#[test]
fn it_ends_by_itself_where_no_turns_come() {
    let directory = tempfile::tempdir().expect("a directory");
    let done = Command::new(env!("CARGO_BIN_EXE_tare-micro"))
        .args(["--pieces", "clock", "--wait", "0.1", "--turns"])
        .arg(directory.path().join("never.json"))
        .output()
        .expect("it runs");
    assert!(!done.status.success());
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("never.json"), "{said}");
}

#[test]
fn unknown_pieces_and_torn_turns_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let micro = |pieces: &str| {
        Command::new(env!("CARGO_BIN_EXE_tare-micro"))
            .args(["--pieces", pieces, "--turns"])
            .arg(directory.path().join("turns.json"))
            .output()
            .expect("it runs")
    };
    assert_eq!(micro("warp").status.code(), Some(2));
    fs::write(directory.path().join("turns.json"), "{\"turns\": [").expect("written");
    let torn = micro("clock");
    assert_eq!(torn.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&torn.stderr).contains("turns.json"));
    // the time that a test may take: nothing here waits for turns
    std::thread::sleep(Duration::ZERO);
}
