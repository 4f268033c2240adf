//! Whole answers: to OP_MSG, and to the OP_QUERY that drivers greet with.

use tare_mongo::document::Writer;
use tare_mongo::legacy;
use tare_mongo::message::{self, flag};

use crate::script::Fault;

/// Which request is answered, and in which form.
#[derive(Debug, Clone, Copy)]
pub struct To {
    pub request: i32,
    pub form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Message { checksum: bool },
    Query,
}

/// An error, as a mongod's `error_codes.yml` numbers it.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    pub code: i32,
    pub name: &'static str,
    pub why: &'static str,
}

const fn refusal(code: i32, name: &'static str, why: &'static str) -> Refusal {
    Refusal { code, name, why }
}

pub const BAD_BSON: Refusal = refusal(22, "InvalidBSON", "the command is no BSON");
pub const BAD_VALUE: Refusal = refusal(2, "BadValue", "a field is missing, or of another type");
pub const UNKNOWN: Refusal = refusal(59, "CommandNotFound", "tare-stub knows no such command");
pub const UNAUTHORIZED: Refusal = refusal(13, "Unauthorized", "Command requires authentication");
pub const WRONG_PASSWORD: Refusal = refusal(18, "AuthenticationFailed", "Authentication failed.");
pub const NO_CURSOR: Refusal = refusal(43, "CursorNotFound", "cursor id not found");
pub const NO_TRANSACTIONS: Refusal = refusal(
    20,
    "IllegalOperation",
    "Transaction numbers are only allowed on a replica set member or mongos",
);
pub const ALREADY_INITIALIZED: Refusal = refusal(23, "AlreadyInitialized", "already initialized");
pub const NO_REPLICATION: Refusal = refusal(
    94,
    "NotYetInitialized",
    "no set was named to this server: see --set-later of tare-stub",
);
pub const NO_THREAD: Refusal = refusal(8, "UnknownError", "tare-stub has no thread for the set");
pub const NOT_PRIMARY: Refusal = refusal(10107, "NotWritablePrimary", "not primary");
pub const NO_SECONDARY_OK: Refusal = refusal(
    13435,
    "NotPrimaryNoSecondaryOk",
    "not primary and secondaryOk=false",
);

/// The error that reports a scripted fault.
pub fn of_fault(fault: Fault, writes: bool) -> Refusal {
    let (code, name) = match (fault, writes) {
        (Fault::Unavailable, true) => (100, "UnsatisfiableWriteConcern"),
        (Fault::Unavailable, false) => (133, "FailedToSatisfyReadPreference"),
        (Fault::Timeout, _) => (50, "MaxTimeMSExpired"),
        (Fault::Overloaded, _) => (462, "IngressRequestRateLimitExceeded"),
        (Fault::Bootstrapping, _) => (13436, "NotPrimaryOrSecondary"),
        (Fault::Server | Fault::Lost, _) => (8, "UnknownError"),
    };
    refusal(code, name, "the script of tare-stub says so")
}

impl To {
    /// Appends a whole answer with the body that `write` puts.
    #[inline]
    pub fn put(self, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        match self.form {
            Form::Message { checksum } => {
                let flags = if checksum { flag::CHECKSUM } else { 0 };
                let at = message::begin(out, self.request, self.request, flags);
                Writer::write(out, write);
                message::end(out, at);
            }
            Form::Query => legacy::put(out, self.request, write),
        }
    }

    /// Appends an answer that says only yes.
    pub fn yes(self, out: &mut Vec<u8>) {
        self.put(out, |out| {
            out.double("ok", 1.0);
        });
    }

    /// Appends an error; `more` adds to it.
    pub fn no(self, out: &mut Vec<u8>, refusal: Refusal, more: impl FnOnce(&mut Writer<'_>)) {
        self.put(out, |out| {
            out.double("ok", 0.0).text("errmsg", refusal.why);
            out.int("code", refusal.code).text("codeName", refusal.name);
            more(out);
        });
    }
}
