//! Uniform whole numbers, by the remainder of a random long.

use crate::java::absolute;
use crate::{Error, Rng};

/// YCSB's `UniformLongGenerator`: |random long| mod (high - low + 1) + low.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniformLong {
    low: i64,
    interval: i64,
}

impl UniformLong {
    /// Numbers from `low` to `high`, both included.
    ///
    /// # Errors
    /// When `high` is under `low`, or the range holds 2^63 numbers or more.
    pub fn new(low: i64, high: i64) -> Result<Self, Error> {
        let interval = high.checked_sub(low).and_then(|span| span.checked_add(1));
        match interval {
            Some(interval) if interval > 0 => Ok(Self { low, interval }),
            _ => Err(Error::new(format!(
                "the range {low}..{high} is empty or too wide: expected low <= high and fewer than 2^63 numbers"
            ))),
        }
    }

    /// The next number.
    pub fn next(&self, rng: &mut impl Rng) -> i64 {
        self.value_of(rng.next_u64() as i64)
    }

    /// The number that YCSB makes of one random long.
    pub fn value_of(&self, random: i64) -> i64 {
        // Java's remainder keeps the sign of Long.MIN_VALUE, whose absolute value is itself; that one
        // number in 2^64 would fall under `low`, so it is folded back.
        (absolute(random) % self.interval).abs() + self.low
    }
}
