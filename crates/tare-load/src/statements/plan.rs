//! Generators bound to the bind markers of prepared statements.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tare_cql::{Column, ColumnType, Statement};
use tare_draw::ycsb::{random_printable, AcknowledgedCounter, Discrete};
use tare_draw::{Rng, Xoshiro};
use tare_engine::request::Request;

use super::form::{constant, is_text, Form};
use super::law::Law;
use super::specification::{Distribution, Generator, Operation, Wanted};

/// Bytes of one generated text or blob at most.
const LONGEST: usize = 1 << 24;
/// 100 ns intervals from the Gregorian reform, which time-based UUIDs count from, to 1970
/// (RFC 9562, section 5.1).
const GREGORIAN: u64 = 0x01B2_1DD2_1381_4000;

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

/// Where one bind marker's values come from.
#[derive(Debug, Clone)]
enum Marker {
    Number(Law, Form),
    /// The number of the marker at this position.
    Like(usize, Form),
    Text(usize, usize),
    Blob(usize, usize),
    Real(f64, f64, bool),
    Boolean(f64),
    Choice(Discrete<Option<Vec<u8>>>),
    Now(ColumnType),
}

/// Numbers that are not acknowledged yet, because too many before them are under way.
pub type Pending = Vec<(Arc<AcknowledgedCounter>, i64)>;

/// A place in the specification, and what is wrong there.
type Wrong = (String, String);

impl Plan {
    /// Binds the operations' generators to their statements' markers.
    pub fn new(operations: &[Operation], statements: &[Statement]) -> Result<Plan, Wrong> {
        let mut plan = Plan::default();
        let mut counters = BTreeMap::new();
        // Sequences first, so that what grows with them finds them in any order.
        for first in [true, false] {
            plan.operations.clear();
            for (operation, statement) in operations.iter().zip(statements) {
                let planned = Planned::new(operation, &statement.columns, &counters, first)?;
                plan.operations.push(planned);
            }
            if first {
                for (operation, planned) in operations.iter().zip(&plan.operations) {
                    if let Some(counter) = planned.counter() {
                        counters.insert(operation.name.clone(), Arc::clone(counter));
                    }
                }
            }
        }
        plan.share(operations, &counters);
        Ok(plan)
    }

    /// Gives the sequences that others grow with the counters that those look at.
    fn share(
        &mut self,
        operations: &[Operation],
        counters: &BTreeMap<String, Arc<AcknowledgedCounter>>,
    ) {
        for (operation, planned) in operations.iter().zip(&mut self.operations) {
            let Some(shared) = counters.get(&operation.name) else {
                continue;
            };
            let mut sequences = planned
                .markers
                .iter_mut()
                .filter_map(|marker| match marker {
                    Marker::Number(Law::Sequence { counter, .. }, _) => Some(counter),
                    _ => None,
                });
            if let Some(counter) = sequences.next() {
                *counter = Arc::clone(shared);
            }
        }
    }
}

impl Planned {
    fn new(
        operation: &Operation,
        columns: &[Column],
        counters: &BTreeMap<String, Arc<AcknowledgedCounter>>,
        lenient: bool,
    ) -> Result<Planned, Wrong> {
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
        let mut markers = Vec::new();
        for column in columns {
            let wrong = |why: String| (place(&column.name), why);
            let generator = operation.values.get(&column.name);
            let generator =
                generator.ok_or_else(|| wrong("no generator for this bind marker".into()))?;
            let marker = marker(generator, column, operation, columns, counters, lenient);
            markers.push(marker.map_err(wrong)?);
        }
        Ok(Planned {
            wanted: operation.rows,
            markers,
        })
    }

    /// The counter of the first sequence.
    fn counter(&self) -> Option<&Arc<AcknowledgedCounter>> {
        self.markers.iter().find_map(|marker| match marker {
            Marker::Number(law, _) => law.counter(),
            _ => None,
        })
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
            numbers.push(match marker {
                Marker::Number(law, _) => law.next(random, row),
                _ => 0,
            });
        }
        for (position, marker) in self.markers.iter().enumerate() {
            match marker {
                Marker::Number(_, form) => {
                    request.value_with(|out| form.write(numbers[position], out));
                }
                Marker::Like(other, form) => {
                    request.value_with(|out| form.write(numbers[*other], out));
                }
                Marker::Text(shortest, longest) => {
                    let length = length(*shortest, *longest, random);
                    request.value_with(|out| random_printable(random, length, out));
                }
                Marker::Blob(shortest, longest) => {
                    let length = length(*shortest, *longest, random);
                    request.value_with(|out| random_bytes(random, length, out));
                }
                Marker::Real(least, most, double) => {
                    let real = least + (most - least) * random.next_f64();
                    match double {
                        true => request.value(&real.to_be_bytes()),
                        false => request.value(&(real as f32).to_be_bytes()),
                    };
                }
                Marker::Boolean(share) => {
                    request.value(&[u8::from(random.next_f64() < *share)]);
                }
                Marker::Choice(values) => {
                    match values.next(random) {
                        Some(value) => request.value(value),
                        None => request.null(),
                    };
                }
                Marker::Now(kind) => {
                    request.value_with(|out| write_now(kind, random, out));
                }
            }
        }
    }

    /// Says that what the sequences gave has been written, or tried. What cannot be said yet goes
    /// into `pending`, to be said again.
    pub fn acknowledge(&self, numbers: &[i64], pending: &mut Pending) {
        pending.retain(|(counter, number)| counter.acknowledge(*number).is_err());
        for (marker, &number) in self.markers.iter().zip(numbers) {
            if let Marker::Number(
                Law::Sequence {
                    counter,
                    span: None,
                    ..
                },
                _,
            ) = marker
            {
                if counter.acknowledge(number).is_err() {
                    pending.push((Arc::clone(counter), number));
                }
            }
        }
    }
}

