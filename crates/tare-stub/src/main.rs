//! tare-stub: the command line of the scripted CQL server.
#![deny(unsafe_code)]

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use tare_stub::{script_arguments, Fault, Report, Script, Servers, Service, Stall, Stub};

/// A CQL server with scripted service times. It says where it listens, serves until SIGINT or
/// SIGTERM, and prints what it did as JSON. Times count from the first request of the load.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// HOST:PORT to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:9042", value_parser = script_arguments::address)]
    listen: SocketAddr,
    /// constant:500us, exponential:MEAN, uniform:LOW,HIGH, lognormal:MEAN,SIGMA or file:PATH.
    #[arg(long, default_value = "constant:0", value_parser = script_arguments::service)]
    service: Service,
    /// Servers behind one queue; inf: no request waits for another.
    #[arg(long, default_value = "inf", value_parser = script_arguments::servers)]
    servers: Servers,
    /// Hold every answer for a while: at=10s,for=2s. May be given more than once.
    #[arg(long, value_parser = script_arguments::stall)]
    stall: Vec<Stall>,
    /// Shares of requests that fail, spread evenly: unavailable:1%,timeout:1%. Kinds: unavailable,
    /// timeout, overloaded, bootstrapping, server, lost (never answered).
    #[arg(long)]
    errors: Option<String>,
    /// Make every service time this much longer.
    #[arg(long, default_value = "0%", value_parser = script_arguments::share)]
    slower: f64,
    /// Most operations per second.
    #[arg(long, value_parser = script_arguments::rate)]
    capacity: Option<f64>,
    /// Close all connections at this time. May be given more than once.
    #[arg(long, value_name = "TIME", value_parser = script_arguments::duration)]
    drop_connections: Vec<Duration>,
    /// Answer nothing of the load, from this time on.
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "0", value_parser = script_arguments::duration)]
    silent: Option<Duration>,
    /// Rows in the answer to a read.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16))]
    rows: u16,
    /// Length of text and blob values in rows, bytes.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    value_bytes: u32,
    /// A CREATE KEYSPACE or CREATE TABLE statement to obey beforehand. May be given more than once.
    #[arg(long, value_name = "CQL")]
    schema: Vec<String>,
    /// HOST:PORT of a further node of the same cluster. May be given more than once.
    #[arg(long, value_parser = script_arguments::address)]
    peer: Vec<SocketAddr>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Never sleep: takes a whole CPU, answers more punctually.
    #[arg(long)]
    spin: bool,
    /// Keep the CPU busy for so long for each request of the load: a known cost.
    #[arg(long, value_name = "TIME", default_value = "0ns", value_parser = script_arguments::duration)]
    spend: Duration,
    /// CPU to pin the serving thread to.
    #[arg(long)]
    cpu: Option<usize>,
    /// Write the report to this file instead of standard output.
    #[arg(long)]
    report: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let errors = match arguments
        .errors
        .as_deref()
        .map_or(Ok(Vec::new()), script_arguments::errors)
    {
        Ok(errors) => errors,
        Err(why) => {
            eprintln!("tare-stub: --errors {why}");
            return ExitCode::from(2);
        }
    };
    match serve(&arguments, errors) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("tare-stub: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve(
    arguments: &Arguments,
    errors: Vec<(Fault, f64)>,
) -> Result<(), Box<dyn std::error::Error>> {
    // Before the stub starts: a signal that comes early must not be missed.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let stub = Stub::start_at(arguments.listen, script(arguments, errors))?;
    println!("listening on {}", stub.address());
    std::io::stdout().flush()?;
    signals.forever().next();
    write(&stub.stop()?, arguments.report.as_ref())
}

fn script(arguments: &Arguments, errors: Vec<(Fault, f64)>) -> Script {
    Script {
        service: arguments.service.clone(),
        servers: arguments.servers,
        stalls: arguments.stall.clone(),
        errors,
        slowdown: 1.0 + arguments.slower,
        capacity: arguments.capacity,
        drops: arguments.drop_connections.clone(),
        silent_from: arguments.silent,
        rows: usize::from(arguments.rows),
        value_bytes: arguments.value_bytes as usize,
        seed: arguments.seed,
        spin: arguments.spin,
        spend: arguments.spend,
        cpu: arguments.cpu,
        peers: arguments.peer.clone(),
        schema: arguments.schema.clone(),
    }
}

fn write(report: &Report, file: Option<&PathBuf>) -> Result<(), Box<dyn std::error::Error>> {
    let json = serde_json::to_string_pretty(report)?;
    match file {
        Some(path) => std::fs::write(path, json + "\n")
            .map_err(|why| format!("cannot write the report to {}: {why}", path.display()).into()),
        None => {
            println!("{json}");
            Ok(())
        }
    }
}
