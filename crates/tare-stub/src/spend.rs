//! A known cost: CPU time that each request takes on top, by a loop whose speed is known.

use std::hint::black_box;
use std::time::{Duration, Instant};

const TRIES: u32 = 9;
const TURNS: u64 = 1_000_000;
/// Every 64th call is timed: timing all would cost more than what is spent.
const TIMED: u64 = 64;

/// Keeps the CPU busy for so long at each call.
#[derive(Debug)]
pub struct Spend {
    nanoseconds: u64,
    turns: u64,
    calls: u64,
    /// What timing itself takes, nanoseconds.
    clock: u64,
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
        Spend {
            nanoseconds,
            turns,
            calls: 0,
            clock: timed(0),
        }
    }

    /// Spends it once. Returns the nanoseconds wanted and, for a 64th of the calls, those really
    /// taken: between requests the CPU has forgotten the loop, which is then slower.
    pub fn once(&mut self) -> (u64, Option<u64>) {
        if self.turns == 0 {
            return (0, None);
        }
        self.calls += 1;
        if self.calls % TIMED != 1 {
            turn(self.turns);
            return (self.nanoseconds, None);
        }
        let begun = Instant::now();
        turn(self.turns);
        let took = begun.elapsed().as_nanos() as u64;
        (self.nanoseconds, Some(took.saturating_sub(self.clock)))
    }
}

fn turn(turns: u64) {
    let mut sum: u64 = 0;
    for one in 0..turns {
        sum = black_box(sum.wrapping_mul(31).wrapping_add(one));
    }
    black_box(sum);
}

/// By the fastest try: the others met something else on their CPU.
fn nanoseconds_per_turn() -> f64 {
    timed(TURNS) as f64 / TURNS as f64
}

/// Nanoseconds for so many turns, the fastest of several tries.
fn timed(turns: u64) -> u64 {
    let tried = |_| {
        let begun = Instant::now();
        turn(turns);
        begun.elapsed().as_nanos() as u64
    };
    (0..TRIES).map(tried).min().unwrap_or(0)
}
