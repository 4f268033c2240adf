//! The parts of a run in time: warm-up, measured part, and the intervals that both are cut into.

use crate::spec::{self, Spec};

/// Which part of the run an interval belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Populate,
    Warmup,
    Measure,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Populate => "populate",
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
    pub end: u64,
}

/// Where the parts begin and end, nanoseconds from the origin of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeline {
    populate: bool,
    interval: u64,
    /// End of the warm-up; the measured part begins.
    pub measure: u64,
    /// End of the measured part; never, while populating.
    pub end: u64,
}

impl Timeline {
    pub fn new(spec: &Spec) -> Timeline {
        let populate = spec.phase == spec::Phase::Populate;
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let measure = if populate { 0 } else { ns(spec.warmup_s) };
        Timeline {
            populate,
            interval: ns(spec.interval_s),
            measure,
            end: if populate {
                u64::MAX
            } else {
                measure + ns(spec.measure_s)
            },
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
        let (part, limit) = if self.populate {
            (Part::Populate, u64::MAX)
        } else if begin < self.measure {
            (Part::Warmup, self.measure)
        } else {
            (Part::Measure, self.end)
        };
        Slot {
            index,
            part,
            begin,
            end: begin.saturating_add(self.interval).min(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::tests::spec;

    fn slots(timeline: &Timeline) -> Vec<Slot> {
        std::iter::successors(Some(timeline.first()), |slot| timeline.after(slot)).collect()
    }

    #[test]
    fn parts_cut_intervals_short() {
        let spec = spec(&[("warmup_s", "1.5"), ("measure_s", "1.25")]);
        let slots = slots(&Timeline::new(&spec));
        let seen: Vec<(&str, u64, u64)> = slots
            .iter()
            .map(|slot| {
                (
                    slot.part.name(),
                    slot.begin / 1_000_000,
                    slot.end / 1_000_000,
                )
            })
            .collect();
        let expected = [
            ("warmup", 0, 1000),
            ("warmup", 1000, 1500),
            ("measure", 1500, 2500),
            ("measure", 2500, 2750),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn populating_has_no_end() {
        let spec = spec(&[("phase", "\"populate\"")]);
        let timeline = Timeline::new(&spec);
        let slot = timeline.after(&timeline.first()).unwrap();
        assert_eq!((slot.part, slot.begin), (Part::Populate, 1_000_000_000));
        assert_eq!((timeline.measure, timeline.end), (0, u64::MAX));
    }

    proptest! {
        #[test]
        fn slots_cover_the_run_without_gaps(
            warmup in 0u32..5000, measure in 1u32..5000, interval in 10u32..3000,
        ) {
            let seconds = |ms: u32| (f64::from(ms) / 1000.0).to_string();
            let spec = spec(&[
                ("warmup_s", &seconds(warmup)),
                ("measure_s", &seconds(measure)),
                ("interval_s", &seconds(interval)),
            ]);
            let timeline = Timeline::new(&spec);
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
