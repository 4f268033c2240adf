//! One run of the binary against one stub, and what both say of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;
use serde_json::{json, Value};
use tare_stub::{Protocol, Report, Script, Stub};

use crate::program;
use crate::stolen::Watch;

/// Tests that measure time must not run side by side.
static ALONE: Mutex<()> = Mutex::new(());

/// Tries before a test gives up on the machine.
const TRIES: usize = 2;

/// What came of a run.
pub struct Seen {
    /// The client's last line.
    pub result: Value,
    pub stub: Report,
    /// Nanoseconds, all operations, measured part.
    pub response: Histogram<u64>,
    pub service: Histogram<u64>,
    /// Response times of the seconds from which the host of a virtual machine took nothing.
    pub undisturbed: Histogram<u64>,
}

impl Seen {
    pub fn response_us(&self, quantile: f64) -> f64 {
        self.response.value_at_quantile(quantile) as f64 / 1000.0
    }

    pub fn service_us(&self, quantile: f64) -> f64 {
        self.service.value_at_quantile(quantile) as f64 / 1000.0
    }

    pub fn number(&self, field: &str) -> f64 {
        self.result[field]
            .as_f64()
            .unwrap_or_else(|| panic!("no {field} in {}", self.result))
    }

    /// Whether the stub kept its word to so many microseconds, for all but one answer in a
    /// thousand.
    pub fn punctual(&self, us: f64) -> bool {
        self.stub.lateness_us.p999 <= us
    }
}

/// Reads of YCSB's table; the pace and the times are the caller's.
pub fn spec(more: Value) -> Value {
    let mut spec = json!({
        "name": "known-answers", "client": "c1", "targets": [],
        "keyspace": "ycsb", "table": "usertable", "phase": "run",
        "workload": {"kind": "ycsb", "read": 1.0, "update": 0.0, "distribution": "uniform"},
        "records": 1000, "threads": 1, "warmup_s": 0.5, "measure_s": 2.0, "seed": 1,
    });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    spec
}

pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs until `kept` says that the stub kept its word, then checks. If it never does, the
/// machine is too busy for a verdict, and the test says so.
pub fn judge(script: &Script, spec: &Value, kept: impl Fn(&Seen) -> bool, check: impl Fn(&Seen)) {
    match punctually(script, spec, kept) {
        Some(seen) => check(&seen),
        None => eprintln!("not judged: the stub was late {TRIES} times, the machine is busy"),
    }
}

/// As `judge`, but a busy machine is a failure.
pub fn demand(script: &Script, spec: &Value, kept: impl Fn(&Seen) -> bool, check: impl Fn(&Seen)) {
    let seen = punctually(script, spec, kept);
    check(&seen.expect("the stub was late every time: the machine is not quiet"));
}

/// The first of some runs for which `kept` says that the stub kept its word; it waits for its turn.
pub fn punctually(script: &Script, spec: &Value, kept: impl Fn(&Seen) -> bool) -> Option<Seen> {
    let _alone = alone();
    let mut runs = (0..TRIES).map(|_| run(script.clone(), spec.clone()));
    runs.find(|seen| {
        let kept = kept(seen);
        if !kept {
            eprintln!(
                "the stub was late: {:?}; undisturbed {} of {}",
                seen.stub.lateness_us,
                seen.undisturbed.len(),
                seen.response.len()
            );
        }
        kept
    })
}

/// One run.
pub fn run(script: Script, mut spec: Value) -> Seen {
    let protocol = script.protocol;
    let stub = Stub::start(script).unwrap();
    let log = std::env::temp_dir().join(format!(
        "tare-known-answers-{}-{}.hlog",
        std::process::id(),
        stub.address().port()
    ));
    point(&mut spec, &stub, protocol);
    spec["hlog"] = json!(log);
    let watch = Watch::start();
    let lines = client(&["run"], &spec);
    let stolen = watch.stop();
    let result = lines.last().unwrap().clone();
    assert_eq!(result["event"], "result", "{result}");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    Seen {
        result,
        stub: stub.stop().unwrap(),
        response: sum(&bytes, "-rt", |_, _| true),
        service: sum(&bytes, "-st", |_, _| true),
        undisturbed: sum(&bytes, "-rt", |begin, end| !stolen.touches(begin, end)),
    }
}

/// Sends the load to this stub.
pub fn point(spec: &mut Value, stub: &Stub, protocol: Protocol) {
    let address = stub.address();
    spec["targets"] = json!([address.to_string()]);
    if protocol == Protocol::Mongodb {
        // A connection for each operation that a stall holds: with fewer they wait for one another.
        spec["mongodb"] = json!(format!("mongodb://{address}/?maxPoolSize=500"));
        spec["stand_in"] = json!(true);
    }
}

/// The binary's JSON lines.
pub fn client(words: &[&str], spec: &Value) -> Vec<Value> {
    let output = program::run(words, &spec.to_string());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    lines
}

/// What a load generator is judged by over each protocol alike.
pub const PROTOCOLS: [Protocol; 2] = [Protocol::Cql, Protocol::Mongodb];

/// All histograms of a log whose tag ends so, of the intervals that `counts` takes by the Unix times
/// at which they begin and end.
fn sum(log: &[u8], ending: &str, counts: impl Fn(f64, f64) -> bool) -> Histogram<u64> {
    let mut sum = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    let mut base = 0.0;
    for entry in IntervalLogIterator::new(log) {
        let line = match entry.unwrap() {
            LogEntry::BaseTime(time) => {
                base = time.as_secs_f64();
                continue;
            }
            LogEntry::Interval(line) => line,
            LogEntry::StartTime(_) => continue,
        };
        let begin = base + line.start_timestamp().as_secs_f64();
        if !counts(begin, begin + line.duration().as_secs_f64()) {
            continue;
        }
        if line.tag().is_some_and(|tag| tag.as_str().ends_with(ending)) {
            use base64::Engine;
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(line.encoded_histogram())
                .unwrap();
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut bytes.as_slice())
                .unwrap();
            sum.add(&histogram).unwrap();
        }
    }
    sum
}
