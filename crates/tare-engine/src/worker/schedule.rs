//! When operations fall due: one worker's part of the common schedule.

use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::order::{Arrivals, Rate};
use crate::slices::Turn;

/// Due times of one worker, nanoseconds from the origin of the run.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    rate: Rate,
    /// Operations of all workers that have fallen due before `next`; Poisson gaps make it a
    /// fraction.
    passed: f64,
    workers: f64,
    next: u64,
    turn: Option<Turn>,
    random: Xoshiro256PlusPlus,
}

impl Schedule {
    /// `rate` is of all workers together; fixed arrivals of the workers interleave.
    pub fn new(rate: Rate, arrivals: Arrivals, seed: u64, worker: usize, workers: usize) -> Self {
        // Streams of one seed must not be each other's neighbours.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..worker).for_each(|_| random.jump());
        let mut schedule = Schedule {
            arrivals,
            rate,
            passed: 0.0,
            workers: workers as f64,
            next: 0,
            turn: None,
            random,
        };
        schedule.passed = match arrivals {
            Arrivals::Fixed => worker as f64,
            Arrivals::Poisson => schedule.exponential() * schedule.workers,
        };
        schedule.next = schedule.time();
        schedule
    }

    /// The same where operations fall due within slices alone.
    pub fn in_turns(mut self, turn: Option<Turn>) -> Self {
        self.turn = turn;
        self.next = self.time();
        self
    }

    /// The next due time; it stays the next one until `pass`.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn pass(&mut self) {
        self.passed += match self.arrivals {
            Arrivals::Fixed => self.workers,
            // A worker's share of a Poisson process is a Poisson process, too.
            Arrivals::Poisson => self.exponential() * self.workers,
        };
        self.next = self.time();
    }

    fn time(&self) -> u64 {
        let offered = (self.rate.time_of(self.passed) * 1e9) as u64;
        self.turn.map_or(offered, |turn| turn.place(offered))
    }

    /// An exponential gap of mean 1: minus the logarithm of a number in (0, 1].
    fn exponential(&mut self) -> f64 {
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -uniform.ln()
    }
}

/// The first deadlines of a worker's slots: spread over one tick, or all at once.
pub fn stagger(slots: usize, tick: u64, seed: u64, worker: usize, spread: bool) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
    (0..worker).for_each(|_| random.jump());
    let first = |_| match spread && tick > 0 {
        true => random.next_u64() % tick,
        false => 0,
    };
    (0..slots).map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Corner;

    const TEN_S: u64 = 10_000_000_000;

    fn times(rate: &Rate, arrivals: Arrivals, worker: usize, workers: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(rate.clone(), arrivals, 7, worker, workers);
        let mut times = Vec::new();
        while schedule.next() < TEN_S {
            times.push(schedule.next());
            schedule.pass();
        }
        times
    }

    #[test]
    fn fixed_arrivals_of_all_workers_interleave_evenly() {
        let rate = Rate::constant(1000.0);
        let mut all: Vec<u64> = (0..4)
            .flat_map(|worker| times(&rate, Arrivals::Fixed, worker, 4))
            .collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..10_000).map(|i| i * 1_000_000).collect();
        assert_eq!(all.len(), expected.len());
        assert!(all.iter().zip(&expected).all(|(a, b)| a.abs_diff(*b) <= 1));
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps() {
        let times = times(&Rate::constant(1000.0), Arrivals::Poisson, 0, 1);
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|w| (w[1] - w[0]) as f64 / 1e6)
            .collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let above_one = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / n;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        assert!((above_one - (-1.0f64).exp()).abs() < 0.02, "{above_one}");
    }

    #[test]
    fn the_rate_is_shared_by_the_workers() {
        let share = times(&Rate::constant(1000.0), Arrivals::Poisson, 1, 4).len() as f64;
        assert!((share - 2500.0).abs() < 250.0, "{share}");
    }

    #[test]
    fn a_ramp_sends_more_and_more() {
        let corners = [(0.0, 0.0), (10.0, 200.0)].map(|(at, rate)| Corner { at, rate });
        let rate = Rate::through(corners.to_vec()).unwrap();
        let times = times(&rate, Arrivals::Fixed, 0, 1);
        let early = times.iter().filter(|&&t| t < TEN_S / 2).count();
        assert_eq!((early, times.len()), (250, 1000));
    }

    #[test]
    fn staggered_slots_begin_within_one_tick() {
        let first = stagger(100, 1_000_000, 7, 0, true);
        assert!(first.iter().all(|&t| t < 1_000_000));
        assert!(first.iter().any(|&t| t > 500_000));
        assert_eq!(stagger(2, 1_000_000, 7, 0, false), [0, 0]);
    }
}
