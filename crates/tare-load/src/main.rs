//! tare-load: sends load to a CQL cluster as a JSON specification says, and records latencies.
#![deny(unsafe_code)]

mod find_max;
mod lines;
mod live;
mod merge;
mod metrics;
mod populate;
mod progress;
mod result;
mod run;
mod spec;
mod statements;
mod steady;
mod stress;
mod ycsb;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tare_engine::errors::Fatal;
use tare_engine::observe::Observer;
use tare_engine::run::Stop;

use live::Live;
use metrics::Metrics;
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
        #[command(flatten)]
        beside: Beside,
    },
    /// Stand in for YCSB: tare-load ycsb run cassandra-cql -P workloads/workloada -p hosts=...
    #[command(disable_help_flag = true)]
    Ycsb {
        #[command(flatten)]
        beside: Beside,
        /// YCSB's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Stand in for cassandra-stress: tare-load stress write n=1000000 -rate threads=64 -node ...
    #[command(disable_help_flag = true)]
    Stress {
        #[command(flatten)]
        beside: Beside,
        /// cassandra-stress's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    FindMax(find_max::command::Options),
    /// Print the JSON Schema of the specification that `run` reads.
    Schema,
    /// Merge interval histogram logs (.hlog) of several clients into one, without loss.
    Merge {
        #[arg(required = true)]
        logs: Vec<PathBuf>,
        /// The merged log
        #[arg(short, long)]
        output: PathBuf,
    },
}

/// Who watches a run beside its own output.
#[derive(clap::Args)]
struct Beside {
    /// Serve Prometheus metrics at http://ADDRESS:PORT/metrics while the run lasts
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<String>,
    /// Let --metrics listen on an address that other machines can reach
    #[arg(long, requires = "metrics")]
    metrics_anywhere: bool,
    /// Show the run on the terminal, if standard error is one
    #[arg(long)]
    live: bool,
}

impl Beside {
    /// Runs a command that prints by itself, and lets these observers watch.
    fn watch(
        &self,
        main: impl FnOnce(&mut [&mut dyn Observer]) -> ExitCode,
    ) -> Result<ExitCode, Fatal> {
        let mut observers = self.observers()?;
        let mut others: Vec<&mut dyn Observer> = Vec::new();
        for one in &mut observers {
            others.push(&mut **one);
        }
        Ok(main(&mut others))
    }

    fn observers(&self) -> Result<Vec<Box<dyn Observer>>, Fatal> {
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        if let Some(address) = &self.metrics {
            let metrics = Metrics::serve(address, self.metrics_anywhere)?;
            eprintln!("tare-load: metrics at http://{}/metrics", metrics.address);
            observers.push(Box::new(metrics));
        }
        if let Some(live) = Live::on_terminal().filter(|_| self.live) {
            observers.push(Box::new(live));
        }
        Ok(observers)
    }
}

fn main() -> ExitCode {
    match obey(&Arguments::parse().command) {
        Ok(status) => status,
        Err(fatal) => {
            // Perhaps nobody reads either stream any more; the exit status remains.
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

fn obey(command: &Command) -> Result<ExitCode, Fatal> {
    match command {
        Command::Run {
            spec,
            workers,
            beside,
        } => {
            let spec = Spec::parse(&read(spec)?)?;
            let mut observers = beside.observers()?;
            run::run(&spec, *workers, &mut observers, &Stop::on_signals()?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Ycsb { beside, words } => {
            beside.watch(|others| tare_ycsb::main_observed(words, others))
        }
        Command::Stress { beside, words } => {
            beside.watch(|others| tare_stress::main_observed(words, others))
        }
        Command::FindMax(options) => {
            find_max::command::run(options, Spec::parse(&read(&options.spec)?)?)
        }
        Command::Schema => {
            print!("{}", spec::schema::text());
            Ok(ExitCode::SUCCESS)
        }
        Command::Merge { logs, output } => {
            merge::files(logs, output).map_err(|why| Fatal::file("merge", why))?;
            Ok(ExitCode::SUCCESS)
        }
    }
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
