//! read, write, mixed, counter_write and counter_read on the predefined tables.

use std::sync::Arc;

use tare_cql::{Consistency, Rows, Statement};
use tare_draw::stress::{
    salt, Column, ColumnSpec, Contents, Distribution, Kind as Type, Partition, Position, Ratio,
    Sampler, Seed, Shape, Visit, PREDEFINED,
};
use tare_draw::{Error, Xoshiro};
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{
    Answer, Begin, Follow, Outcome, Seat, Source, StatementText, Workload,
};

use super::chooser::{Chooser, Run};
use super::Shared;
use crate::settings::column::Columns;
use crate::settings::command::Kind;

/// Rows of a page, as the tool's driver asks for them.
pub const PAGE_SIZE: i32 = 5_000;

/// What every worker needs to make the operations.
#[derive(Debug, Clone)]
pub struct Predefined {
    pub shared: Arc<Shared>,
    /// The operations and their ratios.
    pub ratios: Vec<(Kind, f64)>,
    pub clustering: Option<Distribution>,
    pub columns: Columns,
    pub add: Distribution,
    pub row_share: Ratio,
    pub consistency: Consistency,
    pub serial: Consistency,
    pub shape: Shape,
    /// Compare what is read with what was written.
    pub validate: bool,
    pub seed: u64,
}

/// The table of keys of this size and the columns of `-col`.
pub fn shape(columns: &Columns, key_size: u32, contents: Contents) -> Result<Shape, Error> {
    let sized = |size: Distribution| ColumnSpec {
        size: Some(size),
        ..ColumnSpec::default()
    };
    let key_size = sized(Distribution::Fixed {
        value: i64::from(key_size),
    });
    let key = Column::new("key", Type::HexBlob, salt(PREDEFINED, "key"), &key_size)?;
    let size = sized(columns.size.distribution.clone());
    let values = columns
        .names
        .iter()
        .map(|name| Column::new(name, Type::Blob, salt(PREDEFINED, name), &size));
    let values = values.collect::<Result<_, _>>()?;
    Ok(Shape::new(vec![key], Vec::new(), values, contents))
}

/// The statement of an operation, word for word as the tool prepares it.
pub fn cql(kind: Kind, columns: &Columns) -> String {
    let names = |part: fn(&str) -> String| {
        let parts: Vec<String> = columns.names.iter().map(|name| part(name)).collect();
        parts.join(",")
    };
    match kind {
        Kind::Write => {
            let timestamp = columns.timestamp.map(|t| format!(" USING TIMESTAMP {t}"));
            let sets = names(|name| format!("\"{name}\" = ?"));
            let timestamp = timestamp.unwrap_or_default();
            format!("UPDATE \"standard1\"{timestamp} SET {sets} WHERE KEY=?")
        }
        Kind::CounterWrite => {
            let sets = names(|name| format!("\"{name}\"=\"{name}\"+?"));
            format!("UPDATE counter1 SET {sets} WHERE KEY=?")
        }
        Kind::CounterRead => "SELECT * FROM \"counter1\" WHERE KEY=?".to_owned(),
        _ if columns.slice => "SELECT * FROM \"standard1\" WHERE KEY=?".to_owned(),
        _ => {
            let names = names(|name| format!("\"{name}\""));
            format!("SELECT {names} FROM \"standard1\" WHERE KEY=?")
        }
    }
}

impl Workload for Predefined {
    type Source = PredefinedSource;

    fn statements(&self) -> Vec<StatementText> {
        let text = |(kind, _): &(Kind, f64)| StatementText {
            serial: Some(self.serial),
            page_size: Some(PAGE_SIZE),
            ..StatementText::new(cql(*kind, &self.columns), self.consistency)
        };
        self.ratios.iter().map(text).collect()
    }

