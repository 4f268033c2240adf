//! What is sent: the shape of a workload, from record numbers to bound CQL statements.

pub mod keys;
pub mod random;
pub mod stress;
pub mod ycsb;
pub mod zipfian;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use tare_cql::{Rows, Statement};
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{Answer, Begin, Follow, Outcome, Seat, Source, StatementText, Workload};

use crate::spec::{self, Phase, Spec};
use random::Random;

/// Tries per row while the table is populated, as in cassandra-stress, and the pause before the
/// second one; it doubles.
pub const TRIES: u32 = 10;
pub const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Positions of the two operations that every shape has.
pub const READ: usize = 0;
pub const WRITE: usize = 1;

/// A workload of one of the known kinds.
pub trait Shape: Send + Sync + 'static {
    /// The statements, reads with the specification's consistency for reads.
    fn statements(&self) -> Vec<StatementText>;
    /// Draws the next operation of the mix: its position, its row, its request.
    fn draw(&self, random: &mut Random, request: &mut Request) -> Drawn;
    /// The request that writes one whole row while the table is populated.
    fn insert(&self, row: u64, random: &mut Random, request: &mut Request);
    /// Whether a row that was read is one that this workload writes.
    fn holds(&self, drawn: Drawn, rows: &Rows<'_>) -> bool;
}

/// One operation that was drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawn {
    pub operation: usize,
    pub row: u64,
}

/// A shape as the engine's workload.
pub struct Shaped<S> {
    shape: Arc<S>,
    spec: Arc<Spec>,
    /// Rows that have been handed out to be populated, by all workers.
    populated: Arc<AtomicU64>,
}

impl<S: Shape> Shaped<S> {
    pub fn new(shape: S, spec: &Spec) -> Shaped<S> {
        Shaped {
            shape: Arc::new(shape),
            spec: Arc::new(spec.clone()),
            populated: Arc::default(),
        }
    }
}

impl<S: Shape> Workload for Shaped<S> {
    type Source = ShapedSource<S>;

    fn statements(&self) -> Vec<StatementText> {
        self.shape.statements()
    }

    fn operations(&self) -> Vec<String> {
        let write = match (&self.spec.workload, self.spec.phase) {
            (spec::Workload::Ycsb(_), Phase::Run) => "UPDATE",
            (spec::Workload::Ycsb(_), Phase::Populate) => "INSERT",
            _ => "WRITE",
        };
        vec!["READ".to_owned(), write.to_owned()]
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> Self::Source {
        let client = &self.spec.client;
        let client = client
            .bytes()
            .fold(0, |sum: u64, byte| sum.wrapping_mul(257) + u64::from(byte));
        ShapedSource {
            shape: Arc::clone(&self.shape),
            spec: Arc::clone(&self.spec),
            populated: Arc::clone(&self.populated),
            random: Random::new(&[self.spec.seed, client, seat.worker as u64]),
            drawn: Vec::new(),
        }
    }
}

/// One worker's operations of a shape.
pub struct ShapedSource<S> {
    shape: Arc<S>,
    spec: Arc<Spec>,
    populated: Arc<AtomicU64>,
    random: Random,
    /// Per slot.
    drawn: Vec<Drawn>,
}

impl<S: Shape> Source for ShapedSource<S> {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        if self.spec.phase == Phase::Populate {
            let row = self.populated.fetch_add(1, Ordering::Relaxed);
            if row >= self.spec.records {
                return Begin::Finished;
            }
            self.shape.insert(row, &mut self.random, request);
            return Begin::Send { operation: WRITE };
        }
        if self.drawn.len() <= slot {
            self.drawn.resize(slot + 1, Drawn::default());
        }
        let drawn = self.shape.draw(&mut self.random, request);
        self.drawn[slot] = drawn;
        Begin::Send {
            operation: drawn.operation,
        }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        _request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let populate = self.spec.phase == Phase::Populate;
        match answer {
            Answer::Failed { kind, .. } if populate && notes.retries + 1 < TRIES => Follow::Retry {
                kind: *kind,
                after: FIRST_PAUSE * 2u32.pow(notes.retries),
            },
            Answer::Failed { kind, .. } => Follow::Done(Err(*kind)),
            Answer::Rows(rows) if !populate => Follow::Done(self.check(self.drawn[slot], rows)),
            Answer::Void | Answer::Rows(_) => Follow::Done(Ok(())),
        }
    }
}

impl<S: Shape> ShapedSource<S> {
    /// A read must find its row: a benchmark of empty reads would measure something else.
    fn check(&self, drawn: Drawn, rows: &Rows<'_>) -> Outcome {
        if rows.is_empty() {
            return Err(ErrorKind::NotFound);
        }
        if self.spec.validate && !self.shape.holds(drawn, rows) {
            return Err(ErrorKind::WrongValue);
        }
        Ok(())
    }
}

/// Quotes an identifier that `Spec` has let through.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}
