//! What a connection is opened with, and how reads and writes are to be done.
use std::collections::BTreeMap;
use std::time::Duration;

use tare_net::{Password, TlsOptions};

use crate::document::Writer;
use crate::topology::Host;
use crate::uri::BadUri;

/// How the password is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mechanism {
    ScramSha1,
    ScramSha256,
}

impl Mechanism {
    /// The name that the server knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::ScramSha1 => "SCRAM-SHA-1",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
        }
    }

    /// The mechanism of a name.
    pub fn parse(name: &str) -> Option<Mechanism> {
        [Mechanism::ScramSha1, Mechanism::ScramSha256]
            .into_iter()
            .find(|mechanism| mechanism.name() == name)
    }
}

/// A user, a password, and the database that knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    pub user: String,
    pub password: Password,
    pub source: String,
    /// None asks the server which of them the user has.
    pub mechanism: Option<Mechanism>,
}

/// What every connection is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub tls: Option<TlsOptions>,
    pub credentials: Option<Credentials>,
    /// Time to connect and shake hands, and to wait for each answer on the control plane.
    pub connect_timeout: Duration,
    /// End every request with a CRC-32C, which makes the server check it and do the same.
    pub checksums: bool,
    /// Requests that one connection carries at a time; drivers send 1. A server handles them one
    /// after the other, so with more than 1, requests wait behind each other.
    pub depth: usize,
    /// The name that the server's log knows this client by.
    pub application: String,
    /// Endpoints of members that cannot be reached by their names: they know each other by one
    /// address, and this client uses another.
    pub reached: BTreeMap<Host, Host>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tls: None,
            credentials: None,
            connect_timeout: Duration::from_secs(10),
            checksums: false,
            depth: 1,
            application: "tare".to_owned(),
            reached: BTreeMap::new(),
        }
    }
}

/// Which members may serve a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReadMode {
    #[default]
    Primary,
    PrimaryPreferred,
    Secondary,
    SecondaryPreferred,
    Nearest,
}

impl ReadMode {
    const NAMES: [(&'static str, ReadMode); 5] = [
        ("primary", ReadMode::Primary),
        ("primaryPreferred", ReadMode::PrimaryPreferred),
        ("secondary", ReadMode::Secondary),
        ("secondaryPreferred", ReadMode::SecondaryPreferred),
        ("nearest", ReadMode::Nearest),
    ];

    /// The mode of a name such as `secondaryPreferred`, in any case.
    pub fn parse(name: &str) -> Option<ReadMode> {
        let found = ReadMode::NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, mode)| *mode)
    }

    /// The mode's name as the server writes it.
    pub fn name(self) -> &'static str {
        ReadMode::NAMES[self as usize].0
    }
}

/// Names and values that a member must carry, all of them.
pub type Tags = Vec<(String, String)>;

/// Which members may serve a read, and how much farther than the nearest one they may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPreference {
    pub mode: ReadMode,
    /// The first of these that any member carries counts; none asks for none.
    pub tags: Vec<Tags>,
    /// How far a secondary's last write may lie behind the primary's.
    pub staleness: Option<Duration>,
    /// Members whose round trip is longer than the shortest one by more than this are left out
    /// (`localThresholdMS`).
    pub threshold: Duration,
}

impl ReadPreference {
    /// The document that says so to a server.
    pub(crate) fn put(&self, out: &mut Writer<'_>) {
        out.text("mode", self.mode.name());
        if !self.tags.is_empty() {
            out.array("tags", |out| {
                for (position, tags) in self.tags.iter().enumerate() {
                    out.document(&position.to_string(), |out| {
                        for (name, value) in tags {
                            out.text(name, value);
                        }
                    });
                }
            });
        }
        if let Some(staleness) = self.staleness {
            out.long("maxStalenessSeconds", staleness.as_secs() as i64);
        }
    }
}

impl Default for ReadPreference {
    fn default() -> Self {
        ReadPreference {
            mode: ReadMode::Primary,
            tags: Vec::new(),
            staleness: None,
            threshold: Duration::from_millis(15),
        }
    }
}

/// `readConcern`'s level; none leaves it to the server.
pub type ReadConcern = Option<String>;

/// How many members acknowledge a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteAck {
    Members(i32),
    Majority,
    /// A name that the set's configuration defines.
    Tag(String),
}

impl WriteAck {
    /// A number of members, `majority`, or a name that the set's configuration defines.
    pub fn parse(text: &str) -> WriteAck {
        match text.parse() {
            Ok(count) => WriteAck::Members(count),
            Err(_) if text == "majority" => WriteAck::Majority,
            Err(_) => WriteAck::Tag(text.to_owned()),
        }
    }
}

/// When a write counts as done. Fields that are none are left to the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteConcern {
    pub acknowledged: Option<WriteAck>,
    /// Once it is in the journal.
    pub journal: Option<bool>,
    /// How long the server waits for the members; without it, for ever.
    pub timeout: Option<Duration>,
}

impl WriteConcern {
    /// The write concern of `w`, `journal` and `wtimeout` in milliseconds, of which 0 is no limit.
    ///
    /// # Errors
    /// A negative number, a journal without acknowledgement; refused where nothing is acknowledged.
    pub fn of(
        acknowledged: Option<WriteAck>,
        journal: Option<bool>,
        timeout: Option<i64>,
    ) -> Result<WriteConcern, BadUri> {
        let error = |part: &str, why: &str, refused| BadUri {
            part: part.to_owned(),
            why: why.to_owned(),
            refused,
        };
        match acknowledged {
            Some(WriteAck::Members(0)) if journal == Some(true) => {
                let why = "w=0 acknowledges nothing, and the journal is an acknowledgement";
                return Err(error("journal", why, false));
            }
            Some(WriteAck::Members(0)) => {
                let why = "writes that nobody acknowledges have nothing to time; use w=1";
                return Err(error("w", why, true));
            }
            Some(WriteAck::Members(..0)) => {
                let why = "expected a number of members, or majority";
                return Err(error("w", why, false));
            }
            _ => {}
        }
        let timeout = timeout.map(u64::try_from).transpose();
        let timeout = timeout.map_err(|_| error("wtimeout", "it is negative", false))?;
        Ok(WriteConcern {
            acknowledged,
            journal,
            timeout: timeout.filter(|time| *time > 0).map(Duration::from_millis),
        })
    }

    /// Whether all is left to the server.
    pub fn is_default(&self) -> bool {
        *self == WriteConcern::default()
    }

    /// The document that says so.
    pub(crate) fn put(&self, out: &mut Writer<'_>) {
        match &self.acknowledged {
            Some(WriteAck::Members(count)) => out.int("w", *count),
            Some(WriteAck::Majority) => out.text("w", "majority"),
            Some(WriteAck::Tag(name)) => out.text("w", name),
            None => out,
        };
        if let Some(journal) = self.journal {
            out.boolean("j", journal);
        }
        if let Some(timeout) = self.timeout {
            out.long("wtimeout", timeout.as_millis() as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_read_modes_are_read_in_any_case() {
        for (name, mode) in ReadMode::NAMES {
            assert_eq!(mode.name(), name);
            assert_eq!(ReadMode::parse(&name.to_uppercase()), Some(mode));
        }
        assert_eq!(ReadMode::parse("closest"), None);
    }
}
