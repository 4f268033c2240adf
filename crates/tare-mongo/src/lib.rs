//! The MongoDB wire protocol of Tare: OP_MSG, BSON in place, SCRAM, the topology of a replica set.
//!
//! Follows MongoDB's public wire protocol documentation and driver specifications; comments
//! name their parts. No policy but the choice of members, no clock of its own beyond blocking
//! timeouts. Compression (OP_COMPRESSED) is not there.
//!
//! # The two planes
//!
//! The control plane blocks: [`Topology::discover`], [`call`]. The data plane never blocks
//! after [`connect`]:
//!
//! ```text
//! let template = Template::find(&collection, None);
//! request.find(&template, b"user1");        // two memcpys
//! request.finish()?;                        // lengths
//! // ... choose a member by topology.writable() or topology.readable() ...
//! let ticket = link.queue(request.message(), tag);   // None: the connection is taken
//! link.flush()?;                            // Flush::Blocked: wait until the socket is writable
//! // ... the socket is readable ...
//! link.read()?;                             // one read call; stamp the time here
//! link.replies(|tag, reply| match reply.outcome() { ... })?;
//! ```
//!
//! [`message`] holds the codec for both directions, so that a server can be written with it; [`legacy`]
//! has the server's side of the older messages with which drivers greet a server.
#![deny(unsafe_code)]

mod command;
pub mod document;
mod error;
mod handshake;
mod hello;
pub mod legacy;
mod link;
pub mod message;
mod options;
mod reply;
pub mod scram;
mod topology;
mod uri;

pub use command::{session_id, Collection, Field, Kind, Request, Template};
pub use error::{
    Error, Origin, Peer, ServerError, ServerErrorKind, Work, NOTHING_WRITTEN, RETRYABLE_WRITE,
};
pub use hello::{Hello, Role, TopologyVersion};
pub use link::{call, connect, Codec, Link, Ticket};
pub use options::{
    Credentials, Mechanism, Options, ReadConcern, ReadMode, ReadPreference, Tags, WriteAck,
    WriteConcern,
};
pub use reply::{Batch, Cursor, Outcome, Reply};
pub use tare_net::{Flush, Password, Received, TlsOptions};
pub use topology::{
    average, Answer, Description, Discovery, Failure, Host, Kind as TopologyKind, Member,
    Operation, Server, Shape, Topology, What,
};
pub use uri::{BadUri, Uri};
