//! One server as clients see it: answers what sets a connection up, and tells the load from the rest.

use std::os::unix::net::UnixStream;

use tare_mongo::document::Writer;
use tare_mongo::legacy;
use tare_mongo::message::{self, flag, Message, HEADER, MAX_MESSAGE};
use tare_mongo::Error;

use super::answer::{
    of_fault, Form, Refusal, To, ALREADY_INITIALIZED, BAD_BSON, BAD_VALUE, NOT_PRIMARY, NO_CURSOR,
    NO_REPLICATION, NO_SECONDARY_OK, NO_THREAD, NO_TRANSACTIONS, UNAUTHORIZED, UNKNOWN,
    WRONG_PASSWORD,
};
use super::asked::Asked;
use super::documents::{Batch, Documents};
use super::hello::{Identity, Question};
use super::initiation;
use super::login::{Accounts, Login, Step};
use super::set::Members;
use crate::script::{Fault, Script};
use crate::speech::{self, Outcome, Speech};

/// Nanoseconds in a millisecond.
const MS: u64 = 1_000_000;
/// Says of a write that it may be sent again (MongoDB retryable writes specification).
const RETRYABLE: &str = "RetryableWriteError";

/// What a server knows.
#[derive(Debug)]
pub struct Member {
    identity: Identity,
    members: Option<Members>,
    /// What the set is given once it is told, while none is.
    waits: Option<UnixStream>,
    accounts: Accounts,
    documents: Documents,
    connections: i32,
    counts: Counts,
}

/// Requests of the load that were taken, as `serverStatus` counts them.
#[derive(Debug, Default)]
struct Counts {
    query: i64,
    getmore: i64,
    /// Documents, as a mongod counts inserts.
    insert: i64,
    update: i64,
    delete: i64,
}

/// What a connection has agreed on so far.
#[derive(Debug, Default)]
pub struct Talk {
    /// Its number; 0 until it has said something.
    number: i32,
    login: Login,
}

/// A request of the load.
#[derive(Debug)]
pub struct Load<'a> {
    to: To,
    work: Work<'a>,
}

#[derive(Debug)]
enum Work<'a> {
    Found(Batch<'a>),
    Written { count: i32, is_update: bool },
}

impl speech::Load for Load<'_> {
    fn put(&self, out: &mut Vec<u8>, fault: Option<Fault>) {
        if let Some(fault) = fault {
            let writes = matches!(self.work, Work::Written { .. });
            return self.to.no(out, of_fault(fault, writes), |_| {});
        }
        self.to.put(out, |out| match &self.work {
            Work::Found(batch) => batch.put(out),
            Work::Written { count, is_update } => {
                out.int("n", *count);
                if *is_update {
                    out.int("nModified", *count);
                }
                out.double("ok", 1.0);
            }
        });
    }
}

impl Speech for Member {
    type Talk = Talk;
    type Load<'a> = Load<'a>;
    const LONGEST: usize = MAX_MESSAGE;

    fn length(bytes: &[u8]) -> Option<usize> {
        let length = i32::from_le_bytes(*bytes.first_chunk()?);
        let length = usize::try_from(length).ok().filter(|it| *it >= HEADER);
        Some(length.unwrap_or(usize::MAX))
    }

    fn ask<'a>(
        &'a mut self,
        talk: &'a mut Talk,
        request: &'a [u8],
        may_wait: bool,
        out: &mut Vec<u8>,
    ) -> Outcome<Load<'a>> {
        if talk.number == 0 {
            self.connections = self.connections.wrapping_add(1);
            talk.number = self.connections;
        }
        if legacy::is_query(request) {
            let Ok(Some((query, _))) = legacy::decode(request) else {
                return Outcome::Over;
            };
            let to = To {
                request: query.request_id,
                form: Form::Query,
            };
            let Ok(asked) = Asked::read(query.command) else {
                return Outcome::Over;
            };
            return match asked.name {
                name if is_hello(name) => self
                    .hello(talk, to, &asked, false, out)
                    .unwrap_or(Outcome::Over),
                // What drivers of before 2019 ask a connection besides, to know its number.
                b"buildInfo" | b"buildinfo" => {
                    to.put(out, put_build);
                    Outcome::Answered
                }
                b"getLastError" | b"getlasterror" => {
                    let number = talk.number;
                    to.put(out, |out| {
                        out.int("connectionId", number).int("n", 0);
                        out.double("ok", 1.0);
                    });
                    Outcome::Answered
                }
                _ => Outcome::Over,
            };
        }
        let Ok(Some((message, _))) = message::decode(request) else {
            return Outcome::Over;
        };
        if message.flags & flag::MORE_TO_COME != 0 {
            // Nobody waits for its answer, so that there is nothing to time.
            return Outcome::Answered;
        }
        let to = To {
            request: message.request_id,
            form: Form::Message {
                checksum: message.flags & flag::CHECKSUM != 0,
            },
        };
        self.command(talk, to, &message, may_wait, out)
            .unwrap_or_else(|_| {
                to.no(out, BAD_BSON, |_| {});
                Outcome::Answered
            })
    }

    fn has_news(&mut self) -> bool {
        self.members.as_mut().is_some_and(Members::has_news)
    }
}

