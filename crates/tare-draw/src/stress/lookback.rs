//! Reads that follow the writes of a sequence.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::sampler::SharedSampler;
use super::Distribution;
use crate::Rng;

/// How many partitions of a sequence are written without a gap, and how far behind the last one of
/// them reads go.
#[derive(Debug)]
pub(super) struct Lookback {
    distribution: SharedSampler,
    written: AtomicI64,
    /// Partitions written before one that precedes them.
    ahead: Mutex<BTreeSet<i64>>,
}

impl Lookback {
    pub(super) fn new(distribution: Distribution) -> Self {
        Self {
            distribution: SharedSampler::new(distribution),
            written: AtomicI64::new(0),
            ahead: Mutex::new(BTreeSet::new()),
        }
    }

    /// The partition at `offset`, from 0, was written for the first time.
    ///
    /// The tool compares the seed itself with the number of partitions, so that lookback works there
    /// only for sequences from 1, where both are the same.
    pub(super) fn wrote(&self, offset: i64) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let mut written = self.written.load(Ordering::Relaxed);
        if offset < written {
            return;
        }
        ahead.insert(offset);
        while ahead.remove(&written) {
            written += 1;
        }
        self.written.store(written, Ordering::Release);
    }

    /// Whether the first partition was written.
    pub(super) fn is_begun(&self) -> bool {
        self.written.load(Ordering::Acquire) > 0
    }

    /// The offset of the next partition to read; none when the sequence of `length` is over.
    pub(super) fn next(&self, rng: &mut impl Rng, length: i64, wrap: bool) -> Option<i64> {
        let back = self.distribution.draw(rng);
        let written = self.written.load(Ordering::Acquire);
        if back <= written {
            return Some(written - back);
        }
        if written == length && !wrap {
            return None;
        }
        Some(if written == 0 { 0 } else { back % written })
    }
}
