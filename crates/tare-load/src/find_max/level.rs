//! Levels: what a search turns up and down, and which values of it make sense.

use serde::Serialize;

/// What is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Closed loop: operations in flight.
    Threads,
    /// Open loop: operations per second.
    Rate,
}

impl By {
    /// The nearest level that can be asked for: a whole number of threads, a rate of three
    /// digits.
    pub fn round(self, level: f64) -> f64 {
        match self {
            By::Threads => level.round().max(1.0),
            By::Rate => {
                let unit = 10f64.powf(level.max(1.0).log10().floor() - 2.0);
                (level / unit).round() * unit
            }
        }
    }

    /// The level halfway (geometrically) between two, if there is one and the two are further
    /// apart than `ratio`.
    pub fn between(self, low: f64, high: f64, ratio: f64) -> Option<f64> {
        let middle = self.round((low * high).sqrt());
        (high / low > ratio && middle > low && middle < high).then_some(middle)
    }

    pub fn unit(self) -> &'static str {
        match self {
            By::Threads => "threads",
            By::Rate => "operations/s",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn threads_are_whole_and_rates_have_three_digits() {
        assert_eq!(By::Threads.round(0.3), 1.0);
        assert_eq!(By::Threads.round(90.5), 91.0);
        assert_eq!(By::Rate.round(12_345.0), 12_300.0);
        assert_eq!(By::Rate.round(87.66), 87.7);
    }

    #[test]
    fn neighbours_have_nothing_between_them() {
        assert_eq!(By::Threads.between(4.0, 5.0, 1.1), None);
        assert_eq!(By::Threads.between(4.0, 8.0, 1.1), Some(6.0));
        assert_eq!(By::Rate.between(1000.0, 1050.0, 1.1), None);
    }

    proptest! {
        #[test]
        fn what_is_between_is_between(low in 1.0f64..1e6, factor in 1.0f64..4.0) {
            for by in [By::Threads, By::Rate] {
                let (low, high) = (by.round(low), by.round(low * factor));
                if let Some(middle) = by.between(low, high, 1.0) {
                    prop_assert!(low < middle && middle < high);
                }
            }
        }
    }
}
