//! The length of a field's value (`fieldlengthdistribution`).

use super::{Histogram, UniformLong, Zipfian};
use crate::Rng;

/// How long the next value is, in octets.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldLength {
    /// Always the same.
    Constant(i64),
    /// Between `minfieldlength` and `fieldlength`.
    Uniform(UniformLong),
    /// Between the same bounds, short ones popular.
    Zipfian(Zipfian),
    /// From a histogram file.
    Histogram(Histogram),
}

impl FieldLength {
    /// The next length; never negative.
    pub fn next(&self, rng: &mut impl Rng) -> usize {
        let length = match self {
            Self::Constant(length) => *length,
            Self::Uniform(lengths) => lengths.next(rng),
            Self::Zipfian(lengths) => lengths.next(rng),
            Self::Histogram(lengths) => lengths.next(rng),
        };
        usize::try_from(length).unwrap_or(0)
    }
}
