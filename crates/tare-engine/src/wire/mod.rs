//! What the engine needs of a protocol: connections, requests in the making, who serves them, and
//! what their answers say. All of it is resolved when the engine is compiled for a protocol.

mod cql;
mod mongo;
mod preparation;

use std::fmt;
use std::sync::Arc;

use tare_net::Codec;

use crate::errors::Fatal;
use crate::order::Order;
use crate::prepared::Prepared;
use crate::workload::Answer;

pub use cql::Cql;
pub use mongo::{Deployment, Mongo, MongoNode, MongoText};
pub use tare_mongo::Host;

/// A protocol, as the engine drives it.
pub trait Wire: Sized + 'static {
    /// Where the cluster is and how it is spoken to.
    type Cluster: Clone + Send + 'static;
    /// One node, as a connection to it is opened.
    type Node: Clone + Send + Sync + 'static;
    /// What a workload has made ready before it begins.
    type Text: Send + Sync;
    /// What was made ready, as a source looks at it.
    type Statement: Send + Sync + 'static;
    /// What was made ready, as a request begins with it.
    type Template: Clone + Send + Sync + 'static;
    /// A request in the making.
    type Draft;
    /// What makes a connection one of this protocol.
    type Codec: Codec;
    /// Which nodes serve what.
    type Map: Clone + Send + Sync + 'static;
    /// What decides who serves a request.
    type Key;
    /// An answer's content beyond "done".
    type Found<'a>: fmt::Debug;
    /// A server's error.
    type Refusal: fmt::Debug + fmt::Display;
    /// What recovery from changes on the servers needs, shared by all workers.
    type Recovery: Send + Sync + 'static;

    /// Requests in flight per connection by default, and most connections to a node.
    const IN_FLIGHT_PER_LINK: usize;
    const MOST_LINKS: usize;

    /// Finds the cluster and makes everything ready.
    fn prepare(
        order: &Order<Self::Cluster>,
        texts: Vec<Self::Text>,
    ) -> Result<Prepared<Self>, Fatal>;

    /// What is spoken, for records: "v4", "v5, lz4, TLS", ...
    fn protocol(cluster: &Self::Cluster) -> String;

    /// Opens a connection; blocks.
    fn open(node: &Self::Node, cluster: &Self::Cluster) -> Result<Link<Self>, Fatal>;

    /// A draft for a slot of its own.
    fn draft(cluster: &Self::Cluster) -> Self::Draft;

    /// Completes what has been written; false if it is no request.
    fn finish(draft: &mut Self::Draft) -> bool;

    /// What has been completed.
    fn request(draft: &Self::Draft) -> Outgoing<'_, Self>;

    fn key(draft: &mut Self::Draft) -> Self::Key;

    /// Whether it must go to the node that answered its slot last.
    fn stays(draft: &Self::Draft) -> bool;

    fn owners<'m>(map: &'m Self::Map, key: &Self::Key) -> Owners<'m>;

    fn reading<'a>(reply: Reply<'a, Self>) -> Reading<'a, Self>;

    /// Recovers from what a [`Reading`] reported, on a thread of its own; nothing while that runs.
    fn recover(recovery: &Arc<Self::Recovery>, node: &Self::Node, cluster: &Self::Cluster);

    /// A connection broke, or there was none for a request.
    fn lost(recovery: &Arc<Self::Recovery>);

    /// The map, if it is newer than the one of this number; the number is then updated.
    fn renewed(recovery: &Self::Recovery, number: &mut u64) -> Option<Self::Map>;
}

/// A connection that never blocks.
pub type Link<W> = tare_net::Link<<W as Wire>::Codec>;
/// A request in flight on its connection.
pub type Ticket<W> = tare_net::Ticket<<W as Wire>::Codec>;
/// One whole request, as its connection takes it.
pub type Outgoing<'a, W> = <<W as Wire>::Codec as Codec>::Request<'a>;
/// One whole answer, as its connection hands it over.
pub type Reply<'a, W> = <<W as Wire>::Codec as Codec>::Reply<'a>;

/// The nodes that serve a request, by their positions.
#[derive(Debug, Clone, Copy)]
pub struct Owners<'m> {
    pub nodes: &'m [u16],
    /// Whether no other node does.
    pub only: bool,
}

/// What an answer says to the engine.
#[derive(Debug)]
pub enum Reading<'a, W: Wire> {
    Answer(Answer<'a, W>),
    /// The server has forgotten what was made ready: prepare it again and resend the request.
    Forgotten(Answer<'a, W>),
    /// Another node serves this now: discover which.
    Moved(Answer<'a, W>),
}
