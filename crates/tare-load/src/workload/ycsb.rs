//! The YCSB core workload's shape: reads of a whole text row, updates of one field.

use std::rc::Rc;

use scylla::value::{CqlValue, Row};

use super::keys::ycsb_key;
use super::random::Random;
use super::zipfian::Scrambled;
use super::{quoted, Class, StatementText};
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
    pool: Rc<str>,
}

/// One read, update or insert.
pub struct Request {
    pub class: Class,
    pub statement: usize,
    key: String,
    pool: Rc<str>,
    field_length: usize,
    /// Where in the pool each written field's value starts.
    starts: Vec<usize>,
}

impl Request {
    /// Bound values: the fields first, then the key, as the statements have them.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        let values = self
            .starts
            .iter()
            .map(|&start| &self.pool[start..start + self.field_length]);
        values.chain(std::iter::once(self.key.as_str()))
    }
}

impl Ycsb {
    pub fn new(spec: &Spec, workload: &spec::Ycsb) -> Ycsb {
        let length = POOL_BYTES + workload.field_length;
        Ycsb {
            keyspace: spec.keyspace.clone(),
            table: spec.table.clone(),
            records: spec.records,
            read_share: spec.workload.read_share(),
            chooser: match workload.distribution {
                YcsbDistribution::Zipfian => Chooser::Zipfian(Scrambled::new(spec.records)),
                YcsbDistribution::Uniform => Chooser::Uniform,
            },
            fields: workload.fields,
            field_length: workload.field_length,
            pool: printable(&mut Random::new(&[spec.seed]), length).into(),
        }
    }

    /// The read, the insert, then an update of each field.
    pub fn statements(&self) -> Vec<StatementText> {
        let table = format!("{}.{}", quoted(&self.keyspace), quoted(&self.table));
        let names: Vec<String> = (0..self.fields)
            .map(|i| quoted(&format!("field{i}")))
            .collect();
        let marks = vec!["?"; self.fields + 1].join(", ");
        let write = |cql| StatementText {
            class: Class::Write,
            cql,
        };
        let mut statements = vec![
            StatementText {
                class: Class::Read,
                cql: format!("SELECT * FROM {table} WHERE y_id = ? LIMIT 1"),
            },
            write(format!(
                "INSERT INTO {table} ({}, y_id) VALUES ({marks})",
                names.join(", ")
            )),
        ];
        statements.extend(
            names
                .iter()
                .map(|name| write(format!("UPDATE {table} SET {name} = ? WHERE y_id = ?"))),
        );
        statements
    }

    pub fn request(&self) -> Request {
        Request {
            class: Class::Read,
            statement: 0,
            key: String::new(),
            pool: Rc::clone(&self.pool),
            field_length: self.field_length,
            starts: Vec::new(),
        }
    }

    pub fn draw(&self, random: &mut Random, request: &mut Request) {
        let record = match &self.chooser {
            Chooser::Zipfian(scrambled) => scrambled.draw(random),
            Chooser::Uniform => random.below(self.records),
        };
        ycsb_key(record, &mut request.key);
        request.starts.clear();
        if random.unit() < self.read_share {
            request.class = Class::Read;
            request.statement = 0;
        } else {
            request.class = Class::Write;
            request.statement = 2 + random.below(self.fields as u64) as usize;
            request.starts.push(self.start(random));
        }
    }

    pub fn insert(&self, row: u64, random: &mut Random, request: &mut Request) {
        ycsb_key(row, &mut request.key);
        request.class = Class::Write;
        request.statement = 1;
        request.starts.clear();
        for _ in 0..self.fields {
            request.starts.push(self.start(random));
        }
    }

    fn start(&self, random: &mut Random) -> usize {
        random.below(POOL_BYTES as u64) as usize
    }

    /// Updates overwrite fields with unrelated values, so that only the key and the length
    /// of every field can be known.
    pub fn holds(&self, request: &Request, row: &Row) -> bool {
        let texts = row.columns.iter().map(|column| match column {
            Some(CqlValue::Text(text)) => Some(text),
            _ => None,
        });
        let (keys, fields): (Vec<_>, Vec<_>) = texts.partition(|text| *text == Some(&request.key));
        keys.len() == 1
            && fields.len() == self.fields
            && fields
                .iter()
                .all(|text| text.is_some_and(|text| text.len() == self.field_length))
    }
}

/// Random printable ASCII characters, space to tilde.
fn printable(random: &mut Random, length: usize) -> String {
    (0..length)
        .map(|_| char::from(b' ' + random.below(95) as u8))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tests::spec;

    fn shape(read: f64) -> Ycsb {
        let workload = format!(
            r#"{{"kind": "ycsb", "read": {read}, "update": {}, "fields": 2, "field_length": 7}}"#,
            1.0 - read
        );
        let spec = spec(&[("workload", &workload)]);
        match &spec.workload {
            spec::Workload::Ycsb(ycsb) => Ycsb::new(&spec, ycsb),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn statements_are_those_of_the_cql_binding() {
        let cql: Vec<String> = shape(0.5).statements().into_iter().map(|s| s.cql).collect();
        let table = r#""ycsb"."usertable""#;
        assert_eq!(
            cql,
            [
                format!("SELECT * FROM {table} WHERE y_id = ? LIMIT 1"),
                format!(r#"INSERT INTO {table} ("field0", "field1", y_id) VALUES (?, ?, ?)"#),
                format!(r#"UPDATE {table} SET "field0" = ? WHERE y_id = ?"#),
                format!(r#"UPDATE {table} SET "field1" = ? WHERE y_id = ?"#),
            ]
        );
    }

    #[test]
    fn the_mix_is_as_asked_and_updates_spread_over_the_fields() {
        let shape = shape(0.8);
        let (mut request, mut random) = (shape.request(), Random::new(&[1]));
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            shape.draw(&mut random, &mut request);
            counts[request.statement] += 1;
        }
        let near = |count: i32, expected: i32| (count - expected).abs() < 200;
        assert!(near(counts[0], 8000) && counts[1] == 0, "{counts:?}");
        assert!(near(counts[2], 1000) && near(counts[3], 1000), "{counts:?}");
    }

    #[test]
    fn an_insert_binds_every_field_and_then_the_key() {
        let shape = shape(0.5);
        let mut request = shape.request();
        shape.insert(1, &mut Random::new(&[1]), &mut request);
        let cells: Vec<&str> = request.cells().collect();
        assert_eq!(cells.len(), 3);
        assert_eq!(cells[2], "user8517097267634966620");
        for value in &cells[..2] {
            assert_eq!(value.len(), 7);
            assert!(value.bytes().all(|b| (b' '..=b'~').contains(&b)));
        }
        assert_ne!(cells[0], cells[1]);
    }

    #[test]
    fn a_row_is_recognised_by_key_and_lengths() {
        let shape = shape(0.5);
        let mut request = shape.request();
        shape.insert(1, &mut Random::new(&[1]), &mut request);
        let row = |texts: &[&str]| Row {
            columns: texts
                .iter()
                .map(|text| Some(CqlValue::Text((*text).to_owned())))
                .collect(),
        };
        let key = "user8517097267634966620";
        assert!(shape.holds(&request, &row(&[key, "7 chars", "seven c"])));
        assert!(!shape.holds(&request, &row(&[key, "7 chars", "short"])));
        assert!(!shape.holds(&request, &row(&["user1", "7 chars", "seven c"])));
    }
}
