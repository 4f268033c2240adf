//! A hot set takes most of the operations.

use crate::java::absolute;
use crate::{Error, Rng};

/// YCSB's `HotspotIntegerGenerator`: uniform within a hot set at the low end, and within the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Hotspot {
    low: i64,
    hot: i64,
    cold: i64,
    hot_operations: f64,
}

impl Hotspot {
    /// Numbers from `low` to `high`; `hot_data` of them get `hot_operations` of the draws.
    ///
    /// # Errors
    /// When the range is empty or too wide, or a fraction is not in \[0, 1\].
    pub fn new(low: i64, high: i64, hot_data: f64, hot_operations: f64) -> Result<Self, Error> {
        for (name, fraction) in [("data", hot_data), ("operations", hot_operations)] {
            if !(0.0..=1.0).contains(&fraction) {
                return Err(Error::new(format!(
                    "the hot fraction of the {name} is {fraction}: expected a number from 0 to 1"
                )));
            }
        }
        let interval = high.checked_sub(low).and_then(|span| span.checked_add(1));
        let Some(interval) = interval.filter(|interval| *interval > 0) else {
            return Err(Error::new(format!(
                "a hotspot range {low}..{high} is empty or too wide: expected low <= high"
            )));
        };
        let hot = (interval as f64 * hot_data) as i64;
        Ok(Self {
            low,
            hot,
            cold: interval - hot,
            hot_operations,
        })
    }

    /// The next number.
    pub fn next(&self, rng: &mut impl Rng) -> i64 {
        let u = rng.next_f64();
        self.value_of(u, rng.next_u64() as i64)
    }

    /// The number for a uniform number `u` in [0, 1), which picks the set, and one random long.
    pub fn value_of(&self, u: f64, random: i64) -> i64 {
        // A set without records, where YCSB divides by zero, gives its draws to the other one.
        let hot = self.cold == 0 || (self.hot > 0 && u < self.hot_operations);
        let (start, interval) = if hot {
            (self.low, self.hot)
        } else {
            (self.low + self.hot, self.cold)
        };
        start + (absolute(random) % interval).abs()
    }
}
