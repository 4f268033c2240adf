//! What a member says about itself and its set in answer to `hello`.
use std::time::Duration;

use crate::document::{Document, Value};
use crate::error::Error;
use crate::options::Tags;
use crate::topology::Host;

/// The port of a host that names none.
const PORT: u16 = 27017;

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Of no set.
    Standalone,
    /// A router of a sharded cluster (mongos).
    Router,
    Primary,
    Secondary,
    Arbiter,
    /// Of a set, but it serves nothing now: hidden, recovering, rolled back.
    Other,
    /// Of a set that it does not know yet, or no more.
    Ghost,
    /// It did not answer, or what it says of itself is outdated.
    Unknown,
}

impl Role {
    /// The role in lower case, as records name it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Standalone => "standalone",
            Role::Router => "router",
            Role::Primary => "primary",
            Role::Secondary => "secondary",
            Role::Arbiter => "arbiter",
            Role::Other => "other",
            Role::Ghost => "ghost",
            Role::Unknown => "unknown",
        }
    }
}

/// The state of a member, numbered by itself: of two answers of one process, the one with the lower
/// number is the older one (discovery and monitoring specification, "topologyVersion").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopologyVersion {
    pub process: [u8; 12],
    pub counter: i64,
}

impl TopologyVersion {
    /// The version in a document that may hold one.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn read(value: &Value<'_>) -> Result<Option<TopologyVersion>, Error> {
        let Some(document) = value.document() else {
            return Ok(None);
        };
        let process = document.get("processId")?;
        let counter = document.get("counter")?.and_then(|value| value.number());
        Ok(match (process, counter) {
            (Some(Value::ObjectId(process)), Some(counter)) => Some(TopologyVersion {
                process: *process,
                counter,
            }),
            _ => None,
        })
    }

    /// Whether this is older than the other one, as far as both are of one process.
    pub fn is_before(&self, other: &TopologyVersion) -> bool {
        self.process == other.process && self.counter < other.counter
    }
}

/// An answer to `hello` or `isMaster`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    pub role: Role,
    pub set: Option<String>,
    /// The name by which the set knows this member.
    pub me: Option<Host>,
    /// All members that hold data or could.
    pub hosts: Vec<Host>,
    pub primary: Option<Host>,
    /// Tells which of two primaries, by their own account, was elected later: first the election,
    /// then the version of the configuration.
    pub election: Option<[u8; 12]>,
    pub version: Option<i64>,
    /// Which of two answers of this member is newer.
    pub state: Option<TopologyVersion>,
    /// Lowest and highest version of the wire protocol; 6 is MongoDB 3.6, the first with OP_MSG.
    pub least_wire: i32,
    pub wire: i32,
    /// When it last wrote, in milliseconds since 1970.
    pub last_write: Option<i64>,
    pub tags: Tags,
    /// How long the server keeps a session that nobody uses; none where it knows no sessions.
    pub sessions: Option<Duration>,
    pub mechanisms: Vec<String>,
    pub longest_message: usize,
}

impl Hello {
    /// Read an answer.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn read(body: Document<'_>) -> Result<Hello, Error> {
        let mut hello = Hello {
            role: Role::Standalone,
            set: None,
            me: None,
            hosts: Vec::new(),
            primary: None,
            election: None,
            version: None,
            state: None,
            least_wire: 0,
            wire: 0,
            last_write: None,
            tags: Tags::new(),
            sessions: None,
            mechanisms: Vec::new(),
            longest_message: crate::message::MAX_MESSAGE,
        };
        let mut said = Said::default();
        for element in body.elements() {
            let element = element?;
            if !said.take(element.name, &element.value) {
                hello.take(element.name, &element.value)?;
            }
        }
        hello.role = said.role(hello.set.is_some());
        Ok(hello)
    }

    fn take(&mut self, name: &[u8], value: &Value<'_>) -> Result<(), Error> {
        let number = |fallback: i64| value.number().unwrap_or(fallback);
        match name {
            b"setName" => self.set = value.text(),
            b"me" => self.me = host(value),
            b"primary" => self.primary = host(value),
            b"hosts" | b"passives" | b"arbiters" => {
                self.hosts
                    .extend(texts(value)?.iter().filter_map(|text| parsed(text)));
            }
            b"electionId" => {
                if let Value::ObjectId(id) = value {
                    self.election = Some(**id);
                }
            }
            b"setVersion" => self.version = value.number(),
            b"topologyVersion" => self.state = TopologyVersion::read(value)?,
            b"lastWrite" => {
                let date = match value.document() {
                    Some(document) => document.get("lastWriteDate")?,
                    None => None,
                };
                self.last_write = match date {
                    Some(Value::Date(date)) => Some(date),
                    _ => None,
                };
            }
            b"tags" => {
                for element in value.document().iter().flat_map(Document::elements) {
                    let element = element?;
                    let name = String::from_utf8_lossy(element.name).into_owned();
                    self.tags
                        .extend(element.value.text().map(|text| (name, text)));
                }
            }
            b"minWireVersion" => self.least_wire = number(0) as i32,
            b"maxWireVersion" => self.wire = number(0) as i32,
            b"logicalSessionTimeoutMinutes" => {
                let minutes = value
                    .number()
                    .and_then(|minutes| u64::try_from(minutes).ok());
                self.sessions =
                    minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
            }
            b"saslSupportedMechs" => self.mechanisms = texts(value)?,
            b"maxMessageSizeBytes" => {
                let limit = usize::try_from(number(0)).unwrap_or(0);
                self.longest_message = self.longest_message.min(limit.max(1 << 20));
            }
            _ => {}
        }
        Ok(())
    }
}

