//! The CQL native protocol of Tare: frames, one non-blocking connection, discovery and preparation.
//!
//! Follows Apache Cassandra's `native_protocol_v4.spec` and `native_protocol_v5.spec`; comments
//! name their sections. No policy, no clock of its own beyond blocking timeouts, no randomness.
//!
//! # The two planes
//!
//! The control plane blocks: [`Cluster::discover`], [`Cluster::query`], [`Cluster::prepare`],
//! [`Cluster::ring`]. The data plane never blocks after [`connect`]:
//!
//! ```text
//! let template = Template::new(&statement, &parameters, options.protocol);
//! request.execute(&template);              // one memcpy
//! request.value(key);                      // once for each bind marker
//! request.finish()?;                       // counts, page size, serial consistency, timestamp
//! let owners = request.token().map(|token| ring.owners(token));   // None: the key is not bound
//! // ... choose one of the owners, or any node ...
//! let stream = link.queue((request.opcode(), request.body()), tag);   // None: no stream is free
//! link.flush()?;                           // Flush::Blocked: wait until the socket is writable
//! // ... the socket is readable ...
//! link.read()?;                            // one read call; stamp the time here
//! link.replies(|tag, reply| match reply.kind() { ... })?;
//! ```
//!
//! [`frame`] holds the codec for both directions, so that a server can be written with it.
#![deny(unsafe_code)]

mod column;
pub mod control;
mod error;
pub mod frame;
mod handshake;
mod link;
mod options;
mod reply;
mod request;
mod ring;
mod statement;
mod token;
pub mod wire;

pub use column::{Column, ColumnType};
pub use control::{Cluster, Node, Table, TableRow};
pub use error::{Error, ServerError, ServerErrorKind};
pub use link::{connect, Codec, Link, Message, StreamId};
pub use options::{Compression, Consistency, Credentials, Options, Password, Protocol, TlsOptions};
pub use reply::{Cells, ErrorReply, Reply, ReplyKind, Row, RowIter, Rows};
pub use request::{BatchKind, Parameters, Request, Template};
pub use ring::{Replication, Ring};
pub use statement::Statement;
pub use tare_net::{Flush, Received};
pub use token::token;
