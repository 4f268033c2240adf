//! The properties of measurement and export.

use std::path::PathBuf;

use super::read::{BadProperty, Reader};

/// Percentiles where none are given, or none that can be read.
const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// How latencies are summed up (`measurementtype`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Hdr,
    Buckets,
    HdrAndBuckets,
    Series,
}

/// From when latencies count (`measurement.interval`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// `op`: the send.
    Sent,
    /// `intended`: the time at which `-target` wanted the send.
    Intended,
    Both,
}

/// The form of the summary (`exporter`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    /// One valid JSON array.
    JsonArray,
    /// JSON objects one after the other, which is what YCSB's plain JSON exporter writes.
    Json,
}

/// What is printed and written, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub kind: Kind,
    pub from: From,
    pub percentiles: Vec<f64>,
    /// One bucket is a millisecond.
    pub buckets: usize,
    /// Milliseconds between two points of a series.
    pub granularity: u64,
    /// Every recorded value, too (`measurement.histogram.verbose`).
    pub verbose: bool,
    /// Where interval histograms go: a prefix of file names.
    pub logs: Option<String>,
    pub form: Form,
    pub file: Option<PathBuf>,
    /// Statuses whose latencies get a block of their own; all of them if it names none.
    pub tracked: Tracked,
}

/// Which failures have latencies under their own status (READ-NOT_FOUND) instead of READ-FAILED.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tracked {
    All,
    Named(Vec<String>),
}

impl Tracked {
    pub fn has(&self, status: &str) -> bool {
        match self {
            Tracked::All => true,
            Tracked::Named(names) => names.iter().any(|name| name == status),
        }
    }
}

impl Measure {
    /// Whether every failure's status has latencies of its own.
    pub fn tracks_all(&self) -> bool {
        self.tracked == Tracked::All
    }

    /// The statuses that were named, as Java prints a set.
    pub fn tracked_names(&self) -> String {
        match &self.tracked {
            Tracked::All => String::new(),
            Tracked::Named(names) => names.join(", "),
        }
    }

    pub fn read(reader: &Reader<'_>) -> Result<Measure, BadProperty> {
        if reader.truth_or("measurement.trackjvm", false) {
            reader.remark("property measurement.trackjvm has no meaning here: there is no JVM");
        }
        let logs = reader.truth_or("hdrhistogram.fileoutput", false);
        Ok(Measure {
            kind: kind(reader)?,
            from: from(reader)?,
            percentiles: percentiles(reader),
            buckets: reader.whole_in("histogram.buckets", 1000, 1..=10_000_000)? as usize,
            granularity: reader.whole_in("timeseries.granularity", 1000, 10..=3_600_000)?,
            verbose: reader.truth_or("measurement.histogram.verbose", false),
            logs: logs.then(|| reader.text_or("hdrhistogram.output.path", "").to_owned()),
            form: form(reader)?,
            file: reader.text("exportfile").map(PathBuf::from),
            tracked: tracked(reader),
        })
    }
}

fn kind(reader: &Reader<'_>) -> Result<Kind, BadProperty> {
    let name = "measurementtype";
    Ok(match reader.text_or(name, "hdrhistogram") {
        "hdrhistogram" => Kind::Hdr,
        "histogram" => Kind::Buckets,
        "hdrhistogram+histogram" => Kind::HdrAndBuckets,
        "timeseries" => Kind::Series,
        raw @ ("raw" | "hdrhistogram+raw") => {
            let why = "single latencies are not kept; use hdrhistogram, and \
                       hdrhistogram.fileoutput=true for the histograms of every interval";
            return Err(BadProperty::new(name, raw, why));
        }
        other => {
            let why = "expected hdrhistogram, histogram, hdrhistogram+histogram or timeseries";
            return Err(BadProperty::new(name, other, why));
        }
    })
}

fn from(reader: &Reader<'_>) -> Result<From, BadProperty> {
    let name = "measurement.interval";
    match reader.text_or(name, "op") {
        "op" => Ok(From::Sent),
        "intended" => Ok(From::Intended),
        "both" => Ok(From::Both),
        other => Err(BadProperty::new(
            name,
            other,
            "expected op, intended or both",
        )),
    }
}

fn percentiles(reader: &Reader<'_>) -> Vec<f64> {
    let name = "hdrhistogram.percentiles";
    let Some(text) = reader.text(name) else {
        return PERCENTILES.to_vec();
    };
    let parsed: Option<Vec<f64>> = text
        .split(',')
        .map(|number| number.trim().parse().ok())
        .map(|number| number.filter(|number| (0.0..=100.0).contains(number)))
        .collect();
    parsed.unwrap_or_else(|| {
        reader.remark(format!(
            "property {name}={text} cannot be read; 50,95,99 is used, as YCSB does"
        ));
        PERCENTILES.to_vec()
    })
}

fn form(reader: &Reader<'_>) -> Result<Form, BadProperty> {
    let name = "exporter";
    let Some(class) = reader.text(name) else {
        return Ok(Form::Text);
    };
    match class.rsplit('.').next() {
        Some("TextMeasurementsExporter") => Ok(Form::Text),
        Some("JSONArrayMeasurementsExporter") => Ok(Form::JsonArray),
        Some("JSONMeasurementsExporter") => Ok(Form::Json),
        _ => {
            let why = "expected site.ycsb.measurements.exporter.TextMeasurementsExporter, \
                       ...JSONArrayMeasurementsExporter or ...JSONMeasurementsExporter";
            Err(BadProperty::new(name, class, why))
        }
    }
}

fn tracked(reader: &Reader<'_>) -> Tracked {
    if reader.truth_or("reportlatencyforeacherror", false) {
        return Tracked::All;
    }
    let names = reader.text("latencytrackederrors").unwrap_or("");
    let names = names.split(',').filter(|name| !name.is_empty());
    Tracked::Named(names.map(str::to_owned).collect())
}
