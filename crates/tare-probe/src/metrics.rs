//! Names with values, in the order in which they were found, and what turns counters into rates.

use serde::{Serialize, Serializer};

/// The metrics of one scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics(Vec<(&'static str, f64)>);

impl Metrics {
    pub fn put(&mut self, name: &'static str, value: f64) {
        self.0.push((name, value));
    }

    /// Adds a value only if there is one.
    pub fn put_some(&mut self, name: &'static str, value: Option<f64>) {
        self.0.extend(value.map(|value| (name, value)));
    }

    #[cfg(test)]
    pub fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Growth of a counter; one that went back has restarted and has not grown yet.
pub fn growth(now: u64, before: u64) -> f64 {
    now.saturating_sub(before) as f64
}
