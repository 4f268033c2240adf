//! Generators bound to the bind markers of prepared statements.

use std::collections::BTreeMap;

use tare_cql::{Column, Statement};
use tare_draw::{Share, Xoshiro};
use tare_engine::request::Request;

use super::marker::{Binding, Marker};
use super::number_sampler::NumberSampler;
use super::sequence::Sequence;
use super::specification::{Operation, Wanted};

/// All operations of a phase.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub operations: Vec<Planned>,
}

/// One operation.
#[derive(Debug, Clone)]
pub struct Planned {
    pub wanted: Wanted,
    markers: Vec<Marker>,
}

/// Numbers that are not acknowledged yet, because too many before them are under way.
pub type Pending = Vec<(Sequence, i64)>;

/// A place in the specification, and what is wrong there.
type Wrong = (String, String);

impl Plan {
    /// Binds the operations' generators to their statements' markers. Of every sequence, the
    /// client has its `share`.
    pub fn new(
        operations: &[Operation],
        statements: &[Statement],
        share: Share,
    ) -> Result<Plan, Wrong> {
        let mut plan = Plan::default();
        let mut sequences = BTreeMap::new();
        // Sequences first, so that what grows with them finds them in any order.
        for complete in [false, true] {
            plan.operations.clear();
            for (operation, statement) in operations.iter().zip(statements) {
                let binding = Binding {
                    operation,
                    columns: &statement.columns,
                    sequences: &sequences,
                    complete,
                    share,
                };
                plan.operations.push(Planned::new(&binding)?);
            }
            if !complete {
                for (operation, planned) in operations.iter().zip(&plan.operations) {
                    if let Some(sequence) = planned.sequence() {
                        sequences.insert(operation.name.clone(), sequence.clone());
                    }
                }
            }
        }
        plan.share(operations, &sequences);
        Ok(plan)
    }

    /// Has the sequences that others grow with count together with those that these look at.
    fn share(&mut self, operations: &[Operation], sequences: &BTreeMap<String, Sequence>) {
        for (operation, planned) in operations.iter().zip(&mut self.operations) {
            let Some(shared) = sequences.get(&operation.name) else {
                continue;
            };
            let mut own = planned
                .markers
                .iter_mut()
                .filter_map(|marker| match marker {
                    Marker::Number(NumberSampler::Sequence(sequence), _) => Some(sequence),
                    _ => None,
                });
            if let Some(sequence) = own.next() {
                *sequence = shared.clone();
            }
        }
    }
}

impl Planned {
    fn new(binding: &Binding<'_>) -> Result<Planned, Wrong> {
        let (operation, columns) = (binding.operation, binding.columns);
        let place = |marker: &str| format!("{}.values.{marker}", operation.name);
        for name in operation.values.keys() {
            if !columns.iter().any(|column| column.name == *name) {
                let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                let why = format!(
                    "the statement has no such bind marker; it has {}",
                    known.join(", ")
                );
                return Err((place(name), why));
            }
        }
        let bound = |column: &Column| {
            let wrong = |why| (place(&column.name), why);
            binding.marker(column).map_err(wrong)
        };
        Ok(Planned {
            wanted: operation.rows,
            markers: columns.iter().map(bound).collect::<Result<_, _>>()?,
        })
    }

    /// The first sequence.
    fn sequence(&self) -> Option<&Sequence> {
        self.markers.iter().find_map(Marker::sequence)
    }

    /// Draws all values and appends them to the request; `numbers` keeps what was drawn.
    pub fn write(
        &mut self,
        random: &mut Xoshiro,
        row: Option<u64>,
        numbers: &mut Vec<i64>,
        request: &mut Request,
    ) {
        numbers.clear();
        for marker in &mut self.markers {
            numbers.push(marker.draw(random, row));
        }
        for (own, marker) in self.markers.iter().enumerate() {
            marker.write(random, numbers, own, request);
        }
    }

    /// Acknowledges the numbers of requests that have ended, well or not. Numbers that cannot be
    /// acknowledged yet go into `pending`, to be tried again.
    pub fn acknowledge(&self, numbers: &[i64], pending: &mut Pending) {
        pending.retain(|(sequence, number)| !sequence.acknowledge(*number));
        for (marker, &number) in self.markers.iter().zip(numbers) {
            if let Some(sequence) = marker.sequence() {
                if !sequence.acknowledge(number) {
                    pending.push((sequence.clone(), number));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
