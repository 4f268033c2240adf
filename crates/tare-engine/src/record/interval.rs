//! One interval: counts and histograms by operation.

use std::mem::take;

use hdrhistogram::Histogram;

use crate::clock::CpuUse;
use crate::errors::ErrorKind;
use crate::record::Silences;
use crate::timeline::Slot;
use crate::totals::per;

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
    /// Operations without an answer when the run was over. Their latencies are their ages, which
    /// are lower bounds; no other count includes them.
    pub under_way: u64,
    pub errors: ByKind,
    /// Requests that were sent again, by what had failed.
    pub retries: ByKind,
    /// From the first actual send, nanoseconds, of successful operations and of those under way.
    pub service: Histogram<u64>,
    /// From the intended send; none where nothing is scheduled, for there it equals `service`.
    pub response: Option<Histogram<u64>>,
    /// The failed operations' service times.
    pub failed: Option<Histogram<u64>>,
    /// Their response times, from the intended send; none where nothing is scheduled.
    pub failed_response: Option<Histogram<u64>>,
    pub service_sum: u64,
    pub response_sum: u64,
}

impl OperationRecord {
    pub fn new(scheduled: bool) -> OperationRecord {
        OperationRecord {
            ok: 0,
            under_way: 0,
            errors: ByKind::default(),
            retries: ByKind::default(),
            service: histogram(),
            response: scheduled.then(histogram),
            failed: None,
            failed_response: None,
            service_sum: 0,
            response_sum: 0,
        }
    }

    /// Records one latency, from the actual and from the intended send.
    pub(super) fn latency(&mut self, service: u64, response: u64) {
        self.service_sum += service;
        self.response_sum += response;
        self.service.saturating_record(service);
        if let Some(histogram) = &mut self.response {
            histogram.saturating_record(response);
        }
    }

    /// Operations that have a latency.
    pub fn timed(&self) -> u64 {
        self.ok + self.under_way
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
        self.under_way += other.under_way;
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
        if let Some(theirs) = &other.failed_response {
            let _ = self
                .failed_response
                .get_or_insert_with(histogram)
                .add(theirs);
        }
    }

    fn clear(&mut self) {
        (self.ok, self.under_way) = (0, 0);
        (self.errors, self.retries) = (ByKind::default(), ByKind::default());
        self.service.reset();
        self.response.iter_mut().for_each(Histogram::reset);
        (self.failed, self.failed_response) = (None, None);
        (self.service_sum, self.response_sum) = (0, 0);
    }
}

pub fn add(mine: &mut ByKind, theirs: &ByKind) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}

/// What is counted in an interval, and over the measured part.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// By position in `Workload::operations`.
    pub operations: Vec<OperationRecord>,
    /// Successful operations that the engine began itself and that ended within the interval (in a
    /// slice: before its drain), whenever they were asked for. Excludes parts of composite
    /// operations.
    pub answered: u64,
    /// Failed operations, counted likewise.
    pub failed: u64,
    /// Successful operations that ended before their slice's drain, and in it, in any loop.
    pub within: u64,
    pub drained: u64,
    /// Units that a source counted: partitions and rows (cassandra-stress).
    pub partitions: u64,
    pub rows: u64,
    /// Scheduled paces: sends that fell due, sends made, and how late (nanoseconds).
    pub due: u64,
    pub sent: u64,
    pub lateness: Option<Histogram<u64>>,
    /// Sends that fell due while all slots that could make them were busy: the cluster's doing.
    pub held: u64,
    /// Those of them that were never sent.
    pub unserved: u64,
    /// Requests that had to wait in the client because their node did not read: 16 MiB waited
    /// before them on every connection to it. The cluster's doing, too.
    pub blocked: u64,
    /// Operations whose reply came after the drain of their slice.
    pub undrained: u64,
}

impl Counts {
    pub fn new(operations: usize, scheduled: bool) -> Counts {
        Counts {
            operations: vec![OperationRecord::new(scheduled); operations],
            lateness: scheduled.then(histogram),
            ..Counts::default()
        }
    }

    pub fn add(&mut self, other: &Counts) {
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.add(theirs);
        }
        self.answered += other.answered;
        self.failed += other.failed;
        self.within += other.within;
        self.drained += other.drained;
        self.partitions += other.partitions;
        self.rows += other.rows;
        self.due += other.due;
        self.sent += other.sent;
        self.held += other.held;
        self.unserved += other.unserved;
        self.blocked += other.blocked;
        self.undrained += other.undrained;
        if let (Some(mine), Some(theirs)) = (&mut self.lateness, &other.lateness) {
            let _ = mine.add(theirs);
        }
    }

    /// The sum of something over all operations.
    pub fn sum(&self, of: impl Fn(&OperationRecord) -> u64) -> u64 {
        self.operations.iter().map(of).sum()
    }

    /// The sum of errors or retries over all operations.
    pub fn by_kind(&self, of: impl Fn(&OperationRecord) -> &ByKind) -> ByKind {
        let mut all = ByKind::default();
        self.operations
            .iter()
            .for_each(|one| add(&mut all, of(one)));
        all
    }

    /// The response times of all operations.
    pub fn responses(&self) -> Histogram<u64> {
        let mut all = histogram();
        for record in &self.operations {
            let _ = all.add(record.response());
        }
        all
    }

    /// Counts from 0 again, keeping the memory.
    fn clear(&mut self) {
        let (mut operations, mut lateness) = (take(&mut self.operations), self.lateness.take());
        operations.iter_mut().for_each(OperationRecord::clear);
        lateness.iter_mut().for_each(Histogram::reset);
        *self = Counts {
            operations,
            lateness,
            ..Counts::default()
        };
    }
}

/// Everything that happened in one interval.
#[derive(Debug, Clone)]
pub struct Interval {
    pub slot: Slot,
    /// Where the interval really ended; earlier than the slot when the run was stopped.
    pub end: u64,
    /// The last interval of the worker that sealed it.
    pub last: bool,
    pub counts: Counts,
    /// When no answer came within the interval.
    pub silences: Silences,
    /// CPU of each worker that took part: (worker, use within the interval).
    pub cpu: Vec<(usize, CpuUse)>,
}

impl Interval {
    pub fn new(slot: Slot, operations: usize, scheduled: bool) -> Interval {
        Interval {
            slot,
            end: slot.end,
            last: false,
            counts: Counts::new(operations, scheduled),
            silences: Silences::since(slot.begin),
            cpu: Vec::new(),
        }
    }

    /// Adds what another worker saw in the same interval.
    pub fn add(&mut self, other: &Interval) {
        self.end = self.end.max(other.end);
        self.counts.add(&other.counts);
        self.silences.meet(&other.silences);
        self.cpu.extend(&other.cpu);
    }

    /// Length of the time in which operations were begun, seconds.
    pub fn seconds(&self) -> f64 {
        let end = self.end.min(self.slot.closes);
        end.saturating_sub(self.slot.begin) as f64 / 1e9
    }

    /// Successful operations per second.
    pub fn throughput(&self) -> f64 {
        per(self.counts.answered as f64, self.seconds())
    }

    /// CPU of the whole process, which every worker read on its own; nanoseconds.
    pub fn process_cpu(&self) -> u64 {
        let read = self.cpu.iter().map(|(_, cpu)| cpu.process);
        read.max().unwrap_or(0)
    }

    /// Makes it a new interval, keeping its memory.
    pub(super) fn renew(&mut self, slot: Slot) {
        (self.slot, self.end, self.last) = (slot, slot.end, false);
        self.counts.clear();
        self.silences.renew(slot.begin);
        self.cpu.clear();
    }
}
