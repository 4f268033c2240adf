//! cassandra-stress' distributions, columns, partitions and seeds, as its code draws them: that of 3.11, or of
//! 4.0 with [`Release::V4_0`].
//!
//! From the outside in: [`Seeds`] gives a seed for each partition that an operation visits, a
//! [`Partition`] makes its rows of the seed, a [`Column`] makes one value, and a [`Distribution`] the
//! numbers under it.

mod column;
mod distribution;
mod faster_random;
mod hash;
mod kind;
mod layers;
mod lookback;
mod parse;
mod partition;
mod quantile;
mod ratio;
mod release;
mod sample;
mod sampler;
mod seeds;
mod shape;
mod value;
mod walk;

pub use column::{Column, ColumnSpec};
pub use distribution::Distribution;
pub use faster_random::FasterRandom;
pub use hash::{salt, PREDEFINED, PROFILE};
pub use kind::Kind;
pub use parse::parse_count;
pub use partition::{Ending, Partition, Row, Visit};
pub use ratio::Ratio;
pub use release::Release;
pub use sampler::Sampler;
pub use seeds::{Population, Seed, Seeds};
pub use shape::{Contents, Position, Shape};
