//! Zipfian popularity, scattered over the records by a hash.

use super::key::fnv64;
use super::zipfian::{Zipfian, ZIPFIAN_CONSTANT};
use crate::{Error, Rng};

/// The items of the inner zipfian, whatever the number of records.
const INNER_ITEMS: i64 = 10_000_000_000;
/// zeta(10^10, 0.99), as written in YCSB.
const INNER_ZETA: f64 = 26.469_028_201_783_02;

/// YCSB's `ScrambledZipfianGenerator`: what `requestdistribution=zipfian` means.
///
/// The rank comes from a zipfian over 0..=10^10 and is then hashed into the range. The hottest record
/// has a probability of 3.78% for any number of records; see [`super::Zipf`] for the true distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct ScrambledZipfian {
    inner: Zipfian,
    low: i64,
    items: i64,
}

impl ScrambledZipfian {
    /// Numbers from `low` to `high`, both included.
    ///
    /// # Errors
    /// When the range is empty or too wide.
    pub fn new(low: i64, high: i64) -> Result<Self, Error> {
        let items = high.checked_sub(low).and_then(|span| span.checked_add(1));
        let Some(items) = items.filter(|items| *items > 0) else {
            return Err(Error::new(format!(
                "a zipfian range {low}..{high} is empty or too wide: expected low <= high"
            )));
        };
        Ok(Self {
            inner: Zipfian::with_zeta(0, INNER_ITEMS, ZIPFIAN_CONSTANT, INNER_ZETA)?,
            low,
            items,
        })
    }

    /// The next number.
    #[inline]
    pub fn next(&self, rng: &mut impl Rng) -> i64 {
        self.value_at(rng.next_f64())
    }

    /// The number for the uniform number `u` in [0, 1).
    #[inline]
    pub fn value_at(&self, u: f64) -> i64 {
        self.low + fnv64(self.inner.value_at(u)) % self.items
    }
}
