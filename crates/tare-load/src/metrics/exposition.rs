//! The Prometheus text format, version 0.0.4
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).

use std::fmt::{Display, Write};

use tare_engine::errors::ErrorKind;
use tare_engine::record::ByKind;

use super::tally::{Buckets, Operation, Tally, BOUNDS, QUANTILES};

/// The whole page.
pub fn text(tally: &Tally) -> String {
    let mut page = Page(String::new());
    page.operations(tally);
    page.latencies(tally);
    page.client(tally);
    page.0
}

/// Name of a time, what it counts from, and where it is.
type Times = (&'static str, &'static str, fn(&Operation) -> &Buckets);

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.line(format_args!("{name} {value}"));
    }

    fn operations(&mut self, tally: &Tally) {
        let name = "tare_operations_total";
        self.family(
            name,
            "counter",
            "Operations that ended well, warm-up included.",
        );
        for one in &tally.operations {
            self.line(format_args!(
                "{name}{{operation=\"{}\"}} {}",
                escaped(&one.name),
                one.ok
            ));
        }
        let (errors, retries) = ("tare_errors_total", "tare_retries_total");
        self.family(errors, "counter", "Operations that failed, by reason.");
        self.by_kind(errors, tally, |one| &one.errors);
        self.family(
            retries,
            "counter",
            "Requests that were sent again, by what had failed.",
        );
        self.by_kind(retries, tally, |one| &one.retries);
    }

    fn by_kind(&mut self, name: &str, tally: &Tally, of: fn(&Operation) -> &ByKind) {
        for one in &tally.operations {
            for (kind, count) in ErrorKind::ALL.iter().zip(of(one)) {
                let operation = escaped(&one.name);
                self.line(format_args!(
                    "{name}{{operation=\"{operation}\",kind=\"{}\"}} {count}",
                    kind.name()
                ));
            }
        }
    }

    fn latencies(&mut self, tally: &Tally) {
        let kinds: [Times; 2] = [
            ("service", "first send", |one| &one.service),
            ("response", "intended send", |one| &one.response),
        ];
        for (kind, since, of) in kinds {
            let name = format!("tare_{kind}_seconds");
            let help = format!("Time from the {since} to the answer, successful operations.");
            self.family(&name, "histogram", &help);
            for one in &tally.operations {
                self.histogram(&name, &escaped(&one.name), of(one));
            }
            let name = format!("tare_interval_{kind}_seconds");
            self.family(
                &name,
                "gauge",
                &format!("{help} Quantiles of the last interval."),
            );
            for one in &tally.operations {
                self.quantiles(&name, &escaped(&one.name), of(one));
            }
        }
    }

    fn histogram(&mut self, name: &str, operation: &str, buckets: &Buckets) {
        let label = format!("operation=\"{operation}\"");
        for (bound, count) in BOUNDS.iter().zip(&buckets.at_most) {
            let le = seconds(*bound);
            self.line(format_args!("{name}_bucket{{{label},le=\"{le}\"}} {count}"));
        }
        self.line(format_args!(
            "{name}_bucket{{{label},le=\"+Inf\"}} {}",
            buckets.count
        ));
        self.line(format_args!(
            "{name}_sum{{{label}}} {}",
            seconds(buckets.sum_ns)
        ));
        self.line(format_args!("{name}_count{{{label}}} {}", buckets.count));
    }

    fn quantiles(&mut self, name: &str, operation: &str, buckets: &Buckets) {
        let Some(values) = buckets.quantiles else {
            return;
        };
        for (q, value) in QUANTILES.iter().zip(values) {
            let value = seconds(value);
            self.line(format_args!(
                "{name}{{operation=\"{operation}\",quantile=\"{q}\"}} {value}"
            ));
        }
    }

    fn client(&mut self, tally: &Tally) {
        let gauge = "gauge";
        self.family("tare_phase", gauge, "1 for the phase that the run is in.");
        for phase in ["warmup", "measure", "finished"] {
            let on = u8::from(tally.phase == Some(phase));
            self.line(format_args!("tare_phase{{phase=\"{phase}\"}} {on}"));
        }
        let help = "Successful operations per second in the last interval.";
        self.single("tare_throughput", gauge, help, tally.throughput);
        self.single(
            "tare_intervals_total",
            "counter",
            "Intervals that are over.",
            tally.intervals,
        );
        let help = "CPU time of the load client.";
        self.single(
            "tare_client_cpu_seconds_total",
            "counter",
            help,
            seconds(tally.cpu_ns),
        );
        let facts = &tally.client;
        let shares = [
            (
                "cpu",
                "CPU time of the busiest worker thread",
                facts.cpu_share,
            ),
            (
                "run_delay",
                "Time without a CPU of the most delayed worker thread",
                facts.run_delay_share,
            ),
            (
                "throttled",
                "Time that the client's control group was throttled",
                facts.throttled_share,
            ),
        ];
        for (name, help, value) in shares {
            let help = format!("{help}, share of the measured part.");
            self.single(&format!("tare_client_{name}_share"), gauge, &help, value);
        }
        if let Some(late) = facts.send_lateness_p99_us {
            let help = "99th percentile of actual minus intended send, measured part.";
            self.single("tare_client_lateness_p99_seconds", gauge, help, late / 1e6);
        }
        if let Some(error) = facts.rate_error {
            let help = "Sends made over sends due, minus 1, measured part.";
            self.single("tare_client_rate_error", gauge, help, error);
        }
        let help = "1 if the client, not the cluster, may have been the limit.";
        self.single(
            "tare_client_saturated",
            gauge,
            help,
            u8::from(tally.saturated),
        );
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A label's value: backslash, quote and line feed are escaped.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
