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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn thousand() -> Zipfian {
        Zipfian::new(1000, zeta(1000))
    }

    #[test]
    fn constants_for_a_thousand_items_are_known() {
        assert!((zeta(1000) - 7.728953).abs() < 1e-6);
        assert!((thousand().eta() - 0.0748061).abs() < 1e-7);
    }

    #[test]
    fn ranks_for_a_thousand_items_are_known() {
        let ranks = [0.0, 0.3, 0.5, 0.9, 0.99].map(|u| thousand().rank(u));
        assert_eq!(ranks, [0, 4, 22, 471, 927]);
    }

    #[test]
    fn the_hottest_records_are_those_of_ycsb() {
        let hottest = |records| [0, 1, 2, 3, 4].map(|rank| Scrambled::new(records).scatter(rank));
        assert_eq!(hottest(1000), [144, 610, 213, 679, 10]);
        assert_eq!(
            hottest(1_000_000),
            [801_320, 216_074, 971_811, 386_565, 464_295]
        );
    }

    #[test]
    fn the_hottest_record_gets_its_known_share() {
        let scrambled = Scrambled::new(1_000_000);
        let mut random = Random::new(&[1]);
        let draws = 200_000;
        let hits = (0..draws).filter(|_| scrambled.draw(&mut random) == 801_320);
        let share = hits.count() as f64 / f64::from(draws);
        assert!((share - 0.0378).abs() < 0.002, "{share}");
    }

    proptest! {
        #[test]
        fn ranks_stay_among_the_items(u in 0.0..1.0f64) {
            prop_assert!(thousand().rank(u) < 1000);
        }

        #[test]
        fn draws_stay_among_the_records(records in 1u64..5000, seed: u64) {
            let mut random = Random::new(&[seed]);
            prop_assert!(Scrambled::new(records).draw(&mut random) < records);
        }
    }
}
