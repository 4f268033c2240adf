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
