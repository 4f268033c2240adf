//! The generator behind blobs and texts.

use crate::java::Random;

/// How many numbers come from one state before `java.util.Random` gives a new one.
const RESEED: u32 = 32;

/// cassandra-stress' `FasterRandom`: a xorshift* with arithmetic right shifts, reseeded every 32
/// numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct FasterRandom {
    random: Random,
    state: i64,
    given: u32,
}

impl FasterRandom {
    /// The numbers of `seed`.
    pub fn new(seed: i64) -> Self {
        let mut random = Self {
            random: Random::new(0),
            state: 0,
            given: 0,
        };
        random.set_seed(seed);
        random
    }

    /// Starts again with `seed`.
    pub fn set_seed(&mut self, seed: i64) {
        self.state = seed;
        self.roll_over();
    }

    fn roll_over(&mut self) {
        self.given = 0;
        self.random.set_seed(self.state);
        self.state = self.random.next_i64();
    }

    /// The next 64 bits.
    pub fn next_i64(&mut self) -> i64 {
        self.given += 1;
        if self.given == RESEED {
            self.roll_over();
        }
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(2_685_821_657_736_338_717)
    }
}
