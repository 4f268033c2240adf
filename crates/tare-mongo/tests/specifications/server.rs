//! A server that keeps documents in memory, lets clients in by SCRAM, remembers numbered writes, and
//! fails where a test says so (`failCommand`, `onPrimaryTransactionalWrite`).
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bson::{doc, Bson, Document};
use tare_mongo::message::flag;

use crate::scram;
use crate::scripted::{listener, member, standalone, Asked, Peer};
use crate::store::{number, perform, yes, Collections};

/// What a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    Single,
    Set,
    Router,
}

/// What a server can be, as the specifications call it.
pub const NATURES: [(&str, Nature); 3] = [
    ("replicaset", Nature::Set),
    ("sharded", Nature::Router),
    ("single", Nature::Single),
];

/// The first wire version of servers that label errors (MongoDB 4.4).
const LABELS: i32 = 9;
/// Codes of states that pass.
const PASSING: [i64; 12] = [
    6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
];

/// What a server keeps.
#[derive(Default)]
struct State {
    documents: Collections,
    failing: Option<FailPoint>,
    /// Answers to numbered writes, by session and number.
    done: HashMap<String, Document>,
}

/// What is to fail.
struct FailPoint {
    point: Document,
    /// How often it lets pass what fits.
    skip: i64,
    /// How often it fails then; `None` for ever.
    times: Option<i64>,
}

/// A running server.
pub struct Server {
    pub address: SocketAddr,
    pub password: &'static str,
    nature: Nature,
    wire: i32,
    state: Mutex<State>,
}

/// What becomes of a command.
enum Fate {
    Answer(Document),
    Hang,
}

impl Server {
    /// One that listens until the process ends.
    pub fn start(nature: Nature, wire: i32) -> Arc<Server> {
        let (listener, address) = listener();
        let server = Arc::new(Server {
            address,
            password: "pencil",
            nature,
            wire,
            state: Mutex::default(),
        });
        let own = Arc::clone(&server);
        thread::spawn(move || own.listen(&listener));
        server
    }

