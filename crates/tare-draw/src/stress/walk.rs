//! The walk through the rows of a partition, layer by layer.

use super::partition::{Partition, CERTAIN};
use crate::Rng;

impl Partition {
    /// A row's number as one number for each layer, by the average sizes of the layers.
    pub(super) fn decompose(&self, number: i64) -> Vec<i64> {
        let mut rest = number;
        let mut parts: Vec<i64> = self
            .shape
            .descendants
            .iter()
            .map(|rows| {
                let part = rest / rows;
                rest %= rows;
                part
            })
            .collect();
        for at in (1..parts.len()).rev() {
            let average = self.shape.averages[at];
            parts[at - 1] += parts[at] / average;
            parts[at] %= average;
        }
        parts
    }

    /// Goes to the row of this number, or the next one that exists; false when there is none to visit.
    pub(super) fn seek(&mut self, number: i64, rng: &mut impl Rng) -> bool {
        if number == 0 {
            self.present[0] = -1;
            self.layers.step_back(0);
            return self.advance(0, true, rng);
        }
        self.present = self.decompose(number);
        for depth in 0..self.layers.depth() {
            if depth != 0 {
                self.fill(depth, rng);
            }
            for _ in 0..self.present[depth].min(self.layers.remaining(depth) as i64) {
                self.layers.leave(depth);
            }
            if self.layers.remaining(depth) == 0 && !self.ascend(depth, rng) {
                return false;
            }
        }
        let lowest = self.layers.depth() - 1;
        if self.beyond_last(lowest) > 0 {
            return false;
        }
        self.present[lowest] -= 1;
        self.layers.step_back(lowest);
        self.advance(lowest, true, rng)
    }

    /// From an empty layer up to the next value of a higher one, and down again to its first values.
    fn ascend(&mut self, depth: usize, rng: &mut impl Rng) -> bool {
        let mut up = depth;
        loop {
            if up == 0 {
                return false;
            }
            up -= 1;
            self.layers.leave(up);
            if self.layers.remaining(up) > 0 {
                break;
            }
        }
        self.present[up] += 1;
        self.present[up + 1..].fill(0);
        for down in up + 1..=depth {
            self.fill(down, rng);
        }
        true
    }

    /// Goes on to the next row to visit, from the present value of the layer `depth`.
    pub(super) fn advance(&mut self, depth: usize, first: bool, rng: &mut impl Rng) -> bool {
        let mut depth = depth;
        self.next_value(depth);
        loop {
            if self.layers.remaining(depth) == 0 {
                if depth == 0 {
                    return false;
                }
                depth -= 1;
                self.next_value(depth);
                if self.present[depth] > self.last[depth] {
                    return false;
                }
                continue;
            }
            let beyond = self.beyond_last(depth);
            if beyond > 0 {
                return false;
            }
            let chance = self.chance * self.chances[depth];
            let forced = first && beyond == 0;
            if !(forced || chance > CERTAIN || chance >= rng.next_f64()) {
                if beyond == 0 {
                    return false;
                }
                self.next_value(depth);
                continue;
            }
            depth += 1;
            if depth == self.layers.depth() {
                return true;
            }
            if self.chance < 1.0 {
                self.rolls[depth] = self.rolls[depth - 1] / chance.min(1.0);
                self.chances[depth] = self.shape.descendants[depth] as f64 * self.rolls[depth];
            }
            self.present[depth] = 0;
            self.fill(depth, rng);
        }
    }

    fn next_value(&mut self, depth: usize) {
        self.layers.leave(depth);
        self.present[depth] += 1;
    }

    /// Where the present row stands to the last one to visit, down to `depth`: before it -1, on it (or
    /// on the last one before it that exists) 0, beyond it 1.
    fn beyond_last(&self, depth: usize) -> i8 {
        let mut before = false;
        for at in 0..=depth {
            let only = self.layers.remaining(at) <= 1;
            let (present, last) = (self.present[at], self.last[at]);
            if before {
                if !only {
                    return -1;
                }
            } else if present > last {
                return 1;
            } else if present < last {
                if !only {
                    return -1;
                }
                before = true;
            }
        }
        0
    }
}
