//! What a server says of itself: alone, or as a member of a set (server discovery and monitoring
//! specification; the fields are those of MongoDB 7.0).

use std::time::{SystemTime, UNIX_EPOCH};

use tare_mongo::document::{Document, Value, Writer};
use tare_mongo::message::MAX_MESSAGE;
use tare_mongo::{session_id, TopologyVersion};

use super::set::Members;

/// The wire version of MongoDB 7.0.
const WIRE: i32 = 21;
const SESSION_MINUTES: i32 = 30;
/// How an election's id begins since MongoDB 3.2; its term follows.
const ELECTION: [u8; 4] = [0x7F, 0xFF, 0xFF, 0xFF];

/// What stays the same while a server runs.
#[derive(Debug)]
pub struct Identity {
    /// Tells its process from an earlier one.
    process: [u8; 12],
    /// Whether it waits to be told of which set it is.
    pub waits: bool,
}

/// What a driver asks in a `hello`.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// It was asked by its old name.
    pub is_old: bool,
    /// The driver would rather ask by the new one.
    pub hello_ok: bool,
    /// The state that the driver knows, and for how long it waits for another, milliseconds.
    pub known: Option<(TopologyVersion, u64)>,
}

impl Identity {
    pub fn new(waits: bool) -> Identity {
        let mut process = [0; 12];
        process.copy_from_slice(&session_id()[..12]);
        Identity { process, waits }
    }

    /// Writes the number of its state, by which clients know which of two answers is newer.
    pub fn put_version(&self, members: Option<&Members>, out: &mut Writer<'_>) {
        let counter = members.map_or(0, |members| members.changes);
        out.document("topologyVersion", |out| {
            out.value("processId", &Value::ObjectId(&self.process));
            out.long("counter", counter);
        });
    }

    /// For how long it may wait with its answer, milliseconds: the driver knows its state already.
    pub fn patience(&self, question: &Question, members: Option<&Members>) -> Option<u64> {
        let (known, longest) = question.known?;
        let counter = members.map_or(0, |members| members.changes);
        let is_known = known.process == self.process && known.counter == counter;
        (is_known && longest > 0).then_some(longest)
    }

    /// Writes the answer's body but for its end.
    pub fn put(
        &self,
        question: &Question,
        members: Option<&Members>,
        connection: i32,
        out: &mut Writer<'_>,
    ) {
        if question.hello_ok {
            out.boolean("helloOk", true);
        }
        let writable = !self.waits && members.is_none_or(Members::is_primary);
        let word = match question.is_old {
            true => "ismaster",
            false => "isWritablePrimary",
        };
        out.boolean(word, writable);
        self.put_version(members, out);
        if let Some(members) = members {
            put_set(members, out);
        }
        if self.waits {
            out.boolean("isreplicaset", true)
                .boolean("secondary", false);
        }
        out.int("maxBsonObjectSize", 16 << 20);
        out.int("maxMessageSizeBytes", MAX_MESSAGE as i32);
        out.int("maxWriteBatchSize", 100_000);
        out.value("localTime", &Value::Date(now()));
        out.int("logicalSessionTimeoutMinutes", SESSION_MINUTES);
        out.int("connectionId", connection);
        out.int("minWireVersion", 0).int("maxWireVersion", WIRE);
        out.boolean("readOnly", false);
    }
}

impl Question {
    /// # Errors
    /// What is no BSON.
    pub fn read(name: &[u8], body: Document<'_>) -> Result<Question, tare_mongo::Error> {
        let mut question = Question {
            is_old: name != b"hello",
            hello_ok: false,
            known: None,
        };
        let (mut state, mut longest) = (None, 0);
        for element in body.elements() {
            let element = element?;
            match element.name {
                b"helloOk" => question.hello_ok = element.value.truth(),
                b"topologyVersion" => state = TopologyVersion::read(&element.value)?,
                b"maxAwaitTimeMS" => longest = element.value.number().unwrap_or(0),
                _ => {}
            }
        }
        question.known = state.zip(u64::try_from(longest).ok());
        Ok(question)
    }
}

fn put_set(members: &Members, out: &mut Writer<'_>) {
    let set = &members.set;
    out.array("hosts", |out| {
        for (place, host) in set.members.iter().enumerate() {
            out.text(&place.to_string(), host);
        }
    });
    out.text("setName", &set.name).int("setVersion", 1);
    out.boolean("secondary", !members.is_primary());
    if let Some(primary) = set.members.get(members.primary) {
        out.text("primary", primary);
    }
    out.text("me", &set.members[set.me]);
    if members.is_primary() {
        let mut id = [0; 12];
        id[..4].copy_from_slice(&ELECTION);
        id[4..].copy_from_slice(&members.elected.to_be_bytes());
        out.value("electionId", &Value::ObjectId(&id));
    }
    out.document("lastWrite", |out| {
        out.value("lastWriteDate", &Value::Date(now()));
    });
}

/// Milliseconds since 1970.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_millis() as i64)
}
