//! When operations begin, and when the worker has done its part.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use crate::order::Pace;
use crate::request::Request;
use crate::wire::Wire;
use crate::workload::{Begin, Source};

use super::flight::{Flight, Later};
use super::schedule::{self, Schedule};
use super::{Beat, Start, Worker, BURST};

/// Longest sleep, nanoseconds: how soon a worker sees that it is to stop.
const LOOK_UP: u64 = 20_000_000;
/// Longest sleep between slices, while others are measured, nanoseconds.
const LOOK_UP_BETWEEN: u64 = 500_000_000;
/// How late a thread or a timer may be at the end of a run, nanoseconds.
const LATE: u64 = 100_000_000;

impl<W: Wire, S: Source<W>> Worker<W, S> {
    /// Gives every slot its first operation's time.
    pub(super) fn occupy(&mut self) {
        match self.beat {
            Beat::Open(_) => {}
            Beat::Closed => {
                for slot in 0..self.start.slots {
                    self.agenda.at(0, slot, Later::Begin);
                }
            }
            Beat::PerSlot(_) => {
                for slot in 0..self.start.slots {
                    self.agenda.at(self.deadlines[slot].0, slot, Later::Begin);
                }
            }
        }
    }

    /// Begins what has come due; true if there is more of it.
    pub(super) fn begin_due(&mut self, now: u64) -> bool {
        if self.start.clock.until_origin() > 0 || self.is_between(now) {
            return false;
        }
        let mut burst = 0;
        while burst < BURST {
            let Some((time, slot, what)) = self.agenda.due(now) else {
                break;
            };
            burst += 1;
            match what {
                Later::Begin => match self.reopens(now) {
                    None => self.begin(slot, time, time),
                    Some(again) => self.agenda.at(again, slot, Later::Begin),
                },
                Later::Resend => self.outbox.push(slot),
            }
        }
        while burst < BURST && self.begin_scheduled(now) {
            burst += 1;
        }
        burst == BURST
    }

    /// Whether `now` is between two slices.
    pub(super) fn is_between(&self, now: u64) -> bool {
        let turn = self.start.timeline.turn;
        turn.is_some_and(|turn| turn.is_between(now))
    }

    /// When the next slice begins, if none is open or this one has had all its operations.
    pub(super) fn reopens(&self, now: u64) -> Option<u64> {
        let turn = self.start.timeline.turn?;
        let spent = self.start.connections_per_slice.is_some_and(|most| {
            let (number, begun) = self.begun;
            number == turn.number(now) && begun >= most
        });
        turn.reopens(now).or_else(|| spent.then(|| turn.next(now)))
    }

    /// Counts an operation of the slice to which `now` belongs.
    fn count(&mut self, now: u64) {
        let Some(turn) = self.start.timeline.turn else {
            return;
        };
        let (number, begun) = self.begun;
        let here = turn.number(now);
        self.begun = (here, if here == number { begun + 1 } else { 1 });
    }

    /// Begins the open loop's next operation if it is due and a slot is free.
    pub(super) fn begin_scheduled(&mut self, now: u64) -> bool {
        if !self.is_next_due(now) {
            return false;
        }
        let Beat::Open(schedule) = &mut self.beat else {
            return false;
        };
        let due = schedule.next();
        schedule.pass();
        let free = due.max(self.full_until);
        let slot = self.idle.pop().unwrap_or(self.flights.len());
        self.begin(slot, due, free);
        true
    }

    /// Whether the open loop's next operation is due and has a free slot. After the end, such an
    /// operation is late because of this thread alone, not for want of a slot.
    fn is_next_due(&self, now: u64) -> bool {
        let Beat::Open(schedule) = &self.beat else {
            return false;
        };
        let (due, end) = (schedule.next(), self.start.timeline.end);
        let in_time =
            now < end || (self.waits_for_answers() && due >= self.full_until && now < end + LATE);
        due <= now && due < end && in_time && self.may_begin() && self.finished == 0
    }

    pub(super) fn may_begin(&self) -> bool {
        !self.idle.is_empty() || self.flights.len() < self.start.slots
    }

