//! What the specification says of a workload of prepared statements.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tare_cql::Consistency;

/// A mix of prepared statements with typed generators.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statements {
    pub operations: Vec<Operation>,
    /// What fills the table; none where there is nothing to fill.
    #[serde(default)]
    pub populate: Option<Operation>,
}

/// One statement and where its values come from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// As it is recorded.
    pub name: String,
    pub cql: String,
    pub weight: f64,
    #[serde(deserialize_with = "crate::spec::level")]
    pub consistency: Consistency,
    #[serde(default, deserialize_with = "crate::spec::level_or_none")]
    pub serial_consistency: Option<Consistency>,
    #[serde(default)]
    pub page_size: Option<i32>,
    #[serde(default)]
    pub rows: Wanted,
    /// By the bind marker's name.
    pub values: BTreeMap<String, Generator>,
}

/// How many rows an answer must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    #[default]
    Any,
    One,
    Some,
}

/// Where a bind marker's values come from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Generator {
    Number(Number),
    /// The number that another marker of the same operation drew.
    Like {
        marker: String,
        #[serde(default = "one")]
        divide: i64,
        #[serde(default)]
        modulo: Option<i64>,
        #[serde(default)]
        hashed: bool,
        #[serde(default)]
        format: Option<String>,
    },
    Text {
        shortest: usize,
        longest: usize,
    },
    Blob {
        shortest: usize,
        longest: usize,
    },
    Real {
        least: f64,
        most: f64,
    },
    Boolean {
        share: f64,
    },
    Constant {
        value: Value,
    },
    Choice {
        values: Vec<(Value, f64)>,
    },
    Now {},
}

/// Whole numbers and what becomes of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    pub distribution: Distribution,
    pub first: i64,
    /// None only where a sequence has no end.
    #[serde(default)]
    pub last: Option<i64>,
    #[serde(default = "theta")]
    pub theta: f64,
    #[serde(default)]
    pub grown_by: Option<String>,
    #[serde(default = "hot")]
    pub hot: f64,
    #[serde(default = "hot_operations")]
    pub hot_operations: f64,
    #[serde(default = "percentile")]
    pub percentile: f64,
    #[serde(default = "within")]
    pub within: f64,
    #[serde(default = "sigmas")]
    pub sigmas: f64,
    #[serde(default = "one")]
    pub divide: i64,
    #[serde(default)]
    pub modulo: Option<i64>,
    #[serde(default)]
    pub hashed: bool,
    #[serde(default)]
    pub format: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    Sequence,
    Uniform,
    Zipf,
    ScrambledZipfian,
    Latest,
    Hotspot,
    Exponential,
    Gaussian,
}

fn one() -> i64 {
    1
}
/// YCSB's constants where nothing else is said.
fn theta() -> f64 {
    0.99
}
fn hot() -> f64 {
    0.2
}
fn hot_operations() -> f64 {
    0.8
}
fn percentile() -> f64 {
    95.0
}
fn within() -> f64 {
    0.857_142_857_1
}
fn sigmas() -> f64 {
    3.0
}
