//! The interval histogram log of the measured part (HdrHistogram log format 1.3, V2, deflate).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;

use crate::record::Interval;
use crate::workload::Class;

const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// A log in the making. Values are nanoseconds.
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

    /// Writes the header; `start` is the Unix time at which the measured part begins.
    pub fn begin(&mut self, start: f64) -> io::Result<()> {
        writeln!(self.out, "#[Histogram log format version 1.3]")?;
        writeln!(self.out, "#[StartTime: {start:.3} (seconds since epoch)]")?;
        writeln!(self.out, "#[BaseTime: {start:.3} (seconds since epoch)]")?;
        writeln!(self.out, "#[Unit: nanoseconds]")?;
        writeln!(self.out, "{LEGEND}")?;
        self.out.flush()
    }

    /// Writes one interval: per operation a line of service times (`-st`) and one of response
    /// times (`-rt`). `origin` is the beginning of the measured part, nanoseconds of the run.
    pub fn write(
        &mut self,
        interval: &Interval,
        origin: u64,
        names: &[(Class, &'static str)],
    ) -> io::Result<()> {
        let begin = Duration::from_nanos(interval.slot.begin.saturating_sub(origin));
        let length = Duration::from_nanos(interval.end.saturating_sub(interval.slot.begin));
        for &(class, name) in names {
            let record = &interval.classes[class as usize];
            self.line(&record.service, begin, length, &format!("{name}-st"))?;
            self.line(record.response(), begin, length, &format!("{name}-rt"))?;
        }
        self.out.flush()
    }

    fn line(
        &mut self,
        histogram: &Histogram<u64>,
        begin: Duration,
        length: Duration,
        tag: &str,
    ) -> io::Result<()> {
        // A builder without header lines adds nothing to what is already written.
        IntervalLogWriterBuilder::new()
            .begin_log_with(&mut self.out, &mut self.serializer)?
            .write_histogram(histogram, begin, length, Tag::new(tag))
            .map_err(|e| io::Error::other(e.to_string()))
    }
}
