//! How many partitions may still be worked on.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that is used up, or none: then the run ends by time.
#[derive(Debug)]
pub struct Permits(Option<AtomicU64>);

impl Permits {
    pub fn new(count: Option<u64>) -> Permits {
        Permits(count.map(AtomicU64::new))
    }

    /// Takes up to `wanted`; 0 when nothing is left.
    pub fn take(&self, wanted: u64) -> u64 {
        let Some(left) = &self.0 else {
            return wanted;
        };
        let mut taken = 0;
        let less = |left: u64| {
            taken = wanted.min(left);
            (taken > 0).then(|| left - taken)
        };
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => taken,
            Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_fewer_and_then_none() {
        let permits = Permits::new(Some(5));
        assert_eq!(
            [permits.take(3), permits.take(3), permits.take(3)],
            [3, 2, 0]
        );
    }

    #[test]
    fn without_a_number_there_is_always_more() {
        assert_eq!(Permits::new(None).take(50), 50);
    }
}
