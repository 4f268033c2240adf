//! Cold caches: memory that each request reads, so that caches and page tables hold as little of the
//! network's code and data as beside a database.

use std::hint::black_box;

const SIZE: usize = 64 << 20;
/// Each step meets another page and another cache line.
const STRIDE: usize = 4096 + 64;

/// Reads so many cache lines at each call.
#[derive(Debug)]
pub struct Touch {
    lines: usize,
    memory: Vec<u8>,
    at: usize,
}

impl Touch {
    /// Memory that is really there: pages that were never written are all one.
    pub fn new(lines: usize) -> Touch {
        let size = if lines == 0 { 0 } else { SIZE };
        Touch {
            lines,
            memory: vec![1; size],
            at: 0,
        }
    }

    /// What was read, added up, so that it has to be read.
    pub fn once(&mut self) -> u64 {
        let mut sum = 0;
        for _ in 0..self.lines {
            sum += u64::from(self.memory[self.at]);
            self.at = (self.at + STRIDE) % SIZE;
        }
        black_box(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_no_page_twice_in_a_row() {
        let mut touch = Touch::new(50_000);
        assert_eq!(touch.once(), 50_000);
        assert_eq!(touch.once(), 50_000);
        assert_ne!(touch.at / 4096, (touch.at + STRIDE) / 4096);
    }

    #[test]
    fn nothing_is_read_where_nothing_is_asked_for() {
        let mut touch = Touch::new(0);
        assert_eq!(touch.once(), 0);
        assert!(touch.memory.is_empty());
    }
}
