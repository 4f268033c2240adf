//! What can go wrong: fatal errors that end the client, and the kinds of failed operations.

use std::fmt::Display;

use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use serde::Serialize;
use thiserror::Error;

/// An error that ends the client, told as one JSON line.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[error("{what}: {why}")]
pub struct Fatal {
    /// spec, unreachable, schema, file or internal.
    pub kind: &'static str,
    /// What was concerned: a field of the specification, an address, a file.
    pub what: String,
    pub why: String,
}

impl Fatal {
    pub fn new(kind: &'static str, what: impl Into<String>, why: impl Display) -> Fatal {
        Fatal {
            kind,
            what: what.into(),
            why: why.to_string(),
        }
    }

    /// A bad specification; `field` is the path of the field within it.
    pub fn spec(field: impl Into<String>, why: impl Display) -> Fatal {
        Fatal::new("spec", field, why)
    }

    /// Exit status: 2 for a bad specification, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        if self.kind == "spec" {
            2
        } else {
            1
        }
    }
}

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// No answer in time: the client's own timeout or the coordinator's.
    Timeout,
    /// Not enough live replicas for the consistency level.
    Unavailable,
    /// The coordinator shed the request, or is still starting.
    Overloaded,
    /// The connection broke or there was none.
    Connection,
    /// A read found no row.
    NotFound,
    /// A read returned something else than what was written (only with `validate`).
    WrongValue,
    Other,
}

impl ErrorKind {
    pub const ALL: [ErrorKind; 7] = [
        ErrorKind::Timeout,
        ErrorKind::Unavailable,
        ErrorKind::Overloaded,
        ErrorKind::Connection,
        ErrorKind::NotFound,
        ErrorKind::WrongValue,
        ErrorKind::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Timeout => "timeout",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Overloaded => "overloaded",
            ErrorKind::Connection => "connection",
            ErrorKind::NotFound => "not_found",
            ErrorKind::WrongValue => "wrong_value",
            ErrorKind::Other => "other",
        }
    }

    /// Sorts an error of the driver into a kind.
    pub fn of(error: &ExecutionError) -> ErrorKind {
        match error {
            ExecutionError::RequestTimeout(_) => ErrorKind::Timeout,
            ExecutionError::ConnectionPoolError(_) | ExecutionError::EmptyPlan => {
                ErrorKind::Connection
            }
            ExecutionError::LastAttemptError(attempt) => ErrorKind::of_attempt(attempt),
            _ => ErrorKind::Other,
        }
    }

    fn of_attempt(error: &RequestAttemptError) -> ErrorKind {
        match error {
            RequestAttemptError::BrokenConnectionError(_) => ErrorKind::Connection,
            // The driver ran out of stream ids: more is in flight than it can carry.
            RequestAttemptError::UnableToAllocStreamId => ErrorKind::Overloaded,
            RequestAttemptError::DbError(error, _) => match error {
                DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => ErrorKind::Timeout,
                DbError::Unavailable { .. } => ErrorKind::Unavailable,
                DbError::Overloaded
                | DbError::IsBootstrapping
                | DbError::RateLimitReached { .. } => ErrorKind::Overloaded,
                _ => ErrorKind::Other,
            },
            _ => ErrorKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use scylla::statement::Consistency;

    use super::*;

    fn answered(error: DbError) -> ErrorKind {
        let attempt = RequestAttemptError::DbError(error, String::new());
        ErrorKind::of(&ExecutionError::LastAttemptError(attempt))
    }

    #[test]
    fn the_servers_errors_have_their_kinds() {
        let unavailable = DbError::Unavailable {
            consistency: Consistency::Quorum,
            required: 2,
            alive: 1,
        };
        let read_timeout = DbError::ReadTimeout {
            consistency: Consistency::Quorum,
            received: 0,
            required: 1,
            data_present: false,
        };
        assert_eq!(answered(unavailable), ErrorKind::Unavailable);
        assert_eq!(answered(read_timeout), ErrorKind::Timeout);
        assert_eq!(answered(DbError::Overloaded), ErrorKind::Overloaded);
        assert_eq!(answered(DbError::IsBootstrapping), ErrorKind::Overloaded);
        assert_eq!(answered(DbError::SyntaxError), ErrorKind::Other);
    }

    #[test]
    fn the_clients_own_errors_have_their_kinds() {
        let own = std::time::Duration::from_secs(5);
        let timeout = ExecutionError::RequestTimeout(own);
        assert_eq!(ErrorKind::of(&timeout), ErrorKind::Timeout);
        assert_eq!(
            ErrorKind::of(&ExecutionError::EmptyPlan),
            ErrorKind::Connection
        );
        let streams = RequestAttemptError::UnableToAllocStreamId;
        let error = ExecutionError::LastAttemptError(streams);
        assert_eq!(ErrorKind::of(&error), ErrorKind::Overloaded);
    }

    #[test]
    fn kinds_stand_at_their_own_positions() {
        for (position, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, position);
        }
    }
}
