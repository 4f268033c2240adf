//! Interval histogram logs (HdrHistogram log format 1.3, V2, deflate), such as that of the measured
//! part.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;

use crate::record::Interval;

/// The names of a log's columns.
pub const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// A log in the making.
pub struct Hlog<W: Write> {
    out: W,
    serializer: V2DeflateSerializer,
}

impl Hlog<BufWriter<File>> {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Hlog::new(BufWriter::new(File::create(path)?)))
    }
}

impl<W: Write> Hlog<W> {
    pub fn new(out: W) -> Hlog<W> {
        Hlog {
            out,
            serializer: V2DeflateSerializer::new(),
        }
    }

    /// Writes the header; `start` is the Unix time from which intervals count, `unit` what values are in.
    pub fn begin(&mut self, start: f64, unit: Option<&str>) -> io::Result<()> {
        writeln!(self.out, "#[Histogram log format version 1.3]")?;
        writeln!(self.out, "#[StartTime: {start:.3} (seconds since epoch)]")?;
        writeln!(self.out, "#[BaseTime: {start:.3} (seconds since epoch)]")?;
        if let Some(unit) = unit {
            writeln!(self.out, "#[Unit: {unit}]")?;
        }
        writeln!(self.out, "{LEGEND}")?;
        self.out.flush()
    }

    /// Writes one interval: per operation a line of service times (`-st`) and one of response
    /// times (`-rt`). `origin` is the beginning of the measured part, nanoseconds of the run.
    pub fn write(&mut self, interval: &Interval, origin: u64, names: &[String]) -> io::Result<()> {
        let begin = Duration::from_nanos(interval.slot.begin.saturating_sub(origin));
        let length = Duration::from_nanos(interval.end.saturating_sub(interval.slot.begin));
        for (record, name) in interval.counts.operations.iter().zip(names) {
            let tag = format!("{name}-st");
            self.line(&record.service, begin, length, Some(&tag))?;
            let tag = format!("{name}-rt");
            self.line(record.response(), begin, length, Some(&tag))?;
        }
        self.out.flush()
    }

    pub fn line(
        &mut self,
        histogram: &Histogram<u64>,
        begin: Duration,
        length: Duration,
        tag: Option<&str>,
    ) -> io::Result<()> {
        // A builder without header lines adds nothing to what is already written.
        IntervalLogWriterBuilder::new()
            .begin_log_with(&mut self.out, &mut self.serializer)?
            .write_histogram(histogram, begin, length, tag.and_then(Tag::new))
            .map_err(|e| io::Error::other(e.to_string()))
    }

    /// The underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use hdrhistogram::serialization::Deserializer;

    use super::*;
    use crate::timeline::{Part, Slot};

    const S: u64 = 1_000_000_000;

    fn interval(begin: u64) -> Interval {
        let slot = Slot {
            index: 0,
            part: Part::Measure,
            begin,
            closes: begin + S,
            end: begin + S,
        };
        Interval::new(slot, 2, true)
    }

    fn written() -> Vec<u8> {
        let mut log = Hlog::new(Vec::new());
        log.begin(1_795_264_583.5, Some("nanoseconds")).unwrap();
        let names = ["READ".to_owned(), "UPDATE".to_owned()];
        let mut first = interval(2 * S);
        for latency in 1..=1000 {
            let record = &mut first.counts.operations[0];
            record.service.record(latency * 1000).unwrap();
            let response = record.response.as_mut().unwrap();
            response.record(latency * 2000).unwrap();
        }
        log.write(&first, 2 * S, &names).unwrap();
        log.write(&interval(3 * S), 2 * S, &names).unwrap();
        log.out
    }

    #[test]
    fn the_header_tells_version_start_and_columns() {
        let text = String::from_utf8(written()).unwrap();
        let header: Vec<&str> = text.lines().take(5).collect();
        assert_eq!(header[0], "#[Histogram log format version 1.3]");
        assert_eq!(
            header[1],
            "#[StartTime: 1795264583.500 (seconds since epoch)]"
        );
        assert_eq!(
            header[2],
            "#[BaseTime: 1795264583.500 (seconds since epoch)]"
        );
        assert!(header[4].starts_with("\"StartTimestamp\""));
    }

    #[test]
    fn every_interval_has_a_line_per_operation_and_kind_of_time() {
        let bytes = written();
        let mut lines = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            if let LogEntry::Interval(line) = entry.unwrap() {
                let tag = line.tag().unwrap().as_str().to_owned();
                lines.push((
                    tag,
                    line.start_timestamp().as_secs(),
                    line.duration().as_secs(),
                ));
            }
        }
        let tags = ["READ-st", "READ-rt", "UPDATE-st", "UPDATE-rt"];
        let expected: Vec<(String, u64, u64)> = [0, 1]
            .into_iter()
            .flat_map(|start| tags.map(|tag| (tag.to_owned(), start, 1)))
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn histograms_come_back_with_three_digits() {
        let bytes = written();
        let mut reader = Deserializer::new();
        let mut read = |wanted: &str| -> Histogram<u64> {
            let line = IntervalLogIterator::new(&bytes)
                .filter_map(|entry| match entry.unwrap() {
                    LogEntry::Interval(line) => Some(line),
                    _ => None,
                })
                .find(|line| line.tag().unwrap().as_str() == wanted)
                .unwrap();
            let payload = base64::engine::general_purpose::STANDARD
                .decode(line.encoded_histogram())
                .unwrap();
            reader.deserialize(&mut payload.as_slice()).unwrap()
        };
        use base64::Engine;
        let (service, response) = (read("READ-st"), read("READ-rt"));
        assert_eq!((service.len(), response.len()), (1000, 1000));
        let near = |value: u64, expected: f64| (value as f64 / expected - 1.0).abs() < 0.001;
        assert!(near(service.value_at_quantile(0.99), 990_000.0));
        assert!(near(response.value_at_quantile(0.5), 1_000_000.0));
        assert!(near(response.max(), 2_000_000.0));
    }
}
