//! tare-micro: times single system calls, page faults, thread starts, file operations and
//! instructions. It waits for its turns, which a file gives as Unix times, so that several
//! processes on one CPU are measured beside each other and none runs in another's turn.
#![deny(unsafe_code)]

mod machine;
mod measure;
mod pages;
mod pieces;
mod random;
mod reads;
mod resolve;
mod storage;
mod system;
#[cfg(test)]
mod tests;
mod threads;
mod turns;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Parser;
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};
use serde::Serialize;

use measure::{measure, Measured, Piece};
use pieces::Name;
use turns::Told;

/// Measures pieces of what a platform does, in turns. It prints a JSON line once it is prepared,
/// and one for each piece of each turn after the last turn.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What will be measured: names, with commas between.
    #[arg(long, value_delimiter = ',', required = true)]
    pieces: Vec<Name>,
    /// File of the turns, written whole once everybody is prepared: {"turns": [{"at": UNIX
    /// SECONDS, "ms": HOW LONG FOR EACH PIECE, "pieces": [NAMES]}], "ends": UNIX SECONDS}.
    #[arg(long)]
    turns: PathBuf,
    /// Directory for files, which those pieces need that measure storage.
    #[arg(long)]
    data: Option<PathBuf>,
    /// The name that is resolved.
    #[arg(long)]
    name: Option<String>,
    /// The one CPU to run on; without it the first of those that it may run on.
    #[arg(long)]
    cpu: Option<usize>,
    /// Seconds after which it gives up waiting for the turns.
    #[arg(long, default_value_t = 60.0)]
    wait: f64,
    /// Stay when all is told: where an orchestrator would start it again.
    #[arg(long)]
    stays: bool,
}

/// What it prints once it is prepared.
#[derive(Serialize)]
struct Ready {
    ready: bool,
    /// Of --data.
    file_system: Option<String>,
    /// MAJOR:MINOR of the device below --data.
    device: Option<String>,
    /// Pieces that cannot be measured here, with the reason.
    missing: BTreeMap<Name, String>,
}

/// One piece in one turn.
#[derive(Serialize)]
struct Line {
    turn: usize,
    piece: Name,
    /// Unix seconds.
    began: f64,
    ended: f64,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    Measured(Measured),
    Failed { error: String },
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("tare-micro: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    pin(arguments.cpu)?;
    // A database has threads. For a process with one thread the kernel counts no references to open
    // files: each call on them would cost a tenth less, depending on which pieces were asked for.
    thread::Builder::new().spawn(|| loop {
        thread::park();
    })?;
    if let Some(data) = &arguments.data {
        fs::create_dir_all(data)?; // in the layer of a pod or task nobody has made it
    }
    let mut missing = BTreeMap::new();
    let mut made: BTreeMap<Name, Box<dyn Piece>> = BTreeMap::new();
    for &name in &arguments.pieces {
        match name.make(arguments.data.as_deref(), arguments.name.as_deref()) {
            Ok(piece) => drop(made.insert(name, piece)),
            Err(why) => drop(missing.insert(name, why.to_string())),
        }
    }
    let volume = arguments.data.as_deref().map(storage::volume).transpose()?;
    print(&Ready {
        ready: true,
        file_system: volume.as_ref().map(|one| one.kind.clone()),
        device: volume.map(|one| one.device),
        missing,
    })?;
    let told = turns::awaited(&arguments.turns, Duration::from_secs_f64(arguments.wait))?;
    // Printed only at the end: its reader would run in another process's turn.
    let lines = take(&told, &mut made);
    turns::sleep_until(told.ends)?;
    lines?.iter().try_for_each(print)?;
    if arguments.stays {
        loop {
            thread::park();
        }
    }
    Ok(())
}

fn take(told: &Told, made: &mut BTreeMap<Name, Box<dyn Piece>>) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (number, turn) in told.turns.iter().enumerate() {
        turns::sleep_until(turn.at)?;
        for name in &turn.pieces {
            let Some(piece) = made.get_mut(name) else {
                continue; // told as missing
            };
            let began = turns::now();
            let found = match measure(piece.as_mut(), turn.length()) {
                Ok(measured) => Found::Measured(measured),
                Err(why) => Found::Failed {
                    error: why.to_string(),
                },
            };
            lines.push(Line {
                turn: number,
                piece: *name,
                began,
                ended: turns::now(),
                found,
            });
        }
    }
    Ok(lines)
}

fn print(line: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(line)?)?;
    out.flush()
}

/// Run on one CPU alone, as do the threads that will be started: otherwise a hand-over between
/// two threads would cost what waking another CPU does.
fn pin(cpu: Option<usize>) -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let one = match cpu {
        Some(named) if named < CpuSet::MAX_CPU => named,
        Some(named) => return Err(io::Error::other(format!("--cpu {named}: no such CPU"))),
        None => (0..CpuSet::MAX_CPU)
            .find(|&one| allowed.is_set(one))
            .unwrap_or(0),
    };
    let mut set = CpuSet::new();
    set.set(one);
    sched_setaffinity(None, &set)
        .map_err(|why| io::Error::other(format!("cannot run on CPU {one} alone: {why}")))
}
