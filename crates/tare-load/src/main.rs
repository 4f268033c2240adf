//! tare-load: sends load to a CQL cluster as a JSON specification says, and records latencies.
#![deny(unsafe_code)]

mod lines;
mod progress;
mod result;
mod run;
mod spec;
mod statements;
mod workload;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tare_engine::errors::Fatal;
use tare_engine::run::Stop;

use progress::{tell, Event};
use spec::Spec;

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run one specification; JSON lines on standard output tell progress and the result.
    /// Exit status: 0 done, 1 failed, 2 bad specification.
    Run {
        /// File with the specification in JSON; "-" reads standard input.
        #[arg(long, default_value = "-")]
        spec: PathBuf,
        /// Worker threads, each with sessions of its own [default: by the CPUs available, 1 to 4]
        #[arg(long)]
        workers: Option<usize>,
    },
}

fn main() -> ExitCode {
    let Command::Run { spec, workers } = Arguments::parse().command;
    match run(&spec, workers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fatal) => {
            // Whoever should have read either stream may be gone; the exit status remains.
            let _ = tell(&Event::Error {
                kind: fatal.kind,
                what: &fatal.place,
                why: &fatal.why,
            });
            eprintln!("tare-load: {fatal}");
            ExitCode::from(fatal.exit_code())
        }
    }
}

fn run(path: &Path, workers: Option<usize>) -> Result<(), Fatal> {
    let spec = Spec::parse(&read(path)?)?;
    run::run(&spec, workers, &Stop::on_signals()?)
}

fn read(path: &Path) -> Result<String, Fatal> {
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        std::fs::read_to_string(path).map(|contents| {
            text = contents;
            text.len()
        })
    };
    read.map_err(|e| Fatal::spec(path.to_string_lossy(), e))?;
    Ok(text)
}
