//! The climb: doubles the level until nothing more is gained.

use super::journal::Journal;
use super::{Meter, Observation, Stage, Wish};

/// Levels in a row that gain nothing before the climb ends: one may be bad luck.
const IN_VAIN: usize = 2;

/// Why the climb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Higher levels gain nothing.
    Top,
    /// The highest level allowed still gained.
    Limit,
    /// The budget is spent.
    Budget,
}

/// Doubles the level from the first, by half measurements. A gain is a usable throughput above
/// the best so far by more than half of the wished precision.
pub fn climb<M: Meter>(wish: &Wish, journal: &mut Journal<M>) -> Result<End, M::Error> {
    let mut level = wish.by.round(wish.first.min(wish.most));
    let (mut best, mut in_vain) = (0.0, 0);
    loop {
        let Some(seen) = journal.measure(Stage::Climb, level, wish.step_s / 2.0)? else {
            return Ok(End::Budget);
        };
        if is_gain(wish, &seen, best) {
            (best, in_vain) = (seen.throughput, 0);
        } else {
            in_vain += 1;
        }
        if in_vain == IN_VAIN {
            return Ok(End::Top);
        }
        if level >= wish.most {
            return Ok(if in_vain > 0 { End::Top } else { End::Limit });
        }
        level = wish.by.round((level * 2.0).min(wish.most));
    }
}

fn is_gain(wish: &Wish, seen: &Observation, best: f64) -> bool {
    seen.failed_share <= wish.failures && seen.throughput > best * (1.0 + wish.within / 2.0)
}