    fn operations(&self) -> Vec<String> {
        self.ratios.iter().map(|(kind, _)| kind.operation()).collect()
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> PredefinedSource {
        let ratios = self.ratios.iter().map(|(_, ratio)| *ratio);
        PredefinedSource {
            chooser: Chooser::new(ratios, self.clustering.clone()),
            partition: Partition::new(self.shape.clone()),
            add: Sampler::new(self.add.clone()),
            row_share: self.row_share.clone(),
            rng: Xoshiro::stream(self.seed, seat.worker as u64),
            slots: vec![Slot::default(); seat.slots.len()],
            plan: self.clone(),
        }
    }
}

/// One worker's operations.
pub struct PredefinedSource {
    plan: Predefined,
    chooser: Chooser,
    partition: Partition,
    add: Sampler,
    row_share: Ratio,
    rng: Xoshiro,
    slots: Vec<Slot>,
}

/// One thread of the tool.
#[derive(Debug, Clone, Default)]
struct Slot {
    run: Run,
    operation: usize,
    key: Vec<u8>,
    /// The cells that a read must find: for each its length, or -1 for null, and its bytes.
    expected: Vec<u8>,
}

impl Source for PredefinedSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        let shared = &self.plan.shared;
        if shared.trouble.is_over() {
            return Begin::Finished;
        }
        let state = &mut self.slots[slot];
        let operation = self.chooser.next(&mut state.run, &mut self.rng);
        let kind = self.plan.ratios[operation].0;
        if shared.permits.take(1) == 0 {
            return Begin::Finished;
        }
        let seed = match kind.writes() {
            true => shared.seeds.next_write(&mut self.rng),
            false => shared.seeds.next_read(&mut self.rng),
        };
        let Some(seed) = seed else {
            return Begin::Finished;
        };
        state.operation = operation;
        request.execute(operation);
        self.write(slot, kind, &seed, request);
        Begin::Send { operation }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        _request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let state = &self.slots[slot];
        let kind = self.plan.ratios[state.operation].0;
        let (units, outcome) = match answer {
            Answer::Failed { kind, server } => {
                let key = || hex(&state.key);
                return self.plan.shared.failed(*kind, server.as_ref(), notes, key);
            }
            Answer::Void => (1, Ok(())),
            Answer::Rows(rows) => (rows.len() as u64, self.check(kind, state, rows)),
        };
        if outcome.is_err() {
            let why = || "Data returned was not validated".to_owned();
            self.plan.shared.trouble.failed(notes.retries + 1, || hex(&state.key), why);
        }
        self.plan.shared.count(state.operation, units, units, notes);
        Follow::Done(outcome)
    }
}

impl PredefinedSource {
    /// Writes the values of an operation, and remembers what its answer must be.
    fn write(&mut self, slot: usize, kind: Kind, seed: &Seed, request: &mut Request) {
        let state = &mut self.slots[slot];
        let columns = self.plan.columns.names.len();
        let visit = match kind.writes() {
            true => Visit::Write { chance: 1.0 },
            false => Visit::Read { rows: 1 },
        };
        let share = self.row_share.next(&mut self.rng);
        self.partition.begin(seed, visit, share, &mut self.rng);
        state.key.clone_from(&self.partition.key()[0]);
        match kind {
            Kind::Write => {
                if let Some(row) = self.partition.next_row(&mut self.rng) {
                    for column in 0..columns {
                        match row.get(Position::Cell(column)) {
                            Some(value) => request.value(value),
                            None => request.null(),
                        };
                    }
                }
                if let Some(ending) = self.partition.ending() {
                    self.plan.shared.seeds.wrote(seed, ending);
                }
            }
            Kind::CounterWrite => {
                for _ in 0..columns {
                    request.value(&self.add.draw_from(&mut self.rng).to_be_bytes());
                }
            }
            Kind::Read if self.plan.validate => {
                state.expected.clear();
                if let Some(row) = self.partition.next_row(&mut self.rng) {
                    for column in 0..columns {
                        expect(&mut state.expected, row.get(Position::Cell(column)));
                    }
                }
            }
            _ => {}
        }
        request.value(&state.key);
    }

