//! The workload of a specification, by its `kind`.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::MAX_WEIGHT;
use crate::statements::specification::Statements;

/// Most columns of a row, characters or bytes of one, and rows of a scan.
const MAX_COLUMNS: usize = 1000;
const MAX_BYTES: usize = 1 << 20;
const MAX_SCAN: usize = 1 << 20;
/// What JSON's readers keep whole, and what no run inserts.
pub(super) const MOST_INSERTED: u64 = 1 << 52;

/// The workload by its `kind`.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(tag = "kind", rename_all = "lowercase")]
pub enum Workload {
    Ycsb(Ycsb),
    Stress(Stress),
    Statements(Statements),
}

/// YCSB's core workload.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ycsb {
    /// Weights of the operations.
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub read: f64,
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub update: f64,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub insert: f64,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub scan: f64,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub readmodifywrite: f64,
    #[serde(default)]
    pub distribution: YcsbDistribution,
    #[serde(default)]
    pub insert_order: InsertOrder,
    #[serde(default = "fields")]
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub fields: usize,
    /// Characters per field.
    #[serde(default = "field_length")]
    #[schemars(range(min = 1, max = MAX_BYTES))]
    pub field_length: usize,
    /// Rows of a scan.
    #[serde(default = "shortest_scan")]
    #[schemars(range(min = 1, max = MAX_SCAN))]
    pub shortest_scan: usize,
    #[serde(default = "longest_scan")]
    #[schemars(range(min = 1, max = MAX_SCAN))]
    pub longest_scan: usize,
    /// Numbers behind `records` that are left to other runs on the same table, which insert there.
    #[serde(default)]
    #[schemars(range(max = MOST_INSERTED))]
    pub inserted_before: u64,
}

/// cassandra-stress: reads and full-row writes of blobs, or of counters.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Weights of the two operations.
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub read: f64,
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub write: f64,
    #[serde(default)]
    pub counter: bool,
    #[serde(default = "columns")]
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub columns: usize,
    /// Bytes per column.
    #[serde(default = "column_size")]
    #[schemars(range(min = 1, max = MAX_BYTES))]
    pub column_size: usize,
    #[serde(default)]
    pub distribution: StressDistribution,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum YcsbDistribution {
    #[default]
    Zipfian,
    Uniform,
    Latest,
    Hotspot,
    Exponential,
    Sequential,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InsertOrder {
    #[default]
    Hashed,
    Ordered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StressDistribution {
    #[default]
    Gaussian,
    Uniform,
    Sequence,
}

/// By hand, as serde's own tagged enums lose the name of the field that is wrong.
impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        match fields.remove("kind").as_ref().and_then(Value::as_str) {
            Some("ycsb") => inner(fields).map(Workload::Ycsb),
            Some("stress") => inner(fields).map(Workload::Stress),
            Some("statements") => inner(fields).map(Workload::Statements),
            _ => Err(D::Error::custom(
                "kind: must be \"ycsb\", \"stress\" or \"statements\"",
            )),
        }
    }
}

fn inner<T: DeserializeOwned, E: Error>(fields: Map<String, Value>) -> Result<T, E> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|e| {
        match e.path().to_string() {
            path if path == "." => E::custom(e.inner()),
            path => E::custom(format!("{path}: {}", e.inner())),
        }
    })
}

impl Workload {
    /// Weights of the operations, by the names of their fields.
    pub fn weights(&self) -> Vec<(&str, f64)> {
        match self {
            Workload::Ycsb(ycsb) => vec![
                ("read", ycsb.read),
                ("update", ycsb.update),
                ("insert", ycsb.insert),
                ("scan", ycsb.scan),
                ("readmodifywrite", ycsb.readmodifywrite),
            ],
            Workload::Stress(stress) => vec![("read", stress.read), ("write", stress.write)],
            Workload::Statements(statements) => {
                let operations = statements.operations.iter();
                operations
                    .map(|operation| (operation.name.as_str(), operation.weight))
                    .collect()
            }
        }
    }

    /// Sizes that must be at least 1 and at most so much: (field, value, most).
    pub fn sizes(&self) -> Vec<(&'static str, usize, usize)> {
        match self {
            Workload::Ycsb(ycsb) => vec![
                ("fields", ycsb.fields, MAX_COLUMNS),
                ("field_length", ycsb.field_length, MAX_BYTES),
                ("longest_scan", ycsb.longest_scan, MAX_SCAN),
                ("shortest_scan", ycsb.shortest_scan, ycsb.longest_scan),
            ],
            Workload::Stress(stress) => vec![
                ("columns", stress.columns, MAX_COLUMNS),
                ("column_size", stress.column_size, MAX_BYTES),
            ],
            Workload::Statements(_) => Vec::new(),
        }
    }
}

fn fields() -> usize {
    10
}
fn field_length() -> usize {
    100
}
fn columns() -> usize {
    5
}
fn column_size() -> usize {
    34
}
/// As in YCSB's workload E.
fn shortest_scan() -> usize {
    1
}
fn longest_scan() -> usize {
    100
}
