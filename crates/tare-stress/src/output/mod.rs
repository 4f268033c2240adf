//! What is printed: settings, rows at every interval, results, histogram log.

pub mod histograms;
pub mod numbers;
pub mod printer;
pub mod report;
pub mod results;
pub mod rows;
pub mod timing;
pub mod uncertainty;
