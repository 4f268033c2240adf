//! What is sent: the shape of a workload, from record numbers to bound CQL statements.

pub mod keys;
pub mod random;
pub mod stress;
pub mod ycsb;
pub mod zipfian;

use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::value::SerializeValue;
use scylla::serialize::writers::RowWriter;
use scylla::serialize::SerializationError;
use scylla::value::Row;

use crate::spec::{self, Phase, Spec};
use random::Random;

/// The two classes of operations that every workload here has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Read = 0,
    Write = 1,
}

impl Class {
    pub const ALL: [Class; 2] = [Class::Read, Class::Write];
}

/// One statement to prepare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText {
    pub class: Class,
    pub cql: String,
}

/// A workload of one of the known kinds.
pub enum Shape {
    Ycsb(ycsb::Ycsb),
    Stress(stress::Stress),
}

/// One operation, ready to send. Its buffers are used again for the next one.
pub enum Request {
    Ycsb(ycsb::Request),
    Stress(stress::Request),
}

impl Shape {
    pub fn new(spec: &Spec) -> Shape {
        match &spec.workload {
            spec::Workload::Ycsb(ycsb) => Shape::Ycsb(ycsb::Ycsb::new(spec, ycsb)),
            spec::Workload::Stress(stress) => Shape::Stress(stress::Stress::new(spec, stress)),
        }
    }

    /// Name of a class of operations in results, as the tool of the shape calls it.
    pub fn operation(&self, class: Class, phase: Phase) -> &'static str {
        match (self, class, phase) {
            (_, Class::Read, _) => "READ",
            (Shape::Ycsb(_), Class::Write, Phase::Run) => "UPDATE",
            (Shape::Ycsb(_), Class::Write, Phase::Populate) => "INSERT",
            (Shape::Stress(_), Class::Write, _) => "WRITE",
        }
    }

    /// Every statement that requests refer to by position.
    pub fn statements(&self) -> Vec<StatementText> {
        match self {
            Shape::Ycsb(shape) => shape.statements(),
            Shape::Stress(shape) => shape.statements(),
        }
    }

    /// An empty request with its buffers.
    pub fn request(&self) -> Request {
        match self {
            Shape::Ycsb(shape) => Request::Ycsb(shape.request()),
            Shape::Stress(_) => Request::Stress(stress::Request::default()),
        }
    }

    /// Draws the next operation of the mix.
    pub fn draw(&self, random: &mut Random, request: &mut Request) {
        match (self, request) {
            (Shape::Ycsb(shape), Request::Ycsb(request)) => shape.draw(random, request),
            (Shape::Stress(shape), Request::Stress(request)) => shape.draw(random, request),
            _ => unreachable!("requests come from their own shape"),
        }
    }

    /// The operation that writes one whole row while the table is populated.
    pub fn insert(&self, row: u64, random: &mut Random, request: &mut Request) {
        match (self, request) {
            (Shape::Ycsb(shape), Request::Ycsb(request)) => shape.insert(row, random, request),
            (Shape::Stress(shape), Request::Stress(request)) => shape.write(row, request),
            _ => unreachable!("requests come from their own shape"),
        }
    }

    /// Whether a row that was read is one that this workload writes.
    pub fn holds(&self, request: &Request, row: &Row) -> bool {
        match (self, request) {
            (Shape::Ycsb(shape), Request::Ycsb(request)) => shape.holds(request, row),
            (Shape::Stress(shape), Request::Stress(request)) => shape.holds(request, row),
            _ => unreachable!("requests come from their own shape"),
        }
    }
}

impl Request {
    pub fn class(&self) -> Class {
        match self {
            Request::Ycsb(request) => request.class,
            Request::Stress(request) => request.class,
        }
    }

    /// Position of its statement in `Shape::statements`.
    pub fn statement(&self) -> usize {
        match self {
            Request::Ycsb(request) => request.statement,
            Request::Stress(request) => request.class as usize,
        }
    }
}

impl SerializeRow for Request {
    fn serialize(
        &self,
        ctx: &RowSerializationContext<'_>,
        writer: &mut RowWriter,
    ) -> Result<(), SerializationError> {
        match self {
            Request::Ycsb(request) => serialize_cells(request.cells(), ctx, writer),
            Request::Stress(request) => serialize_cells(request.cells(), ctx, writer),
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// Writes cells in the order of the statement's bind markers, without collecting them first.
fn serialize_cells<T: SerializeValue>(
    cells: impl Iterator<Item = T>,
    ctx: &RowSerializationContext<'_>,
    writer: &mut RowWriter,
) -> Result<(), SerializationError> {
    for (cell, column) in cells.zip(ctx.columns()) {
        cell.serialize(column.typ(), writer.make_cell_writer())?;
    }
    Ok(())
}

/// Quotes an identifier that `Spec` has let through.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}
