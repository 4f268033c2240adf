//! cassandra-stress's reads and writes for the lab's own runs: its rows, bit for bit, without its
//! command line.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use tare_cql::{Rows, Statement};
use tare_draw::stress::{salt, Column, ColumnSpec, Distribution, Kind, Sampler, PREDEFINED};
use tare_draw::{Rng, Share, Xoshiro};
use tare_engine::errors::{ErrorKind, Fatal};
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{
    Answer, Begin, Follow, Outcome, Seat, Source, StatementText, Workload,
};

use crate::populate::{again, Rows as PopulateRows};
use crate::spec::{Phase, Spec, Stress, StressDistribution};

const READ: usize = 0;
const WRITE: usize = 1;
/// Octets of a key, as the tool's `keysize`.
const KEY: i64 = 10;
/// The increment of a counter, as the tool's `add=fixed(1)`.
const RAISE: i64 = 1;

/// The workload as the engine sees it.
pub struct StressRows {
    spec: Arc<Spec>,
    stress: Stress,
    cells: Cells,
    keys: Keys,
    populated: PopulateRows,
}

/// The rows that the operations of a run use.
#[derive(Clone)]
enum Keys {
    Drawn(Sampler),
    /// The client's own rows, one after the other, again and again.
    InTurn(Arc<AtomicU64>, Share),
}

/// The generators of a row's key and columns.
#[derive(Clone)]
struct Cells {
    key: Column,
    columns: Vec<Column>,
}

impl Cells {
    fn new(stress: &Stress) -> Result<Cells, tare_draw::Error> {
        let sized = |value| ColumnSpec {
            size: Some(Distribution::Fixed { value }),
            ..ColumnSpec::default()
        };
        let key = Column::new("key", Kind::HexBlob, salt(PREDEFINED, "key"), &sized(KEY))?;
        let column = |number| {
            let name = format!("C{number}");
            let size = sized(stress.column_size as i64);
            Column::new(&name, Kind::Blob, salt(PREDEFINED, &name), &size)
        };
        Ok(Cells {
            key,
            columns: (0..stress.columns).map(column).collect::<Result<_, _>>()?,
        })
    }

    /// Writes the key of a row; the tool's seeds count from 1.
    fn write_key(&mut self, row: u64, key: &mut Vec<u8>) {
        key.clear();
        self.key.set_seed(row as i64 + 1);
        self.key.write(key);
    }

    /// Seeds the columns by the key that their row has.
    fn seed_columns(&mut self, key: &[u8]) {
        let seed = self.key.fold(key, 0);
        self.columns
            .iter_mut()
            .for_each(|column| column.set_seed(seed));
    }
}

impl StressRows {
    pub fn new(stress: &Stress, spec: &Spec) -> Result<StressRows, Fatal> {
        let wrong = |e: tare_draw::Error| Fatal::spec("workload", e);
        let distribution = match stress.distribution {
            StressDistribution::Gaussian => format!("GAUSSIAN(1..{})", spec.records.max(2)),
            _ => format!("UNIFORM(1..{})", spec.records.max(2)),
        };
        let distribution = Distribution::parse(&distribution).map_err(wrong)?;
        Ok(StressRows {
            cells: Cells::new(stress).map_err(wrong)?,
            keys: match stress.distribution {
                StressDistribution::Sequence => Keys::InTurn(Arc::default(), spec.client.share),
                _ => Keys::Drawn(Sampler::new(distribution)),
            },
            populated: PopulateRows::of(spec),
            stress: stress.clone(),
            spec: Arc::new(spec.clone()),
        })
    }
}

impl Workload for StressRows {
    type Source = StressSource;

    /// The read and the write, as the tool prepares them but with the names quoted.
    fn statements(&self) -> Vec<StatementText> {
        let table = self.spec.table.as_deref().unwrap_or_default();
        let table = format!("\"{}\".\"{table}\"", self.spec.keyspace);
        let part = |each: fn(&str) -> String| {
            let names = self.cells.columns.iter().map(Column::name);
            names.map(each).collect::<Vec<_>>().join(",")
        };
        let sets = match self.stress.counter {
            true => part(|name| format!("\"{name}\"=\"{name}\"+?")),
            false => part(|name| format!("\"{name}\" = ?")),
        };
        let names = part(|name| format!("\"{name}\""));
        let read = format!("SELECT {names} FROM {table} WHERE KEY=?");
        let write = format!("UPDATE {table} SET {sets} WHERE KEY=?");
        vec![
            StatementText::new(read, self.spec.consistency.read),
            StatementText::new(write, self.spec.consistency.write),
        ]
    }

