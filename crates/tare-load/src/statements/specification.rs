//! What the specification says of a workload of prepared statements.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tare_cql::Consistency;

use crate::spec::{schema, MAX_WEIGHT};

/// Most characters or bytes of one value.
pub const LONGEST: usize = 1 << 24;

/// A mix of prepared statements with typed generators.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statements {
    #[schemars(length(min = 1))]
    pub operations: Vec<Operation>,
    /// What fills the table, and its sequences count the rows; null where there is nothing to fill.
    #[serde(default)]
    pub populate: Option<Operation>,
}

/// One statement and where its values come from.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// As it is recorded.
    #[schemars(regex(pattern = "^[A-Z0-9][A-Z0-9_-]{0,47}$"))]
    pub name: String,
    pub cql: String,
    /// Share of the mix.
    #[schemars(range(min = 0.0, max = MAX_WEIGHT))]
    pub weight: f64,
    #[serde(deserialize_with = "crate::spec::level")]
    #[schemars(schema_with = "schema::level")]
    pub consistency: Consistency,
    #[serde(default, deserialize_with = "crate::spec::level_or_none")]
    #[schemars(schema_with = "schema::serial_level")]
    pub serial_consistency: Option<Consistency>,
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub page_size: Option<i32>,
    /// Rows that an answer must have.
    #[serde(default)]
    pub rows: Wanted,
    /// Each bind marker's generator.
    pub values: BTreeMap<String, Generator>,
}

/// How many rows an answer must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    #[default]
    Any,
    One,
    Some,
}

/// Where a bind marker's values come from.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Generator {
    Number(Number),
    /// The number that another marker of the same operation drew.
    Like {
        marker: String,
        /// The number is divided by this and rounded down.
        #[serde(default = "one")]
        #[schemars(range(min = 1))]
        divide: i64,
        /// Then the remainder of a division by this; null: not.
        #[serde(default)]
        #[schemars(range(min = 1))]
        modulo: Option<i64>,
        /// Then the absolute value of its FNV-1a 64 hash, lowest octet first, as YCSB's keys.
        #[serde(default)]
        hashed: bool,
        /// Then a text with the number in the place of %d; null: the column's own type.
        #[serde(default)]
        #[schemars(regex(pattern = "%d"))]
        format: Option<String>,
    },
    /// Random printable characters.
    Text {
        shortest: usize,
        #[schemars(range(max = LONGEST))]
        longest: usize,
    },
    /// Random bytes.
    Blob {
        shortest: usize,
        #[schemars(range(max = LONGEST))]
        longest: usize,
    },
    /// A uniform number.
    Real {
        least: f64,
        most: f64,
    },
    /// True in this share of the draws.
    Boolean {
        #[schemars(range(min = 0.0, max = 1.0))]
        share: f64,
    },
    Constant {
        #[schemars(schema_with = "schema::constant")]
        value: Value,
    },
    /// One of these, by weight.
    Choice {
        #[schemars(schema_with = "schema::choices")]
        values: Vec<(Value, f64)>,
    },
    /// The time of the send.
    Now {},
}

/// A whole number from `first` to `last`, both included, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Number {
    pub distribution: Distribution,
    pub first: i64,
    /// Null: no end, for sequence only.
    #[serde(default)]
    pub last: Option<i64>,
    /// zipf, latest: exponent.
    #[serde(default = "theta")]
    pub theta: f64,
    /// latest: the operation whose acknowledgements move the newest number.
    #[serde(default)]
    pub grown_by: Option<String>,
    /// hotspot: share of the range.
    #[serde(default = "hot")]
    pub hot: f64,
    /// hotspot: share of the operations.
    #[serde(default = "hot_operations")]
    pub hot_operations: f64,
    /// exponential: this share of the draws, in percent,
    #[serde(default = "percentile")]
    pub percentile: f64,
    /// falls into this share of the range, counted back from its end.
    #[serde(default = "within")]
    pub within: f64,
    /// gaussian: standard deviations from the middle to either end.
    #[serde(default = "sigmas")]
    pub sigmas: f64,
    /// The number is divided by this and rounded down.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub divide: i64,
    /// Then the remainder of a division by this; null: not.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub modulo: Option<i64>,
    /// Then the absolute value of its FNV-1a 64 hash, lowest octet first, as YCSB's keys.
    #[serde(default)]
    pub hashed: bool,
    /// Then a text with the number in the place of %d; null: the column's own type.
    #[serde(default)]
    #[schemars(regex(pattern = "%d"))]
    pub format: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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
