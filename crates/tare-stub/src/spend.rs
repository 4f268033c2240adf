//! A known cost: CPU time that each request takes on top, by a loop whose speed is known.

use std::hint::black_box;
use std::time::{Duration, Instant};

const TRIES: u32 = 9;
const TURNS: u64 = 1_000_000;

/// Keeps the CPU busy for so long at each call.
#[derive(Debug, Clone, Copy)]
pub struct Spend {
    nanoseconds: u64,
    turns: u64,
}

impl Spend {
    /// Measures how fast the loop is: reading a clock at each request would itself cost more than
    /// what is to be spent.
    pub fn new(each: Duration) -> Spend {
        let nanoseconds = each.as_nanos() as u64;
        let turns = if nanoseconds == 0 {
            0
        } else {
            (nanoseconds as f64 / nanoseconds_per_turn()).round() as u64
        };
        Spend { nanoseconds, turns }
    }

    /// Spends it once; nanoseconds.
    pub fn once(&self) -> u64 {
        turn(self.turns);
        self.nanoseconds
    }
}

fn turn(turns: u64) {
    let mut sum: u64 = 0;
    for one in 0..turns {
        sum = black_box(sum.wrapping_mul(31).wrapping_add(one));
    }
    black_box(sum);
}

/// By the fastest of several tries: the others met something else on their CPU.
fn nanoseconds_per_turn() -> f64 {
    let tried = || {
        let begun = Instant::now();
        turn(TURNS);
        begun.elapsed().as_nanos() as f64 / TURNS as f64
    };
    (0..TRIES).map(|_| tried()).fold(f64::INFINITY, f64::min)
}
