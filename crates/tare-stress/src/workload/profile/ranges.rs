//! The token ranges that token range queries walk through, each by one thread.

use std::sync::{Mutex, PoisonError};

/// The ranges still to be read, and all of them for the next round.
#[derive(Debug)]
pub struct Ranges {
    all: Vec<(i64, i64)>,
    wrap: bool,
    next: Mutex<usize>,
}

impl Ranges {
    /// The ranges between the tokens of the ring, each cut into `split` parts: from (not included)
    /// and to (included). With `wrap` they begin again when all have been given out.
    pub fn new(mut tokens: Vec<i64>, split: i64, wrap: bool) -> Ranges {
        tokens.sort_unstable();
        tokens.dedup();
        // The range over the end of the ring is two ranges.
        let mut borders = vec![i64::MIN];
        borders.extend(
            tokens
                .into_iter()
                .filter(|token| *token > i64::MIN && *token < i64::MAX),
        );
        borders.push(i64::MAX);
        let mut all = Vec::new();
        for pair in borders.windows(2) {
            let (from, to) = (i128::from(pair[0]), i128::from(pair[1]));
            let border = |part: i128| (from + (to - from) * part / i128::from(split.max(1))) as i64;
            let parts = (0..i128::from(split.max(1))).map(|part| (border(part), border(part + 1)));
            all.extend(parts.filter(|(from, to)| from < to));
        }
        Ranges {
            all,
            wrap,
            next: Mutex::new(0),
        }
    }

    /// The next range; none when all have been given out.
    pub fn next(&self) -> Option<(i64, i64)> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if self.wrap && *next == self.all.len() {
            *next = 0;
        }
        let range = self.all.get(*next).copied();
        *next += usize::from(range.is_some());
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ranges: &Ranges) -> Vec<(i64, i64)> {
        std::iter::from_fn(|| ranges.next()).collect()
    }

    #[test]
    fn the_ring_is_covered_once() {
        let ranges = all(&Ranges::new(vec![100, -50, 100], 1, false));
        assert_eq!(ranges, [(i64::MIN, -50), (-50, 100), (100, i64::MAX)]);
    }

    #[test]
    fn split_ranges_touch() {
        let ranges = all(&Ranges::new(vec![0], 4, false));
        assert_eq!(ranges.len(), 8);
        assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert_eq!((ranges[0].0, ranges[7].1), (i64::MIN, i64::MAX));
    }

    #[test]
    fn wrapped_ranges_begin_again() {
        let ranges = Ranges::new(vec![0], 1, true);
        let drawn: Vec<_> = (0..5).filter_map(|_| ranges.next()).collect();
        assert_eq!(drawn[0], drawn[2]);
        assert_eq!(drawn.len(), 5);
    }
}
