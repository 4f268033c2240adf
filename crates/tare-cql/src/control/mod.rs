//! The control plane: which nodes there are, schema statements, preparation, the ring. It blocks.
mod agree;
mod discover;
mod prepare;
mod table;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::error::Error;
use crate::frame::opcode;
use crate::link::{connect, Link};
use crate::options::{Consistency, Options};
use crate::reply::ReplyKind;
use crate::request::{Parameters, Request};
use crate::ring::{Replication, Ring};
pub use table::{Table, TableRow};

/// Rows of a page of what the control plane reads.
const PAGE: i32 = 5_000;
/// No schema table has more than this; a server that sends more is not believed.
const MOST_BYTES: usize = 64 << 20;
/// Least timeout of a statement of the control plane: schema changes and truncation are
/// slow on busy nodes.
const PATIENCE: Duration = Duration::from_secs(30);
/// The partitioner whose tokens [`crate::token()`] computes.
const MURMUR3: &str = "Murmur3Partitioner";

/// One node of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where clients reach it: the contact point as given, or the address that the cluster reports.
    pub address: SocketAddr,
    /// Whether the caller named this address.
    pub contact_point: bool,
    /// The node's own id, 16 bytes; empty where it could not be asked for.
    pub host_id: Vec<u8>,
    pub datacenter: String,
    pub rack: String,
    pub release_version: String,
    pub tokens: Vec<i64>,
    /// Why it cannot be reached; `None` when it can.
    pub unreachable: Option<String>,
}

impl Node {
    /// Whether a connection could be opened when the cluster was discovered.
    pub fn is_reachable(&self) -> bool {
        self.unreachable.is_none()
    }
}

/// A cluster as its contact points describe it, with one connection to it.
#[derive(Debug)]
pub struct Cluster {
    pub name: String,
    /// The partitioner's class name without its package.
    pub partitioner: String,
    /// Contact points first, in the order given; then what the cluster reports.
    pub nodes: Vec<Node>,
    options: Options,
    control: Link,
    /// Connections for preparation, by the node's position; opened when needed.
    links: Vec<Option<Link>>,
    request: Request,
}

impl Cluster {
    /// Find the nodes of the cluster behind the contact points (`host:port`). All contact points
    /// are tried; one that answers is enough.
    ///
    /// # Errors
    /// No contact point can be used, or what they say cannot be understood.
    pub fn discover(contact_points: &[String], options: &Options) -> Result<Cluster, Error> {
        discover::discover(contact_points, options)
    }

    /// The options that the cluster was discovered with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The node that the control connection leads to.
    pub fn control_address(&self) -> SocketAddr {
        self.control.address()
    }

    /// Run a statement without values on the control connection and return its rows, all pages;
    /// an empty table for what returns none. Consistency ONE. After a change of the schema it
    /// returns when all reachable nodes have the change.
    ///
    /// # Errors
    /// The node's error, no answer from it, or nodes that do not come to agree.
    pub fn query(&mut self, cql: &str) -> Result<Table, Error> {
        let patience = self.patience();
        let (table, changed) = query(&mut self.control, &mut self.request, cql, patience)?;
        if changed {
            self.agree()?;
        }
        Ok(table)
    }

    fn patience(&self) -> Duration {
        self.options.connect_timeout.max(PATIENCE)
    }

    /// The connection for preparation to a node, taken out; put it back into `links` after use.
    fn link_to(&mut self, position: usize) -> Result<Link, Error> {
        match self.links[position].take() {
            Some(link) => Ok(link),
            None => connect(self.nodes[position].address, &self.options),
        }
    }

    /// The ring of a keyspace. [`Ring::unknown`] where tokens cannot be routed: other partitioners,
    /// local keyspaces, and contact points that stand for an unknown number of nodes.
    ///
    /// # Errors
    /// The keyspace does not exist, or the node does not answer.
    pub fn ring(&mut self, keyspace: &str) -> Result<Ring, Error> {
        let replication = self.replication(keyspace)?;
        if self.options.contact_points_only || self.partitioner != MURMUR3 {
            return Ok(Ring::unknown());
        }
        Ok(Ring::new(&self.nodes, &replication))
    }

    /// How a keyspace is replicated.
    ///
    /// # Errors
    /// The keyspace does not exist, or the node does not answer.
    pub fn replication(&mut self, keyspace: &str) -> Result<Replication, Error> {
        // `system_schema` is of Cassandra 3.0 and later.
        let table = self.query("SELECT keyspace_name, replication FROM system_schema.keyspaces")?;
        let found = table
            .rows()
            .find(|row| row.text("keyspace_name").as_deref() == Some(keyspace));
        let map: BTreeMap<_, _> = match found {
            Some(row) => row.text_map("replication"),
            None => return Err(Error::Schema(format!("there is no keyspace `{keyspace}`"))),
        };
        Ok(Replication::of(&map))
    }
}

/// Run a statement and gather the pages of its rows; true when it changed the schema.
fn query(
    link: &mut Link,
    request: &mut Request,
    cql: &str,
    timeout: Duration,
) -> Result<(Table, bool), Error> {
    let parameters = Parameters {
        page_size: Some(PAGE),
        ..Parameters::at(Consistency::One)
    };
    let mut table = Table::default();
    let mut state: Option<Vec<u8>> = None;
    let mut bytes = 0;
    loop {
        request.query(cql, &parameters, link.codec.protocol())?;
        if let Some(state) = &state {
            request.paging_state(state);
        }
        request.finish()?;
        let message = link.call((opcode::QUERY, request.body()), "a query", timeout)?;
        bytes += message.body.len();
        if bytes > MOST_BYTES {
            return Err(Error::Protocol(format!(
                "`{cql}` returned more than {MOST_BYTES} bytes"
            )));
        }
        let rows = match message.reply().kind()? {
            ReplyKind::Rows(rows) => rows,
            other => return Ok((table, matches!(other, ReplyKind::SchemaChange))),
        };
        table.add(&rows)?;
        match rows.paging_state() {
            Some(next) => state = Some(next.to_vec()),
            None => return Ok((table, false)),
        }
    }
}
