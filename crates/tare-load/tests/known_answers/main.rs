//! Known answers: the binary against a stub whose service times are scripted.
//!
//! These tests run in real time. Each looks at the stub's own report first, and tries again when
//! the stub was late: then the machine was busy, and neither side can be judged. The `quiet` ones
//! take minutes, hold the client to narrow limits, and want a machine with nothing else to do:
//!
//!     cargo test --release -p tare-load --test known_answers -- --ignored --test-threads 1

mod bench;
mod everyday;
#[path = "../program/mod.rs"]
mod program;
mod quiet;
mod stolen;