    fn operations(&self) -> Vec<String> {
        let names = match self.stress.counter {
            true => ["COUNTER_READ", "COUNTER_WRITE"],
            false => ["READ", "WRITE"],
        };
        names.map(str::to_owned).to_vec()
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> StressSource {
        StressSource {
            cells: self.cells.clone(),
            keys: self.keys.clone(),
            records: self.spec.records,
            read_share: self.stress.read / (self.stress.read + self.stress.write),
            counter: self.stress.counter,
            populate: (self.spec.phase == Phase::Populate).then(|| self.populated.clone()),
            validate: self.spec.validate,
            random: Xoshiro::stream(self.spec.stream(), seat.worker as u64),
            key: Vec::new(),
            rows: Vec::new(),
        }
    }
}

/// One worker's operations.
pub struct StressSource {
    cells: Cells,
    keys: Keys,
    records: u64,
    read_share: f64,
    counter: bool,
    populate: Option<PopulateRows>,
    validate: bool,
    random: Xoshiro,
    key: Vec<u8>,
    /// Per slot: the row that it is about.
    rows: Vec<u64>,
}

impl StressSource {
    fn row(&mut self) -> u64 {
        match &mut self.keys {
            Keys::Drawn(sampler) => {
                let drawn = sampler.draw_from(&mut self.random) as u64 - 1;
                drawn.min(self.records - 1)
            }
            Keys::InTurn(next, share) => {
                let place = next.fetch_add(1, Ordering::Relaxed) % share.count(self.records);
                share.nth(place as i64) as u64
            }
        }
    }

    fn write(&mut self, row: u64, request: &mut Request) {
        self.cells.write_key(row, &mut self.key);
        request.execute(WRITE);
        self.cells.seed_columns(&self.key);
        for column in &mut self.cells.columns {
            match self.counter {
                true => request.value(&RAISE.to_be_bytes()),
                false => request.value_with(|value| column.write(value)),
            };
        }
        request.value(&self.key);
    }

    /// A read must find its row: a benchmark of empty reads would measure something else.
    fn check(&mut self, row: u64, rows: &Rows<'_>) -> Outcome {
        if rows.is_empty() {
            return Err(ErrorKind::NotFound);
        }
        if self.validate && !self.counter && !self.holds(row, rows) {
            return Err(ErrorKind::WrongValue);
        }
        Ok(())
    }

    /// Whether the row that was read holds exactly the columns that its number says.
    fn holds(&mut self, row: u64, rows: &Rows<'_>) -> bool {
        let Some(Ok(found)) = rows.iter().next() else {
            return false;
        };
        self.cells.write_key(row, &mut self.key);
        self.cells.seed_columns(&self.key);
        let mut cells = found.cells();
        let mut expected = Vec::new();
        let equal = self.cells.columns.iter_mut().all(|column| {
            expected.clear();
            column.write(&mut expected);
            cells.next() == Some(Some(&expected[..]))
        });
        equal && cells.next().is_none()
    }
}

impl Source for StressSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        if let Some(populate) = &self.populate {
            let Some(row) = populate.next() else {
                return Begin::Finished;
            };
            self.write(row, request);
            return Begin::Send { operation: WRITE };
        }
        let row = self.row();
        if self.rows.len() <= slot {
            self.rows.resize(slot + 1, 0);
        }
        self.rows[slot] = row;
        if self.random.next_f64() < self.read_share {
            self.cells.write_key(row, &mut self.key);
            request.execute(READ).value(&self.key);
            return Begin::Send { operation: READ };
        }
        self.write(row, request);
        Begin::Send { operation: WRITE }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        _request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        match answer {
            Answer::Failed { kind, .. } if self.populate.is_some() => again(*kind, notes),
            Answer::Failed { kind, .. } => Follow::Done(Err(*kind)),
            Answer::Rows(rows) => Follow::Done(self.check(self.rows[slot], rows)),
            Answer::Void => Follow::Done(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests;
