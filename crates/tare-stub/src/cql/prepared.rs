//! Prepared statements: their ids, and answers encoded beforehand.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cql::catalogue::{Catalogue, Table};
use crate::cql::markers::Marker;
use crate::cql::rows::{cells, put_rows_head, put_void, Piece, Shape};
use crate::cql::statement::{Statement, Verb};
use crate::cql::system::{shape, System};
use crate::cql::wire::{put_value, Parameters};

/// Most statements that one stub keeps.
const MOST: usize = 10_000;

pub type Id = [u8; 16];

/// A statement with the answer to it.
#[derive(Debug)]
pub struct Prepared {
    pub id: Id,
    pub statement: Statement,
    pub table: Table,
    pub markers: Vec<Marker>,
    pub shape: Vec<Shape>,
    /// Whether it is about a system table: then its answer is made when it is asked for.
    pub system: bool,
    with_metadata: Vec<u8>,
    without_metadata: Vec<u8>,
    cells: Vec<Piece>,
}

/// All statements that clients have prepared or sent, by their ids.
#[derive(Debug, Default)]
pub struct Statements {
    known: HashMap<Id, Arc<Prepared>>,
}

/// How answers to reads look.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub count: usize,
    pub value_bytes: usize,
}

impl Prepared {
    pub fn read(&self) -> bool {
        self.statement.verb == Verb::Select
    }

    /// Appends the body of the answer to one execution.
    pub fn put_answer(&self, out: &mut Vec<u8>, parameters: &Parameters<'_>) {
        if !self.read() {
            return put_void(out);
        }
        out.extend(if parameters.skip_metadata {
            &self.without_metadata
        } else {
            &self.with_metadata
        });
        for piece in &self.cells {
            match piece {
                Piece::Bytes(bytes) => out.extend(bytes),
                Piece::Bound(place) => put_value(out, parameters.values().nth(*place).flatten()),
            }
        }
    }
}

impl Statements {
    pub fn get(&self, id: &[u8]) -> Option<&Arc<Prepared>> {
        self.known.get(id)
    }

    /// Takes a statement apart and keeps it; the same text has the same id on every stub.
    ///
    /// # Errors
    /// What is wrong with it, for the client.
    pub fn prepare(
        &mut self,
        cql: &str,
        current: Option<&str>,
        system: &System,
        catalogue: &Catalogue,
        rows: Rows,
    ) -> Result<Arc<Prepared>, String> {
        let statement = Statement::parse(cql);
        let keyspace = statement
            .keyspace
            .as_deref()
            .or(current)
            .ok_or("no keyspace is in use")?;
        let id = id_of(keyspace, cql);
        if let Some(known) = self.known.get(&id) {
            return Ok(Arc::clone(known));
        }
        if self.known.len() >= MOST {
            return Err(format!("the stub keeps at most {MOST} statements"));
        }
        let table = system
            .table(keyspace, &statement.table)
            .or_else(|| catalogue.table(keyspace, &statement.table));
        let table = table.cloned();
        let table =
            table.ok_or_else(|| format!("table {keyspace}.{} does not exist", statement.table))?;
        let system = System::owns(keyspace);
        let prepared = Arc::new(assemble(id, statement, table, system, rows));
        self.known.insert(id, Arc::clone(&prepared));
        Ok(prepared)
    }
}

fn assemble(id: Id, statement: Statement, table: Table, system: bool, rows: Rows) -> Prepared {
    let markers = statement.markers(&table);
    let read = statement.verb == Verb::Select;
    let shape = if read {
        shape(&table, &statement)
    } else {
        Vec::new()
    };
    let (mut with_metadata, mut without_metadata) = (Vec::new(), Vec::new());
    put_rows_head(&mut with_metadata, &table, &shape, rows.count, true);
    put_rows_head(&mut without_metadata, &table, &shape, rows.count, false);
    let value_bytes = table.value_bytes.unwrap_or(rows.value_bytes);
    let cells = cells(&shape, &markers, rows.count, value_bytes);
    Prepared {
        id,
        statement,
        table,
        markers,
        shape,
        system,
        with_metadata,
        without_metadata,
        cells,
    }
}

/// FNV-1a, 128 bits (draft-eastlake-fnv): not secure, which nothing here needs.
fn id_of(keyspace: &str, cql: &str) -> Id {
    let bytes = keyspace.bytes().chain([0]).chain(cql.bytes());
    let hash = bytes.fold(
        0x6C62_272E_07BB_0142_62B8_2175_6295_C58D_u128,
        |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B)
        },
    );
    hash.to_be_bytes()
}
