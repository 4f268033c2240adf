//! What one worker saw, interval by interval: counts, histograms, CPU use. No locks: a worker
//! owns its recorder, seals an interval when its time is over, and sends it away.

mod interval;
mod silences;

use std::sync::mpsc::Sender;

use crate::clock::CpuUse;
use crate::errors::ErrorKind;
use crate::timeline::{Part, Slot, Timeline};
use crate::workload::Outcome;

pub use interval::{add, histogram, ByKind, Counts, Interval, OperationRecord};
pub use silences::Silences;

/// When one operation was meant to be sent, was first sent, and was done; nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    pub intended: u64,
    pub sent: u64,
    pub done: u64,
}

/// One worker's recorder.
pub struct Recorder {
    worker: usize,
    timeline: Timeline,
    scheduled: bool,
    current: Interval,
    /// An interval whose memory can be used again.
    spare: Option<Interval>,
    cpu: CpuUse,
    /// When the run's time was over: what the worker uses while it waits for the last answers is
    /// not the load's.
    cpu_at_end: Option<CpuUse>,
    /// Run-queue delay at the first reply of the slice's drain: after the last reply the worker
    /// competes for CPUs with whoever freezes and reads the servers.
    delay_in_drain: Option<u64>,
    sink: Sender<Interval>,
}

impl Recorder {
    pub fn new(
        worker: usize,
        timeline: Timeline,
        operations: usize,
        scheduled: bool,
        sink: Sender<Interval>,
    ) -> Recorder {
        Recorder {
            worker,
            timeline,
            scheduled,
            current: Interval::new(timeline.first(), operations, scheduled),
            spare: None,
            cpu: CpuUse::now(),
            cpu_at_end: None,
            delay_in_drain: None,
            sink,
        }
    }

    /// End of the current interval, nanoseconds.
    pub fn border(&self) -> u64 {
        self.current.slot.end
    }

    /// Counts a finished operation into the interval in which it was done. Without a schedule the
    /// measured operations are those done within the measured part; with one, those meant to be
    /// sent within it, even if done later.
    pub fn done(&mut self, operation: usize, times: Times, outcome: Outcome) {
        if !self.scheduled && times.done >= self.timeline.end {
            return self.under_way(operation, times);
        }
        self.advance(times.done);
        // Failures that the client saw itself are no answers, nor are those after the time.
        let unheard = matches!(outcome, Err(ErrorKind::Timeout | ErrorKind::Connection));
        if !unheard && times.done < self.current.slot.end {
            self.current.silences.answered(times.done);
        }
        // Without a schedule, a reply within the drain belongs to a surplus operation: none was
        // under way at the slice's beginning.
        let slot = &self.current.slot;
        let until = if self.scheduled {
            slot.end
        } else {
            slot.closes
        };
        let drains = times.done >= slot.closes;
        if times.done < until {
            match outcome {
                Ok(()) => self.current.counts.answered += 1,
                Err(_) => self.current.counts.failed += 1,
            }
        }
        if outcome.is_ok() {
            self.current.counts.within += u64::from(!drains);
            self.current.counts.drained += u64::from(drains);
        }
        if let Some(turn) = self.timeline.turn {
            self.current.counts.undrained += u64::from(turn.outlived(times.sent, times.done));
        }
        self.part(operation, times, outcome);
    }

    /// Counts an operation without an answer at `times.done`, or at the end of the run if that was
    /// earlier. Its age is a lower bound of its latency.
    pub fn under_way(&mut self, operation: usize, times: Times) {
        self.advance(times.done);
        let until = times.done.min(self.timeline.end);
        let of_part = !self.scheduled || self.is_of_part(times.intended);
        if times.sent >= until || !of_part {
            return;
        }
        self.current.counts.undrained += u64::from(self.timeline.turn.is_some());
        let record = &mut self.current.counts.operations[operation];
        record.under_way += 1;
        record.latency(until - times.sent, until.saturating_sub(times.intended));
    }

    /// Counts a part of a composite operation, which is not an operation of its own.
    pub fn part(&mut self, operation: usize, times: Times, outcome: Outcome) {
        self.advance(times.done);
        if !self.counts(&times) {
            return;
        }
        let record = &mut self.current.counts.operations[operation];
        let service = times.done.saturating_sub(times.sent);
        let response = times.done.saturating_sub(times.intended);
        match outcome {
            Err(kind) => {
                record.errors[kind as usize] += 1;
                let failed = record.failed.get_or_insert_with(histogram);
                failed.saturating_record(service);
                if self.scheduled {
                    let failed = record.failed_response.get_or_insert_with(histogram);
                    failed.saturating_record(response);
                }
            }
            Ok(()) => {
                record.ok += 1;
                record.latency(service, response);
            }
        }
    }

    /// Counts a request that is sent again.
    pub fn retry(&mut self, operation: usize, kind: ErrorKind) {
        self.current.counts.operations[operation].retries[kind as usize] += 1;
    }

    pub fn units(&mut self, partitions: u64, rows: u64) {
        self.current.counts.partitions += partitions;
        self.current.counts.rows += rows;
    }

    fn counts(&self, times: &Times) -> bool {
        match (self.current.slot.part, self.scheduled) {
            (Part::Measure, true) => times.intended >= self.timeline.measure,
            (Part::Measure, false) => times.done < self.timeline.end,
            _ => true,
        }
    }

