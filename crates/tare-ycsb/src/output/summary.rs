//! The summary at the end: overall lines, then a block for each operation.

use std::io::{self, Write};

use super::block::Block;
use super::export::Exporter;
use super::latencies::Latencies;
use super::series::Series;
use crate::java;
use crate::settings::{Measure, MeasureKind};

/// Run time and operations of the whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overall {
    pub milliseconds: u64,
    pub operations: u64,
}

/// Writes the whole summary.
///
/// There is no garbage collector, so that its lines say 0.
pub fn write<W: Write>(
    out: &mut Exporter<W>,
    overall: Overall,
    blocks: &[Block],
    series: &Series,
    measure: &Measure,
) -> io::Result<()> {
    let milliseconds = overall.milliseconds.max(1);
    let throughput = 1000.0 * overall.operations as f64 / milliseconds as f64;
    out.whole("OVERALL", "RunTime(ms)", milliseconds)?;
    out.real("OVERALL", "Throughput(ops/sec)", throughput)?;
    out.whole("TOTAL_GCs", "Count", 0)?;
    out.whole("TOTAL_GC_TIME", "Time(ms)", 0)?;
    out.real("TOTAL_GC_TIME_%", "Time(%)", 0.0)?;
    for block in blocks {
        match measure.kind {
            MeasureKind::Hdr => hdr(out, &block.name, block, measure)?,
            MeasureKind::Buckets => buckets(out, &block.name, block, &block.returns, measure)?,
            MeasureKind::HdrAndBuckets => {
                hdr(out, &format!("Hdr{}", block.name), block, measure)?;
                buckets(out, &format!("Bucket{}", block.name), block, &[], measure)?;
            }
            MeasureKind::Series => points(out, block, series)?,
        }
    }
    Ok(())
}

fn hdr<W: Write>(
    out: &mut Exporter<W>,
    name: &str,
    block: &Block,
    measure: &Measure,
) -> io::Result<()> {
    let latencies = &block.latencies;
    head(out, name, latencies, None)?;
    for &percentile in &measure.percentiles {
        let label = format!("{}PercentileLatency(us)", ordinal(percentile));
        out.whole(name, &label, latencies.percentile(percentile))?;
    }
    returns(out, name, &block.returns)?;
    if measure.verbose {
        for value in latencies.histogram.iter_recorded() {
            let latency = value.value_iterated_to().min(i32::MAX as u64);
            out.real(name, &latency.to_string(), value.count_at_value() as f64)?;
        }
    }
    Ok(())
}

/// Buckets of a millisecond each, with as many percentiles as YCSB gives of them.
fn buckets<W: Write>(
    out: &mut Exporter<W>,
    name: &str,
    block: &Block,
    statuses: &[(&str, u64)],
    measure: &Measure,
) -> io::Result<()> {
    let latencies = &block.latencies;
    let mut counts = vec![0; measure.buckets];
    let mut beyond = 0;
    let mut squares = 0.0;
    for value in latencies.histogram.iter_recorded() {
        let middle = latencies
            .histogram
            .median_equivalent(value.value_iterated_to());
        let count = value.count_at_value();
        squares += (middle as f64).powi(2) * count as f64;
        match counts.get_mut((middle / 1000) as usize) {
            Some(bucket) => *bucket += count,
            None => beyond += count,
        }
    }
    let total = latencies.count() as f64;
    let variance = squares / total - latencies.mean().powi(2);
    head(out, name, latencies, Some(variance))?;
    let mut sum = 0;
    let mut wanted = [(0.95, "95th"), (0.99, "99th")].into_iter().peekable();
    for (bucket, count) in counts.iter().enumerate() {
        sum += count;
        while let Some((_, label)) = wanted.next_if(|(share, _)| sum as f64 / total >= *share) {
            let label = format!("{label}PercentileLatency(us)");
            out.whole(name, &label, bucket as u64 * 1000)?;
        }
    }
    returns(out, name, statuses)?;
    if measure.verbose {
        for (bucket, count) in counts.iter().enumerate() {
            out.whole(name, &bucket.to_string(), *count)?;
        }
        out.whole(name, &format!(">{}", measure.buckets), beyond)?;
    }
    Ok(())
}

fn points<W: Write>(out: &mut Exporter<W>, block: &Block, series: &Series) -> io::Result<()> {
    head(out, &block.name, &block.latencies, None)?;
    returns(out, &block.name, &block.returns)?;
    for (milliseconds, mean) in series.points(&block.name) {
        out.real(&block.name, &milliseconds.to_string(), mean)?;
    }
    Ok(())
}

fn head<W: Write>(
    out: &mut Exporter<W>,
    name: &str,
    latencies: &Latencies,
    variance: Option<f64>,
) -> io::Result<()> {
    out.whole(name, "Operations", latencies.count())?;
    out.real(name, "AverageLatency(us)", latencies.mean())?;
    if let Some(variance) = variance {
        out.real(name, "LatencyVariance(us)", variance)?;
    }
    out.whole(name, "MinLatency(us)", latencies.min())?;
    out.whole(name, "MaxLatency(us)", latencies.max())
}

fn returns<W: Write>(out: &mut Exporter<W>, name: &str, returns: &[(&str, u64)]) -> io::Result<()> {
    for (status, count) in returns {
        out.whole(name, &format!("Return={status}"), *count)?;
    }
    Ok(())
}

/// 1st, 2nd, 95th; what is no whole number stands alone: 99.9.
fn ordinal(percentile: f64) -> String {
    if percentile % 1.0 != 0.0 {
        return java::double(percentile);
    }
    let whole = percentile as u64;
    let ending = match (whole % 100, whole % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{whole}{ending}")
}
