//! What the stub does with requests: service times, servers, stalls, errors, limits.

use std::net::SocketAddr;
use std::time::Duration;

use crate::service::Service;

/// What a stub speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Cassandra's native protocol, version 4.
    Cql,
    /// MongoDB's OP_MSG.
    Mongodb,
}

/// A MongoDB replica set, of which the first living member is primary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    pub name: String,
    /// HOST:PORT of all members, as clients and the members themselves reach them.
    pub members: Vec<String>,
    /// Place of this one among them.
    pub me: usize,
}

impl Set {
    /// What a set is called where nothing else is said.
    pub const NAME: &'static str = "rs0";
}

/// How requests wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Servers {
    /// A queue, first come first served, before so many servers. One server with exponential
    /// service and Poisson arrivals is M/M/1.
    Count(usize),
    /// No request waits for another: a pure delay.
    Unlimited,
}

/// A time during which every answer is held: one that is due within is sent at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// After the first request of the load.
    pub at: Duration,
    pub length: Duration,
}

/// How a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Unavailable,
    Timeout,
    Overloaded,
    Bootstrapping,
    Server,
    /// No answer ever comes.
    Lost,
}

impl Fault {
    pub const ALL: [(&'static str, Fault); 6] = [
        ("unavailable", Fault::Unavailable),
        ("timeout", Fault::Timeout),
        ("overloaded", Fault::Overloaded),
        ("bootstrapping", Fault::Bootstrapping),
        ("server", Fault::Server),
        ("lost", Fault::Lost),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, fault)| *fault == self)
            .map_or("", |(name, _)| name)
    }
}

/// Everything that one stub is told. The load is every EXECUTE, BATCH, and QUERY of a table that is
/// not the system's; of MongoDB every find, getMore, insert, update and delete. Other requests are
/// answered at once.
#[derive(Debug, Clone)]
pub struct Script {
    pub protocol: Protocol,
    pub service: Service,
    pub servers: Servers,
    pub stalls: Vec<Stall>,
    /// Shares of requests that fail, each in 0..=1. They are spread evenly, not drawn: of any n
    /// requests, n times the share fail, to within one.
    pub errors: Vec<(Fault, f64)>,
    /// Factor on every service time.
    pub slowdown: f64,
    /// Most answers per second, as a further server with a constant service time behind the queue.
    pub capacity: Option<f64>,
    /// When all connections are closed, after the first request of the load.
    pub drops: Vec<Duration>,
    /// From when on the load is no longer answered, after its first request.
    pub silent_from: Option<Duration>,
    /// Rows in the answer to a read; documents that a query finds.
    pub rows: usize,
    /// Length of text and blob values in rows, bytes.
    pub value_bytes: usize,
    pub seed: u64,
    /// Never sleep: the thread takes a whole CPU and is more punctual.
    pub spin: bool,
    /// CPU time that each request of the load costs on top: a known cost, to be found.
    pub spend: Duration,
    /// Bytes of data that it walks through for each request of the load, with code, so that caches
    /// are cold; 0: it does not.
    pub walk: usize,
    /// The CPU that the thread is pinned to.
    pub cpu: Option<usize>,
    /// CQL: further nodes that it says are in its cluster.
    pub peers: Vec<SocketAddr>,
    /// CQL: CREATE statements that are obeyed before it starts.
    pub schema: Vec<String>,
    /// CQL: clients may come with TLS, too: a key and a certificate that it signed itself for
    /// `tare-stub` are made, and forgotten at its end.
    pub tls: bool,
    /// CQL: further tables like YCSB's, each with the length of its values, bytes.
    pub ycsb_tables: Vec<(String, usize)>,
    /// MongoDB: the set that it is a member of; none: it is alone.
    pub set: Option<Set>,
    /// MongoDB: it waits for `replSetInitiate`, at it or at another, to name its set.
    pub set_later: bool,
    /// MongoDB: the one name and password that lets clients in; none: anybody is let in.
    pub user: Option<(String, String)>,
}

impl Default for Script {
    /// Speaks CQL and answers at once, with one row of 100-byte values.
    fn default() -> Self {
        Script {
            protocol: Protocol::Cql,
            service: Service::Constant(0.0),
            servers: Servers::Unlimited,
            stalls: Vec::new(),
            errors: Vec::new(),
            slowdown: 1.0,
            capacity: None,
            drops: Vec::new(),
            silent_from: None,
            rows: 1,
            value_bytes: 100,
            seed: 1,
            spin: false,
            spend: Duration::ZERO,
            walk: 0,
            cpu: None,
            peers: Vec::new(),
            schema: Vec::new(),
            tls: false,
            ycsb_tables: Vec::new(),
            set: None,
            set_later: false,
            user: None,
        }
    }
}
