//! Reads an interval histogram log (HdrHistogram log formats 1.2 and 1.3, V2), strictly: a line
//! that cannot be read is an error, as its counts would be missing from a sum.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use base64::Engine;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;

use super::MergeError;

/// Longest line, characters. A full histogram of 3 digits takes under 100 000.
const LONGEST_LINE: u64 = 1 << 20;
/// Most bytes of one decompressed histogram, and most intervals of one log: limits for files
/// that are not what they seem.
const LARGEST: u64 = 8 << 20;
const MOST_ENTRIES: usize = 2_000_000;
/// Cookies of encoded histograms, version 2, plain and compressed.
const PLAIN: u32 = 0x1c84_9313;
const COMPRESSED: u32 = 0x1c84_9314;
/// Bytes before the counts of a plain histogram: cookie, length, offset, digits, lowest and
/// highest value, ratio.
const HEADER: usize = 40;
/// Most digits that are accepted: 5 take 40 MB a histogram.
const MOST_DIGITS: u32 = 4;
const YEAR: f64 = 365.0 * 86_400.0;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("longer than {LONGEST_LINE} characters")]
    TooLong,
    #[error("not start, length, maximum and histogram")]
    Columns,
    #[error("{0:?} is not a time in seconds")]
    Time(String),
    #[error("the histogram cannot be decoded ({0})")]
    Histogram(String),
    #[error("more than {MOST_ENTRIES} intervals")]
    TooMany,
}

/// One line: what one tag saw in one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub tag: Option<String>,
    /// Seconds; Unix time once the log is read.
    pub start: f64,
    pub length: f64,
    pub histogram: Histogram<u64>,
}

/// A whole log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Log {
    /// The unit of the values, as the log says; Tare's own are nanoseconds.
    pub unit: Option<String>,
    pub entries: Vec<Entry>,
}

impl Log {
    pub fn read(path: &Path) -> Result<Log, MergeError> {
        let file = path.display().to_string();
        let fail = |why| MergeError::File {
            file: path.display().to_string(),
            why,
        };
        let log = Log::parse(std::fs::File::open(path).map_err(fail)?, &file)?;
        if log.entries.is_empty() {
            return Err(MergeError::Empty { file });
        }
        Ok(log)
    }

    /// Reads from a stream; `file` is its name in errors.
    pub fn parse(stream: impl Read, file: &str) -> Result<Log, MergeError> {
        let mut lines = BufReader::new(stream);
        let (mut log, mut header) = (Log::default(), Header::default());
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = lines
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line);
            let read = read.map_err(|why| MergeError::File {
                file: file.to_owned(),
                why,
            })?;
            if read == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            log.take(text.trim_end(), &mut header)
                .map_err(|why| MergeError::Line {
                    file: file.to_owned(),
                    line: number,
                    why,
                })?;
        }
        let base = header.base(log.entries.first().map_or(0.0, |entry| entry.start));
        log.entries.iter_mut().for_each(|entry| entry.start += base);
        Ok(log)
    }

    fn take(&mut self, line: &str, header: &mut Header) -> Result<(), Damage> {
        if line.len() as u64 >= LONGEST_LINE - 1 {
            return Err(Damage::TooLong);
        }
        if let Some(comment) = line.strip_prefix('#') {
            header.take(comment);
            if let Some(unit) = comment.strip_prefix("[Unit: ") {
                self.unit = Some(unit.trim_end_matches(']').chars().take(40).collect());
            }
            return Ok(());
        }
        if line.is_empty() || line.starts_with('"') {
            return Ok(());
        }
        if self.entries.len() == MOST_ENTRIES {
            return Err(Damage::TooMany);
        }
        self.entries.push(entry(line)?);
        Ok(())
    }
}

/// What the comments say of time.
#[derive(Debug, Default)]
struct Header {
    start: Option<f64>,
    base: Option<f64>,
}

impl Header {
    fn take(&mut self, comment: &str) {
        let seconds = |name: &str| -> Option<f64> {
            let number = comment.strip_prefix(name)?.split_whitespace().next()?;
            number
                .parse()
                .ok()
                .filter(|seconds: &f64| seconds.is_finite())
        };
        self.start = self.start.or_else(|| seconds("[StartTime: "));
        self.base = self.base.or_else(|| seconds("[BaseTime: "));
    }

    /// What is added to the lines' starts: the base time; without one the start time, if the
    /// lines do not already count from the epoch (the rule of HdrHistogram's own reader).
    fn base(&self, first: f64) -> f64 {
        match (self.base, self.start) {
            (Some(base), _) => base,
            (None, Some(start)) if first < start - YEAR => start,
            _ => 0.0,
        }
    }
}

/// `Tag=NAME,start,length,maximum,histogram`, the tag being optional.
fn entry(line: &str) -> Result<Entry, Damage> {
    let (tag, rest) = match line.strip_prefix("Tag=") {
        Some(tagged) => {
            let (tag, rest) = tagged.split_once(',').ok_or(Damage::Columns)?;
            (Some(tag.to_owned()), rest)
        }
        None => (None, line),
    };
    let columns: Vec<&str> = rest.split(',').collect();
    let [start, length, _, encoded] = columns[..] else {
        return Err(Damage::Columns);
    };
    Ok(Entry {
        tag,
        start: seconds(start)?,
        length: seconds(length)?,
        histogram: histogram(encoded)?,
    })
}

fn seconds(text: &str) -> Result<f64, Damage> {
    let parsed = text.trim().parse().ok();
    parsed
        .filter(|seconds: &f64| (0.0..1e11).contains(seconds))
        .ok_or_else(|| Damage::Time(text.chars().take(40).collect()))
}

fn histogram(encoded: &str) -> Result<Histogram<u64>, Damage> {
    let damage = |why: &str| Damage::Histogram(why.to_owned());
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(encoded.trim())
        .map_err(|_| damage("no base64"))?;
    let plain = match cookie(&bytes) {
        Some(PLAIN) => bytes,
        Some(COMPRESSED) if bytes.len() > 8 => inflate(&bytes[8..])?,
        _ => return Err(damage("no histogram of version 2")),
    };
    check(&plain)?;
    let decoded = Deserializer::new().deserialize(&mut plain.as_slice());
    decoded.map_err(|why| damage(&why.to_string()))
}

fn cookie(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|first| u32::from_be_bytes(*first))
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Damage> {
    let mut plain = Vec::new();
    let read = ZlibDecoder::new(bytes)
        .take(LARGEST + 1)
        .read_to_end(&mut plain);
    let read = read.map_err(|why| Damage::Histogram(why.to_string()))?;
    if read as u64 > LARGEST {
        return Err(Damage::Histogram("unpacks into too much".into()));
    }
    Ok(plain)
}

/// The decoder allocates by the header, so the header must not claim more than is there.
fn check(plain: &[u8]) -> Result<(), Damage> {
    let damage = |why: &str| Damage::Histogram(why.to_owned());
    let word = |at: usize| plain.get(at..).and_then(cookie);
    let (Some(PLAIN), Some(length), Some(digits)) = (word(0), word(4), word(12)) else {
        return Err(damage("its header is cut short"));
    };
    if length as usize != plain.len().saturating_sub(HEADER) {
        return Err(damage("its length is wrong"));
    }
    if digits > MOST_DIGITS {
        return Err(damage("more digits than are accepted"));
    }
    Ok(())
}
