//! Merges the interval histogram logs of several clients into one, losing nothing: counts are
//! added bucket by bucket, tags are kept, intervals are aligned by time.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hdrhistogram::Histogram;
use tare_engine::hlog::Hlog;

mod read;

pub use read::{Damage, Entry, Log};

/// Why logs cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("{file}: {why}")]
    File { file: String, why: std::io::Error },
    #[error("{file}, line {line}: {why}; a damaged log cannot be merged without loss")]
    Line {
        file: String,
        line: usize,
        why: Damage,
    },
    #[error("{file}: no interval in it")]
    Empty { file: String },
    #[error("{file}: values are in {theirs}, in the logs before it in {mine}")]
    Units {
        file: String,
        theirs: String,
        mine: String,
    },
    #[error(
        "{file}: {tag:?} is recorded with other precision or another lowest value than before"
    )]
    Unlike { file: String, tag: String },
}

/// One interval of the merged log.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Seconds of Unix time (or of the logs' own clock, where they have no other).
    pub start: f64,
    pub end: f64,
    pub histogram: Histogram<u64>,
}

/// Intervals by their number and tag.
pub type Intervals = BTreeMap<(u64, Option<String>), Merged>;

/// Reads the files and writes the merged log to `out`. The output is complete or absent: it is
/// written beside its place and renamed.
pub fn files(inputs: &[std::path::PathBuf], out: &Path) -> Result<(), MergeError> {
    let mut logs = Vec::new();
    for path in inputs {
        logs.push((path.display().to_string(), Log::read(path)?));
    }
    let merged = merge(&logs)?;
    let unit = unit(&logs)?;
    let beside = out.with_extension("hlog.part");
    let fail = |why| MergeError::File {
        file: out.display().to_string(),
        why,
    };
    let written = write(&merged, unit.as_deref())
        .and_then(|text| std::fs::write(&beside, text))
        .and_then(|()| std::fs::rename(&beside, out));
    written
        .inspect_err(|_| drop(std::fs::remove_file(&beside)))
        .map_err(fail)
}

/// The unit of the values of all logs, as far as they name it.
fn unit(logs: &[(String, Log)]) -> Result<Option<String>, MergeError> {
    let mut unit: Option<String> = None;
    for (file, log) in logs {
        match (&unit, &log.unit) {
            (Some(mine), Some(theirs)) if mine != theirs => {
                return Err(MergeError::Units {
                    file: file.clone(),
                    theirs: theirs.clone(),
                    mine: mine.clone(),
                })
            }
            (None, Some(theirs)) => unit = Some(theirs.clone()),
            _ => {}
        }
    }
    Ok(unit)
}

/// Adds up the intervals of all logs. Intervals belong together if their middles fall into the same
/// interval of the longest usual length, counted from the earliest start.
pub fn merge(logs: &[(String, Log)]) -> Result<Intervals, MergeError> {
    let entries = || logs.iter().flat_map(|(_, log)| &log.entries);
    let origin = entries()
        .map(|entry| entry.start)
        .fold(f64::INFINITY, f64::min);
    let width = logs
        .iter()
        .map(|(_, log)| usual_length(log))
        .fold(0.001, f64::max);
    let mut merged = Intervals::new();
    for (file, log) in logs {
        for entry in &log.entries {
            let middle = entry.start + entry.length / 2.0;
            let number = ((middle - origin) / width).max(0.0) as u64;
            let key = (number, entry.tag.clone());
            match merged.get_mut(&key) {
                Some(one) => add(one, entry).ok_or_else(|| MergeError::Unlike {
                    file: file.clone(),
                    tag: entry.tag.clone().unwrap_or_default(),
                })?,
                None => {
                    let first = Merged {
                        start: entry.start,
                        end: entry.start + entry.length,
                        histogram: entry.histogram.clone(),
                    };
                    merged.insert(key, first);
                }
            }
        }
    }
    Ok(merged)
}

/// The median length of a log's intervals: the last one may be cut short.
fn usual_length(log: &Log) -> f64 {
    let mut lengths: Vec<f64> = log.entries.iter().map(|entry| entry.length).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
}

/// Adds an entry; none if their buckets differ, so that counts would move.
fn add(merged: &mut Merged, entry: &Entry) -> Option<()> {
    let (mine, theirs) = (&mut merged.histogram, &entry.histogram);
    if mine.sigfig() != theirs.sigfig() || mine.low() != theirs.low() {
        return None;
    }
    if theirs.high() > mine.high() {
        // The same buckets, and more of them.
        let mut wider = theirs.clone();
        wider.add(&*mine).ok()?;
        *mine = wider;
    } else {
        mine.add(theirs).ok()?;
    }
    merged.start = merged.start.min(entry.start);
    merged.end = merged.end.max(entry.start + entry.length);
    Some(())
}

/// The merged log as text (HdrHistogram log format 1.3).
fn write(merged: &Intervals, unit: Option<&str>) -> std::io::Result<Vec<u8>> {
    let starts = merged.values().map(|one| one.start);
    let start = starts.fold(f64::INFINITY, f64::min);
    let mut log = Hlog::new(Vec::new());
    log.begin(start, unit)?;
    for ((_, tag), one) in merged {
        let begin = Duration::from_secs_f64((one.start - start).max(0.0));
        let length = Duration::from_secs_f64((one.end - one.start).max(0.0));
        log.line(&one.histogram, begin, length, tag.as_deref())?;
    }
    Ok(log.into_inner())
}

#[cfg(test)]
mod tests;
