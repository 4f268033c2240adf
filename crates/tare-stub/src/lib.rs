//! tare-stub: a server with scripted service times, for known-answer tests of load generators.
//!
//! It speaks CQL's native protocol version 4 to any driver, with YCSB's and cassandra-stress's
//! tables, or MongoDB's OP_MSG, alone or as a member of a replica set. It answers every request of
//! the load when its script says so: a constant or drawn service time, a queue before one or more
//! servers, stalls, errors, a capacity. Times are virtual: when an answer
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

mod clock;
mod connection;
mod connections;
mod cql;
mod mongo;
mod queue;
mod report;
mod script;
pub mod script_arguments;
mod serve;
mod service;
mod speech;
mod spend;
mod stream;
mod walk;

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use rustix::thread::{sched_setaffinity, set_current_timer_slack, CpuSet};

pub use report::{Report, Times};
pub use script::{Fault, Protocol, Script, Servers, Set, Stall};
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
    #[error("nobody can log in so: {0}")]
    User(String),
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
    /// Its end tells the thread to stop.
    wake: UnixStream,
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
        Stub::start_on(listener, script)
    }

    /// Starts so many members of one MongoDB replica set, each on a free port of 127.0.0.1: the first
    /// one is primary, and when it is stopped the next one.
    ///
    /// # Errors
    /// As of [`Stub::start`].
    pub fn start_set(members: usize, script: &Script) -> Result<Vec<Stub>, Error> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let bind = |_| TcpListener::bind(address).map_err(|why| Error::Listen { address, why });
        let listeners: Vec<TcpListener> = (0..members).map(bind).collect::<Result<_, _>>()?;
        let names: std::io::Result<Vec<String>> = listeners
            .iter()
            .map(|listener| listener.local_addr().map(|one| one.to_string()))
            .collect();
        let names = names.map_err(|why| Error::Listen { address, why })?;
        let start = |(me, listener)| {
            let set = Some(Set {
                name: Set::NAME.to_owned(),
                members: names.clone(),
                me,
            });
            Stub::start_on(
                listener,
                Script {
                    protocol: Protocol::Mongodb,
                    set,
                    ..script.clone()
                },
            )
        };
        listeners.into_iter().enumerate().map(start).collect()
    }

    fn start_on(listener: TcpListener, script: Script) -> Result<Stub, Error> {
        let address = listener.local_addr().map_err(Error::Thread)?;
        let (wake, woken) = UnixStream::pair().map_err(Error::Thread)?;
        let thread = match script.protocol {
            Protocol::Cql => {
                let node = cql::Node::new(address, &script).map_err(Error::Schema)?;
                spawn(node, &script, listener, woken)?
            }
            Protocol::Mongodb => {
                let news = wake.try_clone().map_err(Error::Thread)?;
                spawn(mongo::Member::new(&script, news)?, &script, listener, woken)?
            }
        };
        Ok(Stub {
            address,
            wake,
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
        self.end();
        let thread = self.thread.take().ok_or(Error::Panicked)?;
        thread
            .join()
            .map_err(|_| Error::Panicked)?
            .map(report::Tally::report)
    }

    fn end(&self) {
        // It may have ended by itself.
        let _ = self.wake.shutdown(Shutdown::Both);
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // Whoever drops it does not ask how it went.
            let _ = thread.join();
        }
    }
}

/// Serves on a thread of its own.
fn spawn<S: speech::Speech>(
    node: S,
    script: &Script,
    listener: TcpListener,
    woken: UnixStream,
) -> Result<JoinHandle<Result<report::Tally, Error>>, Error> {
    let serving = serve::Serving::new(node, script, listener, woken).map_err(Error::Thread)?;
    let cpu = script.cpu;
    std::thread::Builder::new()
        .name("tare-stub".into())
        .spawn(move || {
            settle(cpu)?;
            serving.run().map_err(Error::Thread)
        })
        .map_err(Error::Thread)
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
