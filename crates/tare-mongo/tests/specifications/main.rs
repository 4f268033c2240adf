//! MongoDB's own tests of its driver specifications, run against this client.
//!
//! The cases are files of another licence. They are not here but in a folder that the caller names
//! (`make test-mongodb-specifications SPECIFICATIONS=DIR`), so no `#[test]` can stand for them. It is a
//! test target all the same, without the usual harness, as it needs what only tests have: a scripted
//! server, and MongoDB's own BSON library as the other side of the wire.
//!
//! A line for each folder says how many cases passed, were refused, and failed; the exit status is 1 if
//! one failed. A case is refused only where the client itself says that it does not offer this
//! (`refusals.rs` has each kind, and docs/mongodb.md must have a line for each); none is skipped.
//!
//! With `SCRIPTED_SERVER` it serves drivers of other people instead (`serve.rs`).
mod client;
mod concerns;
mod discovery;
mod documents;
mod json;
mod matching;
mod operations;
mod refusals;
mod retries;
#[path = "../scripted/scram.rs"]
mod scram;
#[path = "../scripted/mod.rs"]
mod scripted;
mod selection;
mod serve;
mod server;
mod store;
mod strings;

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

/// What became of a case.
pub enum Verdict {
    Passed,
    /// The client does not offer this; the kind of refusal.
    Refused(&'static str),
    Failed(String),
}

/// What became of the cases of a folder.
#[derive(Default)]
pub struct Tally {
    passed: usize,
    refused: BTreeMap<&'static str, usize>,
    failed: Vec<String>,
    /// What in its files is of no case, and why.
    aside: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Run one case; a panic is a failure.
    pub fn case(&mut self, name: &str, run: impl FnOnce() -> Verdict) {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Verdict::Passed) => self.passed += 1,
            Ok(Verdict::Refused(kind)) => *self.refused.entry(kind).or_default() += 1,
            Ok(Verdict::Failed(why)) => self.failed.push(format!("{name}: {why}")),
            Err(_) => self.failed.push(format!("{name}: it panicked")),
        }
    }

    /// Something that is no case of this client at all.
    pub fn aside(&mut self, what: &'static str, count: usize) {
        *self.aside.entry(what).or_default() += count;
    }
}

type Run = fn(&str, &Value, &mut Tally);

/// The folders, and what runs a file of each.
const FOLDERS: [(&str, Run); 15] = [
    ("bson-corpus/tests", documents::file),
    ("connection-string/tests", strings::file),
    ("uri-options/tests", strings::file),
    ("auth/tests/legacy", strings::file),
    ("read-write-concern/tests/connection-string", strings::file),
    ("read-write-concern/tests/document", concerns::file),
    (
        "server-discovery-and-monitoring/tests/single",
        discovery::file,
    ),
    ("server-discovery-and-monitoring/tests/rs", discovery::file),
    (
        "server-discovery-and-monitoring/tests/sharded",
        discovery::file,
    ),
    (
        "server-discovery-and-monitoring/tests/errors",
        discovery::file,
    ),
    ("server-selection/tests/server_selection", selection::file),
    ("server-selection/tests/rtt", selection::file),
    ("max-staleness/tests", selection::file),
    ("retryable-reads/tests/unified", retries::file),
    ("retryable-writes/tests/unified", retries::file),
];

fn main() -> ExitCode {
    if let Ok(nature) = std::env::var(serve::ASKED) {
        return serve::serve(&nature);
    }
    let Some(folder) = std::env::var_os("SPECIFICATIONS").map(PathBuf::from) else {
        println!("not run: make test-mongodb-specifications SPECIFICATIONS=DIR says which folder");
        return ExitCode::SUCCESS;
    };
    // Cases that panic are told as failures, each in a line.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut cases, mut failures) = (0, Vec::new());
    let mut refusals: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut asides = Vec::new();
    println!(
        "{:<50}{:>8}{:>9}{:>8}",
        "folder", "passed", "refused", "failed"
    );
    for (name, run) in FOLDERS {
        let mut tally = Tally::default();
        let mut files = Vec::new();
        gather(&folder.join(name), &mut files);
        files.sort();
        for path in &files {
            let place = path
                .strip_prefix(&folder)
                .unwrap_or(path)
                .display()
                .to_string();
            match read(path) {
                Ok(file) => run(&place, &file, &mut tally),
                Err(why) => tally.failed.push(format!("{place}: {why}")),
            }
        }
        let refused: usize = tally.refused.values().sum();
        let line = format!(
            "{name:<50}{:>8}{refused:>9}{:>8}",
            tally.passed,
            tally.failed.len()
        );
        println!("{line}{}", if files.is_empty() { "  no files" } else { "" });
        cases += tally.passed + refused + tally.failed.len();
        for (kind, count) in tally.refused {
            *refusals.entry(kind).or_default() += count;
        }
        let said = tally.aside.into_iter();
        asides.extend(said.map(|(what, count)| format!("{name}: {count} {what}")));
        failures.extend(tally.failed);
    }
    failures.extend(refusals::undocumented(refusals.keys().copied()));
    println!();
    for (kind, count) in &refusals {
        println!("refused: {kind}: {count}");
    }
    for aside in &asides {
        println!("no case of this client: {aside}");
    }
    for failure in &failures {
        println!("failed: {failure}");
    }
    match (cases, failures.len()) {
        (0, _) => {
            println!(
                "no case in {}: it is no folder of specifications",
                folder.display()
            );
            ExitCode::from(2)
        }
        (_, 0) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// All JSON files below a folder.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
}

fn read(path: &Path) -> Result<Value, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// The cases of a file that has a list of them, with their names.
pub fn cases<'a>(place: &str, list: &'a Value) -> Vec<(String, &'a Value)> {
    let tests = list.as_array().into_iter().flatten();
    tests
        .map(|test| {
            let name = test["description"].as_str().unwrap_or("without a name");
            (format!("{place}: {name}"), test)
        })
        .collect()
}
