//! Numbers in sequence, shared by all threads.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use crate::{Error, Share};

/// How many insertions may be under way at once.
const WINDOW: usize = 1 << 20;

/// YCSB's `CounterGenerator`: the numbers of the records that a load inserts.
#[derive(Debug)]
pub struct Counter {
    next: AtomicI64,
}

impl Counter {
    /// Counts from `start`.
    pub fn new(start: i64) -> Self {
        Self {
            next: AtomicI64::new(start),
        }
    }

    /// The next number.
    pub fn next(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The number given last; `start - 1` before the first.
    pub fn last(&self) -> i64 {
        self.next.load(Ordering::Relaxed) - 1
    }
}

/// YCSB's `AcknowledgedCounterGenerator`: the numbers of inserted records, and up to which one all
/// are acknowledged, so that no read asks for a record that does not exist yet.
#[derive(Debug)]
pub struct AcknowledgedCounter {
    next: AtomicI64,
    acknowledged: Box<[AtomicBool]>,
    limit: AtomicI64,
    /// Held by the one thread that moves the limit.
    moving: Mutex<()>,
}

impl AcknowledgedCounter {
    /// Counts from `start`; all records before it count as acknowledged.
    pub fn new(start: i64) -> Self {
        Self {
            next: AtomicI64::new(start),
            acknowledged: (0..WINDOW).map(|_| AtomicBool::new(false)).collect(),
            limit: AtomicI64::new(start - 1),
            moving: Mutex::new(()),
        }
    }

    /// The next number to insert.
    pub fn next(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The highest number up to which all are acknowledged.
    pub fn last(&self) -> i64 {
        self.limit.load(Ordering::Acquire)
    }

    /// Says that the insertion of `number` has ended, well or not.
    ///
    /// # Errors
    /// When 2^20 later numbers are under way or waiting behind one that never ended.
    pub fn acknowledge(&self, number: i64) -> Result<(), Error> {
        if self.slot(number).swap(true, Ordering::AcqRel) {
            return Err(Error::new(format!(
                "too many insertions are unacknowledged: record {number} came while one more than {WINDOW} before it has not ended"
            )));
        }
        let guard = match self.moving.try_lock() {
            Ok(guard) => guard,
            // Another thread is moving the limit. It may have passed this number already; then the
            // next acknowledgement moves on, as in YCSB.
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
        };
        let mut limit = self.limit.load(Ordering::Relaxed);
        while self.slot(limit + 1).swap(false, Ordering::AcqRel) {
            limit += 1;
        }
        self.limit.store(limit, Ordering::Release);
        drop(guard);
        Ok(())
    }

    fn slot(&self, number: i64) -> &AtomicBool {
        &self.acknowledged[number as usize & (WINDOW - 1)]
    }
}

/// YCSB's `SequentialGenerator`: the records one after the other, again and again.
#[derive(Debug)]
pub struct Sequential {
    start: i64,
    interval: i64,
    share: Share,
    count: AtomicI64,
}

impl Sequential {
    /// Numbers from `start` to `end`, both included.
    ///
    /// # Errors
    /// When `end` is under `start` or the range is too wide.
    pub fn new(start: i64, end: i64) -> Result<Self, Error> {
        let interval = end.checked_sub(start).and_then(|span| span.checked_add(1));
        match interval.filter(|interval| *interval > 0) {
            Some(interval) => Ok(Self {
                start,
                interval,
                share: Share::WHOLE,
                count: AtomicI64::new(0),
            }),
            None => Err(Error::new(format!(
                "a sequence {start}..{end} is empty or too long: expected start <= end"
            ))),
        }
    }

    /// The same range for one of several clients: it takes its own part of the numbers.
    ///
    /// # Errors
    /// When there are more clients than numbers.
    pub fn shared(&self, share: Share) -> Result<Self, Error> {
        let interval = share.count(self.interval as u64) as i64;
        if self.interval < i64::from(share.of()) {
            return Err(Error::new(format!(
                "{} numbers in sequence cannot be shared by {} clients",
                self.interval,
                share.of()
            )));
        }
        Ok(Self {
            start: self.start,
            interval,
            share,
            count: AtomicI64::new(0),
        })
    }

    /// The next number.
    pub fn next(&self) -> i64 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        self.start + self.share.nth(count.rem_euclid(self.interval))
    }
}
