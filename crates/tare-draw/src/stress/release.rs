//! The release of cassandra-stress whose numbers are drawn.

/// Which release's seeds and values are drawn; they differ in two points only.
///
/// - From 4.0 on every seed is multiplied by 1 + 10^22 / (number of values of `revisit`), so the
///   partitions of one command differ from those of 3.11. The product wraps; for a `revisit` of
///   under some 1100 values the factor overflows and only two partitions are left, as coded.
/// - From 4.0 on booleans vary; in 3.11 all are true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Release {
    /// 3.11, and Scylla's line.
    #[default]
    V3_11,
    /// 4.0 and later.
    V4_0,
}

impl Release {
    /// What the seeds are multiplied by when `revisit` has so many values.
    pub(super) fn factor(self, revisit_values: i64) -> i64 {
        match self {
            Self::V3_11 => 1,
            Self::V4_0 => {
                let power = 10f64.powf(22.0 - (revisit_values as f64).log10());
                // Java's Math.round stops at the greatest long; adding 1 to it wraps.
                ((power + 0.5).floor() as i64).wrapping_add(1)
            }
        }
    }

    /// A boolean is true when its number leaves no remainder by this.
    pub(super) fn boolean_divisor(self) -> i64 {
        match self {
            Self::V3_11 => 1,
            Self::V4_0 => 2,
        }
    }
}
