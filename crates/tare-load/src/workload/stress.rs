//! The cassandra-stress shape: reads and writes of whole rows of blobs that follow from the
//! row's number.

use scylla::value::{CqlValue, Row};

use super::keys::{stress_key, STRESS_KEY_LENGTH};
use super::random::Random;
use super::{quoted, Class, StatementText};
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
    pub fn new(spec: &Spec, workload: &spec::Stress) -> Stress {
        Stress {
            keyspace: spec.keyspace.clone(),
            table: spec.table.clone(),
            records: spec.records,
            read_share: spec.workload.read_share(),
            distribution: workload.distribution,
            columns: workload.columns,
            column_size: workload.column_size,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::tests::spec;

    fn shape(distribution: &str, records: &str) -> Stress {
        let workload = format!(
            r#"{{"kind": "stress", "read": 1, "write": 1, "columns": 2, "column_size": 5,
                "distribution": "{distribution}"}}"#
        );
        let spec = spec(&[("workload", &workload), ("records", records)]);
        match &spec.workload {
            spec::Workload::Stress(stress) => Stress::new(&spec, stress),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn statements_are_those_of_the_tool() {
        let cql: Vec<String> = shape("uniform", "10")
            .statements()
            .into_iter()
            .map(|s| s.cql)
            .collect();
        let table = r#""ycsb"."usertable""#;
        assert_eq!(
            cql,
            [
                format!(r#"SELECT "C0", "C1" FROM {table} WHERE key = ?"#),
                format!(r#"UPDATE {table} SET "C0" = ?, "C1" = ? WHERE key = ?"#),
            ]
        );
    }

    #[test]
    fn gaussian_picks_have_the_mean_and_deviation_of_the_tool() {
        let shape = shape("gaussian", "100001");
        let mut random = Random::new(&[2]);
        let picks: Vec<f64> = (0..50_000)
            .map(|_| shape.pick(&mut random) as f64)
            .collect();
        let mean = picks.iter().sum::<f64>() / 50_000.0;
        let variance = picks.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 50_000.0;
        assert!((mean - 50_000.0).abs() < 400.0, "{mean}");
        // (b - a) / 2 / 3, a little less for the clamped ends.
        assert!((variance.sqrt() - 16_600.0).abs() < 300.0, "{variance}");
    }

    proptest! {
        #[test]
        fn picks_stay_among_the_rows(seed: u64, records in 1u64..1000, gaussian: bool) {
            let name = if gaussian { "gaussian" } else { "uniform" };
            let shape = shape(name, &records.to_string());
            prop_assert!(shape.pick(&mut Random::new(&[seed])) < records);
        }

        #[test]
        fn a_row_holds_exactly_what_was_written_to_it(row in 0u64..1 << 40) {
            let shape = shape("uniform", "10");
            let mut request = Request::default();
            shape.write(row, &mut request);
            let cells: Vec<&[u8]> = request.cells().collect();
            prop_assert_eq!(cells.len(), 3);
            prop_assert_eq!(cells[2].to_vec(), stress_key(row).to_vec());
            let blobs = |cells: &[&[u8]]| Row {
                columns: cells.iter().map(|b| Some(CqlValue::Blob(b.to_vec()))).collect(),
            };
            prop_assert!(shape.holds(&request, &blobs(&cells[..2])));
            prop_assert!(!shape.holds(&request, &blobs(&cells[..1])));
            prop_assert!(!shape.holds(&request, &blobs(&[cells[1], cells[0]])));
        }
    }
}
