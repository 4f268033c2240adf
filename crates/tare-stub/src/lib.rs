//! tare-stub: a CQL server with scripted service times, for known-answer tests of load generators.
//!
//! It speaks native protocol version 4 to any driver, has YCSB's and cassandra-stress's tables, and
//! answers every request of the load when its script says so: a constant or drawn service time, a
//! queue before one or more servers, stalls, errors, a capacity. Times are virtual: when an answer
//! is due follows from the arrivals alone, so that the stub's own delays do not add up. How late its
//! answers were is in its report, so that a test can tell the stub's error from the client's.
//!
//! ```
//! use tare_stub::{Script, Stub};
//!
//! let stub = Stub::start(Script::default())?;
//! let address = stub.address(); // let the load generator loose on it
//! let report = stub.stop()?;
//! assert_eq!(report.requests, 0);
//! # Ok::<(), tare_stub::Error>(())
//! ```
#![deny(unsafe_code)]

mod catalogue;
mod clock;
mod connection;
mod connections;
mod create;
mod declared;
mod described;
mod kind;
mod markers;
mod node;
mod prepared;
mod queue;
mod report;
mod rows;
mod script;
pub mod script_arguments;
mod serve;
mod service;
mod spend;
mod statement;
mod system;
mod wire;
mod words;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use rustix::thread::{sched_setaffinity, set_current_timer_slack, CpuSet};

pub use report::{Report, Times};
pub use script::{Fault, Script, Servers, Stall};
pub use service::Service;

/// Why a stub could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot listen on {address}: {why}; choose a free port, or port 0 for any")]
    Listen {
        address: SocketAddr,
        why: std::io::Error,
    },
    #[error("the schema is not understood: {0}")]
    Schema(String),
    #[error("cannot pin the stub to CPU {cpu}: {why}; name one that taskset -p $$ shows")]
    Pin { cpu: usize, why: std::io::Error },
    #[error("the stub's thread failed: {0}")]
    Thread(std::io::Error),
    #[error("the stub's thread panicked")]
    Panicked,
}

/// A running stub; dropping it stops it.
#[derive(Debug)]
pub struct Stub {
    address: SocketAddr,
    /// Closing it wakes the thread up.
    wake: Option<UnixStream>,
    thread: Option<JoinHandle<Result<report::Tally, Error>>>,
}

impl Stub {
    /// Starts on a free port of 127.0.0.1, in a thread of its own.
    ///
    /// # Errors
    /// The schema is not understood, or the machine refused something.
    pub fn start(script: Script) -> Result<Stub, Error> {
        Stub::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script)
    }

    /// Starts on an address; port 0 takes a free one.
    ///
    /// # Errors
    /// As of [`Stub::start`].
    pub fn start_at(address: SocketAddr, script: Script) -> Result<Stub, Error> {
        let listener = TcpListener::bind(address).map_err(|why| Error::Listen { address, why })?;
        let address = listener
            .local_addr()
            .map_err(|why| Error::Listen { address, why })?;
        let (wake, woken) = UnixStream::pair().map_err(Error::Thread)?;
        let mut catalogue = catalogue::Catalogue::default();
        for cql in &script.schema {
            catalogue.create(cql, None).map_err(Error::Schema)?;
        }
        let node = node::Node {
            system: system::System::new(address, &script.peers),
            catalogue,
            statements: prepared::Statements::default(),
            rows: prepared::Rows {
                count: script.rows,
                value_bytes: script.value_bytes,
            },
        };
        let queue = queue::Queue::new(&script);
        let drops = script.drops.iter().map(|at| at.as_nanos() as u64).collect();
        let spend = spend::Spend::new(script.spend);
        let serving = serve::Serving::new(node, queue, drops, script.spin, spend, listener, woken)
            .map_err(Error::Thread)?;
        let cpu = script.cpu;
        let thread = std::thread::Builder::new()
            .name("tare-stub".into())
            .spawn(move || {
                settle(cpu)?;
                serving.run().map_err(Error::Thread)
            })
            .map_err(Error::Thread)?;
        Ok(Stub {
            address,
            wake: Some(wake),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it; gives its account.
    ///
    /// # Errors
    /// Its thread had failed.
    pub fn stop(mut self) -> Result<Report, Error> {
        self.wake = None;
        let thread = self.thread.take().ok_or(Error::Panicked)?;
        thread
            .join()
            .map_err(|_| Error::Panicked)?
            .map(report::Tally::report)
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // Whoever drops it does not ask how it went.
            let _ = thread.join();
        }
    }
}

/// Makes the current thread punctual.
fn settle(cpu: Option<usize>) -> Result<(), Error> {
    // Sleeps end up to 50 us late by default (prctl(2), PR_SET_TIMERSLACK). If this is refused, the
    // lateness in the report tells.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let Some(cpu) = cpu else {
        return Ok(());
    };
    let mut set = CpuSet::new();
    if cpu >= CpuSet::MAX_CPU {
        let why = std::io::Error::from(std::io::ErrorKind::InvalidInput);
        return Err(Error::Pin { cpu, why });
    }
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|why| Error::Pin {
        cpu,
        why: why.into(),
    })
}
