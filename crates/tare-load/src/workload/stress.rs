//! The cassandra-stress shape: reads and writes of whole rows of blobs that follow from the
//! row's number.

use tare_cql::Rows;
use tare_engine::request::Request;
use tare_engine::workload::StatementText;

use super::keys::stress_key;
use super::random::Random;
use super::{quoted, Drawn, Shape, READ, WRITE};
use crate::spec::{self, Spec, StressDistribution};

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
    consistency: spec::Consistency,
}

impl Stress {
    pub fn new(spec: &Spec, workload: &spec::Stress) -> Stress {
        Stress {
            keyspace: spec.keyspace.clone(),
            table: spec.table.clone().unwrap_or_default(),
            records: spec.records,
            read_share: workload.read / (workload.read + workload.write),
            distribution: workload.distribution,
            columns: workload.columns,
            column_size: workload.column_size,
            consistency: spec.consistency,
        }
    }

    /// A row of 0 to `records` - 1: cassandra-stress's GAUSSIAN(1..n) or UNIFORM(1..n), minus 1.
    fn pick(&self, random: &mut Random) -> u64 {
        match self.distribution {
            _ => random.below(self.records),
            StressDistribution::Gaussian => {
                let last = (self.records - 1) as f64;
                let middle = last / 2.0;
                let draw = middle + random.normal() * middle / GAUSSIAN_RANGE;
                draw.round().clamp(0.0, last) as u64
            }
        }
    }

    /// The row's columns, one after another: random bytes from a stream that the row's number
    /// seeds.
    fn columns(&self, row: u64) -> impl FnMut(&mut Vec<u8>) + '_ {
        let mut random = Random::new(&[row]);
        move |blob| {
            let end = blob.len() + self.column_size;
            while blob.len() < end {
                let bytes = random.next().to_le_bytes();
                blob.extend_from_slice(&bytes[..bytes.len().min(end - blob.len())]);
            }
        }
    }
}

impl Shape for Stress {
    /// The read and the write, at the positions of their operations.
    fn statements(&self) -> Vec<StatementText> {
        let table = format!("{}.{}", quoted(&self.keyspace), quoted(&self.table));
        let names: Vec<String> = (0..self.columns)
            .map(|i| quoted(&format!("C{i}")))
            .collect();
        let settings: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
        let read = format!("SELECT {} FROM {table} WHERE key = ?", names.join(", "));
        let write = format!("UPDATE {table} SET {} WHERE key = ?", settings.join(", "));
        vec![
            StatementText::new(read, self.consistency.read),
            StatementText::new(write, self.consistency.write),
        ]
    }

    fn draw(&self, random: &mut Random, request: &mut Request) -> Drawn {
        let row = self.pick(random);
        if random.unit() < self.read_share {
            request.execute(READ).value(&stress_key(row));
            return Drawn {
                operation: READ,
                row,
            };
        }
        self.insert(row, random, request);
        Drawn {
            operation: WRITE,
            row,
        }
    }

    fn insert(&self, row: u64, _random: &mut Random, request: &mut Request) {
        request.execute(WRITE);
        let mut column = self.columns(row);
        for _ in 0..self.columns {
            request.value_with(&mut column);
        }
        request.value(&stress_key(row));
    }

    /// Whether the row holds exactly the columns that its number says.
    fn holds(&self, drawn: Drawn, rows: &Rows<'_>) -> bool {
        let Some(Ok(row)) = rows.iter().next() else {
            return false;
        };
        let mut column = self.columns(drawn.row);
        let mut cells = row.cells();
        let equal = (0..self.columns).all(|_| {
            let mut expected = Vec::new();
            column(&mut expected);
            cells.next() == Some(Some(&expected[..]))
        });
        equal && cells.next().is_none()
    }
}
