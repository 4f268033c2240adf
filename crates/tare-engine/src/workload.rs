//! What a workload tells the engine: its statements, its operations, and what comes next.

use std::ops::Range;
use std::time::Duration;

use tare_cql::Consistency;

use crate::errors::{ErrorKind, Fatal};
use crate::record::Notes;
use crate::request::Request;
use crate::wire::{Cql, Wire};

/// A statement to be prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementText {
    pub cql: String,
    pub consistency: Consistency,
    /// Consistency of the Paxos round of conditional statements.
    pub serial: Option<Consistency>,
    /// Rows per page of an answer; none leaves it to the server.
    pub page_size: Option<i32>,
}

impl StatementText {
    pub fn new(cql: impl Into<String>, consistency: Consistency) -> StatementText {
        StatementText {
            cql: cql.into(),
            consistency,
            serial: None,
            page_size: None,
        }
    }
}

/// Which part of the load one source makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// 0-based number of the worker thread, and how many there are.
    pub worker: usize,
    pub workers: usize,
    /// The worker's slots out of all slots of the client; `Source` sees them as 0..len.
    pub slots: Range<usize>,
}

/// A load, seen by the engine, on clusters of one protocol. One per run, shared by its workers.
pub trait Workload<W: Wire = Cql>: Send + Sync + 'static {
    type Source: Source<W>;

    /// What to make ready, such as CQL to prepare; a request names one by its position.
    fn statements(&self) -> Vec<W::Text>;

    /// Names of what is recorded ("READ", "READ-MODIFY-WRITE", ...), by position.
    fn operations(&self) -> Vec<String>;

    /// Looks at the prepared statements before anything is sent; an error ends the run.
    fn check(&self, _statements: &[W::Statement]) -> Result<(), Fatal> {
        Ok(())
    }

    /// The source of one worker thread, made on that thread. `statements` are prepared, in the
    /// order of `statements()`.
    fn source(&self, seat: Seat, statements: &[W::Statement]) -> Self::Source;
}

/// Where one worker thread's operations come from. Never shared between threads.
pub trait Source<W: Wire = Cql> {
    /// Begins the next operation in `slot` and writes its first request.
    fn begin(&mut self, slot: usize, request: &mut Request<W>) -> Begin;

    /// Takes the answer to the slot's last request, or its failure, and says what follows. The
    /// engine records the operation when it is `Done`; anything else to record goes into `notes`.
    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_, W>,
        request: &mut Request<W>,
        notes: &mut Notes<'_>,
    ) -> Follow;
}

/// What begins in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// The operation of this position in `Workload::operations`; its request is written.
    Send { operation: usize },
    /// Nothing is left for this slot, now and later. The run ends when all slots have finished.
    Finished,
}

/// What follows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// The operation is over.
    Done(Outcome),
    /// The operation goes on with another request, which has been written.
    Send,
    /// The same request is sent again after a pause, and counted as a retry of this kind.
    Retry { kind: ErrorKind, after: Duration },
}

/// How an operation ended.
pub type Outcome = Result<(), ErrorKind>;

/// What came of a request.
#[derive(Debug)]
pub enum Answer<'a, W: Wire = Cql> {
    /// Done, with nothing to tell (writes).
    Void,
    /// What was found, or how it went (MongoDB).
    Rows(W::Found<'a>),
    /// The server refused or failed (`server` says how), no answer came in time, or the
    /// connection broke.
    Failed {
        kind: ErrorKind,
        server: Option<W::Refusal>,
    },
}
