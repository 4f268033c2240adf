//! The load specification: what JSON is accepted, and which values of it make sense.

mod checks;
mod client;
mod slices;
mod workload;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use tare_cql::Consistency as Level;
use tare_engine::errors::Fatal;

pub use client::Client;
pub use slices::Slicing;
pub use workload::{InsertOrder, Stress, StressDistribution, Workload, Ycsb, YcsbDistribution};

/// Most records that a workload may have: stress keys carry 40 bits of row number.
pub const MAX_RECORDS: u64 = 1 << 40;

/// One load client's order, read once from JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the trial; only repeated in messages.
    pub name: String,
    /// This client, by its name or as one of several.
    pub client: Client,
    /// Contact points, `address:port`.
    pub targets: Vec<String>,
    /// Connection string of a MongoDB deployment, `mongodb://...`, which says where and how; null
    /// is a CQL cluster at the targets.
    #[serde(default)]
    pub mongodb: Option<String>,
    /// Whether a program may answer there that is not MongoDB and only behaves like it.
    #[serde(default)]
    pub stand_in: bool,
    /// Of CQL: connections are made with TLS; null: without.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// The keyspace, or the database.
    pub keyspace: String,
    /// The one table of the kinds that have one.
    #[serde(default)]
    pub table: Option<String>,
    pub workload: Workload,
    pub phase: Phase,
    /// Rows in the table.
    pub records: u64,
    /// Operations in flight (closed loop and populate).
    pub threads: usize,
    /// Operations per second (open loop); null is the closed loop.
    #[serde(default)]
    pub rate: Option<f64>,
    /// Corners of a rate over time, seconds from the start of the measured part; then `rate` is
    /// null.
    #[serde(default)]
    pub schedule: Vec<Corner>,
    /// Mixes over time (statements); empty keeps to the operations' weights.
    #[serde(default)]
    pub mixes: Vec<Mix>,
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Seconds that are left out of the result.
    #[serde(default)]
    pub warmup_s: f64,
    /// Seconds of the measured part.
    #[serde(default = "default_measure_s")]
    pub measure_s: f64,
    /// Seconds between progress lines and between histogram log lines.
    #[serde(default = "default_interval_s")]
    pub interval_s: f64,
    /// Drive the cluster in these slices alone; then no rate changes over time.
    #[serde(default)]
    pub slices: Option<Slicing>,
    /// Each operation opens a connection of its own, which is closed after it, and a slice has so
    /// many at most; null: connections last.
    #[serde(default)]
    pub connections_per_slice: Option<u64>,
    /// Unix time at which the first operation is sent; null is at once.
    #[serde(default)]
    pub start_at: Option<f64>,
    #[serde(default)]
    pub consistency: Consistency,
    /// Seconds after which an unanswered operation counts as an error.
    #[serde(default = "default_timeout_s")]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM file of the certificates that are trusted.
    pub authorities: PathBuf,
    /// The name that a server's certificate must carry; null is its address.
    #[serde(default)]
    pub server_name: Option<String>,
}

/// One corner of a rate over time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corner {
    pub at_s: f64,
    pub rate: f64,
}

/// Weights of operations from some second of the measured part on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    pub at_s: f64,
    pub weights: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Populate,
    Run,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    #[default]
    Poisson,
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    #[serde(deserialize_with = "level")]
    pub read: Level,
    #[serde(deserialize_with = "level")]
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
