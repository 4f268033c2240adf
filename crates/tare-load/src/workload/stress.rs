//! The cassandra-stress shape: reads and writes of whole rows of blobs that follow from the
//! row's number.

use scylla::value::{CqlValue, Row};

use super::keys::{stress_key, STRESS_KEY_LENGTH};
use super::random::Random;
use super::{quoted, Class, StatementText};
use crate::spec::{Spec, StressDistribution};

/// Standard deviations between the middle and an end of cassandra-stress's GAUSSIAN(a..b).
const GAUSSIAN_RANGE: f64 = 3.0;

pub struct Stress {
    keyspace: String,
    table: String,
    records: u64,
    read_share: f64,
    distribution: StressDistribution,
    columns: usize,
    column_size: usize,
}

/// One read or write.
pub struct Request {
    pub class: Class,
    row: u64,
    key: [u8; STRESS_KEY_LENGTH],
    /// The written columns, one after another; empty for a read.
    blobs: Vec<u8>,
    column_size: usize,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            class: Class::Read,
            row: 0,
            key: [0; STRESS_KEY_LENGTH],
            blobs: Vec::new(),
            column_size: 1,
        }
    }
}

impl Request {
    /// Bound values: the columns first, then the key, as the statements have them.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        let columns = self.blobs.chunks_exact(self.column_size);
        columns.chain(std::iter::once(self.key.as_slice()))
    }
}

impl Stress {
    pub fn new(
        spec: &Spec,
        read_share: f64,
        distribution: StressDistribution,
        columns: usize,
        column_size: usize,
    ) -> Stress {
        Stress {
            keyspace: spec.keyspace.clone(),
            table: spec.table.clone(),
            records: spec.records,
            read_share,
            distribution,
            columns,
            column_size,
        }
    }

    /// The read and the write, at the positions of their classes.
    pub fn statements(&self) -> Vec<StatementText> {
        let table = format!("{}.{}", quoted(&self.keyspace), quoted(&self.table));
        let names: Vec<String> = (0..self.columns)
            .map(|i| quoted(&format!("C{i}")))
            .collect();
        let settings: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
        vec![
            StatementText {
                class: Class::Read,
                cql: format!("SELECT {} FROM {table} WHERE key = ?", names.join(", ")),
            },
            StatementText {
                class: Class::Write,
                cql: format!("UPDATE {table} SET {} WHERE key = ?", settings.join(", ")),
            },
        ]
    }

    pub fn draw(&self, random: &mut Random, request: &mut Request) {
        let row = self.pick(random);
        if random.unit() < self.read_share {
            request.class = Class::Read;
            request.row = row;
            request.key = stress_key(row);
            request.blobs.clear();
            request.column_size = self.column_size;
        } else {
            self.write(row, request);
        }
    }

    pub fn write(&self, row: u64, request: &mut Request) {
        request.class = Class::Write;
        request.row = row;
        request.key = stress_key(row);
        request.column_size = self.column_size;
        request.blobs.clear();
        self.fill(row, &mut request.blobs);
    }

    /// A row of 0 to `records` - 1: cassandra-stress's GAUSSIAN(1..n) or UNIFORM(1..n), minus 1.
    fn pick(&self, random: &mut Random) -> u64 {
        match self.distribution {
            StressDistribution::Uniform => random.below(self.records),
            StressDistribution::Gaussian => {
                let last = (self.records - 1) as f64;
                let middle = last / 2.0;
                let draw = middle + random.normal() * middle / GAUSSIAN_RANGE;
                draw.round().clamp(0.0, last) as u64
            }
        }
    }

    /// The row's columns: random bytes from a stream that the row's number seeds.
    fn fill(&self, row: u64, blobs: &mut Vec<u8>) {
        let length = self.columns * self.column_size;
        let mut random = Random::new(&[row]);
        while blobs.len() < length {
            blobs.extend_from_slice(&random.next().to_le_bytes());
        }
        blobs.truncate(length);
    }

    /// Whether the row holds exactly the columns that its number says.
    pub fn holds(&self, request: &Request, row: &Row) -> bool {
        let mut expected = Vec::new();
        self.fill(request.row, &mut expected);
        row.columns.len() == self.columns
            && row
                .columns
                .iter()
                .zip(expected.chunks_exact(self.column_size))
                .all(|(column, blob)| matches!(column, Some(CqlValue::Blob(b)) if b == blob))
    }
}
