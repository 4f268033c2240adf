//! YCSB's command line, core workload and output on Tare's load engine.
#![deny(unsafe_code)]

mod command;
mod dialect;
pub mod embedded;
mod fields;
mod java;
mod operations;
mod output;
mod printer;
mod properties;
mod session;
mod settings;
mod shipped;
mod source;
mod statements;
mod usage;
mod verdict;
mod verify;
mod workload;

use std::process::ExitCode;

use tare_engine::observe::Observer;

/// Does what a command line of YCSB asks for: the words after `ycsb`.
///
/// Ends with 0 when it is done, 1 when it failed, 2 when it was asked wrongly, and 3 when it is
/// done but so much failed that the result is not valid.
pub fn main(args: &[String]) -> ExitCode {
    session::run(args, &mut [])
}

/// As [`main`]; the given observers are told everything, too, after it has been printed.
pub fn main_observed(args: &[String], others: &mut [&mut dyn Observer]) -> ExitCode {
    session::run(args, others)
}
