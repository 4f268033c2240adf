//! tare-pod: what Tare does inside pods beside load and database. Images from scratch have no
//! shell; this is the little that one would have been needed for.
#![forbid(unsafe_code)]

mod answer;
mod ask;
mod await_name;
mod hand_over;
mod remove;
mod take;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    /// Tell everyone who connects which pod this is and which addresses the connection has here.
    Answer {
        /// How this pod is called.
        #[arg(long, env = "TARE_POD")]
        name: String,
        /// Name or IPv4 address of this machine at which to listen, resolved here; without it: all.
        #[arg(long)]
        at: Option<String>,
        #[arg(required = true)]
        ports: Vec<u16>,
    },
    /// Connect to pods that answer, and print a JSON line for each: what it told, or why not.
    Ask {
        /// Seconds after which a target that has not answered is given up.
        #[arg(long, default_value_t = 5.0)]
        within: f64,
        /// HOST:PORT; a name is resolved here.
        #[arg(required = true)]
        targets: Vec<String>,
    },
    /// Print the files of a directory, each after a JSON line with its name and size.
    HandOver {
        directory: PathBuf,
        /// Names of files that are left out.
        #[arg(long)]
        skip: Vec<String>,
    },
    /// Remove the entries of a directory whose names begin as given.
    Remove { directory: PathBuf, prefix: String },
    /// Take the files of a directory from whoever connects to the port of the loopback that is
    /// printed, and tell their digests; then become another program, if one is named.
    Take {
        directory: PathBuf,
        #[arg(last = true)]
        then: Vec<OsString>,
    },
    /// Copy this program into a directory.
    CopySelf { directory: PathBuf },
    /// Wait until a name has an address.
    AwaitName {
        #[arg(long, default_value_t = 60.0)]
        within: f64,
        name: String,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().job) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tare-pod: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(job: Job) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match job {
        Job::Answer { name, at, ports } => answer::serve(&name, at.as_deref(), &ports),
        Job::Ask { within, targets } => {
            for told in ask::ask_all(&targets, seconds(within)?) {
                writeln!(out, "{}", serde_json::to_string(&told)?)?;
            }
            Ok(())
        }
        Job::HandOver { directory, skip } => hand_over::hand_over(&directory, &skip, &mut out),
        Job::Remove { directory, prefix } => remove::remove(&directory, &prefix),
        Job::Take { directory, then } => {
            take::take(&directory, &mut out)?;
            match then.split_first() {
                Some((program, words)) => Err(Command::new(program).args(words).exec()),
                None => Ok(()),
            }
        }
        Job::CopySelf { directory } => {
            fs::copy(env::current_exe()?, directory.join(env!("CARGO_BIN_NAME")))?;
            Ok(())
        }
        Job::AwaitName { within, name } => await_name::await_name(&name, seconds(within)?),
    }
}

fn seconds(given: f64) -> io::Result<Duration> {
    Duration::try_from_secs_f64(given)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}
