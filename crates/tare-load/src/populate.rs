//! Filling a table: every row once over all workers and clients, failed writes tried again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use tare_draw::Share;
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::workload::Follow;

use crate::spec::Spec;

/// Tries per row, as in cassandra-stress, and the pause before the second one; it doubles.
const TRIES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The rows that are still to be written, handed out to all workers.
#[derive(Debug, Clone)]
pub struct Rows {
    next: Arc<AtomicU64>,
    records: u64,
    share: Share,
}

impl Rows {
    pub fn of(spec: &Spec) -> Rows {
        Rows {
            next: Arc::default(),
            records: spec.records,
            share: spec.client.share,
        }
    }

    /// The client's next row; none when all have been handed out.
    pub fn next(&self) -> Option<u64> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let row = self.share.nth(place as i64) as u64;
        (row < self.records).then_some(row)
    }
}

/// A failed write is tried again, a few times.
pub fn again(kind: ErrorKind, notes: &Notes<'_>) -> Follow {
    if notes.retries + 1 >= TRIES {
        return Follow::Done(Err(kind));
    }
    Follow::Retry {
        kind,
        after: FIRST_PAUSE * 2u32.pow(notes.retries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tests::spec;

    #[test]
    fn every_row_is_handed_out_once() {
        let rows = Rows::of(&spec(&[("records", "3")]));
        let other = rows.clone();
        let taken = [
            rows.next(),
            other.next(),
            rows.next(),
            other.next(),
            rows.next(),
        ];
        assert_eq!(taken, [Some(0), Some(1), Some(2), None, None]);
    }

    #[test]
    fn clients_that_fill_one_table_share_its_rows() {
        let rows = |client| Rows::of(&spec(&[("records", "5"), ("client", client)]));
        let taken = |rows: Rows| std::iter::from_fn(move || rows.next()).collect::<Vec<_>>();
        assert_eq!(taken(rows(r#"{"index": 0, "of": 2}"#)), [0, 2, 4]);
        assert_eq!(taken(rows(r#"{"index": 1, "of": 2}"#)), [1, 3]);
    }
}