    /// A counter read must find something; any other read exactly the row that was written.
    fn check(&self, kind: Kind, state: &Slot, rows: &Rows<'_>) -> Outcome {
        if kind == Kind::CounterRead {
            return if rows.is_empty() { Err(ErrorKind::NotFound) } else { Ok(()) };
        }
        if !self.plan.validate {
            return Ok(());
        }
        match rows.iter().next() {
            None => Err(ErrorKind::NotFound),
            Some(Ok(row)) if rows.len() == 1 => {
                // With SELECT * the key comes first; the tool compares it, too, and so never
                // validates a slice. Here it is passed over.
                let passed = usize::from(self.plan.columns.slice);
                match matches(&state.expected, row.cells().skip(passed)) {
                    true => Ok(()),
                    false => Err(ErrorKind::WrongValue),
                }
            }
            Some(_) => Err(ErrorKind::WrongValue),
        }
    }
}

/// Appends a cell to what is expected.
fn expect(expected: &mut Vec<u8>, value: Option<&[u8]>) {
    let length = value.map_or(-1, |value| value.len() as i32);
    expected.extend_from_slice(&length.to_ne_bytes());
    expected.extend_from_slice(value.unwrap_or_default());
}

/// Whether the cells are the expected ones, and all of them.
fn matches<'a>(mut expected: &[u8], cells: impl Iterator<Item = Option<&'a [u8]>>) -> bool {
    for cell in cells {
        let Some((length, rest)) = expected.split_first_chunk::<4>() else {
            return false;
        };
        let value = match usize::try_from(i32::from_ne_bytes(*length)) {
            Ok(length) => rest.split_at_checked(length),
            Err(_) => None,
        };
        expected = value.map_or(rest, |(_, rest)| rest);
        if cell != value.map(|(value, _)| value) {
            return false;
        }
    }
    expected.is_empty()
}

/// Bytes as the tool shows a blob key.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(cells: &[Option<&[u8]>]) -> Vec<u8> {
        let mut expected = Vec::new();
        cells.iter().for_each(|cell| super::expect(&mut expected, *cell));
        expected
    }

    #[test]
    fn a_row_matches_itself_alone() {
        let row: [Option<&[u8]>; 3] = [Some(b"ab"), None, Some(b"")];
        let expected = expected(&row);
        assert!(matches(&expected, row.into_iter()));
        assert!(!matches(&expected, row[..2].iter().copied()), "a cell too few");
        assert!(!matches(&expected, row.into_iter().chain([None])), "a cell too many");
        assert!(!matches(&expected, [Some(&b"ab"[..]), Some(b""), Some(b"")].into_iter()));
        assert!(!matches(&expected, [Some(&b"aB"[..]), None, Some(b"")].into_iter()));
    }

    #[test]
    fn statements_are_the_tools() {
        let columns = Columns::read(None).unwrap();
        assert_eq!(
            cql(Kind::Write, &columns),
            "UPDATE \"standard1\" SET \"C0\" = ?,\"C1\" = ?,\"C2\" = ?,\"C3\" = ?,\"C4\" = ? \
             WHERE KEY=?"
        );
        assert_eq!(
            cql(Kind::Read, &columns),
            "SELECT \"C0\",\"C1\",\"C2\",\"C3\",\"C4\" FROM \"standard1\" WHERE KEY=?"
        );
        let two = ["n=FIXED(2)".to_owned(), "timestamp=5".to_owned()];
        let columns = Columns::read(Some(&two)).unwrap();
        assert_eq!(
            cql(Kind::CounterWrite, &columns),
            "UPDATE counter1 SET \"C0\"=\"C0\"+?,\"C1\"=\"C1\"+? WHERE KEY=?"
        );
        assert!(cql(Kind::Write, &columns).contains("USING TIMESTAMP 5 SET"));
    }
}
