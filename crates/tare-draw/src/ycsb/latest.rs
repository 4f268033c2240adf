//! The newest records are the popular ones.

use super::zipfian::{Zipfian, ZIPFIAN_CONSTANT};
use crate::{Error, Rng};

/// YCSB's `SkewedLatestGenerator`: the last record minus a zipfian number.
#[derive(Debug, Clone, PartialEq)]
pub struct SkewedLatest {
    zipfian: Zipfian,
}

impl SkewedLatest {
    /// Numbers that reach back from `last`, the newest record now.
    ///
    /// Adds up `last` powers: make one and clone it.
    ///
    /// # Errors
    /// When `last` is under 1.
    pub fn new(last: i64) -> Result<Self, Error> {
        if last < 1 {
            return Err(Error::new(format!(
                "the latest distribution needs at least two records: the last one's number is {last}"
            )));
        }
        Ok(Self {
            zipfian: Zipfian::new(0, last - 1, ZIPFIAN_CONSTANT)?,
        })
    }

    /// The next number, when `last` is the newest record that a read may ask for.
    pub fn next(&mut self, rng: &mut impl Rng, last: i64) -> i64 {
        self.value_at(rng.next_f64(), last)
    }

    /// The number for the uniform number `u` in [0, 1) when `last` is the newest record.
    pub fn value_at(&mut self, u: f64, last: i64) -> i64 {
        self.zipfian.grow(last);
        last - self.zipfian.value_among(u, last)
    }
}
