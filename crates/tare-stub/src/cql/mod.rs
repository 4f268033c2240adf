//! CQL, native protocol version 4: what a node of Cassandra answers.

mod catalogue;
mod create;
mod declared;
mod described;
mod kind;
mod markers;
mod node;
mod prepared;
mod rows;
mod statement;
mod system;
mod wire;
mod words;

pub use node::Node;
