//! Which record an operation asks for (`requestdistribution`).

use std::sync::Arc;

use super::{Exponential, Hotspot, ScrambledZipfian, Sequential, SkewedLatest, UniformLong, Zipf};
use crate::{Error, Rng, Share};

/// The next record's number, never one that is not yet acknowledged.
///
/// A clone is cheap and draws from the same distribution; every worker has its own. Only a sequence is shared
/// between the clones.
#[derive(Debug, Clone)]
pub enum Chooser {
    /// `uniform`
    Uniform(UniformLong),
    /// `zipfian`: the scrambled zipfian.
    ScrambledZipfian(ScrambledZipfian),
    /// The true Zipf distribution; YCSB has none. Its ranks count from the first number.
    Zipf(Zipf, i64),
    /// `latest`
    Latest(SkewedLatest),
    /// `hotspot`
    Hotspot(Hotspot),
    /// `exponential`, counted back from the last acknowledged record.
    Exponential(Exponential),
    /// `sequential`
    Sequential(Arc<Sequential>),
}

impl Chooser {
    /// The chooser of one of several clients that begin together: only a sequence would ask for
    /// the same records in all of them, and is shared out.
    ///
    /// # Errors
    /// When there are more clients than records in the sequence.
    pub fn shared(self, share: Share) -> Result<Self, Error> {
        Ok(match self {
            Self::Sequential(sequence) => Self::Sequential(Arc::new(sequence.shared(share)?)),
            other => other,
        })
    }

    /// The next record's number, when `last` is the newest acknowledged one.
    ///
    /// As YCSB, draws beyond `last` are drawn again; so at least one number that the distribution can give
    /// must not be beyond it, and for `exponential` `last` must not be negative.
    pub fn next(&mut self, rng: &mut impl Rng, last: i64) -> i64 {
        loop {
            let number = match self {
                Self::Uniform(distribution) => distribution.next(rng),
                Self::ScrambledZipfian(distribution) => distribution.next(rng),
                Self::Zipf(distribution, first) => first.saturating_add(distribution.next(rng)),
                Self::Latest(distribution) => distribution.next(rng, last),
                Self::Hotspot(distribution) => distribution.next(rng),
                Self::Exponential(distribution) => {
                    let number = last.saturating_sub(distribution.next(rng) as i64);
                    if number < 0 {
                        continue;
                    }
                    number
                }
                Self::Sequential(sequence) => sequence.next(),
            };
            if number <= last {
                return number;
            }
        }
    }
}
