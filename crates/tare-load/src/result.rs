//! The final report of the client, summed up over the intervals of the measured part.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tare_engine::errors::ErrorKind;
use tare_engine::record::{ByKind, OperationRecord};
use tare_engine::saturation::Facts;
use tare_engine::totals::{per, Totals};

use crate::steady::Steadiness;

/// One kind of operation over the measured part; times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationResult {
    pub operation: String,
    pub ok: u64,
    pub errors: u64,
    /// Without an answer at the end; the means and histograms count them with their ages then.
    pub under_way: u64,
    pub service_mean_us: f64,
    pub response_mean_us: f64,
}

/// The last line of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientResult {
    pub client: String,
    pub hlog: String,
    pub measured_s: f64,
    pub start_unix: f64,
    pub ok: u64,
    pub errors: u64,
    pub throughput: f64,
    pub operations: Vec<OperationResult>,
    pub errors_by_kind: BTreeMap<&'static str, u64>,
    /// Requests that were sent again, by what had failed; never folded into `errors`.
    pub retries_by_kind: BTreeMap<&'static str, u64>,
    pub cpu_us_per_op: f64,
    #[serde(flatten)]
    pub facts: Facts,
    /// Requests that had to wait in the client because their node did not read what was sent before them.
    pub blocked: u64,
    /// Operations whose reply came after the drain of their slice; 0 in one piece.
    pub undrained: u64,
    /// Operations without an answer at the end: their ages are in the histograms, and they are in no
    /// other count.
    pub under_way: u64,
    /// Longest time without an answer, by the client's own clock of the measured part, seconds;
    /// exact from 100 ms on.
    pub longest_gap_s: f64,
    /// Whether the throughput settled; null where there are fewer than 55 intervals.
    pub steadiness: Option<Steadiness>,
    pub saturated: bool,
    pub saturation_reasons: Vec<String>,
    pub version: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The program that answered in the database's stead: then nothing here says anything of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
}

/// What the totals do not know of the run.
pub struct Frame<'a> {
    pub client: &'a str,
    pub hlog: Option<&'a str>,
    pub start_unix: f64,
    pub operations: &'a [String],
    pub stopped: bool,
    pub stand_in: Option<&'a str>,
    pub steadiness: Option<Steadiness>,
}

/// The result of a run.
pub fn result(totals: &Totals, frame: &Frame) -> ClientResult {
    let (counts, reasons) = (&totals.counts, totals.saturation());
    ClientResult {
        client: frame.client.to_owned(),
        hlog: frame.hlog.map_or_else(String::new, file_name),
        measured_s: totals.seconds,
        start_unix: frame.start_unix,
        ok: counts.sum(|record| record.ok),
        errors: counts.sum(OperationRecord::failures),
        throughput: totals.throughput(),
        operations: operations(totals, frame.operations),
        errors_by_kind: by_name(counts.by_kind(|record| &record.errors)),
        retries_by_kind: by_name(counts.by_kind(|record| &record.retries)),
        cpu_us_per_op: totals.cpu_us_per_op(),
        facts: totals.facts(),
        blocked: counts.blocked,
        undrained: counts.undrained,
        under_way: counts.sum(|record| record.under_way),
        longest_gap_s: totals.longest_gap as f64 / 1e9,
        steadiness: frame.steadiness.clone(),
        saturated: !reasons.is_empty(),
        saturation_reasons: reasons,
        version: env!("CARGO_PKG_VERSION"),
        stopped: frame.stopped,
        stand_in: frame.stand_in.map(str::to_owned),
    }
}

/// Operations that happened, or at least failed.
fn operations(totals: &Totals, names: &[String]) -> Vec<OperationResult> {
    let result = |(record, name): (&OperationRecord, &String)| {
        let mean = |sum: u64| per(sum as f64 / 1000.0, record.timed() as f64);
        OperationResult {
            operation: name.clone(),
            ok: record.ok,
            errors: record.failures(),
            under_way: record.under_way,
            service_mean_us: mean(record.service_sum),
            response_mean_us: mean(record.response_sum),
        }
    };
    let records = totals.counts.operations.iter();
    records.zip(names).map(result).collect()
}

fn by_name(counts: ByKind) -> BTreeMap<&'static str, u64> {
    let counted = ErrorKind::ALL.iter().zip(counts);
    counted
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| (kind.name(), count))
        .collect()
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(stopped: bool) -> ClientResult {
        let mut totals = Totals::new(2, false);
        let record = &mut totals.counts.operations[0];
        record.ok = 180;
        record.service_sum = 180 * 1_000_000;
        record.response_sum = 180 * 2_000_000;
        record.errors[ErrorKind::Timeout as usize] = 20;
        record.retries[ErrorKind::Overloaded as usize] = 3;
        (totals.counts.answered, totals.counts.failed, totals.seconds) = (160, 20, 4.0);
        let names = ["READ".to_owned(), "UPDATE".to_owned()];
        result(
            &totals,
            &Frame {
                client: "c1",
                hlog: Some("/runs/x/latency-c1.hlog"),
                start_unix: 1e9,
                operations: &names,
                stopped,
                stand_in: None,
                steadiness: None,
            },
        )
    }

    #[test]
    fn counts_means_and_rates_are_over_the_measured_part() {
        let result = summed(false);
        assert_eq!((result.ok, result.errors), (180, 20));
        assert_eq!((result.measured_s, result.throughput), (4.0, 40.0));
        assert_eq!(result.errors_by_kind, BTreeMap::from([("timeout", 20)]));
        assert_eq!(result.retries_by_kind, BTreeMap::from([("overloaded", 3)]));
        assert_eq!(result.operations[0].service_mean_us, 1000.0);
        assert_eq!(result.operations[0].response_mean_us, 2000.0);
        assert_eq!(result.operations[1].ok, 0);
        assert_eq!(result.hlog, "latency-c1.hlog");
    }

    #[test]
    fn stopped_is_told_only_where_it_is_true() {
        let json = |stopped| serde_json::to_value(summed(stopped)).unwrap();
        assert_eq!(json(true)["stopped"], true);
        assert_eq!(json(false).get("stopped"), None);
    }
}
