//! The load specification: what JSON is accepted, and which values of it make sense.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::errors::Fatal;

/// Most records that a workload may have: stress keys carry 40 bits of row number.
pub const MAX_RECORDS: u64 = 1 << 40;

/// One load client's order, read once from JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the trial; only repeated in messages.
    pub name: String,
    /// Unit name of this client: c1, c2, ...
    pub client: String,
    /// Contact points, `address:port`.
    pub targets: Vec<String>,
    pub keyspace: String,
    pub table: String,
    pub workload: Workload,
    pub phase: Phase,
    /// Rows in the table.
    pub records: u64,
    /// Operations in flight (closed loop and populate).
    pub threads: usize,
    /// Operations per second (open loop); null is the closed loop.
    #[serde(default)]
    pub rate: Option<f64>,
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

/// The workload by its `kind`.
#[derive(Debug, Clone, PartialEq)]
pub enum Workload {
    Ycsb(Ycsb),
    Stress(Stress),
}

/// YCSB core workload: reads and single-field updates of a wide text row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ycsb {
    /// Weights of the two operations.
    pub read: f64,
    pub update: f64,
    #[serde(default)]
    pub distribution: YcsbDistribution,
    #[serde(default = "default_fields")]
    pub fields: usize,
    /// Characters per field.
    #[serde(default = "default_field_length")]
    pub field_length: usize,
}

/// cassandra-stress: reads and full-row writes of blobs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Weights of the two operations.
    pub read: f64,
    pub write: f64,
    #[serde(default = "default_columns")]
    pub columns: usize,
    /// Bytes per column.
    #[serde(default = "default_column_size")]
    pub column_size: usize,
    #[serde(default)]
    pub distribution: StressDistribution,
}

/// By hand, as serde's own tagged enums lose the name of the field that is wrong.
impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        match fields.remove("kind").as_ref().and_then(Value::as_str) {
            Some("ycsb") => inner(fields).map(Workload::Ycsb),
            Some("stress") => inner(fields).map(Workload::Stress),
            _ => Err(D::Error::custom("kind: must be \"ycsb\" or \"stress\"")),
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
    /// Weights of reads and of writes.
    pub fn mix(&self) -> (f64, f64) {
        match self {
            Workload::Ycsb(ycsb) => (ycsb.read, ycsb.update),
            Workload::Stress(stress) => (stress.read, stress.write),
        }
    }

    /// Share of the reads, 0 to 1.
    pub fn read_share(&self) -> f64 {
        let (read, write) = self.mix();
        read / (read + write)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum YcsbDistribution {
    #[default]
    Zipfian,
    Uniform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StressDistribution {
    #[default]
    Gaussian,
    Uniform,
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

/// A CQL consistency level by its CQL name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    Any,
    One,
    Two,
    Three,
    Quorum,
    All,
    LocalQuorum,
    EachQuorum,
    LocalOne,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    pub read: Level,
    pub write: Level,
}

impl Default for Consistency {
    fn default() -> Self {
        Consistency {
            read: Level::Quorum,
            write: Level::Quorum,
        }
    }
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
fn default_fields() -> usize {
    10
}
fn default_field_length() -> usize {
    100
}
fn default_columns() -> usize {
    5
}
fn default_column_size() -> usize {
    34
}

impl Spec {
    /// Reads a specification and refuses what could not run; the error names the field.
    pub fn parse(text: &str) -> Result<Spec, Fatal> {
        let mut json = serde_json::Deserializer::from_str(text);
        let spec: Spec = serde_path_to_error::deserialize(&mut json)
            .map_err(|e| Fatal::spec(e.path().to_string(), e.inner()))?;
        json.end().map_err(|e| Fatal::spec(".", e))?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), Fatal> {
        let refuse = |field: &str, why: String| Err(Fatal::spec(field, why));
        if self.targets.is_empty() {
            return refuse("targets", "needs at least one address:port".into());
        }
        for target in &self.targets {
            if !is_target(target) {
                return refuse("targets", format!("{target:?} is not address:port"));
            }
        }
        for (field, name) in [("keyspace", &self.keyspace), ("table", &self.table)] {
            if !is_identifier(name) {
                return refuse(field, format!("{name:?} is not a CQL identifier"));
            }
        }
        if self.records == 0 || self.records > MAX_RECORDS {
            return refuse("records", format!("must be 1 to {MAX_RECORDS}"));
        }
        if self.threads == 0 || self.threads > 100_000 {
            return refuse("threads", "must be 1 to 100000".into());
        }
        if let Some(rate) = self.rate {
            if !(rate.is_finite() && rate > 0.0 && rate <= 10e6) {
                return refuse("rate", "must be above 0 and at most 10 million".into());
            }
        }
        self.check_times()?;
        self.check_workload()
    }

    fn check_times(&self) -> Result<(), Fatal> {
        for (field, seconds, least) in [
            ("warmup_s", self.warmup_s, 0.0),
            ("measure_s", self.measure_s, 0.001),
            ("interval_s", self.interval_s, 0.01),
            ("timeout_s", self.timeout_s, 0.001),
        ] {
            if !(seconds >= least && seconds <= 1e7) {
                return Err(Fatal::spec(
                    field,
                    format!("must be {least} to 1e7 seconds"),
                ));
            }
        }
        if self.start_at.is_some_and(|at| !(0.0..=1e11).contains(&at)) {
            return Err(Fatal::spec("start_at", "must be seconds of Unix time"));
        }
        Ok(())
    }

    fn check_workload(&self) -> Result<(), Fatal> {
        let (read, write) = self.workload.mix();
        let (name, fields, size) = match &self.workload {
            Workload::Ycsb(ycsb) => (
                "update",
                ("fields", ycsb.fields),
                ("field_length", ycsb.field_length),
            ),
            Workload::Stress(stress) => (
                "write",
                ("columns", stress.columns),
                ("column_size", stress.column_size),
            ),
        };
        let mix = [("read", read), (name, write)];
        for (field, weight) in mix {
            if !(0.0..=1e9).contains(&weight) {
                return Err(Fatal::spec(format!("workload.{field}"), "must be 0 to 1e9"));
            }
        }
        if mix.iter().all(|(_, weight)| *weight == 0.0) {
            return Err(Fatal::spec("workload.read", "no operation has a weight"));
        }
        for ((field, value), most) in [(fields, 1000), (size, 1 << 20)] {
            if value == 0 || value > most {
                return Err(Fatal::spec(
                    format!("workload.{field}"),
                    format!("must be 1 to {most}"),
                ));
            }
        }
        Ok(())
    }
}

fn is_target(target: &str) -> bool {
    target.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// Names go into CQL text, so that nothing but plain identifiers may pass.
fn is_identifier(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
pub mod tests;
