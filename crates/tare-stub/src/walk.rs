//! A server that works: before each answer it walks through code and data, as a database does, so
//! that the kernel's network path finds none of its own in the caches.

use std::hint::black_box;

const LINE: usize = 64;
const WORDS: usize = LINE / size_of::<u64>();
/// Lines from one touched place to the next; odd, so that every line is touched once in a walk.
const STRIDE: usize = 4_099;

/// Walks through so much data, and some 300 KiB of code, at each call.
#[derive(Debug)]
pub struct Walk {
    data: Vec<u64>,
}

impl Walk {
    /// `bytes`: of data, rounded up to a power of two; 0: neither data nor code is walked through.
    pub fn new(bytes: usize) -> Walk {
        let lines = bytes.div_ceil(LINE);
        let lines = if lines == 0 {
            0
        } else {
            lines.next_power_of_two()
        };
        Walk {
            data: vec![1; lines * WORDS],
        }
    }

    /// Walks once.
    pub fn once(&mut self) {
        let lines = self.data.len() / WORDS;
        if lines == 0 {
            return;
        }
        let mut sum = 0;
        let mut line = 0;
        for _ in 0..lines {
            let word = &mut self.data[line * WORDS];
            *word = word.wrapping_add(1);
            sum ^= *word;
            line = (line + STRIDE) & (lines - 1);
        }
        for piece in PIECES.iter().flatten().flatten() {
            sum = piece(sum);
        }
        black_box(sum);
    }
}

type Piece = fn(u64) -> u64;

/// One of 4,096 functions that differ by a constant, each of a cache line or two.
#[inline(never)]
fn piece<const N: u64>(of: u64) -> u64 {
    let mut mixed = of.wrapping_add(N.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed ^= mixed >> 29;
    mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9 ^ N);
    mixed ^= mixed >> 32;
    if mixed & 7 == N & 7 {
        mixed = mixed.rotate_left(13) ^ N;
    }
    mixed
}

macro_rules! sixteen {
    ($of:ident, $at:expr) => {
        [
            $of!($at * 16),
            $of!($at * 16 + 1),
            $of!($at * 16 + 2),
            $of!($at * 16 + 3),
            $of!($at * 16 + 4),
            $of!($at * 16 + 5),
            $of!($at * 16 + 6),
            $of!($at * 16 + 7),
            $of!($at * 16 + 8),
            $of!($at * 16 + 9),
            $of!($at * 16 + 10),
            $of!($at * 16 + 11),
            $of!($at * 16 + 12),
            $of!($at * 16 + 13),
            $of!($at * 16 + 14),
            $of!($at * 16 + 15),
        ]
    };
}
macro_rules! one {
    ($at:expr) => {
        piece::<{ $at }>
    };
}
macro_rules! row {
    ($at:expr) => {
        sixteen!(one, ($at))
    };
}
macro_rules! block {
    ($at:expr) => {
        sixteen!(row, ($at))
    };
}
static PIECES: [[[Piece; 16]; 16]; 16] = sixteen!(block, 0);

#[cfg(test)]
mod tests {
    use super::{Walk, PIECES};

    #[test]
    fn every_line_is_touched_once_in_a_walk() {
        for bytes in [1, 64, 4_096, 1 << 20] {
            let mut walk = Walk::new(bytes);
            walk.once();
            assert!(size_of_val(&*walk.data) >= bytes);
            assert!(walk.data.iter().step_by(8).all(|word| *word == 2));
        }
    }

    #[test]
    fn without_data_nothing_is_walked_through() {
        let mut walk = Walk::new(0);
        walk.once();
        assert!(walk.data.is_empty());
    }

    #[test]
    fn no_two_pieces_of_code_are_one() {
        let mut places: Vec<usize> = PIECES
            .iter()
            .flatten()
            .flatten()
            .map(|one| *one as usize)
            .collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 4_096);
    }
}
