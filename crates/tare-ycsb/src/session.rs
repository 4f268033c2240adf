//! One run from its command line to its exit status.

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tare_engine::errors::Fatal;
use tare_engine::observe::{Chorus, Observer};
use tare_engine::order::{Order, Pace};
use tare_engine::run::{run as drive, Stop};
use tare_engine::wire::Deployment;

use crate::command::{self, Command, Invocation};
use crate::operations::Operations;
use crate::printer::Printer;
use crate::properties::{Properties, Unreadable};
use crate::settings::{
    veiled as veiled_url, BadProperty, Binding, CqlBinding, MeasureKind, MongoBinding, Phase,
    Settings, STAND_IN,
};
use crate::shipped;
use crate::usage::USAGE;
use crate::workload::CoreWorkload;

const FAILED: u8 = 1;
const MISUSED: u8 = 2;
/// Up to this rate per thread YCSB spreads the threads' first operations at random.
const STAGGERED_RATE: f64 = 1000.0;

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Command(#[from] command::Misuse),
    #[error("property file {path}: {why}")]
    File { path: String, why: Unreadable },
    #[error(transparent)]
    Property(#[from] BadProperty),
}

/// Runs what the words ask for; `others` see what is printed from.
pub fn run(words: &[String], others: &mut [&mut dyn Observer]) -> ExitCode {
    let mut settings = match settings(words) {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(refusal) => {
            eprintln!("ycsb: {refusal}");
            eprintln!("Try: tare-load ycsb --help");
            return ExitCode::from(MISUSED);
        }
    };
    greet(words, &mut settings);
    let settings = Arc::new(settings);
    match work(&settings, others) {
        Ok(status) => ExitCode::from(status),
        Err(fatal) => {
            eprintln!("[ERROR] {fatal}");
            if let Some(remedy) = remedy(&fatal, &settings) {
                eprintln!("{remedy}");
            }
            ExitCode::from(fatal.exit_code())
        }
    }
}

/// None when help was asked for.
fn settings(words: &[String]) -> Result<Option<Settings>, Refusal> {
    let invocation = match command::parse(words)? {
        Command::Help => return Ok(None),
        Command::Work(invocation) => invocation,
    };
    let mut remarks = invocation.remarks.clone();
    let properties = properties(invocation, &mut remarks)?;
    let mut settings = Settings::read(&properties)?;
    remarks.append(&mut settings.remarks);
    settings.remarks = remarks;
    Ok(Some(settings))
}

/// All properties: files in their order, then the command line.
fn properties(invocation: Invocation, remarks: &mut Vec<String>) -> Result<Properties, Refusal> {
    let mut properties = Properties::default();
    for path in &invocation.files {
        properties.overlay(file(path, remarks)?);
    }
    properties.overlay(invocation.given);
    Ok(properties)
}

fn file(path: &Path, remarks: &mut Vec<String>) -> Result<Properties, Refusal> {
    match Properties::read(path) {
        Ok(properties) => Ok(properties),
        Err(Unreadable::Io(why)) if why.kind() == std::io::ErrorKind::NotFound => {
            let built_in = shipped::workload(path);
            if built_in.is_some() {
                let path = path.display();
                remarks.push(format!(
                    "{path} is no file here; the built-in workload is used"
                ));
            }
            built_in.ok_or(Unreadable::Io(why))
        }
        Err(why) => Err(why),
    }
    .map_err(|why| Refusal::File {
        path: path.display().to_string(),
        why,
    })
}

/// What YCSB prints before it starts, and what is worth saying of the properties.
fn greet(words: &[String], settings: &mut Settings) {
    eprintln!("Command line: {}", echo(words, settings));
    eprintln!(
        "YCSB Client 0.17.0 (spoken by tare-load {})",
        env!("CARGO_PKG_VERSION")
    );
    eprintln!();
    eprintln!("Loading workload...");
    for remark in settings.remarks.drain(..) {
        eprintln!("[WARN] {remark}");
    }
    eprintln!("Starting test.");
}

/// The words as `ycsb.sh` hands them to YCSB's client, without secrets.
fn echo(words: &[String], settings: &Settings) -> String {
    let phase = match settings.phase {
        Phase::Load => "-load",
        Phase::Run => "-t",
    };
    let mut echoed: Vec<Cow<'_, str>> = [phase, "-db", settings.class].map(Cow::from).to_vec();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        match word {
            "-load" | "-t" => {}
            "-db" => drop(words.next()),
            _ if word.starts_with('-') => {
                echoed.push(word.into());
                let takes_value = !matches!(word, "-s") && !word.contains('=');
                echoed.extend(words.next_if(|_| takes_value).map(veiled));
            }
            // The command and the binding, which have been said.
            _ => {}
        }
    }
    echoed.join(" ")
}

