//! The bindings `cassandra-cql` and `scylla`.

use tare_cql::{Rows, Statement};
use tare_draw::Xoshiro;
use tare_engine::request::Request;
use tare_engine::wire;
use tare_engine::workload::{Outcome, StatementText};

use super::{Dialect, Purpose, Scanned, Writer};
use crate::fields::Fields;
use crate::settings::{Core, CqlBinding, Phase};
use crate::statements::{Place, Statements};
use crate::verify::Verifier;

/// The statements of a run.
pub struct Cql {
    statements: Statements,
}

impl Cql {
    pub fn new(core: &Core, phase: Phase, binding: &CqlBinding) -> Cql {
        Cql {
            statements: Statements::new(core, phase, binding),
        }
    }
}

impl Dialect for Cql {
    type Wire = wire::Cql;
    type Writer = CqlWriter;

    fn texts(&self) -> Vec<StatementText> {
        self.statements.texts.clone()
    }

    fn writer(&self, core: &Core, statements: &[Statement]) -> CqlWriter {
        let all = &self.statements;
        CqlWriter {
            fields: Fields::new(core, &all.order),
            verifier: Verifier::new(core, statements),
            write_all: core.write_all,
            insert: all.insert.unwrap_or(0),
            read: all.read,
            read_to_modify: all.read_to_modify,
            update: all.update,
            scan: all.scan,
        }
    }
}

/// Writes EXECUTEs.
pub struct CqlWriter {
    fields: Fields,
    verifier: Verifier,
    write_all: bool,
    insert: usize,
    read: Option<Place>,
    read_to_modify: Option<Place>,
    update: Option<Place>,
    scan: Option<Place>,
}

/// The statement for a field; the first one's where none takes part.
fn of(place: Option<Place>, field: usize) -> usize {
    place.map_or(0, |place| place.of(field))
}

impl CqlWriter {
    fn write(&self, field: usize, key: &[u8], rng: &mut Xoshiro, request: &mut Request) {
        request.value_with(|value| self.fields.write(field, key, rng, value));
    }

    fn write_all(&self, key: &[u8], rng: &mut Xoshiro, request: &mut Request) {
        for &field in self.fields.order() {
            self.write(field, key, rng, request);
        }
    }
}

impl Writer<wire::Cql> for CqlWriter {
    fn insert(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request) {
        request.execute(self.insert).value(key);
        self.write_all(key, rng, request);
    }

    fn read(
        &mut self,
        key: &[u8],
        purpose: Purpose,
        rng: &mut Xoshiro,
        request: &mut Request,
    ) -> usize {
        let place = match purpose {
            Purpose::Read => self.read,
            Purpose::Modify => self.read_to_modify,
        };
        let statement = of(place, self.fields.choose(rng));
        request.execute(statement).value(key);
        statement
    }

    fn update(&mut self, key: &[u8], rng: &mut Xoshiro, request: &mut Request) {
        let field = self.fields.choose(rng);
        request.execute(of(self.update, field));
        if self.write_all {
            self.write_all(key, rng, request);
        } else {
            self.write(field, key, rng, request);
        }
        request.value(key);
    }

    fn scan(&mut self, key: &[u8], rows: i32, rng: &mut Xoshiro, request: &mut Request) -> usize {
        let statement = of(self.scan, self.fields.choose(rng));
        request
            .execute(statement)
            .value(key)
            .value(&rows.to_be_bytes());
        statement
    }

    /// More pages, which the Java driver fetches until it has all rows.
    fn more(&mut self, scan: Scanned<'_>, rows: &Rows<'_>, request: &mut Request) -> bool {
        let Some(state) = rows.paging_state() else {
            return false;
        };
        request
            .execute(scan.statement)
            .value(scan.key)
            .value(&scan.rows.to_be_bytes());
        request.paging_state(state);
        true
    }

    fn is_empty(rows: &Rows<'_>) -> bool {
        rows.is_empty()
    }

    fn nothing_scanned() -> Outcome {
        Ok(())
    }

    /// CQL does not tell whether there was a row.
    fn updated(_rows: Option<&Rows<'_>>) -> Outcome {
        Ok(())
    }

    fn check(&mut self, core: &Core, record: i64, statement: usize, rows: &Rows<'_>) -> Outcome {
        self.verifier.check(core, record, statement, rows)
    }
}
