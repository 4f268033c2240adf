//! Which partition the next operation visits: the tool's `SeedManager`.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lookback::Lookback;
use super::sample::Sample;
use super::sampler::SharedSampler;
use super::{Distribution, Ending, Release, Sampler};
use crate::{Error, Rng};

/// After so many partitions in a row that were under way, the next one is written in any case. The
/// tool tries for ever.
const ATTEMPTS: usize = 1000;
/// More partitions than this are never kept for another visit.
const MOST_REVISITED: i64 = i32::MAX as i64;

/// Where seeds come from (`-pop`).
#[derive(Debug, Clone, PartialEq)]
pub enum Population {
    /// `seq=first..last`: one after the other.
    Sequence {
        /// The first seed.
        first: i64,
        /// The last seed.
        last: i64,
        /// Begin again after the last one; otherwise the load ends there (`no-wrap`).
        wrap: bool,
        /// Reads go back this far behind the writes (`read-lookback=`).
        lookback: Option<Distribution>,
    },
    /// `dist=LAW`: drawn.
    Distribution(Distribution),
}

/// One partition to visit.
#[derive(Debug, Clone)]
pub struct Seed {
    number: i64,
    /// The number as drawn, before the release's factor.
    drawn: i64,
    visits: i64,
    /// Up to which row earlier visits came, when there is more than one; shared by all who write the
    /// partition.
    position: Option<Arc<AtomicI64>>,
}

impl Seed {
    /// A seed that is written in so many visits; -1 for one that is read.
    pub fn new(number: i64, visits: i64) -> Self {
        Self {
            number,
            drawn: number,
            visits,
            position: (visits > 1).then(|| Arc::new(AtomicI64::new(0))),
        }
    }

    /// The seed itself.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// In how many visits the partition is written.
    pub fn visits(&self) -> i64 {
        self.visits
    }

    /// Takes the next `rows` rows; where they begin.
    pub(super) fn move_forward(&self, rows: i64) -> i64 {
        let forward = |position: i64| Some(position.saturating_add(rows));
        let relaxed = Ordering::Relaxed;
        let begun = self.position.as_ref();
        begun.map_or(0, |position| {
            position
                .fetch_update(relaxed, relaxed, forward)
                .unwrap_or(0)
        })
    }
}

/// Gives seeds to all workers of a load.
#[derive(Debug)]
pub struct Seeds {
    source: Source,
    revisits: Option<Mutex<Sample>>,
    visits: SharedSampler,
    revisit_values: i64,
    factor: i64,
}

#[derive(Debug)]
enum Source {
    Sequence {
        first: i64,
        length: i64,
        wrap: bool,
        count: AtomicI64,
        lookback: Option<Lookback>,
    },
    Distribution(SharedSampler),
}

impl Seeds {
    /// Seeds of this population. A partition is written in `visits` visits (`-insert visits=`), and
    /// `revisit` says which of those under way comes next (`-insert revisit=`).
    ///
    /// # Errors
    /// When the sequence is backwards, the lookback reaches beyond it, the visits can be fewer than
    /// one, or the range of `revisit` is negative or above 2^31.
    pub fn new(
        population: Population,
        visits: Distribution,
        revisit: Distribution,
    ) -> Result<Self, Error> {
        let source = source(population)?;
        if visits.min().min(visits.max()) < 1 {
            return Err(Error::new(format!(
                "visits={visits}: expected at least one visit"
            )));
        }
        let low = revisit.min().min(revisit.max());
        let size = revisit.min().max(revisit.max()) - low + 1;
        if low < 0 || size > MOST_REVISITED {
            return Err(Error::new(format!(
                "revisit={revisit}: expected a range from 0 up of at most 2147483647 values"
            )));
        }
        // A partition written in one visit never waits for another one.
        let revisits = (visits.max().max(visits.min()) > 1).then(|| {
            Mutex::new(Sample::new(
                Sampler::new(revisit.inverted()),
                low,
                size,
                visits.average() > 1,
            ))
        });
        Ok(Self {
            source,
            revisits,
            visits: SharedSampler::new(visits),
            revisit_values: size,
            factor: 1,
        })
    }

    /// The seeds of this release; without, those of 3.11.
    #[must_use]
    pub fn for_release(mut self, release: Release) -> Self {
        self.factor = release.factor(self.revisit_values);
        self
    }

