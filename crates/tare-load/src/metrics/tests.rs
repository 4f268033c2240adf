//! What Prometheus reads of a run.

use std::io::{Read, Write};
use std::net::TcpStream;

use tare_engine::clock::CpuUse;
use tare_engine::timeline::{Part, Slot};
use tare_engine::totals::Totals;

use super::*;

const S: u64 = 1_000_000_000;

/// One second: reads of 0.15, 0.3 and 30 ms served, a millisecond more answered; one timeout.
fn interval(part: Part) -> Interval {
    let slot = Slot {
        index: 0,
        part,
        begin: 0,
        closes: S,
        end: S,
    };
    let mut interval = Interval::new(slot, 2, true);
    let record = &mut interval.counts.operations[0];
    for service in [150_000, 300_000, 30_000_000] {
        record.ok += 1;
        record.service_sum += service;
        record.response_sum += service + 1_000_000;
        record.service.record(service).unwrap();
        record
            .response
            .as_mut()
            .unwrap()
            .record(service + 1_000_000)
            .unwrap();
    }
    record.errors[0] = 1;
    record.retries[2] = 5;
    (interval.counts.answered, interval.counts.failed) = (3, 1);
    interval.cpu.push((
        0,
        CpuUse {
            process: S / 4,
            ..CpuUse::default()
        },
    ));
    interval
}

fn page(intervals: &[Interval]) -> String {
    let mut tally = Tally::default();
    tally.begin(&["READ".to_owned(), "odd \"name\"\\".to_owned()]);
    let mut totals = Totals::new(2, true);
    for interval in intervals {
        totals.add(interval);
        tally.add(interval, &totals);
    }
    exposition::text(&tally)
}

fn assert_lines(page: &str, lines: &[&str]) {
    for line in lines {
        assert!(page.lines().any(|one| one == *line), "no {line} in\n{page}");
    }
}

#[test]
fn counters_add_up_over_warm_up_and_measured_part() {
    let page = page(&[interval(Part::Warmup), interval(Part::Measure)]);
    assert_lines(
        &page,
        &[
            "tare_operations_total{operation=\"READ\"} 6",
            "tare_errors_total{operation=\"READ\",kind=\"timeout\"} 2",
            "tare_retries_total{operation=\"READ\",kind=\"overloaded\"} 10",
            "tare_client_cpu_seconds_total 0.5",
            "tare_phase{phase=\"measure\"} 1",
            "tare_phase{phase=\"warmup\"} 0",
            "tare_throughput 3",
        ],
    );
}

#[test]
fn histograms_are_cumulative_and_in_seconds() {
    let page = page(&[interval(Part::Measure)]);
    assert_lines(
        &page,
        &[
            "tare_service_seconds_bucket{operation=\"READ\",le=\"0.0001\"} 0",
            "tare_service_seconds_bucket{operation=\"READ\",le=\"0.0002\"} 1",
            "tare_service_seconds_bucket{operation=\"READ\",le=\"0.0005\"} 2",
            "tare_service_seconds_bucket{operation=\"READ\",le=\"0.05\"} 3",
            "tare_service_seconds_bucket{operation=\"READ\",le=\"+Inf\"} 3",
            "tare_service_seconds_sum{operation=\"READ\"} 0.03045",
            "tare_service_seconds_count{operation=\"READ\"} 3",
            "tare_response_seconds_bucket{operation=\"READ\",le=\"0.001\"} 0",
            "tare_response_seconds_bucket{operation=\"READ\",le=\"0.002\"} 2",
        ],
    );
    let quantile = "tare_interval_service_seconds{operation=\"READ\",quantile=\"0.5\"} ";
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(quantile))
        .unwrap();
    assert!((line.parse::<f64>().unwrap() / 0.0003 - 1.0).abs() < 0.001);
}

#[test]
fn a_value_at_a_bound_is_within_it() {
    let mut at_bound = interval(Part::Measure);
    let service = &mut at_bound.counts.operations[0].service;
    service.reset();
    service.record(1_000_000).unwrap();
    let page = page(&[at_bound]);
    assert_lines(
        &page,
        &["tare_service_seconds_bucket{operation=\"READ\",le=\"0.001\"} 1"],
    );
}

#[test]
fn every_family_is_described_and_names_are_escaped() {
    let page = page(&[interval(Part::Measure)]);
    assert_lines(
        &page,
        &["tare_operations_total{operation=\"odd \\\"name\\\"\\\\\"} 0"],
    );
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        assert!(page.contains(&format!("# TYPE {family} ")), "{line}");
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn an_address_that_others_can_reach_must_be_meant() {
    let refused = Metrics::serve("0.0.0.0:0", false).err().unwrap();
    assert!(refused.why.contains("--metrics-anywhere"), "{refused}");
    assert!(Metrics::serve("9640", false).is_err());
}

#[test]
fn a_run_is_served_while_it_lasts() {
    let mut metrics = Metrics::serve("127.0.0.1:0", false).unwrap();
    let ready = Ready {
        nodes: 1,
        links: 1,
        unreachable: Vec::new(),
        stand_in: None,
        operations: vec!["READ".into()],
        protocol: "v4".into(),
        workers: 1,
        slots: 1,
    };
    metrics.ready(&ready).unwrap();
    let interval = interval(Part::Measure);
    let mut totals = Totals::new(2, true);
    totals.add(&interval);
    metrics.tally.add(&interval, &totals);
    metrics.renew();
    let mut stream = TcpStream::connect(metrics.address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(
        text.contains("tare_operations_total{operation=\"READ\"} 3"),
        "{text}"
    );
}
