//! What YCSB prints: status lines, the summary, interval logs.

pub mod block;
pub mod export;
pub mod latencies;
pub mod logs;
pub mod series;
pub mod status;
pub mod summary;
#[cfg(test)]
mod tests;