    /// Begins the next operation of a slot, meant to be sent at `intended`; the slot was free for it
    /// from `free` on.
    pub(super) fn begin(&mut self, slot: usize, intended: u64, free: u64) {
        while self.flights.len() <= slot {
            self.flights.push(Flight::default());
            self.requests.push(Request::new(
                Rc::clone(&self.start.templates),
                &self.start.cluster,
            ));
        }
        let mut intended = intended;
        if let Beat::PerSlot(tick) = self.beat {
            if self.start.clock.now() >= self.start.timeline.end {
                self.finished += 1;
                return;
            }
            let (first, begun) = self.deadlines[slot];
            intended = first + (begun as f64 * tick) as u64;
        }
        self.requests[slot].begin(intended);
        match self.source.begin(slot, &mut self.requests[slot]) {
            Begin::Send { operation } => {
                // Not before: where nothing is left to begin, nothing falls due.
                if !matches!(self.beat, Beat::Closed) {
                    self.recorder.due(intended);
                    if intended < free {
                        self.recorder.held(intended);
                    }
                }
                if let Some((_, begun)) = self.deadlines.get_mut(slot) {
                    *begun += 1;
                }
                let flight = &mut self.flights[slot];
                flight.operation = operation;
                flight.intended = intended;
                flight.begun = u64::MAX;
                flight.free = free;
                (flight.retries, flight.forgotten) = (0, 0);
                flight.active = true;
                self.busy += 1;
                self.outbox.push(slot);
                self.count(intended);
            }
            Begin::Finished => {
                self.finished += 1;
                self.exhausted = true;
            }
        }
    }

    /// Sends that fell due before the end but were never made, for want of a free slot or of time.
    pub(super) fn count_unsent(&mut self, now: u64) {
        if self.exhausted {
            return;
        }
        let end = self.start.timeline.end.min(now);
        let full = !self.may_begin();
        match &mut self.beat {
            Beat::Closed => {}
            Beat::Open(schedule) => {
                while schedule.next() < end {
                    let due = schedule.next();
                    self.recorder.due(due);
                    if full || due < self.full_until {
                        self.recorder.held(due);
                        self.recorder.unserved(due);
                    }
                    schedule.pass();
                }
            }
            Beat::PerSlot(tick) => {
                for &(first, begun) in &self.deadlines {
                    let unsent = (begun..).map(|n| first + (n as f64 * *tick) as u64);
                    for due in unsent.take_while(|&due| due < end) {
                        self.recorder.due(due);
                        self.recorder.held(due);
                        self.recorder.unserved(due);
                    }
                }
            }
        }
    }

    pub(super) fn over(&self) -> bool {
        if self.start.stop.load(Ordering::Relaxed) {
            return true;
        }
        if matches!(self.beat, Beat::Open(_)) {
            if self.finished > 0 && self.busy == 0 {
                return true;
            }
        } else if self.finished == self.start.slots {
            return true;
        }
        let end = self.start.timeline.end;
        if end == u64::MAX {
            return false;
        }
        let now = self.start.clock.now();
        if now < end || self.is_next_due(now) {
            return false;
        }
        // Every operation ends by its own timeout.
        let last = end + self.start.timeout + LATE;
        !self.waits_for_answers() || self.busy == 0 || now >= last
    }

    /// Whether to wait for the last answers after the end of the run. A closed loop's are not part
    /// of it, and after the last slice the clock stands still.
    pub(super) fn waits_for_answers(&self) -> bool {
        !matches!(self.beat, Beat::Closed) && self.start.timeline.turn.is_none()
    }

    /// Nanoseconds until something is due that no socket reports.
    pub(super) fn pause(&self) -> u64 {
        let before = self.start.clock.until_origin();
        if before > 0 {
            return before.min(LOOK_UP);
        }
        let now = self.start.clock.now();
        let mut next = self.agenda.next();
        if let Beat::Open(schedule) = &self.beat {
            let (due, end) = (schedule.next(), self.start.timeline.end);
            let waits = due < end && now < end && self.may_begin() && self.finished == 0;
            if waits || self.is_next_due(now) {
                next = next.min(due);
            }
        }
        for border in [self.recorder.border(), self.start.timeline.end] {
            if border > now {
                next = next.min(border);
            }
        }
        if self.is_between(now) {
            // Nothing is done before the next slice, whatever has come due.
            return self.start.clock.until(now + 1).min(LOOK_UP_BETWEEN);
        }
        next.saturating_sub(now).min(LOOK_UP)
    }
}

/// The worker's own idea of the pace, and its slots' first deadlines.
pub(super) fn beat<W: Wire>(start: &Start<W>) -> (Beat, Vec<(u64, u64)>) {
    match &start.pace {
        Pace::Closed { .. } => (Beat::Closed, Vec::new()),
        Pace::Open { rate, arrivals, .. } => {
            let rate = rate.clone();
            let schedule = Schedule::new(rate, *arrivals, start.seed, start.number, start.workers);
            (
                Beat::Open(schedule.in_turns(start.timeline.turn)),
                Vec::new(),
            )
        }
        &Pace::PerSlot {
            slots,
            rate,
            stagger,
        } => {
            let tick = slots as f64 * 1e9 / rate;
            let first =
                schedule::stagger(start.slots, tick as u64, start.seed, start.number, stagger);
            let deadlines = first.into_iter().map(|first| (first, 0)).collect();
            (Beat::PerSlot(tick), deadlines)
        }
    }
}
