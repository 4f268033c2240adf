//! `java.util.Random`, number by number.

use super::logarithm::logarithm;
use crate::Rng;

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

/// `java.util.Random`: a linear congruential generator of 48 bits, as its documentation specifies.
///
/// commons-math's `JDKRandomGenerator`, which cassandra-stress draws from, is the same generator.
#[derive(Debug, Clone, PartialEq)]
pub struct Random {
    state: u64,
    /// The second number of the last polar pair.
    waiting_gaussian: Option<f64>,
}

impl Random {
    /// `new Random(seed)`.
    pub fn new(seed: i64) -> Self {
        Self {
            state: scramble(seed),
            waiting_gaussian: None,
        }
    }

    /// `setSeed(seed)`: starts again, as a new generator of that seed.
    pub fn set_seed(&mut self, seed: i64) {
        self.state = scramble(seed);
        self.waiting_gaussian = None;
    }

    /// `next(bits)`: the highest `bits` (1 to 32) of the next state, sign and all.
    fn next(&mut self, bits: u32) -> i32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        (self.state >> (48 - bits)) as i32
    }

    /// `nextLong()`.
    pub fn next_i64(&mut self) -> i64 {
        let high = i64::from(self.next(32)) << 32;
        high.wrapping_add(i64::from(self.next(32)))
    }

    /// `nextDouble()`: uniform in [0, 1), a multiple of 2^-53.
    pub fn next_double(&mut self) -> f64 {
        let high = (self.next(26) as u64) << 27;
        (high + self.next(27) as u64) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// `nextGaussian()`: the polar method, which keeps the second number of each pair.
    pub fn next_gaussian(&mut self) -> f64 {
        if let Some(waiting) = self.waiting_gaussian.take() {
            return waiting;
        }
        loop {
            let x = 2.0 * self.next_double() - 1.0;
            let y = 2.0 * self.next_double() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * logarithm(square) / square).sqrt();
                self.waiting_gaussian = Some(y * factor);
                return x * factor;
            }
        }
    }
}

impl Rng for Random {
    fn next_u64(&mut self) -> u64 {
        self.next_i64() as u64
    }

    fn next_f64(&mut self) -> f64 {
        self.next_double()
    }

    fn next_gaussian(&mut self) -> f64 {
        Random::next_gaussian(self)
    }
}

fn scramble(seed: i64) -> u64 {
    (seed as u64 ^ MULTIPLIER) & MASK
}