fn marker(
    generator: &Generator,
    column: &Column,
    operation: &Operation,
    columns: &[Column],
    counters: &BTreeMap<String, Arc<AcknowledgedCounter>>,
    lenient: bool,
) -> Result<Marker, String> {
    let kind = &column.kind;
    match generator {
        Generator::Number(number) => {
            let grown = match &number.grown_by {
                Some(name) if number.distribution == Distribution::Latest && !lenient => {
                    let counter = counters.get(name);
                    let none = || format!("grown_by: no operation {name:?} has a sequence");
                    Some(Arc::clone(counter.ok_or_else(none)?))
                }
                _ => None,
            };
            let format = number.format.as_deref();
            let range = (number.first, number.last);
            let form = Form::new(
                number.divide,
                number.modulo,
                number.hashed,
                format,
                kind,
                range,
            )?;
            Ok(Marker::Number(Law::new(number, grown)?, form))
        }
        Generator::Like {
            marker,
            divide,
            modulo,
            hashed,
            format,
        } => {
            let range = match operation.values.get(marker) {
                Some(Generator::Number(number)) => (number.first, number.last),
                _ => return Err(format!("{marker:?} is no marker with a number of its own")),
            };
            let position = columns.iter().position(|column| column.name == *marker);
            let position = position.ok_or_else(|| format!("there is no marker {marker:?}"))?;
            let form = Form::new(*divide, *modulo, *hashed, format.as_deref(), kind, range)?;
            Ok(Marker::Like(position, form))
        }
        Generator::Text { shortest, longest } if is_text(kind) => {
            lengths(*shortest, *longest).map(|(shortest, longest)| Marker::Text(shortest, longest))
        }
        Generator::Blob { shortest, longest } if *kind == ColumnType::Blob => {
            lengths(*shortest, *longest).map(|(shortest, longest)| Marker::Blob(shortest, longest))
        }
        Generator::Real { least, most } if least <= most && (most - least).is_finite() => {
            match kind {
                ColumnType::Double => Ok(Marker::Real(*least, *most, true)),
                ColumnType::Float => Ok(Marker::Real(*least, *most, false)),
                _ => Err(format!("a real number cannot be made a {kind:?}")),
            }
        }
        Generator::Boolean { share } if *kind == ColumnType::Boolean => Ok(Marker::Boolean(*share)),
        Generator::Constant { value } => choice(&[(value.clone(), 1.0)], kind),
        Generator::Choice { values } => choice(values, kind),
        Generator::Now {} if is_now(kind) => Ok(Marker::Now(kind.clone())),
        other => Err(format!("{other:?} cannot be made a {kind:?}")),
    }
}

fn choice(values: &[(serde_json::Value, f64)], kind: &ColumnType) -> Result<Marker, String> {
    let mut weighted = Vec::new();
    for (value, weight) in values {
        weighted.push((*weight, constant(value, kind)?));
    }
    Discrete::new(weighted)
        .map(Marker::Choice)
        .map_err(|e| e.to_string())
}

fn lengths(shortest: usize, longest: usize) -> Result<(usize, usize), String> {
    match shortest <= longest && longest <= LONGEST {
        true => Ok((shortest, longest)),
        false => Err(format!("lengths must be in order and at most {LONGEST}")),
    }
}

fn length(shortest: usize, longest: usize, random: &mut Xoshiro) -> usize {
    shortest + random.next_below((longest - shortest) as u64 + 1) as usize
}

fn random_bytes(random: &mut Xoshiro, length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    while out.len() < end {
        let bytes = random.next_u64().to_le_bytes();
        let wanted = bytes.len().min(end - out.len());
        out.extend_from_slice(&bytes[..wanted]);
    }
}

fn is_now(kind: &ColumnType) -> bool {
    matches!(
        kind,
        ColumnType::Timestamp | ColumnType::Bigint | ColumnType::Timeuuid
    )
}

/// The time of the send: milliseconds of Unix time, or a time-based UUID with a random node.
fn write_now(kind: &ColumnType, random: &mut Xoshiro, out: &mut Vec<u8>) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    if *kind != ColumnType::Timeuuid {
        out.extend_from_slice(&(now.as_millis() as i64).to_be_bytes());
        return;
    }
    let time = GREGORIAN + (now.as_nanos() / 100) as u64;
    out.extend_from_slice(&(time as u32).to_be_bytes());
    out.extend_from_slice(&((time >> 32) as u16).to_be_bytes());
    out.extend_from_slice(&((time >> 48) as u16 & 0x0FFF | 0x1000).to_be_bytes());
    let node = random.next_u64() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000;
    out.extend_from_slice(&node.to_be_bytes());
}

#[cfg(test)]
mod tests;