fn veiled(word: &str) -> Cow<'_, str> {
    match word.split_once('=') {
        Some((name @ ("cassandra.password" | "scylla.password"), _)) => {
            format!("{name}=***").into()
        }
        Some((name @ "mongodb.url", url)) => format!("{name}={}", veiled_url(url)).into(),
        _ => word.into(),
    }
}

fn work(settings: &Arc<Settings>, others: &mut [&mut dyn Observer]) -> Result<u8, Fatal> {
    let operations = Operations::new(settings);
    let mut printer = Printer::new(Arc::clone(settings), operations)?;
    let stop = Stop::on_signals()?;
    let mut voices: Vec<&mut dyn Observer> = vec![&mut printer];
    voices.extend(others.iter_mut().map(|one| &mut **one as &mut dyn Observer));
    let mut chorus = Chorus(voices);
    let whole = Arc::clone(settings);
    match &settings.binding {
        Binding::Cql(binding) => {
            let workload = CoreWorkload::cql(whole, binding);
            drive(&cql_order(settings, binding), workload, &mut chorus, &stop)?;
        }
        Binding::Mongo(binding) => {
            let workload = CoreWorkload::mongo(whole, binding)
                .map_err(|bad| Fatal::spec(bad.name, bad.why))?;
            drive(
                &mongo_order(settings, binding),
                workload,
                &mut chorus,
                &stop,
            )?;
        }
    }
    Ok(printer.verdict.map_or(FAILED, |verdict| verdict.status()))
}

/// How a CQL cluster is driven.
pub(crate) fn cql_order(settings: &Settings, binding: &CqlBinding) -> Order {
    Order {
        keyspace: Some(binding.keyspace.clone()),
        timeout: binding.timeout,
        links: binding.links,
        ..order(settings, binding.cluster.clone())
    }
}

/// How a MongoDB deployment is driven.
pub(crate) fn mongo_order(settings: &Settings, binding: &MongoBinding) -> Order<Deployment> {
    Order {
        timeout: binding.timeout,
        links: Some(binding.links),
        ..order(settings, binding.deployment.clone())
    }
}

fn order<C>(settings: &Settings, cluster: C) -> Order<C> {
    let interval = match settings.measure.kind {
        MeasureKind::Series => Duration::from_millis(settings.measure.granularity),
        _ => Duration::from_secs(1),
    };
    Order {
        measure: settings.longest,
        interval,
        timeout: Duration::from_secs(10),
        workers: settings.workers,
        seed: settings.seed,
        ..Order::new(cluster, pace(settings))
    }
}

fn pace(settings: &Settings) -> Pace {
    let slots = settings.threads;
    let Some(target) = settings.target else {
        return Pace::Closed { slots };
    };
    let rate = target as f64;
    Pace::PerSlot {
        slots,
        rate,
        stagger: rate / slots as f64 <= STAGGERED_RATE,
    }
}

/// What to do about a failure.
fn remedy(fatal: &Fatal, settings: &Settings) -> Option<String> {
    match &settings.binding {
        Binding::Cql(binding) => cql_remedy(fatal, settings, binding),
        Binding::Mongo(_) if fatal.why.contains("refused the credentials") => Some(
            "Check the user, the password, authSource and authMechanism of mongodb.url".to_owned(),
        ),
        Binding::Mongo(binding) if fatal.kind == "unreachable" => Some(format!(
            "Check that the members run and are reachable from here: {}",
            binding.deployment.uri.place()
        )),
        Binding::Mongo(_) if fatal.kind == "stand_in" => Some(format!(
            "Give the mongodb.url of a mongod, or try things out with -p {STAND_IN}=true"
        )),
        Binding::Mongo(_) => None,
    }
}

fn cql_remedy(fatal: &Fatal, settings: &Settings, binding: &CqlBinding) -> Option<String> {
    match fatal.kind {
        "schema" => {
            let fields = settings
                .core
                .fields
                .iter()
                .map(|field| format!(", {field} varchar"));
            let fields: String = fields.take(100).collect();
            Some(format!(
                "If the keyspace or the table is missing, make them, in cqlsh:\n  \
                 CREATE KEYSPACE {} WITH replication = \
                 {{'class': 'SimpleStrategy', 'replication_factor': 3}};\n  \
                 CREATE TABLE {}.{} (y_id varchar PRIMARY KEY{fields});",
                binding.keyspace, binding.keyspace, settings.core.table,
            ))
        }
        "unreachable" => Some(format!(
            "Check that the nodes run and are reachable from here: {}",
            binding.cluster.contact_points.join(", ")
        )),
        _ => None,
    }
}