    /// The next partition to write; none when the sequence is over.
    pub fn next_write(&self, rng: &mut impl Rng) -> Option<Seed> {
        let Some(revisits) = &self.revisits else {
            return Some(self.seed(self.next_number(rng)?, 1));
        };
        for _ in 0..ATTEMPTS {
            if let Some(seed) = locked(revisits).pick(rng) {
                return Some(seed);
            }
            let visits = self.visits.draw(rng).clamp(1, MOST_REVISITED);
            let seed = self.seed(self.next_number(rng)?, visits);
            if locked(revisits).manage(&seed) {
                return Some(seed);
            }
        }
        // The population is smaller than what is under way: write a partition whole, once more.
        Some(self.seed(self.next_number(rng)?, 1))
    }

    /// The next partition to read; none when the sequence is over.
    pub fn next_read(&self, rng: &mut impl Rng) -> Option<Seed> {
        match &self.source {
            Source::Sequence {
                first,
                length,
                wrap,
                lookback: Some(lookback),
                ..
            } => {
                let offset = lookback.next(rng, *length, *wrap)?;
                Some(self.seed(first + offset, -1))
            }
            _ => Some(self.seed(self.next_number(rng)?, -1)),
        }
    }

    /// Records how a visit that wrote has ended, for later writes. As in the tool, it ends when its
    /// last row is drawn, whatever the outcome of the request.
    pub fn wrote(&self, seed: &Seed, ending: Ending) {
        if let Some(revisits) = &self.revisits {
            let mut sample = locked(revisits);
            if ending.first && !ending.last {
                sample.keep(seed);
            }
            if ending.last {
                sample.drop_seed(seed);
            }
        }
    }

    /// Whether reads follow the writes, so that answered writes must be reported.
    pub fn looks_back(&self) -> bool {
        let Source::Sequence { lookback, .. } = &self.source else {
            return false;
        };
        lookback.is_some()
    }

    /// Whether reads that follow the writes have one to follow: the first write of the sequence has
    /// been answered. Earlier reads would ask for rows that may not exist.
    pub fn is_begun(&self) -> bool {
        let Source::Sequence { lookback, .. } = &self.source else {
            return false;
        };
        lookback.as_ref().is_some_and(Lookback::is_begun)
    }

    /// A partition's first write has been answered: reads may follow it. The tool lets them follow
    /// when the write is made, so that they may overtake it.
    pub fn answered(&self, seed: &Seed) {
        if let Source::Sequence {
            first,
            lookback: Some(lookback),
            ..
        } = &self.source
        {
            lookback.wrote(seed.drawn - first);
        }
    }

    fn seed(&self, drawn: i64, visits: i64) -> Seed {
        let mut seed = Seed::new(drawn.wrapping_mul(self.factor), visits);
        seed.drawn = drawn;
        seed
    }

    fn next_number(&self, rng: &mut impl Rng) -> Option<i64> {
        match &self.source {
            Source::Sequence {
                first,
                length,
                wrap,
                count,
                ..
            } => {
                let at = count.fetch_add(1, Ordering::Relaxed);
                if at >= *length && !wrap {
                    return None;
                }
                Some(first + at % length)
            }
            Source::Distribution(distribution) => Some(distribution.draw(rng)),
        }
    }
}

fn source(population: Population) -> Result<Source, Error> {
    let (first, last, wrap, lookback) = match population {
        Population::Distribution(distribution) => {
            return Ok(Source::Distribution(SharedSampler::new(distribution)))
        }
        Population::Sequence {
            first,
            last,
            wrap,
            lookback,
        } => (first, last, wrap, lookback),
    };
    let length = last.checked_sub(first).and_then(|span| span.checked_add(1));
    let Some(length) = length.filter(|length| *length > 0) else {
        return Err(Error::new(format!(
            "seq={first}..{last} is backwards or too long: expected the lower seed first"
        )));
    };
    if let Some(distribution) = &lookback {
        let (low, high) = (
            distribution.min().min(distribution.max()),
            distribution.min().max(distribution.max()),
        );
        if low < 0 || high > length {
            return Err(Error::new(format!(
                "read-lookback={distribution} reaches from {low} to {high}: expected 0 to {length}, the length of the sequence"
            )));
        }
    }
    Ok(Source::Sequence {
        first,
        length,
        wrap,
        count: AtomicI64::new(0),
        lookback: lookback.map(Lookback::new),
    })
}

fn locked(sample: &Mutex<Sample>) -> MutexGuard<'_, Sample> {
    sample.lock().unwrap_or_else(PoisonError::into_inner)
}
