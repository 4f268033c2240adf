//! Numbers one after the other, over all workers of a client and all clients that share a load.

use std::sync::Arc;

use tare_draw::ycsb::AcknowledgedCounter;
use tare_draw::Share;

/// A sequence; its clones count together.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// Counts from `first` on as if the client were alone.
    pub(super) counter: Arc<AcknowledgedCounter>,
    first: i64,
    /// After so many numbers it begins again.
    span: Option<i64>,
    share: Share,
}

impl Sequence {
    /// From `first` to `last` and again, or without end.
    pub fn new(first: i64, last: Option<i64>, share: Share) -> Result<Sequence, String> {
        let numbers = |last: i64| last.checked_sub(first)?.checked_add(1);
        let span = match last.map(numbers) {
            Some(None) => return Err("the sequence has too many numbers".into()),
            span => span.flatten(),
        };
        if span.is_some_and(|span| span < 1) {
            return Err("the sequence ends before it begins".into());
        }
        if let Some(span) = span.filter(|&span| span < i64::from(share.of())) {
            let clients = share.of();
            return Err(format!(
                "a sequence of {span} numbers cannot be shared by {clients} clients"
            ));
        }
        Ok(Sequence {
            counter: Arc::new(AcknowledgedCounter::new(first)),
            first,
            span,
            share,
        })
    }

    /// The client's next number; `row` is the row to be filled while populating.
    pub fn next(&self, row: Option<u64>) -> i64 {
        if let Some(row) = row {
            let number = row as i64;
            let number = self.span.map_or(number, |span| number % span);
            return self.first.saturating_add(number);
        }
        let place = self.counter.next() - self.first;
        let place = match self.span {
            Some(span) => place % self.share.count(span as u64) as i64,
            None => place,
        };
        self.first.saturating_add(self.share.nth(place))
    }

    /// Acknowledges a number: its operation has ended. False: too many before it are under way; it
    /// must be acknowledged again.
    pub fn acknowledge(&self, number: i64) -> bool {
        // In a sequence that begins again, no number is newer than another.
        self.span.is_some() || {
            let place = self.share.place(number - self.first);
            self.counter.acknowledge(self.first + place).is_ok()
        }
    }

    /// The newest number up to which all are acknowledged, as if the client were alone.
    pub fn newest(&self) -> i64 {
        self.counter.last()
    }

    /// The client's own number for one that was drawn as if it were alone; numbers older than the
    /// sequence belong to every client.
    pub fn own(&self, alone: i64) -> i64 {
        match alone < self.first {
            true => alone,
            false => self.first + self.share.nth(alone - self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(last: Option<i64>, index: u32, of: u32, count: usize) -> Vec<i64> {
        let share = Share::new(index, of).unwrap();
        let sequence = Sequence::new(5, last, share).unwrap();
        (0..count).map(|_| sequence.next(None)).collect()
    }

    #[test]
    fn it_begins_again_after_its_last_number() {
        assert_eq!(drawn(Some(7), 0, 1, 5), [5, 6, 7, 5, 6]);
        let sequence = Sequence::new(5, Some(7), Share::WHOLE).unwrap();
        assert_eq!([0, 2, 3].map(|row| sequence.next(Some(row))), [5, 7, 5]);
    }

    #[test]
    fn clients_never_draw_the_same_number() {
        assert_eq!(drawn(None, 0, 2, 3), [5, 7, 9]);
        assert_eq!(drawn(None, 1, 2, 3), [6, 8, 10]);
        // Also after the end, where the parts are not equally long.
        assert_eq!(drawn(Some(7), 0, 2, 4), [5, 7, 5, 7]);
        assert_eq!(drawn(Some(7), 1, 2, 4), [6, 6, 6, 6]);
    }

    #[test]
    fn what_is_acknowledged_counts_as_if_the_client_were_alone() {
        let sequence = Sequence::new(100, None, Share::new(1, 3).unwrap()).unwrap();
        assert_eq!(sequence.newest(), 99);
        for expected in [101, 104, 107] {
            let number = sequence.next(None);
            assert_eq!(number, expected);
            assert!(sequence.acknowledge(number));
        }
        assert_eq!(sequence.newest(), 102);
        assert_eq!(
            [99, 100, 102].map(|alone| sequence.own(alone)),
            [99, 101, 107]
        );
    }

    #[test]
    fn fewer_numbers_than_clients_cannot_be_shared() {
        let share = Share::new(0, 3).unwrap();
        assert!(Sequence::new(5, Some(7), share).is_ok());
        let refused = Sequence::new(5, Some(6), share).unwrap_err();
        assert!(
            refused.contains("2 numbers cannot be shared by 3"),
            "{refused}"
        );
        assert!(Sequence::new(5, Some(3), Share::WHOLE).is_err());
    }
}
