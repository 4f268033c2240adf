//! The parts of a run in time: warm-up, measured part, and the intervals that both are cut into.

use crate::order::Order;
use crate::slices::Turn;

/// Which part of the run an interval belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Warmup,
    Measure,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Warmup => "warmup",
            Part::Measure => "measure",
        }
    }
}

/// One interval, nanoseconds from the origin of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub index: u64,
    pub part: Part,
    pub begin: u64,
    /// From here on, no operation begins and the last replies come: the end, except in slices.
    pub closes: u64,
    pub end: u64,
}

/// Where the parts begin and end, nanoseconds from the origin of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeline {
    interval: u64,
    /// Of a run of slices; each slice is an interval.
    pub turn: Option<Turn>,
    /// End of the warm-up; the measured part begins.
    pub measure: u64,
    /// End of the measured part; `u64::MAX` where the sources end the run.
    pub end: u64,
}

impl Timeline {
    pub fn new<C>(order: &Order<C>) -> Timeline {
        let ns = |time: std::time::Duration| time.as_nanos() as u64;
        if let Some(slices) = &order.slices {
            let end = |count: u64| count.checked_sub(1).map_or(0, |last| slices.turn.end(last));
            return Timeline {
                interval: slices.turn.whole(),
                turn: Some(slices.turn),
                measure: end(slices.warmup),
                end: end(slices.count()),
            };
        }
        let measure = ns(order.warmup);
        Timeline {
            interval: ns(order.interval).max(1),
            turn: None,
            measure,
            end: order
                .measure
                .map_or(u64::MAX, |time| measure.saturating_add(ns(time))),
        }
    }

    pub fn first(&self) -> Slot {
        self.slot(0, 0)
    }

    /// The interval after `slot`, if there is one.
    pub fn after(&self, slot: &Slot) -> Option<Slot> {
        (slot.end < self.end).then(|| self.slot(slot.index + 1, slot.end))
    }

    /// The interval that begins at `begin`; borders of parts cut intervals short.
    fn slot(&self, index: u64, begin: u64) -> Slot {
        let (part, limit) = if begin < self.measure {
            (Part::Warmup, self.measure)
        } else {
            (Part::Measure, self.end)
        };
        let end = match self.turn {
            Some(turn) => turn.end(index),
            None => begin.saturating_add(self.interval).min(limit),
        };
        Slot {
            index,
            part,
            begin,
            closes: self.turn.map_or(end, |turn| end - turn.drain),
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn slots(timeline: &Timeline) -> Vec<Slot> {
        std::iter::successors(Some(timeline.first()), |slot| timeline.after(slot)).collect()
    }

    #[test]
    fn parts_cut_intervals_short() {
        let timeline = Timeline {
            interval: 1000 * MS,
            turn: None,
            measure: 1500 * MS,
            end: 2750 * MS,
        };
        let slots = slots(&timeline);
        let seen: Vec<(&str, u64, u64)> = slots
            .iter()
            .map(|slot| (slot.part.name(), slot.begin / MS, slot.end / MS))
            .collect();
        let expected = [
            ("warmup", 0, 1000),
            ("warmup", 1000, 1500),
            ("measure", 1500, 2500),
            ("measure", 2500, 2750),
        ];
        assert_eq!(seen, expected);
    }

    proptest! {
        #[test]
        fn slots_cover_the_run_without_gaps(
            warmup in 0u64..5000, measure in 1u64..5000, interval in 10u64..3000,
        ) {
            let timeline = Timeline {
                interval: interval * MS,
                turn: None,
                measure: warmup * MS,
                end: (warmup + measure) * MS,
            };
            let slots = slots(&timeline);
            prop_assert_eq!(slots[0].begin, 0);
            prop_assert_eq!(slots[slots.len() - 1].end, timeline.end);
            for pair in slots.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].begin);
                prop_assert!(pair[1].begin < pair[1].end);
            }
        }
    }
}
