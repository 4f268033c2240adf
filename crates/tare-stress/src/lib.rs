//! cassandra-stress' command line, profiles and output on Tare's load engine.
#![deny(unsafe_code)]

pub mod grammar;
pub mod help;
pub mod output;
pub mod profile;
pub mod run;
pub mod settings;
pub mod workload;

use std::process::ExitCode;

use tare_engine::errors::Fatal;
use tare_engine::observe::Observer;
use tare_engine::run::Stop;

use grammar::words::{sections, words, Section};
use grammar::Usage;
use output::printer::Printer;
use settings::Settings;

/// Runs a command line as `cassandra-stress` would: `arguments` begin with the command.
///
/// Exit status 0 is success; 1 is a bad command line, a cluster that cannot be reached, or a run
/// that failed, as with the tool.
pub fn main(arguments: &[String]) -> ExitCode {
    main_observed(arguments, &mut [])
}

/// As [`main`]; the given observers are told everything but the warm-up, too.
pub fn main_observed(arguments: &[String], others: &mut [&mut dyn Observer]) -> ExitCode {
    match read(arguments) {
        Ok(Some(settings)) => stress(&settings, others),
        Ok(None) => ExitCode::SUCCESS,
        Err(usage) => {
            eprintln!("{usage}");
            eprintln!("See: tare load stress help");
            ExitCode::FAILURE
        }
    }
}

/// The settings of a command line; none if it asked for something that has been printed.
pub fn read(arguments: &[String]) -> Result<Option<Settings>, Usage> {
    let sections = cut(arguments)?;
    match help::answer(&sections)? {
        Some(lines) => {
            lines.iter().for_each(|line| println!("{line}"));
            Ok(None)
        }
        None => Settings::read(sections).map(Some),
    }
}

/// The sections of a command line.
pub fn cut(arguments: &[String]) -> Result<Vec<Section>, Usage> {
    let words = words(arguments)?;
    if words.is_empty() {
        return Err(Usage::new("No command provided"));
    }
    sections(&words)
}

fn stress(settings: &Settings, others: &mut [&mut dyn Observer]) -> ExitCode {
    if let Some(note) = settings.rate.note {
        eprintln!("{note}");
    }
    eprintln!("Not connecting over JMX; the gc columns are 0.");
    let outcome = Stop::on_signals().and_then(|stop| {
        let printer = Printer::open(settings.log.file.as_deref())?;
        run::run(settings, printer, stop, others)
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fatal) => failed(&fatal),
    }
}

fn failed(fatal: &Fatal) -> ExitCode {
    eprintln!("{fatal}");
    if fatal.kind == "unreachable" {
        eprintln!(
            "Check the addresses of -node, the port of -port native=, user= and password= of -mode, \
             and truststore= of -transport."
        );
    }
    ExitCode::FAILURE
}
