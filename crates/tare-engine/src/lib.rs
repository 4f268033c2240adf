//! Drives a CQL cluster: workers, pacing, timeouts, retries, and what is recorded of them.
#![deny(unsafe_code)]

pub mod cgroup;
pub mod clock;
pub mod errors;
pub mod hlog;
pub mod observe;
pub mod order;
pub mod record;
pub mod request;
pub mod run;
pub mod saturation;
pub mod timeline;
pub mod totals;
pub mod worker;
pub mod workload;
