//! The parts of the Java library that YCSB and cassandra-stress rest on.

mod logarithm;
mod random;
mod text;

pub use random::Random;
pub(crate) use text::extend_hash;
pub use text::{absolute, string_hash};
