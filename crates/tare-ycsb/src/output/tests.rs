//! Whole summaries and status lines against what YCSB's own classes printed for the same numbers.

use tare_engine::errors::ErrorKind;
use tare_engine::record::OperationRecord;

use super::block::{blocks, Block};
use super::export::Exporter;
use super::series::Series;
use super::summary::{write, Overall};
use crate::operations::{Measured, Operations};
use crate::settings::tests::settings;

/// 100 successful operations of 100, 137, 174 ... microseconds, meant 50 earlier.
fn ladder(record: &mut OperationRecord) {
    for i in 0..100 {
        let ns = (100 + i * 37) * 1000;
        record.ok += 1;
        record.service.record(ns).unwrap();
        record.service_sum += ns;
        if let Some(response) = &mut record.response {
            response.record(ns + 50_000).unwrap();
            record.response_sum += ns + 50_000;
        }
    }
}

fn fail(record: &mut OperationRecord, kind: ErrorKind, count: u64) {
    record.errors[kind as usize] += count;
    let failed = record
        .failed
        .get_or_insert_with(tare_engine::record::histogram);
    failed.record_n(500_000, count).unwrap();
}

struct Case {
    properties: &'static str,
    operations: Operations,
    records: Vec<OperationRecord>,
}

impl Case {
    fn new(properties: &'static str) -> Case {
        let settings = settings(properties);
        let operations = Operations::new(&settings);
        let scheduled = settings.target.is_some();
        Case {
            properties,
            records: vec![OperationRecord::new(scheduled); operations.names().len()],
            operations,
        }
    }

    fn record(&mut self, operation: Measured) -> &mut OperationRecord {
        &mut self.records[self.operations.position(operation)]
    }

    fn blocks(&self, cleanups: u64) -> Vec<Block> {
        let measure = settings(self.properties).measure;
        blocks(
            &self.records,
            &self.records,
            &self.operations,
            &measure,
            cleanups,
        )
    }

