//! Mean latencies over time (`measurementtype=timeseries`).

use std::collections::BTreeMap;

use super::block::Block;

/// Per block: milliseconds from the beginning, and the mean latency there in microseconds.
#[derive(Debug, Default)]
pub struct Series(BTreeMap<String, Vec<(u64, f64)>>);

impl Series {
    /// Adds what happened in the time that began so many milliseconds after the first send.
    pub fn add(&mut self, milliseconds: u64, blocks: &[Block]) {
        for block in blocks.iter().filter(|block| block.latencies.count() > 0) {
            let points = self.0.entry(block.name.clone()).or_default();
            points.push((milliseconds, block.latencies.mean()));
        }
    }

    pub fn points(&self, name: &str) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.0.get(name).into_iter().flatten().copied()
    }
}
