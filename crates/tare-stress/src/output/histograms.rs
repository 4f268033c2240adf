//! The log of interval histograms (`-log hdrfile=`): tags `OP-st`, `OP-rt`, `OP-wt`, nanoseconds.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;
use tare_engine::hlog::LEGEND;

use super::timing::Timing;

/// A log in the making (HdrHistogram log format 1.3). `Interval_Max` is in milliseconds.
pub struct HistogramLog<W: Write> {
    out: W,
    serializer: V2DeflateSerializer,
    /// Unix time of the run's beginning less the whole second that the log counts from.
    offset: f64,
}

impl HistogramLog<BufWriter<File>> {
    pub fn create(path: &Path, start: f64) -> io::Result<Self> {
        HistogramLog::begin(BufWriter::new(File::create(path)?), start)
    }
}

impl<W: Write> HistogramLog<W> {
    /// Writes the header; `start` is the Unix time at which the run begins, seconds.
    pub fn begin(mut out: W, start: f64) -> io::Result<HistogramLog<W>> {
        let base = start.floor();
        writeln!(out, "#Logging op latencies for Cassandra Stress")?;
        writeln!(out, "#[Histogram log format version 1.3]")?;
        writeln!(out, "#[BaseTime: {base:.3} (seconds since epoch)]")?;
        writeln!(out, "#[StartTime: {base:.3} (seconds since epoch)]")?;
        writeln!(out, "{LEGEND}")?;
        out.flush()?;
        Ok(HistogramLog {
            out,
            serializer: V2DeflateSerializer::new(),
            offset: start - base,
        })
    }

    /// Writes an interval of one operation. `wait` is the time between intended and first send.
    pub fn write(
        &mut self,
        name: &str,
        timing: &Timing,
        wait: Option<&Histogram<u64>>,
    ) -> io::Result<()> {
        let begin = Duration::from_secs_f64(self.offset) + Duration::from_nanos(timing.begin);
        let length = Duration::from_nanos(timing.end.saturating_sub(timing.begin));
        let kinds = [
            ("st", Some(&timing.service)),
            ("rt", Some(&timing.response)),
            ("wt", wait),
        ];
        for (kind, histogram) in kinds {
            let Some(histogram) = histogram.filter(|histogram| !histogram.is_empty()) else {
                continue;
            };
            let tag = format!("{name}-{kind}");
            let mut lines = Vec::new();
            IntervalLogWriterBuilder::new()
                .with_max_value_divisor(1e6)
                .begin_log_with(&mut lines, &mut self.serializer)?
                .write_histogram(histogram, begin, length, Tag::new(&tag))
                .map_err(|e| io::Error::other(e.to_string()))?;
            // The tool's log has no line that names the divisor.
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                if !line.starts_with(b"#") {
                    self.out.write_all(line)?;
                }
            }
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_the_tools() {
        let mut timing = Timing::new(true);
        (timing.begin, timing.end) = (2_000_000_000, 3_000_000_000);
        timing.service.record(509_346_000).unwrap();
        let mut log = HistogramLog::begin(Vec::new(), 1_795_253_781.25).unwrap();
        log.write("READ", &timing, None).unwrap();
        let text = String::from_utf8(log.out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[2],
            "#[BaseTime: 1795253781.000 (seconds since epoch)]"
        );
        assert_eq!(lines.len(), 6, "an empty histogram has no line");
        assert!(
            lines[5].starts_with("Tag=READ-st,2.250,1.000,509.6"),
            "{}",
            lines[5]
        );
        assert!(lines[5].contains(",HISTFAAAA"), "{}", lines[5]);
    }
}
