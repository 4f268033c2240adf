//! The stub as clients and tests see it: through its port, its command line and its report.

mod cli;
mod client;
mod mongo;
mod mongo_client;
mod protocol;
mod script;
mod set;
mod tls;
