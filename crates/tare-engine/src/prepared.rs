//! A cluster that has been found, and on which everything has been made ready.

use std::sync::Arc;

use crate::wire::Wire;

/// A prepared cluster, as the workers need it.
pub struct Prepared<W: Wire> {
    /// A map refers to nodes by their positions here; none where a node cannot be reached.
    pub nodes: Vec<Option<W::Node>>,
    pub map: W::Map,
    pub statements: Vec<W::Statement>,
    pub templates: Vec<W::Template>,
    pub recovery: Arc<W::Recovery>,
    pub unreachable: Vec<String>,
    /// The program that answers in the database's stead.
    pub stand_in: Option<String>,
}
