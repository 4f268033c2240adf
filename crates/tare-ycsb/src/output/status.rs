//! The status lines that `-s` asks for.

use chrono::{DateTime, Local};

use super::block::Block;
use crate::java::two_decimals;
use crate::settings::MeasureKind;

/// Where the run stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Milliseconds from the first send, now and at the line before.
    pub now: u64,
    pub before: u64,
    /// Operations done, now and at the line before.
    pub done: u64,
    pub done_before: u64,
    /// Operations still to do; 0 where that is not known.
    pub left: u64,
}

/// One line, without its end.
pub fn line(
    label: &str,
    unix: f64,
    standing: Standing,
    blocks: &[Block],
    kind: MeasureKind,
) -> String {
    let Standing {
        now, done, left, ..
    } = standing;
    let mut line = format!(
        "{label}{} {} sec: {done} operations; ",
        stamp(unix),
        now / 1000
    );
    if done != 0 {
        let current =
            1000.0 * (done - standing.done_before) as f64 / (now - standing.before) as f64;
        line.push_str(&format!("{} current ops/sec; ", two_decimals(current)));
    }
    if left != 0 {
        let rate = 1000.0 * (done as f64 / now as f64);
        // As Java casts: what is no number counts as 0.
        let seconds = (left as f64 / rate).ceil() as u64;
        line.push_str(&format!("est completion in {}", remaining(seconds)));
    }
    for block in blocks {
        line.push_str(&summary(block, kind));
        line.push(' ');
    }
    line
}

/// Local time as `yyyy-MM-dd HH:mm:ss:SSS`.
fn stamp(unix: f64) -> String {
    let time = DateTime::from_timestamp_millis((unix * 1000.0) as i64).unwrap_or_default();
    time.with_timezone(&Local)
        .format("%Y-%m-%d %H:%M:%S:%3f")
        .to_string()
}

fn summary(block: &Block, kind: MeasureKind) -> String {
    let (name, latencies) = (&block.name, &block.latencies);
    let average = |name: &str| match latencies.count() {
        0 => String::new(),
        _ => format!(
            "[{name} AverageLatency(us)={}]",
            two_decimals(latencies.mean())
        ),
    };
    let hdr = |name: &str| {
        let [p90, p99, p999, p9999] = [90.0, 99.0, 99.9, 99.99].map(|p| latencies.percentile(p));
        format!(
            "[{name}: Count={}, Max={}, Min={}, Avg={}, 90={p90}, 99={p99}, 99.9={p999}, \
             99.99={p9999}]",
            latencies.count(),
            latencies.max(),
            latencies.min(),
            two_decimals(latencies.mean()),
        )
    };
    match kind {
        MeasureKind::Hdr => hdr(name),
        MeasureKind::Buckets | MeasureKind::Series => average(name),
        MeasureKind::HdrAndBuckets => {
            format!(
                "{}\n{}",
                hdr(&format!("Hdr{name}")),
                average(&format!("Bucket{name}"))
            )
        }
    }
}

/// How long it will take in YCSB's words, which leave out minutes after days, seconds after
/// minutes, and the plural below ten seconds.
fn remaining(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let minutes = seconds / 60 % 60;
    let mut text = String::new();
    let mut part = |number: u64, unit: &str| {
        if number > 0 {
            let plural = if number == 1 { "" } else { "s" };
            text.push_str(&format!("{number} {unit}{plural} "));
        }
    };
    part(days, "day");
    part(hours, "hour");
    if days == 0 {
        part(minutes, "minute");
    }
    if text.is_empty() {
        let plural = if seconds < 10 { "" } else { "s" };
        text = format!("{seconds} second{plural} ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::latencies::Latencies;

    const STANDING: Standing = Standing {
        now: 10_000,
        before: 0,
        done: 124_326,
        done_before: 0,
        left: 9_875_674,
    };

    fn line_of(standing: Standing, blocks: &[Block]) -> String {
        let line = line("", 1_795_256_173.116, standing, blocks, MeasureKind::Hdr);
        line[23..].to_owned()
    }

    fn block(latencies: Latencies) -> Block {
        Block {
            name: "READ".to_owned(),
            latencies,
            returns: Vec::new(),
        }
    }

    #[test]
    fn a_line_tells_time_operations_rate_and_what_is_left() {
        assert_eq!(
            line_of(STANDING, &[]),
            " 10 sec: 124326 operations; 12432.6 current ops/sec; est completion in 13 minutes "
        );
    }

    #[test]
    fn the_first_line_knows_nothing_yet() {
        let first = Standing {
            now: 0,
            done: 0,
            ..STANDING
        };
        assert_eq!(
            line_of(first, &[]),
            " 0 sec: 0 operations; est completion in 0 second "
        );
    }

    #[test]
    fn an_operation_without_an_answer_in_this_time_reads_as_in_ycsb() {
        let last = Standing {
            now: 20_301,
            before: 20_000,
            done: 20_000,
            done_before: 20_000,
            left: 0,
        };
        assert_eq!(
            line_of(last, &[block(Latencies::none())]),
            " 20 sec: 20000 operations; 0 current ops/sec; [READ: Count=0, Max=0, \
             Min=9223372036854775807, Avg=NaN, 90=0, 99=0, 99.9=0, 99.99=0] "
        );
    }

    #[test]
    fn remaining_time_is_told_in_ycsbs_words() {
        let known = [
            (0, "0 second "),
            (9, "9 second "),
            (20, "20 seconds "),
            (61, "1 minute "),
            (7200, "2 hours "),
            (3720, "1 hour 2 minutes "),
            (90_061, "1 day 1 hour "),
        ];
        for (seconds, text) in known {
            assert_eq!(remaining(seconds), text);
        }
    }

    #[test]
    fn the_stamp_is_shaped_as_javas() {
        let text = stamp(1_795_256_173.116);
        assert_eq!(text.len(), 23);
        assert!(
            text.starts_with("2026-11-2") && text.ends_with(":13:116"),
            "{text}"
        );
    }
}
