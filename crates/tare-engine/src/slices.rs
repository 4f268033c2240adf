//! Slices: the fractions of a run in which this client drives its cluster, while others stand
//! still. The run's clock shows the time of its slices alone and stands still between them.

use std::time::Duration;

/// Between two slices the clock shows this instant, nanoseconds: the drain is over, and the next
/// slice has not begun.
const BETWEEN: u64 = 1;

/// The parts of one turn: operations are begun for `length`, then the last replies come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Nanoseconds.
    pub length: u64,
    pub drain: u64,
}

impl Turn {
    /// From the beginning of one slice to that of the next, by the run's clock.
    pub fn whole(&self) -> u64 {
        self.length + self.drain + BETWEEN
    }

    /// End of the turn of this number, counted from 0, by the run's clock.
    pub fn end(&self, number: u64) -> u64 {
        number * self.whole() + self.length + self.drain
    }

    /// When the slice to which `time` belongs begins no more operations.
    pub fn closes(&self, time: u64) -> u64 {
        time / self.whole() * self.whole() + self.length
    }

    /// The turn to which `time` belongs, counted from 0.
    pub fn number(&self, time: u64) -> u64 {
        time / self.whole()
    }

    /// When the turn after that of `time` begins.
    pub fn next(&self, time: u64) -> u64 {
        (self.number(time) + 1) * self.whole()
    }

    /// When operations may be begun again; none if they may at `time`.
    pub fn reopens(&self, time: u64) -> Option<u64> {
        (time >= self.closes(time)).then(|| self.next(time))
    }

    /// Whether `time` is the instant between two slices.
    pub fn is_between(&self, time: u64) -> bool {
        time % self.whole() >= self.length + self.drain
    }

    /// Whether a reply at `done` came after the turn in which the operation was begun.
    pub fn outlived(&self, begun: u64, done: u64) -> bool {
        done >= self.end(begun / self.whole())
    }

    /// The run's clock when so much time in which operations are begun has passed.
    pub fn place(&self, offered: u64) -> u64 {
        offered / self.length * self.whole() + offered % self.length
    }
}

/// When a client's slices begin. All have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slices {
    pub turn: Turn,
    /// Slices at the start that are not part of the result.
    pub warmup: u64,
    /// Nanoseconds from the run's origin; the first is 0, and turns do not overlap.
    begins: Vec<u64>,
}

impl Slices {
    /// None unless the first slice begins at 0, each one after the drain of the one before, and
    /// at least one is left to be measured.
    pub fn new(
        length: Duration,
        drain: Duration,
        warmup: u64,
        begins: &[Duration],
    ) -> Option<Slices> {
        let ns = |time: &Duration| u64::try_from(time.as_nanos()).ok();
        let turn = Turn {
            length: ns(&length).filter(|&length| length > 0)?,
            drain: ns(&drain)?,
        };
        let begins: Vec<u64> = begins.iter().map(ns).collect::<Option<_>>()?;
        let apart = begins
            .windows(2)
            .all(|pair| pair[0] + turn.length + turn.drain < pair[1]);
        let sane = begins.first() == Some(&0) && apart && warmup < begins.len() as u64;
        sane.then_some(Slices {
            turn,
            warmup,
            begins,
        })
    }

    pub fn count(&self) -> u64 {
        self.begins.len() as u64
    }

    /// What the run's clock shows at `real` nanoseconds from the origin.
    pub fn shown(&self, real: u64) -> u64 {
        let passed = self.begins.partition_point(|&begin| begin <= real);
        let number = passed.saturating_sub(1);
        let within = (real - self.begins[number]).min(self.turn.length + self.turn.drain);
        number as u64 * self.turn.whole() + within
    }

    /// Nanoseconds from the origin at which the run's clock first shows `time`.
    pub fn real(&self, time: u64) -> u64 {
        let number = (time / self.turn.whole()).min(self.count() - 1);
        self.begins[number as usize].saturating_add(time - number * self.turn.whole())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn slices(begins: &[u64]) -> Option<Slices> {
        let ms = Duration::from_millis;
        let begins: Vec<Duration> = begins.iter().map(|&begin| ms(begin)).collect();
        Slices::new(ms(250), ms(30), 1, &begins)
    }

    #[test]
    fn the_clock_stands_still_between_slices() {
        let slices = slices(&[0, 600, 900]).unwrap();
        assert_eq!(slices.shown(100 * MS), 100 * MS);
        assert_eq!(slices.shown(280 * MS), 280 * MS);
        assert_eq!(slices.shown(599 * MS), 280 * MS);
        assert_eq!(slices.shown(600 * MS), 280 * MS + 1);
        assert_eq!(slices.shown(10_000 * MS), slices.turn.end(2));
    }

    #[test]
    fn operations_are_begun_within_slices_alone() {
        let turn = slices(&[0, 600]).unwrap().turn;
        assert_eq!(turn.reopens(249 * MS), None);
        assert_eq!(turn.reopens(250 * MS), Some(280 * MS + 1));
        assert_eq!(turn.reopens(280 * MS), Some(280 * MS + 1));
        assert_eq!(turn.reopens(280 * MS + 1), None);
        assert!(turn.is_between(280 * MS) && !turn.is_between(279 * MS));
    }

    #[test]
    fn a_reply_after_its_turn_outlived_it() {
        let turn = slices(&[0, 600]).unwrap().turn;
        assert!(!turn.outlived(10 * MS, 279 * MS));
        assert!(turn.outlived(10 * MS, 280 * MS));
        assert!(turn.outlived(10 * MS, 300 * MS));
        assert!(!turn.outlived(290 * MS, 300 * MS));
    }

    #[test]
    fn slices_that_overlap_or_leave_nothing_are_refused() {
        assert_eq!(slices(&[]), None);
        assert_eq!(slices(&[0]), None);
        assert_eq!(slices(&[5, 600]), None);
        assert_eq!(slices(&[0, 280]), None);
        assert!(slices(&[0, 281]).is_some());
    }

    proptest! {
        #[test]
        fn shown_and_real_are_each_others_inverse(
            gaps in proptest::collection::vec(1u64..2000, 2..20), at in 0u64..20_000,
        ) {
            let mut begins = vec![0];
            for gap in gaps {
                begins.push(begins[begins.len() - 1] + 280 + gap);
            }
            let slices = slices(&begins).unwrap();
            let shown = slices.shown(at * MS);
            prop_assert_eq!(slices.shown(slices.real(shown)), shown);
            prop_assert!(slices.real(shown) <= at * MS);
        }

        #[test]
        fn offered_time_falls_into_slices(offered in 0u64..10_000_000) {
            let turn = Turn { length: 250_000, drain: 30_000 };
            let time = turn.place(offered);
            prop_assert_eq!(turn.reopens(time), None);
            prop_assert_eq!(time / turn.whole(), offered / turn.length);
        }
    }
}