    fn summary(&self, cleanups: u64) -> Vec<String> {
        let measure = settings(self.properties).measure;
        let overall = Overall {
            milliseconds: 20_401,
            operations: 20_000,
        };
        let blocks = self.blocks(cleanups);
        let mut series = Series::default();
        series.add(1000, &blocks);
        let mut exporter = Exporter::new(measure.form, Vec::new());
        write(&mut exporter, overall, &blocks, &series, &measure).unwrap();
        let text = String::from_utf8(exporter.finish().unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn names(&self) -> Vec<String> {
        self.blocks(1).into_iter().map(|block| block.name).collect()
    }
}

/// Workload A with 16 threads, by the lines of a real run.
#[test]
fn a_summary_has_ycsbs_lines_in_ycsbs_order() {
    let mut case = Case::new("hdrhistogram.percentiles=50,95,99,99.9");
    ladder(case.record(Measured::Read));
    ladder(case.record(Measured::Update));
    let summary = case.summary(16);
    let expected = [
        "[OVERALL], RunTime(ms), 20401",
        "[OVERALL], Throughput(ops/sec), 980.3441007793735",
        "[TOTAL_GCs], Count, 0",
        "[TOTAL_GC_TIME], Time(ms), 0",
        "[TOTAL_GC_TIME_%], Time(%), 0.0",
        "[READ], Operations, 100",
        "[READ], AverageLatency(us), 1931.5",
        "[READ], MinLatency(us), 100",
        "[READ], MaxLatency(us), 3763",
        "[READ], 50thPercentileLatency(us), 1913",
        "[READ], 95thPercentileLatency(us), 3579",
        "[READ], 99thPercentileLatency(us), 3727",
        "[READ], 99.9PercentileLatency(us), 3763",
        "[READ], Return=OK, 100",
        "[CLEANUP], Operations, 16",
        "[CLEANUP], AverageLatency(us), 0.0",
    ];
    assert_eq!(summary[..expected.len()], expected);
    assert_eq!(summary[22], "[UPDATE], Operations, 100");
    assert_eq!(summary.len(), 31);
}

#[test]
fn operations_stand_in_the_order_of_ycsbs_table() {
    let mut case = Case::new(
        "scanproportion=0.1 insertproportion=0.1 readmodifywriteproportion=0.1 dataintegrity=true",
    );
    for record in &mut case.records {
        ladder(record);
    }
    // Printed by YCSB's own classes for the same names.
    let expected = [
        "READ",
        "READ-MODIFY-WRITE",
        "CLEANUP",
        "UPDATE",
        "INSERT",
        "VERIFY",
        "SCAN",
    ];
    assert_eq!(case.names(), expected);
}

#[test]
fn failures_have_a_block_and_return_codes() {
    let mut case = Case::new("updateproportion=0");
    ladder(case.record(Measured::Read));
    fail(case.record(Measured::Read), ErrorKind::NotFound, 1);
    fail(case.record(Measured::Read), ErrorKind::Timeout, 2);
    fail(case.record(Measured::Read), ErrorKind::Unavailable, 1);
    let summary = case.summary(0);
    let returns: Vec<_> = summary
        .iter()
        .filter(|line| line.contains("Return="))
        .collect();
    // In the order in which YCSB's classes printed these statuses.
    let expected = [
        "[READ], Return=OK, 100",
        "[READ], Return=NOT_FOUND, 1",
        "[READ], Return=ERROR, 3",
    ];
    assert_eq!(returns, expected.each_ref());
    assert!(summary.contains(&"[READ-FAILED], Operations, 4".to_owned()));
    // Of failures only the histogram is kept, so that their mean is that of its buckets.
    let mean = |line: &String| line.starts_with("[READ-FAILED], AverageLatency(us), 500.");
    assert!(summary.iter().any(mean), "{summary:?}");
}

/// As YCSB prints an operation that never succeeded.
#[test]
fn an_operation_that_never_succeeded_has_a_block_of_nothing() {
    let mut case = Case::new("updateproportion=0");
    fail(case.record(Measured::Read), ErrorKind::Timeout, 1);
    let summary = case.summary(0);
    for line in [
        "[READ], Operations, 0",
        "[READ], AverageLatency(us), NaN",
        "[READ], MinLatency(us), 9223372036854775807",
        "[READ], MaxLatency(us), 0",
        "[READ], 95thPercentileLatency(us), 0",
        "[READ], Return=ERROR, 1",
    ] {
        assert!(summary.contains(&line.to_owned()), "{line}");
    }
}

#[test]
fn intended_latencies_are_printed_besides_or_alone() {
    let mut both = Case::new("updateproportion=0 measurement.interval=both target=1000");
    ladder(both.record(Measured::Read));
    assert_eq!(
        both.names(),
        ["READ", "CLEANUP", "Intended-READ", "Intended-CLEANUP"]
    );
    let summary = both.summary(0);
    assert!(summary.contains(&"[READ], AverageLatency(us), 1931.5".to_owned()));
    assert!(summary.contains(&"[Intended-READ], AverageLatency(us), 1981.5".to_owned()));
    assert_eq!(
        summary
            .iter()
            .filter(|line| line.contains("Return="))
            .count(),
        1
    );

    let mut alone = Case::new("updateproportion=0 measurement.interval=intended target=1000");
    ladder(alone.record(Measured::Read));
    assert_eq!(alone.names(), ["READ", "CLEANUP"]);
    assert!(alone
        .summary(0)
        .contains(&"[READ], AverageLatency(us), 1981.5".to_owned()));
    assert!(alone
        .summary(0)
        .contains(&"[READ], Return=OK, 100".to_owned()));
}

#[test]
fn failures_kept_apart_are_printed_under_their_status_or_together() {
    let fill = |case: &mut Case| {
        fail(case.record(Measured::Read), ErrorKind::NotFound, 100);
        fail(case.record(Measured::Read), ErrorKind::Timeout, 100);
        let apart: Vec<_> = case
            .operations
            .apart()
            .map(|(position, _)| position)
            .collect();
        apart
            .into_iter()
            .for_each(|position| ladder(&mut case.records[position]));
    };
    let mut tracked = Case::new("updateproportion=0 latencytrackederrors=NOT_FOUND");
    fill(&mut tracked);
    let names = tracked.names();
    assert!(names.contains(&"READ-NOT_FOUND".to_owned()), "{names:?}");
    assert!(names.contains(&"READ-FAILED".to_owned()), "{names:?}");

    let mut both = Case::new("updateproportion=0 measurement.interval=both target=1000");
    fill(&mut both);
    let failed = both
        .blocks(0)
        .into_iter()
        .filter(|block| block.name.ends_with("-FAILED"));
    let counts: Vec<_> = failed
        .map(|block| (block.name, block.latencies.count()))
        .collect();
    let expected = [("READ-FAILED", 200), ("Intended-READ-FAILED", 200)];
    assert_eq!(
        counts,
        expected.map(|(name, count)| (name.to_owned(), count))
    );
}

#[test]
fn buckets_have_a_variance_and_whole_milliseconds() {
    let mut case = Case::new(
        "updateproportion=0 measurementtype=histogram histogram.buckets=3 \
         measurement.histogram.verbose=true",
    );
    ladder(case.record(Measured::Read));
    let summary = case.summary(0);
    let of_read: Vec<&str> = summary[5..].iter().map(String::as_str).collect();
    let expected = [
        "[READ], Operations, 100",
        "[READ], AverageLatency(us), 1931.5",
        "[READ], LatencyVariance(us), 1141232.75",
        "[READ], MinLatency(us), 100",
        "[READ], MaxLatency(us), 3763",
        "[READ], Return=OK, 100",
        "[READ], 0, 25",
        "[READ], 1, 27",
        "[READ], 2, 27",
        "[READ], >3, 21",
    ];
    assert!(
        of_read[2].starts_with("[READ], LatencyVariance(us), 114"),
        "{}",
        of_read[2]
    );
    let without = |lines: &[&str]| -> Vec<String> {
        lines
            .iter()
            .filter(|line| !line.contains("Variance"))
            .map(|&l| l.to_owned())
            .collect()
    };
    assert_eq!(without(&of_read), without(&expected));
}

#[test]
fn a_series_has_a_mean_for_every_time() {
    let mut case = Case::new("updateproportion=0 measurementtype=timeseries");
    ladder(case.record(Measured::Read));
    let summary = case.summary(0);
    assert_eq!(summary.last().unwrap(), "[READ], 1000, 1931.5");
}
