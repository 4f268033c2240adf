//! Why there is no connection, or none any more.
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
    #[error("{address} closed the connection")]
    Closed { address: SocketAddr },
    #[error("the connection to {address} failed: {why}")]
    Broken { address: SocketAddr, why: String },
    #[error("{address} refused the credentials: {why}")]
    Authentication { address: SocketAddr, why: String },
    /// The server does not speak what was asked for.
    #[error("{address} does not support {what}")]
    Unsupported { address: SocketAddr, what: String },
    #[error("{what} cannot be sent to {address}: it is longer than one message may be")]
    NotTaken {
        address: SocketAddr,
        what: &'static str,
    },
}

impl Error {
    /// Whether an option is wrong, such as a password: that says more than "unreachable".
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Error::Tls(_) | Error::Authentication { .. } | Error::Unsupported { .. }
        )
    }

    /// Whether the server failed or the way to it, and not what was asked of this side.
    pub fn is_of_network(&self) -> bool {
        !self.is_refusal() && !matches!(self, Error::NotTaken { .. })
    }

    /// The hint for a connection without TLS that broke on its first request: a server that speaks
    /// TLS only hangs up on what is not TLS.
    #[must_use]
    pub fn on_first(self, request: &str) -> Error {
        match self {
            Error::Closed { address } | Error::Broken { address, .. } => Error::Unreachable {
                address,
                why: format!("it closed the connection on {request}: perhaps it expects TLS"),
            },
            other => other,
        }
    }
}
