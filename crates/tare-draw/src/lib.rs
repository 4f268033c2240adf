//! Random numbers, keys and values of Tare's workloads, bit for bit as YCSB and cassandra-stress draw them.
//!
//! Three families, none of which does I/O:
//!
//! - [`java`]: the parts of the Java library that both tools rest on: `java.util.Random`,
//!   `String.hashCode`, `Math.abs`.
//! - [`ycsb`]: YCSB's keys, request distributions and field values.
//! - [`stress`]: cassandra-stress' distributions, columns, partitions and seeds.
//!
//! A draw takes its randomness from an [`Rng`]. [`Xoshiro`] is the fast one for loads;
//! [`java::Random`] gives the numbers that Java would give. Where a tool's draw is a function of one
//! uniform number, the generator shows that function as `value_at`, so that it can be compared with
//! the tool number by number.
#![deny(unsafe_code)]

pub mod java;
pub mod stress;
pub mod ycsb;

mod error;
mod murmur3;
mod rng;
mod share;

pub use error::Error;
pub use murmur3::murmur3_x64_128;
pub use rng::{Rng, Xoshiro};
pub use share::Share;
