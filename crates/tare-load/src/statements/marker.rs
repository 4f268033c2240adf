//! Where one bind marker's values come from, and how they are written.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use tare_cql::{Column, ColumnType};
use tare_draw::ycsb::{random_printable, Discrete};
use tare_draw::{Rng, Share, Xoshiro};
use tare_engine::request::Request;

use super::form::{constant, is_text, Form};
use super::number_sampler::NumberSampler;
use super::sequence::Sequence;
use super::specification::{Distribution, Generator, Number, Operation, LONGEST};

/// 100 ns intervals from the Gregorian reform, which time-based UUIDs count from, to 1970
/// (RFC 9562, section 5.1).
const GREGORIAN: u64 = 0x01B2_1DD2_1381_4000;

/// A generator that fits the column of its bind marker.
#[derive(Debug, Clone)]
pub enum Marker {
    Number(NumberSampler, Form),
    /// The number of the marker at this position.
    Like(usize, Form),
    Text(usize, usize),
    Blob(usize, usize),
    /// A number from the one to the other; of eight bytes, or of four.
    Real(f64, f64, bool),
    Boolean(f64),
    Choice(Discrete<Option<Vec<u8>>>),
    Now(ColumnType),
}

/// What the markers of a statement are bound with.
pub struct Binding<'a> {
    pub operation: &'a Operation,
    pub columns: &'a [Column],
    /// The sequences that are known so far, by their operation.
    pub sequences: &'a BTreeMap<String, Sequence>,
    /// Whether all of them are.
    pub complete: bool,
    pub share: Share,
}

impl Binding<'_> {
    /// The generator of one column; the error says why there is none or it does not fit.
    pub fn marker(&self, column: &Column) -> Result<Marker, String> {
        let generator = self.operation.values.get(&column.name);
        let generator = generator.ok_or("no generator for this bind marker")?;
        let kind = &column.kind;
        match generator {
            Generator::Number(number) => self.number(number, kind),
            Generator::Like {
                marker,
                divide,
                modulo,
                hashed,
                format,
            } => {
                let (position, range) = self.other(marker)?;
                let format = format.as_deref();
                let form = Form::new(*divide, *modulo, *hashed, format, kind, range)?;
                Ok(Marker::Like(position, form))
            }
            Generator::Text { shortest, longest } if is_text(kind) => {
                lengths(*shortest, *longest).map(|(least, most)| Marker::Text(least, most))
            }
            Generator::Blob { shortest, longest } if *kind == ColumnType::Blob => {
                lengths(*shortest, *longest).map(|(least, most)| Marker::Blob(least, most))
            }
            Generator::Real { least, most } if least <= most && (most - least).is_finite() => {
                match kind {
                    ColumnType::Double => Ok(Marker::Real(*least, *most, true)),
                    ColumnType::Float => Ok(Marker::Real(*least, *most, false)),
                    _ => Err(format!("a real number cannot be made a {kind:?}")),
                }
            }
            Generator::Boolean { share } if *kind == ColumnType::Boolean => {
                Ok(Marker::Boolean(*share))
            }
            Generator::Constant { value } => choice(&[(value.clone(), 1.0)], kind),
            Generator::Choice { values } => choice(values, kind),
            Generator::Now {} if is_now(kind) => Ok(Marker::Now(kind.clone())),
            other => Err(format!("{other:?} cannot be made a {kind:?}")),
        }
    }

    fn number(&self, number: &Number, kind: &ColumnType) -> Result<Marker, String> {
        let grown = match &number.grown_by {
            Some(name) if number.distribution == Distribution::Latest && self.complete => {
                let none = || format!("grown_by: no operation {name:?} has a sequence");
                Some(self.sequences.get(name).ok_or_else(none)?.clone())
            }
            _ => None,
        };
        let form = Form::new(
            number.divide,
            number.modulo,
            number.hashed,
            number.format.as_deref(),
            kind,
            (number.first, number.last),
        )?;
        Ok(Marker::Number(
            NumberSampler::new(number, grown, self.share)?,
            form,
        ))
    }

    /// Position and range of a marker with a number of its own.
    fn other(&self, marker: &str) -> Result<(usize, (i64, Option<i64>)), String> {
        let range = match self.operation.values.get(marker) {
            Some(Generator::Number(number)) => (number.first, number.last),
            _ => return Err(format!("{marker:?} is no marker with a number of its own")),
        };
        let mut columns = self.columns.iter();
        let position = columns.position(|column| column.name == marker);
        let position = position.ok_or_else(|| format!("there is no marker {marker:?}"))?;
        Ok((position, range))
    }
}

impl Marker {
    /// The sequence that it draws from.
    pub fn sequence(&self) -> Option<&Sequence> {
        match self {
            Marker::Number(sampler, _) => sampler.sequence(),
            _ => None,
        }
    }

    /// Draws the marker's number, 0 where it has none; `row` is the row to be filled while
    /// populating.
    pub fn draw(&mut self, random: &mut Xoshiro, row: Option<u64>) -> i64 {
        match self {
            Marker::Number(sampler, _) => sampler.next(random, row),
            _ => 0,
        }
    }

    /// Appends the value to the request; `numbers` were drawn by the statement's markers, and
    /// `own` is this one's place among them.
    pub fn write(&self, random: &mut Xoshiro, numbers: &[i64], own: usize, request: &mut Request) {
        match self {
            Marker::Number(_, form) => {
                request.value_with(|out| form.write(numbers[own], out));
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
