//! What the tests drive: reads of one row, an observer that keeps what it is told, an order.

use std::ops::RangeBounds;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tare_cql::{Consistency, Statement};
use tare_engine::errors::{ErrorKind, Fatal};
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::order::{Arrivals, Cluster, Order, Pace, Rate};
use tare_engine::record::{Interval, Notes};
use tare_engine::request::Request;
use tare_engine::run::{run, Stop};
use tare_engine::totals::{RunState, Totals};
use tare_engine::workload::{Answer, Begin, Follow, Seat, Source, StatementText, Workload};
use tare_stub::Stub;

const READ: &str = r#"SELECT * FROM keyspace1.standard1 WHERE key = ?"#;

/// Reads of rows that all exist.
#[derive(Clone, Default)]
pub struct Reads {
    /// Operations in all; none is without end.
    pub most: Option<u64>,
    pub retries: u32,
    pub begun: Arc<AtomicU64>,
    /// The second request of every operation, where there is one.
    pub twice: bool,
    pub refused: bool,
    /// A worker that has nothing to do.
    pub idle: Option<usize>,
    /// Octets of the key, if more than ten.
    pub long: usize,
}

pub struct ReadsSource(Reads, Vec<bool>);

impl Reads {
    fn key(&self, number: u64) -> Vec<u8> {
        format!("{number:0width$}", width = self.long.max(10)).into_bytes()
    }
}

impl Workload for Reads {
    type Source = ReadsSource;

    fn statements(&self) -> Vec<StatementText> {
        vec![StatementText::new(READ, Consistency::One)]
    }

    fn operations(&self) -> Vec<String> {
        vec!["READ".to_owned(), "PART".to_owned()]
    }

    fn check(&self, statements: &[Statement]) -> Result<(), Fatal> {
        assert_eq!(statements[0].columns[0].name, "key");
        match self.refused {
            true => Err(Fatal::spec("values.key", "does not fit")),
            false => Ok(()),
        }
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> ReadsSource {
        let mut reads = self.clone();
        if self.idle == Some(seat.worker) {
            reads.most = Some(0);
        }
        ReadsSource(reads, vec![false; seat.slots.len()])
    }
}

impl Source for ReadsSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        let begun = self.0.begun.fetch_add(1, Ordering::Relaxed);
        if self.0.most.is_some_and(|most| begun >= most) {
            return Begin::Finished;
        }
        self.1[slot] = self.0.twice;
        request.execute(0).value(&self.0.key(begun));
        Begin::Send { operation: 0 }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        match answer {
            Answer::Failed { kind, .. } if notes.retries < self.0.retries => Follow::Retry {
                kind: *kind,
                after: Duration::from_millis(1),
            },
            Answer::Failed { kind, .. } => Follow::Done(Err(*kind)),
            Answer::Rows(rows) if rows.is_empty() => Follow::Done(Err(ErrorKind::NotFound)),
            _ if self.1[slot] => {
                self.1[slot] = false;
                notes.also(1, notes.sent, Ok(()));
                request.execute(0).value(&self.0.key(0));
                Follow::Send
            }
            _ => Follow::Done(Ok(())),
        }
    }
}

/// What the engine told.
#[derive(Default)]
pub struct Seen {
    pub ready: Option<Ready>,
    pub intervals: usize,
    pub totals: Mutex<Option<Totals>>,
    pub stopped: bool,
    pub stop_after: Option<usize>,
}

impl Observer for Seen {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.ready = Some(ready.clone());
        Ok(())
    }

    fn interval(&mut self, _: &Interval, _: &RunState) -> Result<Control, Fatal> {
        self.intervals += 1;
        Ok(match self.stop_after == Some(self.intervals) {
            true => Control::Stop,
            false => Control::GoOn,
        })
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        *self.totals.lock().unwrap() = Some(run.totals.clone());
        self.stopped = run.stopped;
        Ok(())
    }
}

pub fn order(stub: &Stub, pace: Pace, measure: Option<f64>) -> Order {
    let cluster = Cluster {
        contact_points: vec![stub.address().to_string()],
        ..Cluster::default()
    };
    Order {
        measure: measure.map(Duration::from_secs_f64),
        interval: Duration::from_millis(100),
        seed: 7,
        ..Order::new(cluster, pace)
    }
}

pub fn closed(slots: usize) -> Pace {
    Pace::Closed { slots }
}

pub fn open(rate: f64, arrivals: Arrivals) -> Pace {
    Pace::Open {
        rate: Rate::constant(rate),
        arrivals,
        most: 10_000,
    }
}

pub fn seen(order: &Order, workload: Reads) -> (Seen, Totals) {
    let mut seen = Seen::default();
    run(order, workload, &mut seen, &Stop::default()).unwrap();
    let totals = seen.totals.lock().unwrap().take().unwrap();
    (seen, totals)
}

#[track_caller]
pub fn within(value: u64, range: impl RangeBounds<u64>) {
    assert!(range.contains(&value), "{value}");
}

pub fn counted(most: u64) -> Reads {
    Reads {
        most: Some(most),
        ..Reads::default()
    }
}