    fn listen(self: Arc<Server>, listener: &TcpListener) {
        for socket in listener.incoming().map_while(Result::ok) {
            let server = Arc::clone(&self);
            thread::spawn(move || server.talk(Peer::new(socket)));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn fill(&self, collection: &str, documents: Vec<Document>) {
        self.state()
            .documents
            .insert(collection.to_owned(), documents);
    }

    pub fn documents(&self, collection: &str) -> Vec<Document> {
        self.state()
            .documents
            .get(collection)
            .cloned()
            .unwrap_or_default()
    }

    /// Fail as this fail point says.
    pub fn fail(&self, point: &Document) {
        let mode = |name: &str| match point.get("mode") {
            Some(Bson::Document(mode)) => mode.get(name).and_then(number),
            Some(Bson::String(mode)) if mode == "off" => Some(0),
            _ => None,
        };
        self.state().failing = Some(FailPoint {
            point: point.clone(),
            skip: mode("skip").unwrap_or(0),
            times: mode("times"),
        });
    }

    /// What is to be done to this command, once; `write` identifies a numbered write.
    fn failing(&self, command: &str, write: Option<&str>) -> Option<Document> {
        let state = &mut *self.state();
        let failing = state.failing.as_mut()?;
        let point = &failing.point;
        let data = point.get_document("data").cloned().unwrap_or_default();
        let of_writes = point
            .get_str("configureFailPoint")
            .is_ok_and(|it| it == "onPrimaryTransactionalWrite");
        let fits = match of_writes {
            // A write that was done before is not done again.
            true => write.is_some_and(|write| !state.done.contains_key(write)),
            false => data
                .get_array("failCommands")
                .is_ok_and(|names| names.iter().any(|name| name.as_str() == Some(command))),
        };
        if !fits || failing.times == Some(0) {
            return None;
        }
        if failing.skip > 0 {
            failing.skip -= 1;
            return None;
        }
        failing.times = failing.times.map(|left| left - 1);
        let mut what = data;
        if of_writes {
            what.insert("before", what.contains_key("failBeforeCommitExceptionCode"));
            what.insert("closeConnection", true);
        }
        Some(what)
    }

    fn talk(&self, mut peer: Peer) {
        while let Some(asked) = peer.ask() {
            if asked.command() == "saslStart" {
                peer.put_back(asked);
                let silent = || self.failing("saslContinue", None).is_some();
                if !scram::check_unless(&mut peer, self.password, false, silent) {
                    return;
                }
                continue;
            }
            match self.fate(&asked) {
                // Nobody waits for an answer.
                Fate::Answer(_) if asked.flags & flag::MORE_TO_COME != 0 => {}
                Fate::Answer(body) => peer.answer(&asked, &body),
                Fate::Hang => return,
            }
        }
    }

    fn fate(&self, asked: &Asked) -> Fate {
        let name = asked.command();
        if name == "configureFailPoint" {
            self.fail(&asked.body);
            return Fate::Answer(doc! { "ok": 1.0 });
        }
        let write = numbered_write(asked);
        let Some(what) = self.failing(name, write.as_deref()) else {
            return Fate::Answer(self.numbered(asked));
        };
        let labels = what.get("errorLabels").cloned();
        if let Some(concern) = what.get("writeConcernError") {
            let mut answer = self.numbered(asked);
            answer.insert("writeConcernError", concern.clone());
            answer.extend(labels.map(|labels| ("errorLabels".to_owned(), labels)));
            return Fate::Answer(answer);
        }
        if let Some(code) = what.get("errorCode").and_then(number) {
            let mut answer = doc! { "ok": 0.0, "code": code as i32, "errmsg": "the fail point" };
            // Servers label what passes themselves, since they know labels.
            let passes = self.wire >= LABELS && write.is_some() && PASSING.contains(&code);
            let own = || Bson::from(vec!["RetryableWriteError"]);
            let labels = labels.or_else(|| passes.then(own));
            answer.extend(labels.map(|labels| ("errorLabels".to_owned(), labels)));
            return Fate::Answer(answer);
        }
        if yes(&what, "closeConnection") {
            if write.is_some() && what.get_bool("before").is_ok_and(|before| !before) {
                self.numbered(asked);
            }
            return Fate::Hang;
        }
        Fate::Answer(self.numbered(asked))
    }

    /// The answer; the earlier one where this write was done before.
    fn numbered(&self, asked: &Asked) -> Document {
        let Some(key) = numbered_write(asked) else {
            return self.answer(asked);
        };
        if let Some(answer) = self.state().done.get(&key) {
            return answer.clone();
        }
        let answer = self.answer(asked);
        self.state().done.insert(key, answer.clone());
        answer
    }

    fn hello(&self, asked: &Asked) -> Document {
        let mut hello = match self.nature {
            Nature::Set => member(self.address, &[self.address], Some(self.address)),
            _ => standalone(),
        };
        if self.nature == Nature::Router {
            hello.insert("msg", "isdbgrid");
        }
        hello.insert("maxWireVersion", self.wire);
        hello.insert("saslSupportedMechs", vec!["SCRAM-SHA-256"]);
        // Without it monitors do not wait for news, but ask again.
        hello.remove("topologyVersion");
        if asked.command() != "hello" {
            hello.insert("ismaster", true);
            hello.insert("helloOk", yes(&asked.body, "helloOk"));
        }
        hello
    }

    fn answer(&self, asked: &Asked) -> Document {
        match asked.command() {
            "hello" | "isMaster" | "ismaster" => self.hello(asked),
            "buildInfo" | "buildinfo" => {
                doc! { "version": "7.0.0", "versionArray": [7, 0, 0, 0], "scripted": true, "ok": 1.0 }
            }
            // What drivers of before 2019 ask a connection, to know its number.
            "getLastError" | "getlasterror" => doc! { "connectionId": 1, "n": 0, "ok": 1.0 },
            "ping" | "endSessions" => doc! { "ok": 1.0 },
            _ => perform(&mut self.state().documents, &asked.body),
        }
    }
}

/// How a numbered write that is sent again is recognised.
fn numbered_write(asked: &Asked) -> Option<String> {
    let number = asked.body.get("txnNumber")?;
    Some(format!("{:?} {number:?}", asked.body.get("lsid")))
}
