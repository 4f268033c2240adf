//! Partitions, rows and waiting times by operation: what the engine keeps for all together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::Histogram;
use tare_engine::record::histogram;

/// Counted since the last look.
#[derive(Debug)]
pub struct Tally {
    operations: Vec<Operation>,
    /// Whether waiting times are wanted.
    waits: bool,
}

#[derive(Debug)]
struct Operation {
    partitions: AtomicU64,
    rows: AtomicU64,
    waits: Mutex<Option<Histogram<u64>>>,
}

impl Operation {
    fn waits(&self) -> MutexGuard<'_, Option<Histogram<u64>>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one operation came to.
#[derive(Debug, Clone)]
pub struct Units {
    pub partitions: u64,
    pub rows: u64,
    pub waits: Option<Histogram<u64>>,
}

impl Tally {
    pub fn new(operations: usize, waits: bool) -> Tally {
        let operation = |_| Operation {
            partitions: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            waits: Mutex::new(waits.then(histogram)),
        };
        Tally {
            operations: (0..operations).map(operation).collect(),
            waits,
        }
    }

    /// Counts an operation that is done. `wait` is the time between intended and first send,
    /// nanoseconds.
    pub fn count(&self, operation: usize, partitions: u64, rows: u64, wait: u64) {
        let operation = &self.operations[operation];
        operation
            .partitions
            .fetch_add(partitions, Ordering::Relaxed);
        operation.rows.fetch_add(rows, Ordering::Relaxed);
        if self.waits {
            if let Some(waits) = operation.waits().as_mut() {
                waits.saturating_record(wait);
            }
        }
    }

    /// Takes what has been counted since the last time.
    pub fn take(&self, operation: usize) -> Units {
        let operation = &self.operations[operation];
        let mut waits = operation.waits();
        Units {
            partitions: operation.partitions.swap(0, Ordering::Relaxed),
            rows: operation.rows.swap(0, Ordering::Relaxed),
            waits: waits
                .as_mut()
                .map(|waits| std::mem::replace(waits, histogram())),
        }
    }
}
