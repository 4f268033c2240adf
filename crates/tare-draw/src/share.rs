//! One client's part of numbers that several clients take in turn.

use crate::Error;

/// Most clients of one load.
const MOST: u32 = 10_000;

/// Client `index` of `of` takes the numbers `index`, `index + of`, `index + 2 of`, ...; no other
/// client takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    index: u32,
    of: u32,
}

impl Share {
    /// One client alone: it takes all numbers.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// The part of the client of this 0-based number, out of so many.
    ///
    /// # Errors
    /// When there is no such client, or more than 10,000.
    pub fn new(index: u32, of: u32) -> Result<Share, Error> {
        if of == 0 || of > MOST {
            return Err(Error::new(format!("of must be 1 to {MOST}")));
        }
        if index >= of {
            return Err(Error::new(format!(
                "index must be 0 to {}, as there are {of} clients",
                of - 1
            )));
        }
        Ok(Share { index, of })
    }

    /// The 0-based number of the client.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many clients there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// The client's number at the 0-based `place` of its own count.
    #[inline]
    pub fn nth(self, place: i64) -> i64 {
        place
            .saturating_mul(i64::from(self.of))
            .saturating_add(i64::from(self.index))
    }

    /// The place of one of the client's own numbers: the inverse of [`Share::nth`].
    #[inline]
    pub fn place(self, number: i64) -> i64 {
        (number - i64::from(self.index)) / i64::from(self.of)
    }

    /// How many of the numbers 0 to `all - 1` are the client's.
    pub fn count(self, all: u64) -> u64 {
        all.saturating_sub(u64::from(self.index))
            .div_ceil(u64::from(self.of))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn alone_a_client_takes_every_number() {
        let numbers: Vec<i64> = (0..4).map(|place| Share::WHOLE.nth(place)).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        assert_eq!(Share::WHOLE.count(7), 7);
    }

    #[test]
    fn who_is_not_among_the_clients_is_refused() {
        assert!(Share::new(0, 0).is_err());
        assert!(Share::new(2, 2).is_err());
        assert!(Share::new(0, MOST + 1).is_err());
        assert_eq!(Share::new(0, 1), Ok(Share::WHOLE));
    }

    proptest! {
        #[test]
        fn together_they_take_every_number_once(of in 1u32..40, all in 0u64..500) {
            let mut taken: Vec<i64> = (0..of)
                .map(|index| Share::new(index, of).unwrap())
                .flat_map(|share| (0..share.count(all) as i64).map(move |place| share.nth(place)))
                .collect();
            taken.sort_unstable();
            prop_assert_eq!(taken, (0..all as i64).collect::<Vec<_>>());
        }

        #[test]
        fn a_number_tells_its_place(of in 1u32..1000, place in 0i64..1 << 40) {
            let share = Share::new(of - 1, of).unwrap();
            prop_assert_eq!(share.place(share.nth(place)), place);
        }
    }
}
