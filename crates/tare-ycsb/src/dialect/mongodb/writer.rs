//! A worker thread's part of the binding: its requests, and what their answers say.

use std::time::Duration;

use tare_draw::ycsb::{checked_value, FieldLength};
use tare_draw::Xoshiro;
use tare_engine::errors::ErrorKind;
use tare_engine::request::Request;
use tare_engine::wire;
use tare_engine::workload::Outcome;
use tare_mongo::document::{Document, Value};
use tare_mongo::{Field, Outcome as Told, ServerError, Work};

use super::super::{Purpose, Scanned, Writer};
use super::Commands;
use crate::fields::Fields;
use crate::settings::Core;
use crate::statements::Place;

/// Pause before resending a request that no member took or that lost its connection: an
/// election takes seconds.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// Writes commands.
pub struct MongoWriter {
    pub(super) values: Fields,
    pub(super) fields: Vec<Field>,
    pub(super) commands: Commands,
    pub(super) write_all: bool,
    pub(super) read_all: bool,
    pub(super) batch: u64,
    pub(super) retries: bool,
    pub(super) retries_reads: bool,
    pub(super) patience: Duration,
    pub(super) expected: Vec<u8>,
}

/// The command for a field; the first one's where none takes part.
fn of(place: Option<Place>, field: usize) -> usize {
    place.map_or(0, |place| place.of(field))
}

impl MongoWriter {
    fn write(
        &self,
        field: usize,
        key: &[u8],
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) {
        let write = |value: &mut Vec<u8>| self.values.write(field, key, rng, value);
        request.field_with(&self.fields[field], write);
    }

    fn document(&self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<wire::Mongo>) {
        request.document(key);
        for &field in self.values.order() {
            self.write(field, key, rng, request);
        }
    }

    /// Whether a document holds what belongs to a record.
    fn holds(
        &mut self,
        core: &Core,
        record: i64,
        statement: usize,
        found: Document<'_>,
    ) -> Option<bool> {
        let FieldLength::Constant(length) = core.length else {
            return None;
        };
        let key = core.keys.key(record);
        for (position, name) in core.fields.iter().enumerate() {
            let asked = self.read_all || of(self.commands.read, position) == statement;
            if !asked {
                continue;
            }
            self.expected.clear();
            checked_value(&key, name, length as usize, &mut self.expected);
            match found.get(name).ok()? {
                Some(Value::Binary { bytes, .. }) if bytes == self.expected => {}
                _ => return Some(false),
            }
        }
        Some(true)
    }
}

impl Writer<wire::Mongo> for MongoWriter {
    fn batch(&self) -> u64 {
        self.batch
    }

    fn insert(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<wire::Mongo>) {
        request.write(self.commands.insert);
        self.document(key, rng, request);
    }

    fn insert_another(
        &mut self,
        key: &[u8],
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) {
        self.document(key, rng, request);
    }

    fn read(
        &mut self,
        key: &[u8],
        purpose: Purpose,
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) -> usize {
        let place = match purpose {
            Purpose::Read => self.commands.read,
            Purpose::Modify => self.commands.read_to_modify,
        };
        let statement = of(place, self.values.choose(rng));
        request.find(statement, key);
        statement
    }

    fn update(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request<wire::Mongo>) {
        let field = self.values.choose(rng);
        request.write(self.commands.update);
        if self.write_all {
            self.document(key, rng, request);
        } else {
            request.document(key);
            self.write(field, key, rng, request);
        }
    }

    fn scan(
        &mut self,
        key: &[u8],
        rows: i32,
        rng: &mut Xoshiro,
        request: &mut Request<wire::Mongo>,
    ) -> usize {
        let statement = of(self.commands.scan, self.values.choose(rng));
        request.scan(statement, key, rows);
        statement
    }

    /// What did not fit into the first batch.
    fn more(
        &mut self,
        _scan: Scanned<'_>,
        told: &Told<'_>,
        request: &mut Request<wire::Mongo>,
    ) -> bool {
        let rest = told.cursor.map(|cursor| cursor.id).filter(|id| *id != 0);
        if let Some(cursor) = rest {
            request.get_more(self.commands.more, cursor);
        }
        rest.is_some()
    }

    fn is_empty(told: &Told<'_>) -> bool {
        told.cursor.is_none_or(|cursor| cursor.batch.is_empty())
    }

    fn nothing_scanned() -> Outcome {
        Err(ErrorKind::NotFound)
    }

    fn updated(told: Option<&Told<'_>>) -> Outcome {
        match told {
            Some(told) if told.count > 0 => Ok(()),
            _ => Err(ErrorKind::NotFound),
        }
    }

    fn check(&mut self, core: &Core, record: i64, statement: usize, told: &Told<'_>) -> Outcome {
        let first = told
            .cursor
            .and_then(|cursor| cursor.batch.documents().next());
        let holds = match first {
            Some(Ok(document)) => self.holds(core, record, statement, document),
            _ => None,
        };
        match holds {
            Some(true) => Ok(()),
            _ => Err(ErrorKind::WrongValue),
        }
    }

    /// As the driver's retryable reads and writes: once where a server says what may pass, and
    /// while no member serves it for as long as the driver would look for one.
    fn again(
        &self,
        reads: bool,
        kind: ErrorKind,
        server: Option<&ServerError>,
        retries: u32,
        waited: Duration,
    ) -> Option<Duration> {
        let (wanted, work) = match reads {
            true => (self.retries_reads, Work::Read),
            false => (self.retries, Work::Write),
        };
        let may_pass = match server {
            Some(server) => server.is_retryable(work) && retries == 0,
            None => kind == ErrorKind::Connection && waited < self.patience,
        };
        (wanted && may_pass).then_some(ASK_AGAIN)
    }
}
