//! How the bindings of YCSB write the core workload's requests and read their answers.

mod cql;
mod mongodb;

use std::time::Duration;

use tare_draw::Xoshiro;
use tare_engine::errors::ErrorKind;
use tare_engine::request::Request;
use tare_engine::wire::Wire;
use tare_engine::workload::Outcome;

use crate::settings::Core;

pub use cql::Cql;
pub use mongodb::Mongo;

/// A binding, as all worker threads share it.
pub trait Dialect: Send + Sync + 'static {
    type Wire: Wire;
    type Writer: Writer<Self::Wire>;

    /// What is to be made ready before the run.
    fn texts(&self) -> Vec<<Self::Wire as Wire>::Text>;

    /// What one worker thread needs.
    fn writer(&self, core: &Core, statements: &[<Self::Wire as Wire>::Statement]) -> Self::Writer;
}

/// What a read is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Read,
    /// The read of a read-modify-write.
    Modify,
}

/// Where a scan stands.
#[derive(Debug, Clone, Copy)]
pub struct Scanned<'a> {
    /// The statement that began it.
    pub statement: usize,
    pub key: &'a [u8],
    /// Rows that it wants.
    pub rows: i32,
}

/// A binding's part of one worker thread.
pub trait Writer<W: Wire> {
    /// Records that one request of a load inserts.
    fn batch(&self) -> u64 {
        1
    }

    /// Begins a request that inserts this record.
    fn insert(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<W>);

    /// Adds another record to it, where a batch has more than one.
    fn insert_another(&mut self, _key: &[u8], _rng: &mut Xoshiro, _request: &mut Request<W>) {}

    /// Writes a read; returns its statement.
    fn read(
        &mut self,
        key: &[u8],
        purpose: Purpose,
        rng: &mut Xoshiro,
        request: &mut Request<W>,
    ) -> usize;

    fn update(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<W>);

    /// Writes a scan; returns its statement.
    fn scan(&mut self, key: &[u8], rows: i32, rng: &mut Xoshiro, request: &mut Request<W>)
        -> usize;

    /// Asks for the rest of a scan, if there is one.
    fn more(&mut self, scan: Scanned<'_>, found: &W::Found<'_>, request: &mut Request<W>) -> bool;

    /// Whether a read or a scan found nothing.
    fn is_empty(found: &W::Found<'_>) -> bool;

    /// What a scan that found nothing counts as.
    fn nothing_scanned() -> Outcome;

    /// What an update that the server took counts as.
    fn updated(found: Option<&W::Found<'_>>) -> Outcome;

    /// Whether what a read found is what `dataintegrity=true` wrote.
    fn check(
        &mut self,
        core: &Core,
        record: i64,
        statement: usize,
        found: &W::Found<'_>,
    ) -> Outcome;

    /// The pause before a request that failed is sent again, if the binding's driver would.
    fn again(
        &self,
        _reads: bool,
        _kind: ErrorKind,
        _server: Option<&W::Refusal>,
        _retries: u32,
        _waited: Duration,
    ) -> Option<Duration> {
        None
    }
}