fn is_hello(name: &[u8]) -> bool {
    matches!(name, b"hello" | b"isMaster" | b"ismaster")
}

impl Member {
    /// A server alone, or a member of the script's set; `wake` is given a byte for each news.
    ///
    /// # Errors
    /// A password that SCRAM cannot take, or no thread to watch other members.
    pub fn new(script: &Script, wake: UnixStream) -> Result<Member, crate::Error> {
        let (members, waits) = match script.set.clone() {
            Some(set) => (Some(Members::watch(set, wake)), None),
            None => (None, script.set_later.then_some(wake)),
        };
        Ok(Member {
            identity: Identity::new(waits.is_some()),
            members: members.transpose().map_err(crate::Error::Thread)?,
            waits,
            accounts: Accounts::new(script.user.as_ref()).map_err(crate::Error::User)?,
            documents: Documents::new(script.rows, script.value_bytes),
            connections: 0,
            counts: Counts::default(),
        })
    }

    fn command<'a>(
        &'a mut self,
        talk: &'a mut Talk,
        to: To,
        message: &Message<'a>,
        may_wait: bool,
        out: &mut Vec<u8>,
    ) -> Result<Outcome<Load<'a>>, Error> {
        let asked = Asked::read(message.body)?;
        match asked.name {
            name if is_hello(name) => return self.hello(talk, to, &asked, may_wait, out),
            b"ping" | b"endSessions" => to.yes(out),
            b"buildInfo" | b"buildinfo" => to.put(out, put_build),
            b"saslStart" => put_step(to, self.accounts.start(&mut talk.login, asked.body)?, out),
            b"saslContinue" => put_step(to, talk.login.go_on(asked.body)?, out),
            _ if !self.accounts.admits(&talk.login) => to.no(out, UNAUTHORIZED, |_| {}),
            b"find" | b"getMore" | b"insert" | b"update" | b"delete" => {
                match self.refused(&asked) {
                    Some(refusal) => self.refuse(to, &asked, refusal, out),
                    None => return self.load(to, &asked, message, out),
                }
            }
            b"killCursors" => {
                if let Some(cursors) = asked.body.get("cursors")?.and_then(|it| it.document()) {
                    self.documents.end(cursors)?;
                }
                to.yes(out);
            }
            b"replSetInitiate" => self.initiate(to, &asked, out)?,
            initiation::JOIN => self.join(to, &asked, out)?,
            b"replSetGetStatus" => match &self.members {
                Some(members) => to.put(out, |out| {
                    initiation::put_status(members, out);
                    out.double("ok", 1.0);
                }),
                None => to.no(out, NO_REPLICATION, |_| {}),
            },
            b"serverStatus" => to.put(out, |out| {
                self.counts.put(out);
                out.double("ok", 1.0);
            }),
            // A client that only looks whether it may ask at all.
            b"listDatabases" => to.put(out, |out| {
                out.array("databases", |_| {});
                out.long("totalSize", 0).double("ok", 1.0);
            }),
            // There is nothing to be made, and nothing to be removed.
            b"create" | b"drop" | b"dropDatabase" => to.yes(out),
            _ => to.no(out, UNKNOWN, |_| {}),
        }
        Ok(Outcome::Answered)
    }

    fn hello<'a>(
        &'a self,
        talk: &mut Talk,
        to: To,
        asked: &Asked<'_>,
        may_wait: bool,
        out: &mut Vec<u8>,
    ) -> Result<Outcome<Load<'a>>, Error> {
        let question = Question::read(asked.name, asked.body)?;
        let members = self.members.as_ref();
        if let Some(ms) = self
            .identity
            .patience(&question, members)
            .filter(|_| may_wait)
        {
            return Ok(Outcome::Later(ms.saturating_mul(MS)));
        }
        let user = asked.body.get("saslSupportedMechs")?;
        let user = user.and_then(|value| value.text());
        let step = match asked.body.get("speculativeAuthenticate")? {
            Some(value) => match value.document() {
                Some(start) => self.accounts.start(&mut talk.login, start)?,
                None => None,
            },
            None => None,
        };
        to.put(out, |out| {
            self.identity.put(&question, members, talk.number, out);
            if let Some(user) = user {
                self.accounts.put_mechanisms(&user, out);
            }
            if let Some(step) = step {
                out.document("speculativeAuthenticate", |out| step.put(out));
            }
            out.double("ok", 1.0);
        });
        Ok(Outcome::Answered)
    }

    /// The set is named; this member tells all members.
    fn initiate(&self, to: To, asked: &Asked<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let named = initiation::named(&asked.value)?;
        match (&self.members, &self.waits, named) {
            (Some(_), ..) => to.no(out, ALREADY_INITIALIZED, |_| {}),
            (None, None, _) => to.no(out, NO_REPLICATION, |_| {}),
            (None, Some(_), None) => to.no(out, BAD_VALUE, |_| {}),
            (None, Some(_), Some(set)) => match initiation::tell(set) {
                Ok(()) => to.yes(out),
                Err(_) => to.no(out, NO_THREAD, |_| {}),
            },
        }
        Ok(())
    }

    /// It is told its set.
    fn join(&mut self, to: To, asked: &Asked<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let told = initiation::told(&asked.value, asked.body)?;
        match (told, self.waits.take()) {
            (Some(set), Some(wake)) => match Members::watch(set, wake) {
                Ok(members) => {
                    self.members = Some(members);
                    self.identity.waits = false;
                    to.yes(out);
                }
                Err(_) => to.no(out, NO_THREAD, |_| {}),
            },
            (told, waits) => {
                self.waits = waits;
                let refusal = match told {
                    Some(_) if self.members.is_some() => ALREADY_INITIALIZED,
                    Some(_) => NO_REPLICATION,
                    None => BAD_VALUE,
                };
                to.no(out, refusal, |_| {});
            }
        }
        Ok(())
    }

    /// Why this member does not serve a request of the load.
    fn refused(&self, asked: &Asked<'_>) -> Option<Refusal> {
        let writes = matches!(asked.name, b"insert" | b"update" | b"delete");
        match &self.members {
            None if self.identity.waits => Some(NOT_PRIMARY),
            None => asked.numbered.then_some(NO_TRANSACTIONS),
            Some(members) if members.is_primary() || asked.name == b"getMore" => None,
            Some(_) if writes => Some(NOT_PRIMARY),
            Some(_) => (!asked.anywhere).then_some(NO_SECONDARY_OK),
        }
    }

    fn refuse(&self, to: To, asked: &Asked<'_>, refusal: Refusal, out: &mut Vec<u8>) {
        to.no(out, refusal, |out| {
            if self.members.is_some() {
                self.identity.put_version(self.members.as_ref(), out);
                if asked.numbered {
                    out.array("errorLabels", |out| {
                        out.text("0", RETRYABLE);
                    });
                }
            }
        });
    }

    fn load<'a>(
        &'a mut self,
        to: To,
        asked: &Asked<'a>,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome<Load<'a>>, Error> {
        let work = match asked.name {
            b"find" => {
                self.counts.query += 1;
                Work::Found(self.documents.find(asked)?)
            }
            b"getMore" => match self.documents.more(asked) {
                Some(batch) => {
                    self.counts.getmore += 1;
                    Work::Found(batch)
                }
                None => {
                    to.no(out, NO_CURSOR, |_| {});
                    return Ok(Outcome::Answered);
                }
            },
            name => match asked.documents(message)? {
                0 => {
                    to.no(out, BAD_VALUE, |_| {});
                    return Ok(Outcome::Answered);
                }
                count => {
                    self.counts.written(name, count);
                    Work::Written {
                        count,
                        is_update: name == b"update",
                    }
                }
            },
        };
        Ok(Outcome::Load(Load { to, work }))
    }
}

impl Counts {
    fn written(&mut self, command: &[u8], documents: i32) {
        let count = match command {
            b"insert" => &mut self.insert,
            b"update" => &mut self.update,
            _ => &mut self.delete,
        };
        *count += i64::from(documents);
    }

    fn put(&self, out: &mut Writer<'_>) {
        out.document("opcounters", |out| {
            out.long("insert", self.insert).long("query", self.query);
            out.long("update", self.update).long("delete", self.delete);
            out.long("getmore", self.getmore);
        });
    }
}

fn put_step(to: To, step: Option<Step>, out: &mut Vec<u8>) {
    match step {
        None => to.no(out, WRONG_PASSWORD, |_| {}),
        Some(step) => to.put(out, |out| {
            step.put(out);
            out.double("ok", 1.0);
        }),
    }
}

/// The release whose manner it has, and what it is.
fn put_build(out: &mut Writer<'_>) {
    out.text("version", "7.0.0");
    out.array("versionArray", |out| {
        for (place, number) in ["0", "1", "2", "3"].into_iter().zip([7, 0, 0, 0]) {
            out.int(place, number);
        }
    });
    out.text("tareStub", env!("CARGO_PKG_VERSION"));
    out.double("ok", 1.0);
}