/// What decides on the role (server discovery and monitoring specification, "type").
#[derive(Default)]
struct Said {
    writable: bool,
    secondary: bool,
    arbiter: bool,
    hidden: bool,
    router: bool,
    ghost: bool,
    failed: bool,
}

impl Said {
    fn take(&mut self, name: &[u8], value: &Value<'_>) -> bool {
        match name {
            b"isWritablePrimary" | b"ismaster" => self.writable |= value.truth(),
            b"secondary" => self.secondary = value.truth(),
            b"arbiterOnly" => self.arbiter = value.truth(),
            b"hidden" => self.hidden = value.truth(),
            b"msg" => self.router = *value == Value::Text(b"isdbgrid"),
            b"isreplicaset" => self.ghost = value.truth(),
            b"ok" => self.failed = !value.truth(),
            _ => return false,
        }
        true
    }

    fn role(&self, in_set: bool) -> Role {
        match self {
            Said { failed: true, .. } => Role::Unknown,
            Said { router: true, .. } => Role::Router,
            Said { ghost: true, .. } => Role::Ghost,
            _ if !in_set => Role::Standalone,
            Said { hidden: true, .. } => Role::Other,
            Said { writable: true, .. } => Role::Primary,
            Said {
                secondary: true, ..
            } => Role::Secondary,
            Said { arbiter: true, .. } => Role::Arbiter,
            _ => Role::Other,
        }
    }
}

/// The strings of an array.
fn texts(value: &Value<'_>) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    if let Some(array) = value.document() {
        for element in array.elements() {
            found.extend(element?.value.text());
        }
    }
    Ok(found)
}

fn host(value: &Value<'_>) -> Option<Host> {
    parsed(&value.text()?)
}

fn parsed(text: &str) -> Option<Host> {
    Host::parse(text, PORT).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Writer;

    fn hello(write: impl FnOnce(&mut Writer<'_>)) -> Hello {
        let mut bytes = Vec::new();
        Writer::write(&mut bytes, write);
        Hello::read(Document::take(&bytes).unwrap().0).unwrap()
    }

    fn yes(out: &mut Writer<'_>, name: &str) {
        out.boolean(name, true);
    }

    #[test]
    fn a_primary_names_its_set_and_its_members() {
        let primary = hello(|out| {
            out.boolean("isWritablePrimary", true)
                .text("setName", "rs0")
                .int("setVersion", 3)
                .text("me", "a:27017")
                .text("primary", "a:27017")
                .array("hosts", |out| {
                    out.text("0", "a:27017").text("1", "b:27018");
                })
                .array("arbiters", |out| {
                    out.text("0", "c:1");
                })
                .int("logicalSessionTimeoutMinutes", 30)
                .int("maxWireVersion", 21)
                .double("ok", 1.0);
        });
        assert_eq!(primary.role, Role::Primary);
        assert_eq!(primary.set.as_deref(), Some("rs0"));
        let wanted = [("a", 27017), ("b", 27018), ("c", 1)];
        assert_eq!(
            primary.hosts,
            wanted.map(|(name, port)| Host::new(name, port))
        );
        assert_eq!(primary.sessions, Some(Duration::from_secs(1800)));
        assert_eq!((primary.version, primary.wire), (Some(3), 21));
    }

    #[test]
    fn roles_follow_the_discovery_specification() {
        type Says = fn(&mut Writer<'_>);
        let cases: [(Role, bool, Says); 8] = [
            (Role::Standalone, false, |out| yes(out, "ismaster")),
            (Role::Router, false, |out| {
                out.text("msg", "isdbgrid");
            }),
            (Role::Ghost, false, |out| yes(out, "isreplicaset")),
            (Role::Primary, true, |out| yes(out, "ismaster")),
            (Role::Secondary, true, |out| yes(out, "secondary")),
            (Role::Arbiter, true, |out| yes(out, "arbiterOnly")),
            (Role::Other, true, |out| {
                yes(out, "secondary");
                yes(out, "hidden");
            }),
            (Role::Other, true, |_| {}),
        ];
        for (role, in_set, says) in cases {
            let found = hello(|out| {
                if in_set {
                    out.text("setName", "rs0");
                }
                says(out);
            });
            assert_eq!(found.role, role);
        }
    }
}
