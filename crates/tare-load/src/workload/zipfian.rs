//! Zipfian choice of record numbers, as YCSB does it.

use super::keys::fnv64;
use super::random::Random;

/// YCSB's constant of skew.
pub const THETA: f64 = 0.99;

/// Items of the scrambled generator's inner zipfian, and their zeta (YCSB's constants).
const SCRAMBLED_ITEMS: u64 = 10_000_000_001;
const SCRAMBLED_ZETAN: f64 = 26.46902820178302;

/// Zipfian ranks after Gray et al., "Quickly generating billion-record synthetic databases",
/// SIGMOD 1994, with YCSB's arrangement of the formula.
#[derive(Debug, Clone)]
pub struct Zipfian {
    items: f64,
    zetan: f64,
    eta: f64,
    alpha: f64,
    second: f64,
}

/// Sum over 1..=n of i^-theta.
#[cfg(test)]
pub fn zeta(n: u64) -> f64 {
    (1..=n).map(|i| (i as f64).powf(-THETA)).sum()
}

impl Zipfian {
    /// `zetan` is zeta(items).
    pub fn new(items: u64, zetan: f64) -> Zipfian {
        let zeta2 = 1.0 + 0.5f64.powf(THETA);
        let items = items as f64;
        Zipfian {
            items,
            zetan,
            eta: (1.0 - (2.0 / items).powf(1.0 - THETA)) / (1.0 - zeta2 / zetan),
            alpha: 1.0 / (1.0 - THETA),
            second: zeta2,
        }
    }

    /// The rank, 0 is the hottest, that belongs to a uniform draw `u` in [0, 1).
    pub fn rank(&self, u: f64) -> u64 {
        let uz = u * self.zetan;
        if uz < 1.0 {
            0
        } else if uz < self.second {
            1
        } else {
            (self.items * (self.eta * u - self.eta + 1.0).powf(self.alpha)) as u64
        }
    }

    #[cfg(test)]
    pub fn eta(&self) -> f64 {
        self.eta
    }
}

/// YCSB's `requestdistribution=zipfian`: ranks scattered over the records by FNV-1a.
#[derive(Debug, Clone)]
pub struct Scrambled {
    inner: Zipfian,
    records: u64,
}

impl Scrambled {
    /// Over records 0 to `records` - 1 of a run that inserts nothing.
    pub fn new(records: u64) -> Scrambled {
        Scrambled {
            inner: Zipfian::new(SCRAMBLED_ITEMS, SCRAMBLED_ZETAN),
            records,
        }
    }

    /// The record of a rank, or one past the last: YCSB scatters over insertcount + 1 items.
    pub fn scatter(&self, rank: u64) -> u64 {
        fnv64(rank) % (self.records + 1)
    }

    /// The next record; draws beyond the last record are rejected, as in YCSB.
    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let record = self.scatter(self.inner.rank(random.unit()));
            if record < self.records {
                return record;
            }
        }
    }
}
