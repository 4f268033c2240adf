//! What can go wrong: on the way to a member, in the protocol, and what a server answers.
use crate::hello::TopologyVersion;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the host `{given}` cannot be used: {why}; write host:port, such as 127.0.0.1:27017")]
    Host { given: String, why: String },
    #[error(
        "no member could be reached: {why}; check the addresses and that mongod listens there"
    )]
    NoMember { why: String },
    /// The connection, or how it is opened.
    #[error(transparent)]
    Net(#[from] tare_net::Error),
    #[error("not the MongoDB protocol: {0}")]
    Protocol(String),
    #[error("not the MongoDB protocol: {what} ends early ({wanted} bytes wanted, {left} left)")]
    Truncated {
        what: &'static str,
        wanted: usize,
        left: usize,
    },
    #[error("{bytes} bytes are more than the protocol can carry in one message")]
    TooLong { bytes: usize },
    #[error("a name holds a NUL, which BSON cannot carry: {0:?}")]
    Name(String),
    #[error("the server answered: {0}")]
    Server(ServerError),
}

/// The label of a write that may be sent once more.
pub const RETRYABLE_WRITE: &str = "RetryableWriteError";
/// The label of an error that came before anything was written.
pub const NOTHING_WRITTEN: &str = "NoWritesPerformed";
/// From this wire version on (MongoDB 4.4) servers label their errors.
const LABELS: i32 = 9;
/// ReadConcernMajorityNotAvailableYet.
const READ_CONCERN_NOT_YET: i32 = 134;

/// What a command does to data; this decides whether it is resent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Read,
    Write,
}

/// The server that answers, as far as the meaning of its errors depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its highest wire version.
    pub wire: i32,
    /// A router of a sharded cluster.
    pub router: bool,
}

impl Default for Peer {
    /// A member of a set that is as new as can be.
    fn default() -> Self {
        Peer {
            wire: i32::MAX,
            router: false,
        }
    }
}

impl Error {
    /// Whether a failed request may be resent: where the server says so, and where the connection
    /// broke or could not be made, so that the outcome is unknown.
    pub fn is_retryable(&self, work: Work) -> bool {
        match self {
            Error::Server(error) => error.is_retryable(work),
            error => error.is_of_network(),
        }
    }

    /// Whether the way to the server failed, and not what it answered.
    pub fn is_of_network(&self) -> bool {
        matches!(self, Error::Net(error) if error.is_of_network())
    }
}

/// Which part of an answer an error stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The command as a whole failed (`ok: 0`).
    Command,
    /// One of its writes did (`writeErrors`).
    Write,
    /// It was done, but not acknowledged as it was asked (`writeConcernError`).
    WriteConcern,
}

/// A server's error, decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code}, {})", self.name())]
pub struct ServerError {
    pub origin: Origin,
    pub code: i32,
    /// `codeName`; empty where the server leaves it out (write errors).
    pub code_name: String,
    pub message: String,
    /// What the server says of what is to be done (`errorLabels`).
    pub labels: Vec<String>,
    /// The state of the member that answered, by which an outdated answer is known.
    pub state: Option<TopologyVersion>,
}

/// What kind of error a server's code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerErrorKind {
    /// The member is no primary (any more), or is stopping: another one may serve this.
    NotPrimary,
    /// Time ran out on the server, or while it waited for the write concern.
    Timeout,
    /// The server could not reach another one.
    Network,
    /// Too few members for the write concern or the read preference.
    Unavailable,
    /// The server shed the request.
    Overloaded,
    Authentication,
    DuplicateKey,
    /// A cursor that the server no longer knows.
    CursorNotFound,
    /// The request was wrong: syntax, names, validation.
    Invalid,
    Other,
}

impl ServerErrorKind {
    /// The kind of an error code (`error_codes.yml` of the server).
    pub fn of(code: i32) -> ServerErrorKind {
        match code {
            91 | 189 | 10058 | 10107 | 11600 | 11602 | 13435 | 13436 => ServerErrorKind::NotPrimary,
            24 | 50 | 64 | 202 | 262 => ServerErrorKind::Timeout,
            6 | 7 | 89 | 9001 => ServerErrorKind::Network,
            71 | 74 | 100 | 133 | 134 => ServerErrorKind::Unavailable,
            365 | 462 => ServerErrorKind::Overloaded,
            11 | 13 | 18 | 33 => ServerErrorKind::Authentication,
            11000 | 11001 | 12582 => ServerErrorKind::DuplicateKey,
            43 => ServerErrorKind::CursorNotFound,
            2 | 4 | 9 | 14 | 26 | 40 | 48 | 52 | 59 | 72 | 73 | 121 => ServerErrorKind::Invalid,
            _ => ServerErrorKind::Other,
        }
    }

