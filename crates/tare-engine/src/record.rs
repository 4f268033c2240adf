//! What one worker saw, interval by interval: counts, histograms, CPU use. No locks: a worker
//! owns its recorder, seals an interval when its time is over, and sends it away.

use std::sync::mpsc::Sender;

use hdrhistogram::Histogram;

use crate::clock::CpuUse;
use crate::errors::ErrorKind;
use crate::timeline::{Part, Slot, Timeline};
use crate::workload::Outcome;

/// Largest latency that a histogram can hold, nanoseconds: one hour. More is held as that.
const LARGEST: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds with 3 significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LARGEST, 3).expect("constant bounds are valid")
}

/// Operations by the reason of their failure.
pub type ByKind = [u64; ErrorKind::ALL.len()];

/// One operation's record within one interval.
#[derive(Debug, Clone)]
pub struct OperationRecord {
    pub ok: u64,
    pub errors: ByKind,
    /// Requests that were sent again, by what had failed.
    pub retries: ByKind,
    /// From the first actual send, nanoseconds, successful operations only.
    pub service: Histogram<u64>,
    /// From the intended send; none where nothing is scheduled, for there it equals `service`.
    pub response: Option<Histogram<u64>>,
    /// The failed operations' service times.
    pub failed: Option<Histogram<u64>>,
    pub service_sum: u64,
    pub response_sum: u64,
}

impl OperationRecord {
    pub fn new(scheduled: bool) -> OperationRecord {
        OperationRecord {
            ok: 0,
            errors: ByKind::default(),
            retries: ByKind::default(),
            service: histogram(),
            response: scheduled.then(histogram),
            failed: None,
            service_sum: 0,
            response_sum: 0,
        }
    }

    /// Response times: from the intended send.
    pub fn response(&self) -> &Histogram<u64> {
        self.response.as_ref().unwrap_or(&self.service)
    }

    pub fn failures(&self) -> u64 {
        self.errors.iter().sum()
    }

    pub fn add(&mut self, other: &OperationRecord) {
        self.ok += other.ok;
        add(&mut self.errors, &other.errors);
        add(&mut self.retries, &other.retries);
        self.service_sum += other.service_sum;
        self.response_sum += other.response_sum;
        // All histograms have the same bounds, so that adding cannot fail.
        let _ = self.service.add(&other.service);
        if let (Some(mine), Some(theirs)) = (&mut self.response, &other.response) {
            let _ = mine.add(theirs);
        }
        if let Some(theirs) = &other.failed {
            let _ = self.failed.get_or_insert_with(histogram).add(theirs);
        }
    }

    fn clear(&mut self) {
        self.ok = 0;
        self.errors = ByKind::default();
        self.retries = ByKind::default();
        self.service.reset();
        if let Some(response) = &mut self.response {
            response.reset();
        }
        self.failed = None;
        self.service_sum = 0;
        self.response_sum = 0;
    }
}

pub fn add(mine: &mut ByKind, theirs: &ByKind) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}

/// Everything that happened in one interval.
#[derive(Debug, Clone)]
pub struct Interval {
    pub slot: Slot,
    /// Where the interval really ended; earlier than the slot when the run was stopped.
    pub end: u64,
    /// By position in `Workload::operations`.
    pub operations: Vec<OperationRecord>,
    /// Operations that the engine began itself and that ended well within the interval,
    /// whenever they were asked for; parts of composite operations are not among them.
    pub answered: u64,
    /// The same that ended in failure.
    pub failed: u64,
    /// Units that a source counted: partitions and rows (cassandra-stress).
    pub partitions: u64,
    pub rows: u64,
    /// Scheduled paces: sends that fell due, sends made, and how late (nanoseconds).
    pub due: u64,
    pub sent: u64,
    pub lateness: Option<Histogram<u64>>,
    /// CPU of each worker that took part: (worker, use within the interval).
    pub cpu: Vec<(usize, CpuUse)>,
}

impl Interval {
    pub fn new(slot: Slot, operations: usize, scheduled: bool) -> Interval {
        Interval {
            slot,
            end: slot.end,
            operations: vec![OperationRecord::new(scheduled); operations],
            answered: 0,
            failed: 0,
            partitions: 0,
            rows: 0,
            due: 0,
            sent: 0,
            lateness: scheduled.then(histogram),
            cpu: Vec::new(),
        }
    }

