//! The YCSB core workload's shape: reads of a whole text row, updates of one field.

use std::rc::Rc;

use scylla::value::{CqlValue, Row};

use super::keys::ycsb_key;
use super::random::Random;
use super::zipfian::Scrambled;
use super::{quoted, Class, StatementText};
use crate::spec::{Spec, YcsbDistribution};

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
    pub fn new(
        spec: &Spec,
        read_share: f64,
        distribution: YcsbDistribution,
        fields: usize,
        field_length: usize,
    ) -> Ycsb {
        Ycsb {
            keyspace: spec.keyspace.clone(),
            table: spec.table.clone(),
            records: spec.records,
            read_share,
            chooser: match distribution {
                YcsbDistribution::Zipfian => Chooser::Zipfian(Scrambled::new(spec.records)),
                YcsbDistribution::Uniform => Chooser::Uniform,
            },
            fields,
            field_length,
            pool: printable(&mut Random::new(&[spec.seed]), POOL_BYTES + field_length).into(),
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
