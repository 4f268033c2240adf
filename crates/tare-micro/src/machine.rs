//! What the machine itself does: integer operations, memory, clocks, timers.

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::{Done, Piece};
use crate::random::Random;

const STEPS: usize = 40_000;
/// Odd, so that nothing is lost; of Knuth's linear congruential generator MMIX.
const FACTOR: u64 = 6_364_136_223_846_793_005;
/// 32 MiB of lines of 64 bytes.
const LINES: usize = 512 << 10;
/// u32 in a line.
const LINE: usize = 16;
const LOADS: usize = 10_000;
/// u64 in a MiB.
const MIB: usize = 128 << 10;
const MIBS: usize = 64;
/// Of a batch.
const MIBS_AT_ONCE: usize = 8;
const CLOCKS: usize = 2000;
const SLEEPS: usize = 4;
const SLEEP: Duration = Duration::from_micros(200);

/// N chains of steps, side by side: within a chain each step needs the one before.
pub struct Chains<const N: usize>([u64; N]);

impl<const N: usize> Chains<N> {
    pub fn new() -> Self {
        Chains(std::array::from_fn(|number| number as u64 + 1))
    }
}

impl<const N: usize> Piece for Chains<N> {
    fn batch(&mut self) -> io::Result<Done> {
        let mut chains = black_box(self.0);
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = (*chain ^ (*chain >> 32)).wrapping_mul(FACTOR);
            }
        }
        self.0 = black_box(chains);
        Ok(Done::times(N * STEPS))
    }
}

/// One cycle through all lines, in random order: each line holds the place of the next.
pub struct Latency {
    next: Vec<u32>,
    at: u32,
}

impl Latency {
    /// Sattolo's algorithm: one cycle, each with the same chance.
    pub fn new() -> Latency {
        let mut order: Vec<u32> = (0..LINES as u32).collect();
        let mut random = Random::new();
        for last in (1..LINES).rev() {
            order.swap(last, random.below(last));
        }
        let mut next = vec![0; LINES * LINE];
        for (place, to) in order.into_iter().enumerate() {
            next[place * LINE] = to * LINE as u32;
        }
        Latency { next, at: 0 }
    }
}

impl Piece for Latency {
    fn batch(&mut self) -> io::Result<Done> {
        let mut at = self.at;
        for _ in 0..LOADS {
            at = self.next[at as usize];
        }
        self.at = black_box(at);
        Ok(Done::times(LOADS))
    }
}

/// Memory that is read from one end to the other, and again.
pub struct Bandwidth {
    memory: Vec<u64>,
    at: usize,
}

impl Bandwidth {
    pub fn new() -> Bandwidth {
        Bandwidth {
            memory: vec![1; MIB * MIBS],
            at: 0,
        }
    }
}

impl Piece for Bandwidth {
    fn batch(&mut self) -> io::Result<Done> {
        let part = &self.memory[self.at * MIB..(self.at + MIBS_AT_ONCE) * MIB];
        self.at = (self.at + MIBS_AT_ONCE) % MIBS;
        let sum = part.iter().fold(0, |sum: u64, one| sum.wrapping_add(*one));
        if black_box(sum) != part.len() as u64 {
            return Err(io::Error::other("memory did not hold what was written"));
        }
        Ok(Done::times(MIBS_AT_ONCE))
    }
}

pub struct Clock;

impl Piece for Clock {
    fn batch(&mut self) -> io::Result<Done> {
        for _ in 0..CLOCKS {
            black_box(Instant::now());
        }
        Ok(Done::times(CLOCKS))
    }
}

pub struct Timer;

impl Piece for Timer {
    fn batch(&mut self) -> io::Result<Done> {
        let mut late = Duration::ZERO;
        for _ in 0..SLEEPS {
            let begun = Instant::now();
            thread::sleep(SLEEP);
            late += begun.elapsed().saturating_sub(SLEEP);
        }
        Ok(Done {
            n: SLEEPS as u64,
            wall_ns: Some(late.as_nanos() as f64),
        })
    }
}