    /// Adds what another worker saw in the same interval.
    pub fn add(&mut self, other: &Interval) {
        self.end = self.end.max(other.end);
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.add(theirs);
        }
        self.answered += other.answered;
        self.failed += other.failed;
        self.partitions += other.partitions;
        self.rows += other.rows;
        self.due += other.due;
        self.sent += other.sent;
        if let (Some(mine), Some(theirs)) = (&mut self.lateness, &other.lateness) {
            let _ = mine.add(theirs);
        }
        self.cpu.extend(&other.cpu);
    }

    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.end.saturating_sub(self.slot.begin) as f64 / 1e9
    }

    /// Makes it a new interval, keeping its memory.
    fn renew(&mut self, slot: Slot) {
        self.slot = slot;
        self.end = slot.end;
        self.operations.iter_mut().for_each(OperationRecord::clear);
        (self.answered, self.failed) = (0, 0);
        (self.partitions, self.rows) = (0, 0);
        (self.due, self.sent) = (0, 0);
        if let Some(lateness) = &mut self.lateness {
            lateness.reset();
        }
        self.cpu.clear();
    }
}

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
            sink,
        }
    }

    /// End of the current interval, nanoseconds.
    pub fn border(&self) -> u64 {
        self.current.slot.end
    }

    /// Counts a finished operation into the interval in which it was done. Without a schedule the
    /// measured operations are those done within the measured part; with one they are those meant
    /// to be sent within it, of which the last may be done later.
    pub fn done(&mut self, operation: usize, times: Times, outcome: Outcome) {
        self.advance(times.done);
        if times.done < self.timeline.end {
            match outcome {
                Ok(()) => self.current.answered += 1,
                Err(_) => self.current.failed += 1,
            }
        }
        self.part(operation, times, outcome);
    }

    /// Counts a part of a composite operation, which is no operation of its own.
    pub fn part(&mut self, operation: usize, times: Times, outcome: Outcome) {
        self.advance(times.done);
        if !self.counts(&times) {
            return;
        }
        let record = &mut self.current.operations[operation];
        let service = times.done.saturating_sub(times.sent);
        match outcome {
            Err(kind) => {
                record.errors[kind as usize] += 1;
                let failed = record.failed.get_or_insert_with(histogram);
                failed.saturating_record(service);
            }
            Ok(()) => {
                let response = times.done.saturating_sub(times.intended);
                record.ok += 1;
                record.service_sum += service;
                record.response_sum += response;
                record.service.saturating_record(service);
                if let Some(histogram) = &mut record.response {
                    histogram.saturating_record(response);
                }
            }
        }
    }

    /// Counts a request that is sent again.
    pub fn retry(&mut self, operation: usize, kind: ErrorKind) {
        self.current.operations[operation].retries[kind as usize] += 1;
    }

    pub fn units(&mut self, partitions: u64, rows: u64) {
        self.current.partitions += partitions;
        self.current.rows += rows;
    }

    fn counts(&self, times: &Times) -> bool {
        match (self.current.slot.part, self.scheduled) {
            (Part::Measure, true) => times.intended >= self.timeline.measure,
            (Part::Measure, false) => times.done < self.timeline.end,
            _ => true,
        }
    }

    /// A send fell due at `intended`. The warm-up's backlog is not due again in the measured
    /// part.
    pub fn due(&mut self, intended: u64) {
        self.advance(intended);
        if self.current.slot.part != Part::Measure || intended >= self.timeline.measure {
            self.current.due += 1;
        }
    }

    /// A scheduled send was made.
    pub fn sent(&mut self, intended: u64, sent: u64) {
        self.advance(sent);
        if sent < self.timeline.end {
            self.current.sent += 1;
        }
        if let Some(lateness) = &mut self.current.lateness {
            lateness.saturating_record(sent.saturating_sub(intended));
        }
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
                return;
            };
            self.seal(slot);
        }
    }

    /// Seals the last interval at `now` or at its end, whichever is earlier.
    pub fn finish(&mut self, now: u64) {
        self.advance(now);
        self.current.end = now.clamp(self.current.slot.begin, self.current.slot.end);
        self.seal(self.current.slot);
    }

    fn seal(&mut self, slot: Slot) {
        let next = match self.spare.take() {
            Some(mut spare) => {
                spare.renew(slot);
                spare
            }
            None => Interval::new(slot, self.current.operations.len(), self.scheduled),
        };
        let cpu = CpuUse::now();
        let mut sealed = std::mem::replace(&mut self.current, next);
        sealed.cpu.push((self.worker, cpu.since(&self.cpu)));
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

    /// Counts partitions and rows (cassandra-stress).
    pub fn units(&mut self, partitions: u64, rows: u64) {
        self.recorder.units(partitions, rows);
    }
}

#[cfg(test)]
mod tests;
