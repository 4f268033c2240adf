//! Why there is no connection.
use std::net::SocketAddr;

/// What stands between here and an address.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{address} cannot be reached: {why}")]
    Unreachable { address: SocketAddr, why: String },
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    #[error("{address} did not answer {what} within {seconds} s")]
    TimedOut {
        address: SocketAddr,
        what: &'static str,
        seconds: f64,
    },
}
