//! The load specification: what JSON is accepted, and which values of it make sense.

mod checks;
mod client;
pub mod schema;
mod slices;
mod workload;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use tare_cql::Consistency as Level;
use tare_engine::errors::Fatal;

pub use client::Client;
pub use slices::Slicing;
pub use workload::{InsertOrder, Stress, StressDistribution, Workload, Ycsb, YcsbDistribution};

/// Most records that a workload may have: stress keys carry 40 bits of row number.
pub const MAX_RECORDS: u64 = 1 << 40;
/// Most operations in flight.
pub const MAX_THREADS: usize = 100_000;
/// Longest times, seconds, and largest weight.
pub const MAX_SECONDS: f64 = 1e7;
pub const MAX_WEIGHT: f64 = 1e9;
/// Operations per second beyond which nothing is believed.
pub const HIGHEST_RATE: f64 = 10e6;

/// What `tare-load run` reads: one load client's order.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the trial; only repeated in messages.
    pub name: String,
    /// This client, by its name or as one of several.
    pub client: Client,
    /// Contact points, `address:port`.
    #[schemars(length(min = 1), inner(regex(pattern = ":[0-9]+$")))]
    pub targets: Vec<String>,
    /// Connection string of a MongoDB deployment, `mongodb://...`, which says where and how; null
    /// is a CQL cluster at the targets.
    #[serde(default)]
    #[schemars(regex(pattern = "^mongodb://"))]
    pub mongodb: Option<String>,
    /// Of MongoDB: member, by the name that the set has for it, to where this client reaches it; others
    /// are where their names say.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub reached: BTreeMap<String, String>,
    /// Whether a program may answer there that is not MongoDB and only behaves like it.
    #[serde(default)]
    pub stand_in: bool,
    /// Of CQL: connections are made with TLS; null: without.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// The keyspace, or the database.
    pub keyspace: String,
    /// The one table of the kinds that have one; null: the statements name their own.
    #[serde(default)]
    pub table: Option<String>,
    pub workload: Workload,
    /// `populate`: one insert per record, then the end.
    pub phase: Phase,
    /// Rows in the table.
    #[schemars(range(min = 1, max = MAX_RECORDS))]
    pub records: u64,
    /// Operations in flight; in an open loop the most of them.
    #[schemars(range(min = 1, max = MAX_THREADS))]
    pub threads: usize,
    /// Open loop: operations/s; null: closed loop, or a schedule.
    #[serde(default)]
    #[schemars(range(max = HIGHEST_RATE), extend("exclusiveMinimum" = 0))]
    pub rate: Option<f64>,
    /// Open loop: corners of a rate made of straight lines; two at one time are a step. Before the
    /// measured part the first corner's rate, after the last corner its rate. `rate` is null then.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub schedule: Vec<Corner>,
    /// Kind `statements`: weights of the operations from a time on; before, the first ones. Empty
    /// keeps to the operations' own.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub mixes: Vec<Mix>,
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Seconds that are left out of the result.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = MAX_SECONDS))]
    pub warmup_s: f64,
    /// Seconds of the measured part.
    #[serde(default = "default_measure_s")]
    #[schemars(range(min = 0.001, max = MAX_SECONDS))]
    pub measure_s: f64,
    /// Seconds between progress lines and between lines of the histogram log.
    #[serde(default = "default_interval_s")]
    #[schemars(range(min = 0.01, max = MAX_SECONDS))]
    pub interval_s: f64,
    /// Drive the cluster in these slices alone, which take the place of `warmup_s`, `measure_s` and
    /// `interval_s`; null: in one piece.
    #[serde(default)]
    pub slices: Option<Slicing>,
    /// Each operation opens a connection of its own, which is closed after it, and a slice has so
    /// many at most; needs slices, one thread, no rate, CQL. Null: connections last.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub connections_per_slice: Option<u64>,
    /// Unix time at which the first operation is sent; null is at once.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e11))]
    pub start_at: Option<f64>,
    #[serde(default)]
    pub consistency: Consistency,
    /// Seconds after which an unanswered operation counts as an error.
    #[serde(default = "default_timeout_s")]
    #[schemars(range(min = 0.001, max = MAX_SECONDS))]
    pub timeout_s: f64,
    #[serde(default)]
    pub seed: u64,
    /// Path of the interval histogram log; null writes none.
    #[serde(default)]
    pub hlog: Option<String>,
    /// Compare what reads return with what was written, where that can be known.
    #[serde(default)]
    pub validate: bool,
}

/// Whom connections with TLS trust.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM file of the certificates that are trusted.
    pub authorities: PathBuf,
    /// The name that a server's certificate must carry; null is its address.
    #[serde(default)]
    pub server_name: Option<String>,
}

/// One corner of a rate over time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corner {
    /// Seconds from the start of the measured part.
    #[schemars(range(min = 0.0))]
    pub at_s: f64,
    /// Operations/s.
    #[schemars(range(min = 0.0, max = HIGHEST_RATE))]
    pub rate: f64,
}

/// Weights of operations from some second of the measured part on.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Seconds from the start of the measured part.
    #[schemars(range(min = 0.0))]
    pub at_s: f64,
    /// Of any scale, by the operation's name.
    #[schemars(schema_with = "schema::weights")]
    pub weights: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Populate,
    Run,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    #[default]
    Poisson,
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    #[serde(deserialize_with = "level")]
    #[schemars(schema_with = "schema::level")]
    pub read: Level,
    #[serde(deserialize_with = "level")]
    #[schemars(schema_with = "schema::level")]
    pub write: Level,
}

/// A consistency level by its CQL name.
pub fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Level, D::Error> {
    let name = String::deserialize(deserializer)?;
    Level::parse(&name)
        .ok_or_else(|| D::Error::custom(format!("{name:?} is not a consistency level")))
}

impl Default for Consistency {
    fn default() -> Self {
        Consistency {
            read: Level::Quorum,
            write: Level::Quorum,
        }
    }
}

/// The same where there need not be one.
pub fn level_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Level>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let level = Level::parse(&name);
    level
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("{name:?} is not a consistency level")))
}

fn default_measure_s() -> f64 {
    10.0
}
fn default_interval_s() -> f64 {
    1.0
}
fn default_timeout_s() -> f64 {
    5.0
}

impl Spec {
    /// The seed of this client's draws: no two clients of a run draw the same.
    pub fn stream(&self) -> u64 {
        self.client.stream(self.seed)
    }

    /// Reads a specification and refuses what could not run; the error names the field.
    pub fn parse(text: &str) -> Result<Spec, Fatal> {
        let mut json = serde_json::Deserializer::from_str(text);
        let spec: Spec = serde_path_to_error::deserialize(&mut json)
            .map_err(|e| Fatal::spec(e.path().to_string(), e.inner()))?;
        json.end().map_err(|e| Fatal::spec(".", e))?;
        spec.check()?;
        Ok(spec)
    }
}

#[cfg(test)]
pub mod tests;
