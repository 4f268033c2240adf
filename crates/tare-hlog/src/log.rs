//! A whole log, added up while it is read: per group of tags, and per interval.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::histogram::Decoder;

/// Longest line, bytes; as in `tare.records.hlog`.
const LONGEST_LINE: usize = 1 << 20;
/// Largest log that is held in memory, bytes: days of intervals.
const LARGEST: u64 = 1 << 28;
/// Tags with this end are of response times.
const RESPONSE: &str = "-rt";

/// Counts per HdrHistogram index, of which a part is filled.
#[derive(Default)]
pub struct Bins {
    counts: Vec<i64>,
    from: usize,
    first: usize,
    end: usize,
}

impl Bins {
    /// The counts from the first filled bin to the last.
    pub fn filled(&self) -> &[i64] {
        self.counts
            .get(self.first - self.from..self.end - self.from)
            .unwrap_or(&[])
    }

    /// HdrHistogram index of the first filled bin.
    pub fn first(&self) -> usize {
        self.first
    }

    /// HdrHistogram index of the bin with the observation at the percentile (0 to 100).
    fn place(&self, percentile: f64) -> usize {
        let counts = self.filled();
        let total: i64 = counts.iter().sum();
        let rank = (percentile / 100.0 * total as f64 - 1e-6).ceil().max(1.0) as i64;
        let mut beyond = total;
        for (place, count) in counts.iter().enumerate().rev() {
            beyond -= count;
            if beyond < rank {
                return self.first + place;
            }
        }
        self.first
    }

    fn grow(&mut self, bins: usize) {
        if self.counts.len() < bins {
            self.counts.resize(bins, 0);
        }
    }

    fn widen(&mut self, first: usize, end: usize) {
        if first < end {
            self.first = if self.end == 0 {
                first
            } else {
                self.first.min(first)
            };
            self.end = self.end.max(end);
        }
    }

    /// The filled part as bins of their own; this one is empty then.
    fn take(&mut self) -> Self {
        let own = Self {
            counts: self.filled().to_vec(),
            from: self.first,
            first: self.first,
            end: self.end,
        };
        self.counts[self.first..self.end].fill(0);
        (self.first, self.end) = (0, 0);
        own
    }
}

/// What was measured under some tags.
pub struct Total {
    pub tags: Vec<String>,
    pub bins: Bins,
}

/// The response times of one interval.
pub struct Row {
    pub start_s: f64,
    pub length_s: f64,
    /// HdrHistogram index of the bin that the percentile asked for lies in.
    pub place: usize,
    pub bins: Bins,
}

/// A log without damage.
pub struct Log {
    pub start_s: f64,
    pub totals: Vec<Total>,
    pub rows: Vec<Row>,
    pub half: u32,
}

impl Log {
    /// Reads a log; None where anything is unusual.
    pub fn read(path: &Path, percentile: f64) -> Option<Self> {
        let mut data = Vec::new();
        let size = File::open(path)
            .ok()?
            .take(LARGEST + 1)
            .read_to_end(&mut data)
            .ok()?;
        if size as u64 > LARGEST {
            return None;
        }
        let mut adding = Adding {
            percentile,
            ..Adding::default()
        };
        let mut decoder = Decoder::new();
        let mut tags: Vec<&str> = Vec::new();
        let mut same: &[u8] = &[];
        for line in data.split(|&byte| byte == b'\n') {
            if line.is_empty() || line[0] == b'#' || line[0] == b'"' {
                continue;
            }
            let (tag, rest) = line_parts(line)?;
            if rest != same {
                adding.add(&tags, same, &mut decoder)?;
                same = rest;
                tags.clear();
            }
            if tags.contains(&tag) {
                return None;
            }
            tags.push(tag);
        }
        adding.add(&tags, same, &mut decoder)?;
        adding.log()
    }
}

#[derive(Default)]
struct Adding {
    totals: Vec<Total>,
    rows: Vec<Row>,
    row: Bins,
    /// For other than response times: only their total is wanted.
    aside: Bins,
    when: Option<(f64, f64)>,
    start_s: Option<f64>,
    half: Option<u32>,
    percentile: f64,
}

impl Adding {
    /// Adds a line that these tags share.
    fn add(&mut self, tags: &[&str], rest: &[u8], decoder: &mut Decoder) -> Option<()> {
        if tags.is_empty() {
            return Some(());
        }
        let mut fields = rest.splitn(4, |&byte| byte == b',');
        let start_s = seconds(fields.next()?)?;
        let length_s = seconds(fields.next()?)?;
        let shape = decoder.unpack(fields.nth(1)?)?;
        if *self.half.get_or_insert(shape.half) != shape.half {
            return None;
        }
        self.start_s = Some(self.start_s.map_or(start_s, |first| first.min(start_s)));
        let responses = tags.iter().filter(|tag| tag.ends_with(RESPONSE)).count();
        if responses > 1 {
            return None; // two operations with the very same times
        }
        let response = responses == 1;
        if response && self.when != Some((start_s, length_s)) {
            self.end_row()?;
            self.when = Some((start_s, length_s));
        }
        let place = self.totals.iter().position(|total| total.tags == tags);
        let place = place.unwrap_or_else(|| {
            let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            self.totals.push(Total {
                tags,
                bins: Bins::default(),
            });
            self.totals.len() - 1
        });
        let total = &mut self.totals.get_mut(place)?.bins;
        let row = if response {
            &mut self.row
        } else {
            &mut self.aside
        };
        total.grow(shape.bins);
        row.grow(shape.bins);
        let added = decoder.add(shape, &mut total.counts, &mut row.counts)?;
        // the sum of all is then below 2^63
        if added.bits >= 1 << 40 {
            return None;
        }
        total.widen(added.first, added.end);
        row.widen(added.first, added.end);
        Some(())
    }

    fn end_row(&mut self) -> Option<()> {
        let Some((start_s, length_s)) = self.when else {
            return Some(());
        };
        if self.row.end == 0 {
            return Some(());
        }
        let before = self.rows.last();
        if before.is_some_and(|last| (last.start_s, last.length_s) >= (start_s, length_s)) {
            return None; // an interval may come back: unusual
        }
        let place = self.row.place(self.percentile);
        let bins = self.row.take();
        self.rows.push(Row {
            start_s,
            length_s,
            place,
            bins,
        });
        Some(())
    }

    fn log(mut self) -> Option<Log> {
        self.end_row()?;
        Some(Log {
            start_s: self.start_s.unwrap_or(0.0),
            totals: self.totals,
            rows: self.rows,
            half: self.half.unwrap_or(10),
        })
    }
}

/// The tag and the rest of a line of a usual length, in ASCII.
fn line_parts(line: &[u8]) -> Option<(&str, &[u8])> {
    if line.len() > LONGEST_LINE || !line.is_ascii() || line.contains(&b'\r') {
        return None;
    }
    let Some(tagged) = line.strip_prefix(b"Tag=") else {
        return Some(("", line));
    };
    let comma = tagged.iter().position(|&byte| byte == b',')?;
    let (tag, rest) = tagged.split_at(comma);
    Some((std::str::from_utf8(tag).ok()?, &rest[1..]))
}

/// A plain decimal number.
fn seconds(text: &[u8]) -> Option<f64> {
    if text.is_empty()
        || !text
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
