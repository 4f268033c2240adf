//! What can go wrong: on the way to a node, in the protocol, and what a server answers.
use std::net::SocketAddr;

use crate::wire::Reader;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the contact point `{given}` cannot be used: {why}; write host:port, such as 127.0.0.1:9042")]
    ContactPoint { given: String, why: String },
    #[error("no contact point could be reached: {why}; check the addresses and that Cassandra's native transport is on")]
    NoContact { why: String },
    /// The connection, or how it is opened.
    #[error(transparent)]
    Net(#[from] tare_net::Error),
    #[error("not the CQL protocol: {0}")]
    Protocol(String),
    #[error("not the CQL protocol: a message ends early ({wanted} bytes wanted, {left} left)")]
    Truncated { wanted: usize, left: usize },
    #[error("{bytes} bytes are more than the protocol can carry in one piece")]
    TooLong { bytes: usize },
    #[error("the node answered: {0}")]
    Server(ServerError),
    #[error("the statement `{cql}` was not prepared on {address}: {why}")]
    Prepare {
        cql: String,
        address: SocketAddr,
        why: String,
    },
    #[error("schema: {0}")]
    Schema(String),
}

/// An ERROR message (v4 section 9): its code and its text. Other fields of some kinds are left
/// out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code 0x{code:04X}, {})", self.kind().name())]
pub struct ServerError {
    pub code: i32,
    pub message: String,
}

/// What kind of error a server's code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerErrorKind {
    /// The coordinator gave up waiting: read, write, or an unknown compare-and-set outcome.
    Timeout,
    /// Too few replicas were alive to try.
    Unavailable,
    Overloaded,
    Bootstrapping,
    /// A replica answered with a failure.
    Failure,
    Unprepared,
    Authentication,
    /// The request was wrong: syntax, rights, configuration, an unknown table.
    Invalid,
    AlreadyExists,
    Other,
}

impl ServerErrorKind {
    /// The kind of an error code.
    pub fn of(code: i32) -> ServerErrorKind {
        match code {
            0x1100 | 0x1200 | 0x1700 => ServerErrorKind::Timeout,
            0x1000 => ServerErrorKind::Unavailable,
            0x1001 => ServerErrorKind::Overloaded,
            0x1002 => ServerErrorKind::Bootstrapping,
            0x1300 | 0x1400 | 0x1500 | 0x1600 => ServerErrorKind::Failure,
            0x2500 => ServerErrorKind::Unprepared,
            0x0100 => ServerErrorKind::Authentication,
            0x2000 | 0x2100 | 0x2200 | 0x2300 => ServerErrorKind::Invalid,
            0x2400 => ServerErrorKind::AlreadyExists,
            _ => ServerErrorKind::Other,
        }
    }

    /// The kind in lower case, as records name it.
    pub fn name(self) -> &'static str {
        match self {
            ServerErrorKind::Timeout => "timeout",
            ServerErrorKind::Unavailable => "unavailable",
            ServerErrorKind::Overloaded => "overloaded",
            ServerErrorKind::Bootstrapping => "bootstrapping",
            ServerErrorKind::Failure => "failure",
            ServerErrorKind::Unprepared => "unprepared",
            ServerErrorKind::Authentication => "authentication",
            ServerErrorKind::Invalid => "invalid",
            ServerErrorKind::AlreadyExists => "already exists",
            ServerErrorKind::Other => "other",
        }
    }
}

impl ServerError {
    /// The kind of this error.
    pub fn kind(&self) -> ServerErrorKind {
        ServerErrorKind::of(self.code)
    }

    /// Decode an ERROR body.
    pub fn decode(body: &[u8]) -> Result<ServerError, Error> {
        let mut reader = Reader::new(body);
        let code = reader.int()?;
        let message = String::from_utf8_lossy(reader.short_bytes()?).into_owned();
        Ok(ServerError { code, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{put_int, put_string};

    #[test]
    fn timeouts_of_reads_writes_and_unknown_cas_outcomes_are_timeouts() {
        // Section 9 of the v5 specification: 0x1100 write, 0x1200 read, 0x1700 CAS_WRITE_UNKNOWN.
        for code in [0x1100, 0x1200, 0x1700] {
            assert_eq!(ServerErrorKind::of(code), ServerErrorKind::Timeout);
        }
        assert_eq!(ServerErrorKind::of(0x1300), ServerErrorKind::Failure);
        assert_eq!(ServerErrorKind::of(-5), ServerErrorKind::Other);
    }

    #[test]
    fn the_message_is_read_whatever_follows_it() {
        let mut bytes = Vec::new();
        put_int(&mut bytes, 0x1000);
        put_string(&mut bytes, "Cannot achieve consistency level QUORUM").unwrap();
        assert!(ServerError::decode(&bytes[..5]).is_err());
        for detail in [&b""[..], b"\0", b"\0\x04\0\0\0\x02\0\0\0\x01"] {
            let error = ServerError::decode(&[&bytes[..], detail].concat()).unwrap();
            assert_eq!(error.kind(), ServerErrorKind::Unavailable);
            assert_eq!(error.message, "Cannot achieve consistency level QUORUM");
        }
    }
}
