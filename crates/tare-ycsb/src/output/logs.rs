//! Interval histograms in files, one for each operation (`hdrhistogram.fileoutput`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use hdrhistogram::serialization::V2DeflateSerializer;

use super::block::Block;

const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// The logs of a run: `PREFIXREAD.hdr` and so on. Values are microseconds, as in YCSB's.
pub struct Logs {
    prefix: String,
    /// Unix time from which an interval's beginning counts, seconds.
    start: f64,
    files: BTreeMap<String, BufWriter<File>>,
    serializer: V2DeflateSerializer,
}

impl Logs {
    pub fn new(prefix: &str, start: f64) -> Logs {
        Logs {
            prefix: prefix.to_owned(),
            start,
            files: BTreeMap::new(),
            serializer: V2DeflateSerializer::new(),
        }
    }

    /// Writes one interval; a file is made when its operation first happens.
    pub fn add(&mut self, begin: Duration, length: Duration, blocks: &[Block]) -> io::Result<()> {
        for block in blocks {
            if !self.files.contains_key(&block.name) {
                let file = self.create(&block.name)?;
                self.files.insert(block.name.clone(), file);
            }
            let Some(file) = self.files.get_mut(&block.name) else {
                continue;
            };
            // A builder without header lines adds nothing to what is already written.
            IntervalLogWriterBuilder::new()
                .with_max_value_divisor(1e6)
                .begin_log_with(file, &mut self.serializer)?
                .write_histogram(&block.latencies.histogram, begin, length, None)
                .map_err(|error| io::Error::other(error.to_string()))?;
            file.flush()?;
        }
        Ok(())
    }

    fn create(&self, name: &str) -> io::Result<BufWriter<File>> {
        let path = PathBuf::from(format!("{}{name}.hdr", self.prefix));
        let place = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let mut file = BufWriter::new(File::create(&path).map_err(place)?);
        writeln!(file, "#[Logging for: {name}]")?;
        writeln!(file, "#[Histogram log format version 1.2]")?;
        writeln!(file, "#[StartTime: {:.3} (seconds since epoch)]", self.start)?;
        writeln!(file, "#[BaseTime: {:.3} (seconds since epoch)]", self.start)?;
        writeln!(file, "{LEGEND}")?;
        Ok(file)
    }
}
