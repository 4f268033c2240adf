//! The parts of the Java library that YCSB and cassandra-stress rest on.

mod logarithm;
mod random;
mod string;

pub use random::Random;
pub(crate) use string::extend_hash;
pub use string::{absolute, string_hash};
