//! Drives a cluster: workers, pacing, timeouts, retries, and what is recorded of them.
#![deny(unsafe_code)]

pub mod cgroup;
pub mod clock;
mod collect;
pub mod errors;
pub mod hlog;
pub mod nearest;
pub mod observe;
pub mod order;
mod prepared;
pub mod record;
pub mod request;
pub mod run;
pub mod saturation;
pub mod slices;
pub mod steal;
pub mod timeline;
pub mod totals;
pub mod wire;
mod worker;
mod workers;
pub mod workload;
