//! The Python module `tare.records.quick_hlog`: reads histogram logs that hold nothing unusual.
//!
//! Whatever is unusual or damaged is left to `tare.records.hlog`, which names it.

#![deny(unsafe_code)]

mod histogram;
mod log;

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use log::{Bins, Log};

/// First HdrHistogram index, and counts from there on as native 64-bit integers.
type Counts<'py> = (usize, Bound<'py, PyBytes>);
/// Start of the first interval, totals per group of tags, response times per interval.
type Read<'py> = (
    f64,
    Vec<(Vec<String>, Counts<'py>)>,
    Vec<(f64, f64, usize, Counts<'py>)>,
    u32,
);

/// Reads a whole log. None: it is missing, damaged or unusual.
///
/// Returns (start of the first interval in seconds, [(tags, counts)], [(start, length, index of
/// the percentile, counts)] of the response times of all operations, log2 of half the number of sub-buckets). Lines that
/// differ in their tags only are one group.
#[pyfunction]
fn read(py: Python<'_>, path: PathBuf, percentile: f64) -> Option<Read<'_>> {
    let log = py.detach(|| Log::read(&path, percentile))?;
    let totals = log.totals.into_iter();
    let rows = log.rows.into_iter();
    Some((
        log.start_s,
        totals.map(|t| (t.tags, counts(py, &t.bins))).collect(),
        rows.map(|r| (r.start_s, r.length_s, r.place, counts(py, &r.bins)))
            .collect(),
        log.half,
    ))
}

fn counts<'py>(py: Python<'py>, bins: &Bins) -> Counts<'py> {
    let filled = bins.filled();
    let bytes = PyBytes::new_with(py, filled.len() * 8, |room| {
        for (place, count) in room.chunks_exact_mut(8).zip(filled) {
            place.copy_from_slice(&count.to_ne_bytes());
        }
        Ok(())
    });
    match bytes {
        Ok(bytes) => (bins.first(), bytes),
        Err(_) => (0, PyBytes::new(py, &[])),
    }
}

#[pymodule]
fn quick_hlog(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read, module)?)
}
