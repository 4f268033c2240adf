//! A set that is named while its members run, as a mongod's is: `replSetInitiate` at one of them tells
//! the others, and `replSetGetStatus` tells their roles.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use tare_mongo::document::{Document, Value, Writer};
use tare_mongo::message;
use tare_mongo::Error;

use super::hello::now;
use super::set::Members;
use crate::script::Set;

/// The command by which a member is told its set: its place in it, `setName`, and `hosts`.
pub const JOIN: &[u8] = b"tareStubJoin";
/// Pause before a member that cannot be reached is tried again.
const PAUSE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(2);
/// For how long members are tried.
const TRIES: usize = 600;
const PRIMARY: (i32, &str) = (1, "PRIMARY");
const SECONDARY: (i32, &str) = (2, "SECONDARY");
const DOWN: (i32, &str) = (8, "(not reachable/healthy)");

/// The set that a `replSetInitiate` names; none where it names none.
///
/// # Errors
/// What is no BSON.
pub fn named(value: &Value<'_>) -> Result<Option<Set>, Error> {
    let Some(document) = value.document() else {
        return Ok(None);
    };
    let name = document.get("_id")?.and_then(|it| it.text());
    let mut members = Vec::new();
    if let Some(list) = document.get("members")?.and_then(|it| it.document()) {
        for member in list.elements() {
            let host = match member?.value.document() {
                Some(member) => member.get("host")?,
                None => None,
            };
            members.extend(host.and_then(|it| it.text()));
        }
    }
    let me = 0;
    Ok(name.map(|name| Set { name, members, me }).filter(is_whole))
}

/// The set and the place in it that a member is told.
///
/// # Errors
/// What is no BSON.
pub fn told(place: &Value<'_>, body: Document<'_>) -> Result<Option<Set>, Error> {
    let name = body.get("setName")?.and_then(|it| it.text());
    let mut members = Vec::new();
    if let Some(list) = body.get("hosts")?.and_then(|it| it.document()) {
        for host in list.elements() {
            members.extend(host?.value.text());
        }
    }
    let me = place.number().and_then(|it| usize::try_from(it).ok());
    let set = name.zip(me).map(|(name, me)| Set { name, members, me });
    Ok(set.filter(is_whole))
}

fn is_whole(set: &Set) -> bool {
    set.me < set.members.len()
}

/// Tells all members their set, in their order and on a thread of its own: also the member that was
/// asked, by its name in the set. Members that cannot be reached stay out.
///
/// # Errors
/// A thread cannot be had.
pub fn tell(set: Set) -> std::io::Result<()> {
    let run = move || {
        for (place, host) in set.members.iter().enumerate() {
            let mut tries = (0..TRIES).map(|_| join(&set, place, host));
            while tries.next().is_some_and(|joined| joined.is_none()) {
                thread::sleep(PAUSE);
            }
        }
    };
    let name = "tare-stub initiation".to_owned();
    thread::Builder::new().name(name).spawn(run).map(|_| ())
}

/// Tells one member; none where it did not answer.
fn join(set: &Set, place: usize, host: &str) -> Option<()> {
    let mut out = Vec::new();
    let at = message::begin(&mut out, 1, 0, 0);
    Writer::write(&mut out, |out| {
        out.int("tareStubJoin", place as i32)
            .text("setName", &set.name);
        out.array("hosts", |out| {
            for (place, host) in set.members.iter().enumerate() {
                out.text(&place.to_string(), host);
            }
        });
        out.text("$db", "admin");
    });
    message::end(&mut out, at);
    let mut addresses = host.to_socket_addrs().ok()?;
    let stream = addresses.find_map(|one| TcpStream::connect_timeout(&one, PATIENCE).ok());
    let mut stream = stream?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(&out).ok()?;
    let mut first = [0; 4];
    stream.read_exact(&mut first).ok()
}

/// Writes what `replSetGetStatus` says but for its end. The fields are those of MongoDB 7.0.
pub fn put_status(members: &Members, out: &mut Writer<'_>) {
    let set = &members.set;
    let state = |place: usize| match place {
        place if place == members.primary => PRIMARY,
        place if members.lives(place) => SECONDARY,
        _ => DOWN,
    };
    let now = now();
    out.text("set", &set.name);
    out.value("date", &Value::Date(now));
    out.int("myState", state(set.me).0);
    out.array("members", |out| {
        for (place, host) in set.members.iter().enumerate() {
            out.document(&place.to_string(), |out| {
                let (number, name) = state(place);
                out.int("_id", place as i32).text("name", host);
                out.double("health", f64::from(u8::from(number != DOWN.0)));
                out.int("state", number).text("stateStr", name);
                // Nothing is replicated, so that nobody lags behind.
                out.value("optimeDate", &Value::Date(now));
                if place == set.me {
                    out.boolean("self", true);
                    if members.is_primary() {
                        let elected = (members.elected / 1000) as i64;
                        out.value("electionDate", &Value::Date(elected));
                    }
                }
            });
        }
    });
}
