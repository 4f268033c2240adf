//! Interval histograms in files, one for each operation (`hdrhistogram.fileoutput`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use tare_engine::hlog::LEGEND;

use super::block::Block;

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
            let histogram = &block.latencies.histogram;
            let mut bytes = Vec::new();
            self.serializer
                .serialize(histogram, &mut bytes)
                .map_err(|error| io::Error::other(error.to_string()))?;
            let (begin, length) = (begin.as_secs_f64(), length.as_secs_f64());
            // Seconds, for people: readers take the values from the histogram.
            let largest = block.latencies.max() as f64 / 1e6;
            let text = STANDARD.encode(&bytes);
            writeln!(file, "{begin:.3},{length:.3},{largest:.3},{text}")?;
            file.flush()?;
        }
        Ok(())
    }

    fn create(&self, name: &str) -> io::Result<BufWriter<File>> {
        let path = PathBuf::from(format!("{}{name}.hdr", self.prefix));
        let place =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = BufWriter::new(File::create(&path).map_err(place)?);
        writeln!(file, "#[Logging for: {name}]")?;
        writeln!(file, "#[Histogram log format version 1.2]")?;
        writeln!(
            file,
            "#[StartTime: {:.3} (seconds since epoch)]",
            self.start
        )?;
        writeln!(file, "#[BaseTime: {:.3} (seconds since epoch)]", self.start)?;
        writeln!(file, "{LEGEND}")?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::Histogram;

    use super::*;
    use crate::output::latencies::Latencies;

    #[test]
    fn a_log_is_read_back_by_the_public_format() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = format!("{}/run-", folder.path().display());
        let block = Block {
            name: "READ".to_owned(),
            latencies: Latencies::zeros(3),
            returns: Vec::new(),
        };
        let mut logs = Logs::new(&prefix, 1_795_264_583.5);
        let second = Duration::from_secs(1);
        logs.add(Duration::ZERO, second, std::slice::from_ref(&block))
            .unwrap();
        logs.add(second, second, &[block]).unwrap();
        let text = std::fs::read(format!("{prefix}READ.hdr")).unwrap();
        let entries: Vec<_> = IntervalLogIterator::new(&text)
            .map(Result::unwrap)
            .collect();
        let counts = entries.iter().filter_map(|entry| match entry {
            LogEntry::Interval(interval) => {
                let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let read: Histogram<u64> = Deserializer::new()
                    .deserialize(&mut bytes.as_slice())
                    .unwrap();
                Some((interval.start_timestamp().as_secs(), read.len()))
            }
            _ => None,
        });
        assert_eq!(counts.collect::<Vec<_>>(), [(0, 3), (1, 3)]);
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let mut logs = Logs::new("/nowhere/run-", 0.0);
        let block = Block {
            name: "READ".to_owned(),
            latencies: Latencies::none(),
            returns: Vec::new(),
        };
        let error = logs
            .add(Duration::ZERO, Duration::ZERO, &[block])
            .unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/run-READ.hdr: "));
    }
}