    /// A send fell due at `intended`.
    pub fn due(&mut self, intended: u64) {
        self.advance(intended);
        if self.is_of_part(intended) {
            self.current.counts.due += 1;
        }
    }

    /// A scheduled send had to wait for a slot.
    pub fn held(&mut self, intended: u64) {
        if self.is_of_part(intended) {
            self.current.counts.held += 1;
        }
    }

    /// A scheduled send was never made, because no slot became free for it.
    pub fn unserved(&mut self, intended: u64) {
        if self.is_of_part(intended) {
            self.current.counts.unserved += 1;
        }
    }

    /// A request of the operation meant to be sent at `intended` has to wait in the client, because
    /// its node does not read what was sent before.
    pub fn blocked(&mut self, intended: u64) {
        if !self.scheduled || self.is_of_part(intended) {
            self.current.counts.blocked += 1;
        }
    }

    /// A scheduled send was made. Its lateness counts from its due time, or from when a slot was
    /// free for it: the wait before is the cluster's doing, and in the response time.
    pub fn sent(&mut self, intended: u64, free: u64, sent: u64) {
        self.advance(sent);
        if !self.is_of_part(intended) {
            return;
        }
        if sent < self.timeline.end {
            self.current.counts.sent += 1;
        }
        if let Some(lateness) = &mut self.current.counts.lateness {
            lateness.saturating_record(sent.saturating_sub(intended.max(free)));
        }
    }

    /// The warm-up's backlog does not count again in the measured part.
    fn is_of_part(&self, intended: u64) -> bool {
        self.current.slot.part != Part::Measure || intended >= self.timeline.measure
    }

    /// Gives back a sealed interval, so that its memory is used again.
    pub fn recycle(&mut self, interval: Interval) {
        self.spare = Some(interval);
    }

    /// Seals every interval that is over at `now`, but never the last one: answers to the last
    /// sends may still come.
    pub fn advance(&mut self, now: u64) {
        while now >= self.current.slot.end {
            let Some(slot) = self.timeline.after(&self.current.slot) else {
                self.cpu_at_end.get_or_insert_with(CpuUse::now);
                return;
            };
            self.seal(slot);
        }
        if now >= self.current.slot.closes {
            self.delay_in_drain
                .get_or_insert_with(|| CpuUse::now().run_delay);
        }
    }

    /// Seals the last interval at `now` or at its end, whichever is earlier.
    pub fn finish(&mut self, now: u64) {
        self.advance(now);
        self.current.end = now.clamp(self.current.slot.begin, self.current.slot.end);
        self.current.last = true;
        self.seal(self.current.slot);
    }

    fn seal(&mut self, slot: Slot) {
        let next = match self.spare.take() {
            Some(mut spare) => {
                spare.renew(slot);
                spare
            }
            None => Interval::new(slot, self.current.counts.operations.len(), self.scheduled),
        };
        let cpu = self.cpu_at_end.unwrap_or_else(CpuUse::now);
        let mut sealed = std::mem::replace(&mut self.current, next);
        let mut used = cpu.since(&self.cpu);
        if let Some(delay) = self.delay_in_drain.take() {
            used.run_delay = delay.saturating_sub(self.cpu.run_delay);
        }
        sealed.cpu.push((self.worker, used));
        self.cpu = cpu;
        // A closed channel means that nobody wants results any more; the run is ending.
        let _ = self.sink.send(sealed);
    }
}

/// What a source may know and record while it looks at an answer.
pub struct Notes<'a> {
    pub(crate) recorder: &'a mut Recorder,
    /// Now: when the answer had been read, nanoseconds of the run.
    pub now: u64,
    /// When the operation was meant to be sent, when its first request was sent, and when its
    /// last one was.
    pub intended: u64,
    pub begun: u64,
    pub sent: u64,
    /// Requests sent again so far for this operation.
    pub retries: u32,
}

impl Notes<'_> {
    /// Records a part of a composite operation that was sent at `sent` and is done now.
    pub fn also(&mut self, operation: usize, sent: u64, outcome: Outcome) {
        let times = Times {
            intended: self.intended.min(sent),
            sent,
            done: self.now,
        };
        self.recorder.part(operation, times, outcome);
    }

    /// Records something that took `ns` of the client's own time (YCSB's VERIFY).
    pub fn took(&mut self, operation: usize, ns: u64, outcome: Outcome) {
        let times = Times {
            intended: self.now.saturating_sub(ns),
            sent: self.now.saturating_sub(ns),
            done: self.now,
        };
        self.recorder.part(operation, times, outcome);
    }

    /// Counts so many successful operations of no duration, together with the one that is done now
    /// (YCSB's batches).
    pub fn done_before(&mut self, operation: usize, count: u64) {
        let times = Times {
            intended: self.now,
            sent: self.now,
            done: self.now,
        };
        for _ in 0..count {
            self.recorder.done(operation, times, Ok(()));
        }
    }

    /// Counts partitions and rows (cassandra-stress).
    pub fn units(&mut self, partitions: u64, rows: u64) {
        self.recorder.units(partitions, rows);
    }
}

#[cfg(test)]
mod tests;
