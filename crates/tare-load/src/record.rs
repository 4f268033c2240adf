//! What one worker saw, interval by interval: counts, histograms, CPU use. No locks: a worker
//! owns its recorder, seals an interval when its time is over, and sends it away.

use hdrhistogram::Histogram;
use tokio::sync::mpsc::UnboundedSender;

use crate::clock::CpuUse;
use crate::errors::ErrorKind;
use crate::timeline::{Part, Slot, Timeline};
use crate::workload::Class;

/// Largest latency that a histogram can hold, nanoseconds: one hour. More is held as that.
const LARGEST: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds with 3 significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LARGEST, 3).expect("constant bounds are valid")
}

/// One class of operations within one interval.
#[derive(Debug, Clone)]
pub struct ClassRecord {
    pub ok: u64,
    pub errors: u64,
    /// From the actual send, nanoseconds, successful operations only.
    pub service: Histogram<u64>,
    /// From the intended send; none in the closed loop, where it equals `service`.
    pub response: Option<Histogram<u64>>,
    pub service_sum: u64,
    pub response_sum: u64,
}

impl ClassRecord {
    fn new(open_loop: bool) -> ClassRecord {
        ClassRecord {
            ok: 0,
            errors: 0,
            service: histogram(),
            response: open_loop.then(histogram),
            service_sum: 0,
            response_sum: 0,
        }
    }

    /// Response times: from the intended send.
    pub fn response(&self) -> &Histogram<u64> {
        self.response.as_ref().unwrap_or(&self.service)
    }

    fn add(&mut self, other: &ClassRecord) {
        self.ok += other.ok;
        self.errors += other.errors;
        self.service_sum += other.service_sum;
        self.response_sum += other.response_sum;
        // All histograms have the same bounds, so that adding cannot fail.
        let _ = self.service.add(&other.service);
        if let (Some(mine), Some(theirs)) = (&mut self.response, &other.response) {
            let _ = mine.add(theirs);
        }
    }
}

/// Everything that happened in one interval.
#[derive(Debug, Clone)]
pub struct Interval {
    pub slot: Slot,
    /// Where the interval really ended; earlier than the slot when the run was stopped.
    pub end: u64,
    pub classes: [ClassRecord; 2],
    pub errors: [u64; ErrorKind::ALL.len()],
    /// Successful answers that arrived within the interval, whenever they were asked for.
    pub answered: u64,
    /// Open loop: sends that fell due, sends made, and how late the sends were (nanoseconds).
    pub due: u64,
    pub sent: u64,
    pub lateness: Option<Histogram<u64>>,
    /// CPU of each worker that took part: (worker, use within the interval).
    pub cpu: Vec<(usize, CpuUse)>,
}

impl Interval {
    pub fn new(slot: Slot, open_loop: bool) -> Interval {
        Interval {
            slot,
            end: slot.end,
            classes: [ClassRecord::new(open_loop), ClassRecord::new(open_loop)],
            errors: Default::default(),
            answered: 0,
            due: 0,
            sent: 0,
            lateness: open_loop.then(histogram),
            cpu: Vec::new(),
        }
    }

    /// Adds what another worker saw in the same interval.
    pub fn add(&mut self, other: &Interval) {
        self.end = self.end.max(other.end);
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.errors.iter_mut().zip(&other.errors) {
            *mine += theirs;
        }
        self.answered += other.answered;
        self.due += other.due;
        self.sent += other.sent;
        if let (Some(mine), Some(theirs)) = (&mut self.lateness, &other.lateness) {
            let _ = mine.add(theirs);
        }
        self.cpu.extend(&other.cpu);
    }

    pub fn ok(&self) -> u64 {
        self.classes.iter().map(|class| class.ok).sum()
    }

    pub fn failed(&self) -> u64 {
        self.classes.iter().map(|class| class.errors).sum()
    }

    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.end.saturating_sub(self.slot.begin) as f64 / 1e9
    }
}

/// When one operation was meant to be sent, was sent, and was done; nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub intended: u64,
    pub sent: u64,
    pub done: u64,
}

/// One worker's recorder.
pub struct Recorder {
    worker: usize,
    timeline: Timeline,
    open_loop: bool,
    current: Interval,
    cpu: CpuUse,
    sink: UnboundedSender<Interval>,
}

impl Recorder {
    pub fn new(
        worker: usize,
        timeline: Timeline,
        open_loop: bool,
        sink: UnboundedSender<Interval>,
    ) -> Recorder {
        Recorder {
            worker,
            timeline,
            open_loop,
            current: Interval::new(timeline.first(), open_loop),
            cpu: CpuUse::now(),
            sink,
        }
    }

    /// End of the current interval, nanoseconds.
    pub fn border(&self) -> u64 {
        self.current.slot.end
    }

    /// Counts a finished operation into the interval in which it was done. The closed loop's
    /// measured operations are those done within the measured part; the open loop's are those
    /// meant to be sent within it, of which the last may be done later.
    pub fn done(&mut self, class: Class, times: Times, outcome: Result<(), ErrorKind>) {
        self.advance(times.done);
        if times.done < self.timeline.end && outcome.is_ok() {
            self.current.answered += 1;
        }
        if !self.counts(&times) {
            return;
        }
        let record = &mut self.current.classes[class as usize];
        match outcome {
            Err(kind) => {
                record.errors += 1;
                self.current.errors[kind as usize] += 1;
            }
            Ok(()) => {
                let service = times.done.saturating_sub(times.sent);
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

    fn counts(&self, times: &Times) -> bool {
        match (self.current.slot.part, self.open_loop) {
            (Part::Measure, true) => times.intended >= self.timeline.measure,
            (Part::Measure, false) => times.done < self.timeline.end,
            _ => true,
        }
    }

    /// Open loop: a send fell due at `intended`. The warm-up's backlog is not due again in the
    /// measured part.
    pub fn due(&mut self, intended: u64) {
        self.advance(intended);
        if self.current.slot.part != Part::Measure || intended >= self.timeline.measure {
            self.current.due += 1;
        }
    }

    /// Open loop: a send was made.
    pub fn sent(&mut self, intended: u64, sent: u64) {
        self.advance(sent);
        if sent < self.timeline.end {
            self.current.sent += 1;
        }
        if let Some(lateness) = &mut self.current.lateness {
            lateness.saturating_record(sent.saturating_sub(intended));
        }
    }

    /// Seals every interval that is over at `now`, but never the last one: answers to the last
    /// sends may still come.
    pub fn advance(&mut self, now: u64) {
        while now >= self.current.slot.end {
            let Some(slot) = self.timeline.after(&self.current.slot) else {
                return;
            };
            self.seal(Interval::new(slot, self.open_loop));
        }
    }

    /// Seals the last interval at `now` or at its end, whichever is earlier.
    pub fn finish(&mut self, now: u64) {
        self.advance(now);
        self.current.end = now.clamp(self.current.slot.begin, self.current.slot.end);
        let slot = self.current.slot;
        self.seal(Interval::new(slot, self.open_loop));
    }

    fn seal(&mut self, next: Interval) {
        let cpu = CpuUse::now();
        let mut sealed = std::mem::replace(&mut self.current, next);
        sealed.cpu.push((self.worker, cpu.since(&self.cpu)));
        self.cpu = cpu;
        // A closed channel means that nobody wants results any more; the run is ending.
        let _ = self.sink.send(sealed);
    }
}

#[cfg(test)]
mod tests;
