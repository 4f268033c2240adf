//! RESULT bodies: void, rows and their metadata, prepared, set keyspace, schema change; and errors.
//! native_protocol_v4.spec, sections 4.2.5 (RESULT) and 9 (errors).

use crate::cql::catalogue::{Created, Table};
use crate::cql::kind::Kind;
use crate::cql::markers::Marker;
use crate::cql::wire::{put_string, put_value};
use crate::script::Fault;

const VOID: i32 = 1;
const ROWS: i32 = 2;
const SET_KEYSPACE: i32 = 3;
const PREPARED: i32 = 4;
const SCHEMA_CHANGE: i32 = 5;
const FLAG_GLOBAL_TABLE: i32 = 0x01;
const FLAG_NO_METADATA: i32 = 0x04;

/// Codes of errors, section 9.
pub const PROTOCOL_ERROR: i32 = 0x000A;
pub const INVALID: i32 = 0x2200;
pub const UNPREPARED: i32 = 0x2500;

/// A column of a result: its name and type.
pub type Shape = (String, Kind);

pub fn put_void(out: &mut Vec<u8>) {
    out.extend(VOID.to_be_bytes());
}

pub fn put_set_keyspace(out: &mut Vec<u8>, keyspace: &str) {
    out.extend(SET_KEYSPACE.to_be_bytes());
    put_string(out, keyspace);
}

pub fn put_schema_change(out: &mut Vec<u8>, created: &Created) {
    out.extend(SCHEMA_CHANGE.to_be_bytes());
    put_string(out, "CREATED");
    match created {
        Created::Keyspace(keyspace) => {
            put_string(out, "KEYSPACE");
            put_string(out, keyspace);
        }
        Created::Table(keyspace, table) => {
            put_string(out, "TABLE");
            put_string(out, keyspace);
            put_string(out, table);
        }
    }
}

/// The kind, the metadata and the number of rows: what comes before the cells.
pub fn put_rows_head(
    out: &mut Vec<u8>,
    table: &Table,
    shape: &[Shape],
    rows: usize,
    metadata: bool,
) {
    out.extend(ROWS.to_be_bytes());
    let flags = if metadata {
        FLAG_GLOBAL_TABLE
    } else {
        FLAG_NO_METADATA
    };
    out.extend(flags.to_be_bytes());
    out.extend((shape.len() as u32).to_be_bytes());
    if metadata {
        put_columns(out, table, shape);
    }
    out.extend((rows as u32).to_be_bytes());
}

fn put_columns(out: &mut Vec<u8>, table: &Table, shape: &[Shape]) {
    put_string(out, &table.keyspace);
    put_string(out, &table.name);
    for (name, kind) in shape {
        put_string(out, name);
        kind.encode(out);
    }
}

/// The answer to PREPARE.
pub fn put_prepared(
    out: &mut Vec<u8>,
    id: &[u8],
    table: &Table,
    markers: &[Marker],
    shape: &[Shape],
) {
    out.extend(PREPARED.to_be_bytes());
    out.extend((id.len() as u16).to_be_bytes());
    out.extend(id);
    let key = partition_key(table, markers);
    out.extend(FLAG_GLOBAL_TABLE.to_be_bytes());
    out.extend((markers.len() as u32).to_be_bytes());
    out.extend((key.len() as u32).to_be_bytes());
    for place in key {
        out.extend(place.to_be_bytes());
    }
    let bound: Vec<Shape> = markers
        .iter()
        .map(|m| (m.name.clone(), m.kind.clone()))
        .collect();
    put_columns(out, table, &bound);
    if shape.is_empty() {
        out.extend(FLAG_NO_METADATA.to_be_bytes());
        out.extend(0_u32.to_be_bytes());
    } else {
        out.extend(FLAG_GLOBAL_TABLE.to_be_bytes());
        out.extend((shape.len() as u32).to_be_bytes());
        put_columns(out, table, shape);
    }
}

/// Places of the markers that give the whole partition key, in the key's order; empty if some of it
/// is not bound.
fn partition_key(table: &Table, markers: &[Marker]) -> Vec<u16> {
    use crate::cql::catalogue::Role;
    let parts = table
        .columns
        .iter()
        .filter(|c| matches!(c.role, Role::Partition(_)))
        .count();
    let place = |part| {
        markers
            .iter()
            .position(|marker| marker.partition == Some(part as u16))
    };
    let places: Option<Vec<usize>> = (0..parts).map(place).collect();
    places
        .unwrap_or_default()
        .into_iter()
        .map(|place| place as u16)
        .collect()
}

pub fn put_error(out: &mut Vec<u8>, code: i32, message: &str) {
    out.extend(code.to_be_bytes());
    put_string(out, message);
}

/// The error that reports a scripted fault, as one replica of one would fail.
pub fn put_fault(out: &mut Vec<u8>, fault: Fault, consistency: u16, read: bool) {
    let code = match (fault, read) {
        (Fault::Unavailable, _) => 0x1000,
        (Fault::Overloaded, _) => 0x1001,
        (Fault::Bootstrapping, _) => 0x1002,
        (Fault::Timeout, false) => 0x1100,
        (Fault::Timeout, true) => 0x1200,
        (Fault::Server | Fault::Lost, _) => 0x0000,
    };
    put_error(out, code, "the script of tare-stub says so");
    if matches!(fault, Fault::Unavailable | Fault::Timeout) {
        out.extend(consistency.to_be_bytes());
        let (first, second) = if fault == Fault::Unavailable {
            (1_i32, 0_i32)
        } else {
            (0, 1)
        };
        out.extend(first.to_be_bytes());
        out.extend(second.to_be_bytes());
    }
    match (fault, read) {
        (Fault::Timeout, true) => out.push(0),
        (Fault::Timeout, false) => put_string(out, "SIMPLE"),
        _ => {}
    }
}

/// One part of the rows that a prepared SELECT answers with.
#[derive(Debug, Clone)]
pub enum Piece {
    Bytes(Vec<u8>),
    /// The value that was bound to this marker, as a cell.
    Bound(usize),
}

/// The cells of `rows` rows: samples, and the bound value where a column was asked for by it.
pub fn cells(shape: &[Shape], bound: &[Marker], rows: usize, bytes: usize) -> Vec<Piece> {
    let mut pieces = vec![Piece::Bytes(Vec::new())];
    for _ in 0..rows {
        for (name, kind) in shape {
            let marker = bound
                .iter()
                .position(|m| m.partition.is_some() && m.name == *name);
            match (marker, pieces.last_mut()) {
                (None, Some(Piece::Bytes(last))) => put_value(last, kind.sample(bytes).as_deref()),
                (None, _) => {
                    let mut fresh = Vec::new();
                    put_value(&mut fresh, kind.sample(bytes).as_deref());
                    pieces.push(Piece::Bytes(fresh));
                }
                (Some(place), _) => pieces.push(Piece::Bound(place)),
            }
        }
    }
    pieces
}
