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
    /// The connection, not what was said on it.
    #[error(transparent)]
    Net(#[from] tare_net::Error),
    #[error("{address} refused the credentials: {why}")]
    Authentication { address: SocketAddr, why: String },
    /// The node does not speak what was asked for.
    #[error("{address} does not support {what}")]
    Unsupported { address: SocketAddr, what: String },
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

/// An ERROR message (v4 section 9), decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code 0x{code:04X}, {})", self.kind().name())]
pub struct ServerError {
    pub code: i32,
    pub message: String,
    pub detail: Detail,
}

/// What some errors say beyond their message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    None,
    Unavailable {
        consistency: u16,
        required: i32,
        alive: i32,
    },
    WriteTimeout {
        consistency: u16,
        received: i32,
        required: i32,
        write_type: String,
    },
    ReadTimeout {
        consistency: u16,
        received: i32,
        required: i32,
        data_present: bool,
    },
    /// A read or write failure: how many replicas failed.
    Failure {
        consistency: u16,
        received: i32,
        required: i32,
        failures: i32,
    },
    AlreadyExists {
        keyspace: String,
        table: String,
    },
    Unprepared {
        id: Vec<u8>,
    },
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

    /// Decode an ERROR body. A detail that is cut short or unknown is left out: the code and the
    /// message are what counts.
    pub fn decode(body: &[u8]) -> Result<ServerError, Error> {
        let mut reader = Reader::new(body);
        let code = reader.int()?;
        let message = String::from_utf8_lossy(reader.short_bytes()?).into_owned();
        let detail = detail(code, &mut reader).unwrap_or(Detail::None);
        Ok(ServerError {
            code,
            message,
            detail,
        })
    }
}

fn detail(code: i32, reader: &mut Reader<'_>) -> Result<Detail, Error> {
    Ok(match code {
        0x1000 => Detail::Unavailable {
            consistency: reader.short()?,
            required: reader.int()?,
            alive: reader.int()?,
        },
        0x1100 => Detail::WriteTimeout {
            consistency: reader.short()?,
            received: reader.int()?,
            required: reader.int()?,
            write_type: reader.string()?.to_owned(),
        },
        0x1200 => Detail::ReadTimeout {
            consistency: reader.short()?,
            received: reader.int()?,
            required: reader.int()?,
            data_present: reader.byte()? != 0,
        },
        // v4 gives the number of failures; v5 a map whose count stands in the same place.
        0x1300 | 0x1500 => Detail::Failure {
            consistency: reader.short()?,
            received: reader.int()?,
            required: reader.int()?,
            failures: reader.int()?,
        },
        0x2400 => Detail::AlreadyExists {
            keyspace: reader.string()?.to_owned(),
            table: reader.string()?.to_owned(),
        },
        0x2500 => Detail::Unprepared {
            id: reader.short_bytes()?.to_vec(),
        },
        _ => Detail::None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{put_int, put_short, put_short_bytes, put_string};

    fn body(code: i32, message: &str) -> Vec<u8> {
        let mut out = Vec::new();
        put_int(&mut out, code);
        put_string(&mut out, message).unwrap();
        out
    }

    #[test]
    fn an_unavailable_error_says_how_many_replicas_were_alive() {
        let mut bytes = body(0x1000, "Cannot achieve consistency level QUORUM");
        put_short(&mut bytes, 4);
        put_int(&mut bytes, 2);
        put_int(&mut bytes, 1);
        let error = ServerError::decode(&bytes).unwrap();
        assert_eq!(error.kind(), ServerErrorKind::Unavailable);
        assert_eq!(
            error.detail,
            Detail::Unavailable {
                consistency: 4,
                required: 2,
                alive: 1
            }
        );
    }

    #[test]
    fn an_unprepared_error_carries_the_id() {
        let mut bytes = body(0x2500, "Unknown prepared statement");
        put_short_bytes(&mut bytes, &[1, 2, 3]).unwrap();
        let error = ServerError::decode(&bytes).unwrap();
        assert_eq!(error.detail, Detail::Unprepared { id: vec![1, 2, 3] });
    }

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
    fn a_detail_that_is_cut_short_does_not_hide_the_message() {
        let mut bytes = body(0x1100, "Operation timed out");
        put_short(&mut bytes, 1);
        let error = ServerError::decode(&bytes).unwrap();
        assert_eq!(
            (error.message.as_str(), error.detail),
            ("Operation timed out", Detail::None)
        );
        assert!(ServerError::decode(&bytes[..5]).is_err());
    }
}
