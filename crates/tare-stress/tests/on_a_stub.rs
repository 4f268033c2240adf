//! Whole commands against a server with a script: what is printed, and what failures do.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tare_engine::run::Stop;
use tare_stress::output::printer::Printer;
use tare_stress::{read, run};
use tare_stub::{Fault, Report, Script, Stub};

/// What was printed, readable while it is being written.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Output of a command, whether it succeeded, and what the server saw.
struct Run {
    output: String,
    succeeded: bool,
    report: Report,
}

impl Run {
    fn has(&self, line: &str) {
        let found = self
            .output
            .lines()
            .any(|printed| printed.trim_end() == line);
        assert!(found, "no {line:?} in:\n{}", self.output);
    }
}

fn stress(script: Script, command: &str) -> Run {
    stress_at(script, command, "threads=8")
}

fn stress_at(script: Script, command: &str, rate: &str) -> Run {
    let stub = Stub::start(script).unwrap();
    let line = format!("{command} -rate {rate} -node {}", stub.address());
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let settings = read(&words).unwrap().unwrap();
    let page = Page::default();
    let printer = Printer::to(Box::new(page.clone()));
    let succeeded = run::run(&settings, printer, Stop::default(), &mut []).unwrap();
    let output = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    Run {
        output,
        succeeded,
        report: stub.stop().unwrap(),
    }
}

fn failing(fault: Fault, share: f64) -> Script {
    Script {
        errors: vec![(fault, share)],
        ..Script::default()
    }
}

#[test]
fn a_write_prints_what_the_tool_prints() {
    let run = stress(Script::default(), "write n=2000 -log no-settings");
    assert!(run.succeeded);
    run.has("Created keyspaces. All nodes agree on the schema.");
    run.has("Warming up WRITE with 500 iterations...");
    run.has("Running WRITE with 8 threads for 2000 iteration");
    run.has("Total partitions          :      2,000 [WRITE: 2,000]");
    run.has("Total errors              :          0 [WRITE: 0]");
    run.has("END");
    let rows: Vec<&str> = run
        .output
        .lines()
        .filter(|l| l.starts_with("total,"))
        .collect();
    assert!(
        rows.last().unwrap().starts_with("total,          2000,"),
        "{rows:?}"
    );
    assert_eq!(run.report.requests, 2500, "warm-up and run");
}

#[test]
fn a_mix_has_a_row_for_each_operation() {
    let command = "mixed ratio(write=1,counter_write=3) n=4000 no-warmup clustering=fixed(1)";
    let run = stress(Script::default(), command);
    assert!(run.succeeded);
    run.has("  Command Ratios: {WRITE=1.0, COUNTER_WRITE=3.0}");
    run.has("Running [WRITE, COUNTER_WRITE] with 8 threads for 4000 iteration");
    let kinds = ["COUNTER_WRITE,", "WRITE,", "total,"];
    let rows = run
        .output
        .lines()
        .filter(|l| kinds.iter().any(|kind| l.starts_with(kind)));
    let order: Vec<&str> = rows
        .filter_map(|row| row.split(',').next())
        .take(3)
        .collect();
    assert_eq!(
        order,
        ["COUNTER_WRITE", "WRITE", "total"],
        "in the order of names"
    );
}

#[test]
fn an_operation_is_tried_ten_times_and_then_ends_the_run() {
    let run = stress(failing(Fault::Unavailable, 1.0), "write n=1000 no-warmup");
    assert!(!run.succeeded);
    assert!(run
        .output
        .contains("java.io.IOException: Operation x10 on key(s) ["));
    assert!(run.output.contains("Error executing: "));
    run.has("FAILURE");
    // 8 threads, of which each had an operation under way; those may have been tried less often.
    assert!(
        (10..=80).contains(&run.report.requests),
        "{}",
        run.report.requests
    );
}

#[test]
fn tries_hide_errors_but_are_no_operations_of_their_own() {
    let run = stress(failing(Fault::Overloaded, 0.2), "write n=2000 no-warmup");
    assert!(run.succeeded, "{}", run.output);
    run.has("Total partitions          :      2,000 [WRITE: 2,000]");
    run.has("Total errors              :          0 [WRITE: 0]");
    assert!(run.report.requests > 2300, "{}", run.report.requests);
}

#[test]
fn ignored_errors_are_counted_and_are_no_partitions() {
    let command = "write n=1000 no-warmup -errors ignore retries=0 -log level=minimal";
    let run = stress(failing(Fault::Unavailable, 1.0), command);
    assert!(run.succeeded);
    run.has("Total partitions          :          0 [WRITE: 0]");
    run.has("Total errors              :      1,000 [WRITE: 1,000]");
    assert_eq!(run.report.requests, 1000);
}

#[test]
fn a_row_that_is_not_there_ends_a_read_without_another_try() {
    let empty = Script {
        rows: 0,
        ..Script::default()
    };
    let run = stress(empty, "read n=1000 no-warmup");
    assert!(!run.succeeded);
    assert!(
        run.output.contains("Operation x1 on key(s) ["),
        "{}",
        run.output
    );
    assert!(run.output.contains("Data returned was not validated"));
}

#[test]
fn nothing_is_done_for_no_operations_but_the_schema() {
    let run = stress(Script::default(), "write n=0");
    assert!(run.succeeded);
    run.has("N=0: SCHEMA CREATED, NOTHING ELSE DONE.");
    assert_eq!(run.report.requests, 0);
}

#[test]
fn a_fixed_rate_ends_when_its_operations_are_done() {
    let run = stress_at(
        Script::default(),
        "write n=200 no-warmup",
        "threads=4 fixed=2000/s",
    );
    assert!(run.succeeded);
    run.has("  OpsPer Sec: 2000");
    assert_eq!(run.report.requests, 200);
}

#[test]
fn a_cluster_that_is_not_there_is_an_error_and_no_run() {
    let stub = Stub::start(Script::default()).unwrap();
    let gone = stub.address();
    stub.stop().unwrap();
    let words: Vec<String> = ["read", "n=5", "-node", &gone.to_string()]
        .map(str::to_owned)
        .into();
    let settings = read(&words).unwrap().unwrap();
    let printer = Printer::to(Box::new(Page::default()));
    let fatal = run::run(&settings, printer, Stop::default(), &mut []).unwrap_err();
    assert_eq!(fatal.kind, "unreachable");
    assert!(fatal.to_string().contains(&gone.to_string()), "{fatal}");
}
