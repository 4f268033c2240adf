//! The YCSB core workload's shape: reads of a whole text row, updates of one field.

use tare_cql::Rows;
use tare_engine::request::Request;
use tare_engine::workload::StatementText;

use super::keys::ycsb_key;
use super::random::Random;
use super::zipfian::Scrambled;
use super::{quoted, Drawn, Shape, READ, WRITE};
use crate::spec::{self, Spec, YcsbDistribution};

/// Field values are slices of this many random characters: making each anew would cost the
/// client more than sending it. At 1 MiB, two values in one compressed chunk seldom overlap.
const POOL_BYTES: usize = 1 << 20;

enum Chooser {
    Zipfian(Scrambled),
    Uniform,
}

pub struct Ycsb {
    keyspace: String,
    table: String,
    records: u64,
    read_share: f64,
    chooser: Chooser,
    fields: usize,
    field_length: usize,
    pool: Vec<u8>,
    consistency: spec::Consistency,
}

impl Ycsb {
    pub fn new(spec: &Spec, workload: &spec::Ycsb) -> Ycsb {
        let length = POOL_BYTES + workload.field_length;
        Ycsb {
            keyspace: spec.keyspace.clone(),
            table: spec.table.clone().unwrap_or_default(),
            records: spec.records,
            read_share: workload.read / (workload.read + workload.update),
            chooser: match workload.distribution {
                YcsbDistribution::Zipfian => Chooser::Zipfian(Scrambled::new(spec.records)),
                _ => Chooser::Uniform,
            },
            fields: workload.fields,
            field_length: workload.field_length,
            pool: printable(&mut Random::new(&[spec.seed]), length),
            consistency: spec.consistency,
        }
    }

    fn value(&self, random: &mut Random, request: &mut Request) {
        let start = random.below(POOL_BYTES as u64) as usize;
        request.value(&self.pool[start..start + self.field_length]);
    }
}

impl Shape for Ycsb {
    /// The read, the insert, then an update of each field.
    fn statements(&self) -> Vec<StatementText> {
        let table = format!("{}.{}", quoted(&self.keyspace), quoted(&self.table));
        let names: Vec<String> = (0..self.fields)
            .map(|i| quoted(&format!("field{i}")))
            .collect();
        let marks = vec!["?"; self.fields + 1].join(", ");
        let write = |cql: String| StatementText::new(cql, self.consistency.write);
        let read = format!("SELECT * FROM {table} WHERE y_id = ? LIMIT 1");
        let insert = format!(
            "INSERT INTO {table} ({}, y_id) VALUES ({marks})",
            names.join(", ")
        );
        let mut statements = vec![
            StatementText::new(read, self.consistency.read),
            write(insert),
        ];
        statements.extend(
            names
                .iter()
                .map(|name| write(format!("UPDATE {table} SET {name} = ? WHERE y_id = ?"))),
        );
        statements
    }

    fn draw(&self, random: &mut Random, request: &mut Request) -> Drawn {
        let row = match &self.chooser {
            Chooser::Zipfian(scrambled) => scrambled.draw(random),
            Chooser::Uniform => random.below(self.records),
        };
        let operation = if random.unit() < self.read_share {
            request.execute(0);
            READ
        } else {
            request.execute(2 + random.below(self.fields as u64) as usize);
            self.value(random, request);
            WRITE
        };
        request.value_with(|key| ycsb_key(row, key));
        Drawn { operation, row }
    }

    fn insert(&self, row: u64, random: &mut Random, request: &mut Request) {
        request.execute(1);
        for _ in 0..self.fields {
            self.value(random, request);
        }
        request.value_with(|key| ycsb_key(row, key));
    }

    /// Updates overwrite fields with unrelated values, so that only the key and the length
    /// of every field can be known.
    fn holds(&self, drawn: Drawn, rows: &Rows<'_>) -> bool {
        let mut key = Vec::new();
        ycsb_key(drawn.row, &mut key);
        let Some(Ok(row)) = rows.iter().next() else {
            return false;
        };
        let cells: Vec<Option<&[u8]>> = row.cells().collect();
        let (keys, fields): (Vec<_>, Vec<_>) =
            cells.into_iter().partition(|cell| *cell == Some(&key[..]));
        keys.len() == 1
            && fields.len() == self.fields
            && fields
                .iter()
                .all(|cell| cell.is_some_and(|cell| cell.len() == self.field_length))
    }
}

/// Random printable ASCII characters, space to tilde.
fn printable(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| b' ' + random.below(95) as u8).collect()
}

