//! tare-stub: the command line of the scripted server.
#![deny(unsafe_code)]

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use tare_stub::{
    script_arguments, Fault, Protocol, Report, Script, Servers, Service, Set, Stall, Stub,
};

/// A server with scripted service times, that speaks CQL or MongoDB's OP_MSG. It says where it listens, serves until SIGINT or
/// SIGTERM, and prints what it did as JSON. Times count from the first request of the load.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// cql, or mongodb.
    #[arg(long, default_value = "cql", value_parser = script_arguments::protocol)]
    protocol: Protocol,
    /// HOST:PORT to listen on; port 0 takes a free one. Without it 127.0.0.1 and the port of the
    /// protocol's database, 9042 or 27017.
    #[arg(long, value_parser = script_arguments::address)]
    listen: Option<SocketAddr>,
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
    /// Rows in the answer to a read; documents that a query without an _id finds.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16))]
    rows: u16,
    /// Length of text and blob values in rows, bytes.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    value_bytes: u32,
    /// CQL: a CREATE KEYSPACE or CREATE TABLE statement to obey beforehand. May be given more than once.
    #[arg(long, value_name = "CQL")]
    schema: Vec<String>,
    /// CQL: clients may come with TLS, too, which their first byte tells; never with a session that
    /// is resumed. The key and the certificate of its own, for the name tare-stub, are in its memory
    /// alone.
    #[arg(long)]
    tls: bool,
    /// CQL: a further table like YCSB's, with values of so many bytes: ycsb.large=900. May be given
    /// more than once.
    #[arg(long, value_name = "KEYSPACE.TABLE=BYTES", value_parser = script_arguments::table)]
    ycsb_table: Vec<(String, usize)>,
    /// CQL: HOST:PORT of a further node of the same cluster. May be given more than once.
    #[arg(long, value_parser = script_arguments::address)]
    peer: Vec<SocketAddr>,
    /// MongoDB: [NAME=]HOST:PORT,HOST:PORT,... of the replica set that it is in. The first living
    /// member is primary.
    #[arg(long)]
    set: Option<String>,
    /// MongoDB: which of the set's members it is, if not the address that it listens on.
    #[arg(long, value_name = "HOST:PORT", requires = "set")]
    me: Option<String>,
    /// MongoDB: it is of a set that a client names with replSetInitiate, at it or at another member.
    #[arg(long, conflicts_with = "set")]
    set_later: bool,
    /// MongoDB: NAME:PASSWORD that clients must prove, by SCRAM-SHA-256 or SCRAM-SHA-1.
    #[arg(long, value_name = "NAME:PASSWORD", value_parser = script_arguments::user)]
    user: Option<(String, String)>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Never sleep: takes a whole CPU, answers more punctually.
    #[arg(long)]
    spin: bool,
    /// Keep the CPU busy for so long for each request of the load: a known cost.
    #[arg(long, value_name = "TIME", default_value = "0ns", value_parser = script_arguments::duration)]
    spend: Duration,
    /// Walk through so many KiB of data, and some 300 KiB of code, for each request of the load, as a
    /// database that works does: the answer then finds cold caches.
    #[arg(long, value_name = "KIB", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_048_576))]
    walk: u32,
    /// CPU to pin the serving thread to.
    #[arg(long)]
    cpu: Option<usize>,
    /// Write the report to this file instead of standard output.
    #[arg(long)]
    report: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let script = match script(&arguments) {
        Ok(script) => script,
        Err(why) => {
            eprintln!("tare-stub: {why}");
            return ExitCode::from(2);
        }
    };
    match serve(&arguments, script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("tare-stub: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &Arguments, script: Script) -> Result<(), Box<dyn std::error::Error>> {
    // Before the stub starts: a signal that comes early must not be missed.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let stub = Stub::start_at(arguments.listen(), script)?;
    println!("listening on {}", stub.address());
    std::io::stdout().flush()?;
    signals.forever().next();
    write(&stub.stop()?, arguments.report.as_ref())
}

impl Arguments {
    fn listen(&self) -> SocketAddr {
        let port = match self.protocol {
            Protocol::Cql => 9042,
            Protocol::Mongodb => 27017,
        };
        self.listen
            .unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    fn set(&self) -> Result<Option<Set>, String> {
        let Some(members) = &self.set else {
            return Ok(None);
        };
        let me = self.me.clone().unwrap_or_else(|| self.listen().to_string());
        let set = script_arguments::set(members, &me);
        set.map(Some).map_err(|why| format!("--set: {why}"))
    }
}

/// Options that say nothing in the protocol that is spoken.
fn refuse_strays(arguments: &Arguments) -> Result<(), String> {
    let (other, strays) = match arguments.protocol {
        Protocol::Cql => (
            "mongodb",
            vec![
                ("--set", arguments.set.is_some()),
                ("--set-later", arguments.set_later),
                ("--user", arguments.user.is_some()),
            ],
        ),
        Protocol::Mongodb => (
            "cql",
            vec![
                ("--schema", !arguments.schema.is_empty()),
                ("--tls", arguments.tls),
                ("--ycsb-table", !arguments.ycsb_table.is_empty()),
                ("--peer", !arguments.peer.is_empty()),
            ],
        ),
    };
    match strays.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(format!("{name} is for --protocol {other}")),
        None => Ok(()),
    }
}

fn script(arguments: &Arguments) -> Result<Script, String> {
    refuse_strays(arguments)?;
    let errors: Option<Result<Vec<(Fault, f64)>, String>> =
        arguments.errors.as_deref().map(script_arguments::errors);
    Ok(Script {
        protocol: arguments.protocol,
        service: arguments.service.clone(),
        servers: arguments.servers,
        stalls: arguments.stall.clone(),
        errors: errors
            .transpose()
            .map_err(|why| format!("--errors {why}"))?
            .unwrap_or_default(),
        slowdown: 1.0 + arguments.slower,
        capacity: arguments.capacity,
        drops: arguments.drop_connections.clone(),
        silent_from: arguments.silent,
        rows: usize::from(arguments.rows),
        value_bytes: arguments.value_bytes as usize,
        seed: arguments.seed,
        spin: arguments.spin,
        spend: arguments.spend,
        walk: (arguments.walk as usize) << 10,
        cpu: arguments.cpu,
        peers: arguments.peer.clone(),
        schema: arguments.schema.clone(),
        tls: arguments.tls,
        ycsb_tables: arguments.ycsb_table.clone(),
        set: arguments.set()?,
        set_later: arguments.set_later,
        user: arguments.user.clone(),
    })
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
