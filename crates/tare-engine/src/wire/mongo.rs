//! OP_MSG, MongoDB's protocol: a replica set whose primary may change while it is under load.

mod command;
mod prepare;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;

use tare_mongo::{Error, Outcome, ServerError, ServerErrorKind, Template, Uri};

use crate::errors::{ErrorKind, Fatal};
use crate::order::Order;
use crate::prepared::Prepared;
use crate::workload::Answer;

use super::{Link, Outgoing, Owners, Reading, Reply, Wire};

pub use command::MongoText;
use watch::Watch;

/// The protocol of MongoDB.
#[derive(Debug, Clone, Copy)]
pub enum Mongo {}

/// Where a MongoDB deployment is, how it is spoken to, and the database that is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    pub uri: Uri,
    pub database: String,
    /// Whether a program that is not MongoDB and only behaves like it may answer.
    pub stand_in: bool,
}

/// One member, as a connection to it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MongoNode {
    pub address: SocketAddr,
    /// The name that its certificate carries.
    pub name: String,
}

/// Positions of the members that take writes and of those that serve reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Servers {
    writers: Vec<u16>,
    readers: Vec<u16>,
}

/// Who serves a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serve {
    Write,
    Read,
}

impl Wire for Mongo {
    type Cluster = Deployment;
    type Node = MongoNode;
    type Text = MongoText;
    type Statement = ();
    type Template = Template;
    type Draft = tare_mongo::Request;
    type Codec = tare_mongo::Codec;
    type Map = Servers;
    type Key = Serve;
    type Found<'a> = Outcome<'a>;
    type Refusal = ServerError;
    type Recovery = Watch;

    // A server handles the requests of a connection one after the other.
    const IN_FLIGHT_PER_LINK: usize = 1;
    const MOST_LINKS: usize = 100;

    fn prepare(order: &Order<Deployment>, texts: Vec<MongoText>) -> Result<Prepared<Mongo>, Fatal> {
        prepare::prepare(&order.cluster, &texts)
    }

    fn protocol(cluster: &Deployment) -> String {
        match cluster.uri.options.tls {
            Some(_) => "OP_MSG, TLS".to_owned(),
            None => "OP_MSG".to_owned(),
        }
    }

    fn open(node: &MongoNode, cluster: &Deployment) -> Result<Link<Self>, Fatal> {
        tare_mongo::connect(node.address, &node.name, &cluster.uri.options)
            .map_err(|e| Fatal::unreachable(node.address.to_string(), e))
    }

    fn draft(_cluster: &Deployment) -> tare_mongo::Request {
        tare_mongo::Request::new(tare_mongo::session_id())
    }

    #[inline]
    fn finish(draft: &mut tare_mongo::Request) -> bool {
        draft.finish().is_ok()
    }

    #[inline]
    fn request(draft: &tare_mongo::Request) -> Outgoing<'_, Mongo> {
        draft.message()
    }

    #[inline]
    fn key(draft: &mut tare_mongo::Request) -> Serve {
        if draft.writes() {
            Serve::Write
        } else {
            Serve::Read
        }
    }

    #[inline]
    fn stays(draft: &tare_mongo::Request) -> bool {
        draft.stays()
    }

    #[inline]
    fn owners<'m>(map: &'m Servers, key: &Serve) -> Owners<'m> {
        let nodes = match key {
            Serve::Write => &map.writers,
            Serve::Read => &map.readers,
        };
        Owners { nodes, only: true }
    }

    #[inline]
    fn reading<'a>(reply: Reply<'a, Mongo>) -> Reading<'a, Mongo> {
        let error = match reply.outcome() {
            Ok(outcome) => return Reading::Answer(Answer::Rows(outcome)),
            Err(Error::Server(error)) => error,
            Err(_) => {
                return Reading::Answer(Answer::Failed {
                    kind: ErrorKind::Other,
                    server: None,
                })
            }
        };
        let kind = error.kind();
        let answer = Answer::Failed {
            kind: sorted(kind),
            server: Some(error),
        };
        match kind {
            ServerErrorKind::NotPrimary => Reading::Moved(answer),
            _ => Reading::Answer(answer),
        }
    }

    fn recover(recovery: &Arc<Watch>, _node: &MongoNode, _cluster: &Deployment) {
        recovery.look();
    }

    fn lost(recovery: &Arc<Watch>) {
        recovery.look();
    }

    #[inline]
    fn renewed(recovery: &Watch, number: &mut u64) -> Option<Servers> {
        recovery.renewed(number)
    }
}

/// A server's error among those of all clusters.
fn sorted(kind: ServerErrorKind) -> ErrorKind {
    match kind {
        ServerErrorKind::Timeout => ErrorKind::Timeout,
        ServerErrorKind::NotPrimary | ServerErrorKind::Unavailable => ErrorKind::Unavailable,
        ServerErrorKind::Overloaded => ErrorKind::Overloaded,
        ServerErrorKind::Network => ErrorKind::Connection,
        _ => ErrorKind::Other,
    }
}
