//! Errors: why a run could not go on, and why an operation failed.

use std::fmt::Display;

use tare_cql::{ServerError, ServerErrorKind};

/// The root error that ends a run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what}: {place}: {why}")]
pub struct Fatal {
    /// The kind of failure, for programs: unreachable, schema, file, internal, spec, stand_in.
    pub kind: &'static str,
    pub what: &'static str,
    /// Field, file, host or statement.
    pub place: String,
    pub why: String,
}

impl Fatal {
    pub fn unreachable(place: impl Into<String>, why: impl Display) -> Fatal {
        Fatal::of("unreachable", "the cluster cannot be reached", place, why)
    }

    pub fn schema(place: impl Into<String>, why: impl Display) -> Fatal {
        Fatal::of("schema", "a statement cannot be prepared", place, why)
    }

    pub fn file(place: impl Into<String>, why: impl Display) -> Fatal {
        Fatal::of("file", "a file cannot be used", place, why)
    }

    pub fn internal(place: impl Into<String>, why: impl Display) -> Fatal {
        Fatal::of("internal", "the load generator failed", place, why)
    }

    /// Bad input.
    pub fn spec(place: impl Into<String>, why: impl Display) -> Fatal {
        Fatal::of("spec", "bad specification", place, why)
    }

    /// A program other than the database answers there, and the user did not ask for it.
    pub fn stand_in(place: impl Into<String>, name: &str) -> Fatal {
        let why = format!("{name} answers, whose numbers would pass for the database's");
        Fatal::of(
            "stand_in",
            "a stand-in is no target of a benchmark",
            place,
            why,
        )
    }

    /// Exit status: 2 for a wrong request by the user, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            "spec" | "stand_in" => 2,
            _ => 1,
        }
    }

    fn of(
        kind: &'static str,
        what: &'static str,
        place: impl Into<String>,
        why: impl Display,
    ) -> Fatal {
        Fatal {
            kind,
            what,
            place: place.into(),
            why: why.to_string(),
        }
    }
}

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// A read returned something else than what was written.
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

    /// Sorts a server's error by its code (native protocol v4 and v5, section 9).
    pub fn of(error: &ServerError) -> ErrorKind {
        match error.kind() {
            ServerErrorKind::Unavailable => ErrorKind::Unavailable,
            ServerErrorKind::Overloaded | ServerErrorKind::Bootstrapping => ErrorKind::Overloaded,
            ServerErrorKind::Timeout => ErrorKind::Timeout,
            _ => ErrorKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_error_has_the_kind_of_its_code() {
        // Section 9 of the v5 specification; 0x1700: a compare-and-set timed out, outcome unknown.
        let cases = [
            (0x1000, ErrorKind::Unavailable),
            (0x1001, ErrorKind::Overloaded),
            (0x1002, ErrorKind::Overloaded),
            (0x1100, ErrorKind::Timeout),
            (0x1200, ErrorKind::Timeout),
            (0x1700, ErrorKind::Timeout),
            (0x1500, ErrorKind::Other),
            (0x2500, ErrorKind::Other),
        ];
        for (code, kind) in cases {
            let error = ServerError {
                code,
                message: String::new(),
            };
            assert_eq!(ErrorKind::of(&error), kind, "{code:#x}");
        }
    }
}
