//! cassandra-stress' command line grammar: words, sections, and the options inside a section.

pub mod number;
pub mod options;
pub mod words;

/// A command line that cannot be run, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

impl Usage {
    pub fn new(why: impl Into<String>) -> Usage {
        Usage(why.into())
    }
}