    /// The kind in lower case, as records name it.
    pub fn name(self) -> &'static str {
        match self {
            ServerErrorKind::NotPrimary => "not primary",
            ServerErrorKind::Timeout => "timeout",
            ServerErrorKind::Network => "network",
            ServerErrorKind::Unavailable => "unavailable",
            ServerErrorKind::Overloaded => "overloaded",
            ServerErrorKind::Authentication => "authentication",
            ServerErrorKind::DuplicateKey => "duplicate key",
            ServerErrorKind::CursorNotFound => "cursor not found",
            ServerErrorKind::Invalid => "invalid",
            ServerErrorKind::Other => "other",
        }
    }
}

impl ServerError {
    /// The kind of this error.
    pub fn kind(&self) -> ServerErrorKind {
        ServerErrorKind::of(self.code)
    }

    /// Whether the same command may succeed when it is resent, by the driver specifications for
    /// retryable reads and writes. For writes, the server tells by a label; [`ServerError::label`]
    /// puts it on the errors of servers without labels.
    pub fn is_retryable(&self, work: Work) -> bool {
        match work {
            Work::Read => (self.passes() || self.code == READ_CONCERN_NOT_YET) && !self.is_write(),
            Work::Write => self.labels.iter().any(|label| label == RETRYABLE_WRITE),
        }
    }

    /// Codes of states that pass; both specifications name them.
    fn passes(&self) -> bool {
        matches!(
            self.code,
            6 | 7 | 89 | 91 | 189 | 262 | 9001 | 10107 | 11600 | 11602 | 13435 | 13436
        )
    }

    fn is_write(&self) -> bool {
        self.origin == Origin::Write
    }

    /// Label an error as a server since MongoDB 4.4 does by itself. Older routers themselves repeat
    /// writes that only failed to be acknowledged.
    pub(crate) fn label(&mut self, peer: Peer) {
        let own = peer.wire >= LABELS || self.is_write();
        let repeated = peer.router && self.origin == Origin::WriteConcern;
        if !own && !repeated && self.passes() {
            self.labels.push(RETRYABLE_WRITE.to_owned());
        }
    }

    /// Whether the member says that it is no primary, or recovers: what was known of it is outdated
    /// (discovery and monitoring specification, "not writable primary and node is recovering"). Old
    /// servers give no code. What became of single writes says nothing of the member.
    pub fn is_state_change(&self) -> bool {
        let told = match self.code {
            0 => ["not master", "node is recovering"]
                .iter()
                .any(|text| self.message.contains(text)),
            code => ServerErrorKind::of(code) == ServerErrorKind::NotPrimary,
        };
        told && self.origin != Origin::Write
    }

    /// Whether the member is stopping, so that its connections are of no use any more.
    pub fn is_shutdown(&self) -> bool {
        matches!(self.code, 91 | 11600)
    }

    fn name(&self) -> &str {
        match self.code_name.as_str() {
            "" => self.kind().name(),
            name => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(origin: Origin, code: i32) -> ServerError {
        ServerError {
            origin,
            code,
            code_name: String::new(),
            message: "m".into(),
            labels: Vec::new(),
            state: None,
        }
    }

    #[test]
    fn a_member_that_is_no_primary_is_worth_another_try_elsewhere() {
        // PrimarySteppedDown, NotWritablePrimary, InterruptedDueToReplStateChange.
        for code in [189, 10107, 11602] {
            let mut error = error(Origin::Command, code);
            assert_eq!(error.kind(), ServerErrorKind::NotPrimary);
            assert!(error.is_state_change() && error.is_retryable(Work::Read));
            // Servers say so themselves, since they have labels for it.
            error.label(Peer::default());
            assert!(!error.is_retryable(Work::Write));
            error.label(Peer {
                wire: 8,
                router: false,
            });
            assert!(error.is_retryable(Work::Write));
        }
    }

    #[test]
    fn what_would_fail_again_is_not_tried_again() {
        for (origin, code) in [
            (Origin::Command, 11000),
            (Origin::Command, 50),
            (Origin::Write, 10107),
        ] {
            let mut error = error(origin, code);
            error.label(Peer {
                wire: 8,
                router: false,
            });
            assert!(!error.is_retryable(Work::Read) && !error.is_retryable(Work::Write));
        }
    }

    #[test]
    fn an_old_router_repeats_unacknowledged_writes_itself() {
        for router in [false, true] {
            let mut error = error(Origin::WriteConcern, 91);
            error.label(Peer { wire: 8, router });
            assert_eq!(error.is_retryable(Work::Write), !router);
        }
    }

    #[test]
    fn an_error_without_a_name_is_called_by_its_kind() {
        let text = error(Origin::Write, 11000).to_string();
        assert_eq!(text, "m (code 11000, duplicate key)");
    }
}
