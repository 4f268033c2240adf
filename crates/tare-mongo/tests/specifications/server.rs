//! A server that keeps documents in memory, lets clients in by SCRAM, remembers numbered writes, and
//! fails where a test says so (`failCommand`, `onPrimaryTransactionalWrite`).
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bson::{doc, Bson, Document};

use crate::scram;
use crate::scripted::{listener, member, standalone, Asked, Peer};

/// What a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    Single,
    Set,
    Router,
}

/// The first wire version of servers that label errors (MongoDB 4.4).
const LABELS: i32 = 9;
/// Codes of states that pass.
const PASSING: [i64; 12] = [
    6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
];

/// What a server keeps.
#[derive(Default)]
struct State {
    documents: HashMap<String, Vec<Document>>,
    /// What is to fail, and how often; `None` for ever.
    failing: Option<(Document, Option<i64>)>,
    /// Answers to numbered writes, by session and number.
    done: HashMap<String, Document>,
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
        let times = match point.get("mode") {
            Some(Bson::Document(mode)) => mode.get("times").and_then(number),
            Some(Bson::String(mode)) if mode == "off" => Some(0),
            _ => None,
        };
        self.state().failing = Some((point.clone(), times));
    }

    /// What is to be done to this command, once.
    fn failing(&self, command: &str, is_numbered: bool) -> Option<Document> {
        let mut state = self.state();
        let (point, left) = state.failing.as_mut()?;
        let data = point.get_document("data").cloned().unwrap_or_default();
        let fits = match point.get_str("configureFailPoint") {
            Ok("failCommand") => data
                .get_array("failCommands")
                .is_ok_and(|names| names.iter().any(|name| name.as_str() == Some(command))),
            Ok("onPrimaryTransactionalWrite") => is_numbered,
            _ => false,
        };
        if !fits || *left == Some(0) {
            return None;
        }
        *left = left.map(|left| left - 1);
        let mut what = data;
        if is_numbered
            && point
                .get_str("configureFailPoint")
                .is_ok_and(|it| it == "onPrimaryTransactionalWrite")
        {
            what.insert("before", what.contains_key("failBeforeCommitExceptionCode"));
            what.insert("closeConnection", true);
        }
        Some(what)
    }

    fn talk(&self, mut peer: Peer) {
        while let Some(asked) = peer.ask() {
            if asked.command() == "saslStart" {
                peer.put_back(asked);
                let silent = || self.failing("saslContinue", false).is_some();
                if !scram::check_unless(&mut peer, self.password, false, silent) {
                    return;
                }
                continue;
            }
            match self.fate(&asked) {
                Fate::Answer(body) => peer.answer(&asked, &body),
                Fate::Hang => return,
            }
        }
    }

    fn fate(&self, asked: &Asked) -> Fate {
        let name = asked.command();
        let number = asked.body.get("txnNumber");
        let Some(what) = self.failing(name, number.is_some()) else {
            return Fate::Answer(self.numbered(asked));
        };
        let labels = what.get("errorLabels").cloned();
        if let Some(concern) = what.get("writeConcernError") {
            let mut answer = self.numbered(asked);
            answer.insert("writeConcernError", concern.clone());
            answer.extend(labels.map(|labels| ("errorLabels".to_owned(), labels)));
            return Fate::Answer(answer);
        }
        if let Some(code) = what.get("errorCode").and_then(self::number) {
            let mut answer = doc! { "ok": 0.0, "code": code as i32, "errmsg": "the fail point" };
            // Servers label what passes themselves, since they know labels.
            let passes = self.wire >= LABELS && number.is_some() && PASSING.contains(&code);
            let own = || Bson::from(vec!["RetryableWriteError"]);
            let labels = labels.or_else(|| passes.then(own));
            answer.extend(labels.map(|labels| ("errorLabels".to_owned(), labels)));
            return Fate::Answer(answer);
        }
        if yes(&what, "closeConnection") {
            if number.is_some() && what.get_bool("before").is_ok_and(|before| !before) {
                self.numbered(asked);
            }
            return Fate::Hang;
        }
        Fate::Answer(self.numbered(asked))
    }

    /// The answer; that of before where this write was done before.
    fn numbered(&self, asked: &Asked) -> Document {
        let Some(number) = asked.body.get("txnNumber") else {
            return self.answer(asked);
        };
        let key = format!("{:?} {number:?}", asked.body.get("lsid"));
        if let Some(answer) = self.state().done.get(&key) {
            return answer.clone();
        }
        let answer = self.answer(asked);
        self.state().done.insert(key, answer.clone());
        answer
    }

    fn hello(&self) -> Document {
        let mut hello = match self.nature {
            Nature::Set => member(self.address, &[self.address], Some(self.address)),
            _ => standalone(),
        };
        if self.nature == Nature::Router {
            hello.insert("msg", "isdbgrid");
        }
        hello.insert("maxWireVersion", self.wire);
        hello.insert("saslSupportedMechs", vec!["SCRAM-SHA-256"]);
        hello
    }

    fn answer(&self, asked: &Asked) -> Document {
        let name = asked.command();
        let body = &asked.body;
        let collection = body.get_str(name).unwrap_or_default();
        let list = |key: &str| -> Vec<Document> {
            let items = body.get_array(key).cloned().unwrap_or_default();
            items
                .into_iter()
                .filter_map(|item| item.as_document().cloned())
                .collect()
        };
        let mut state = self.state();
        let documents = state.documents.entry(collection.to_owned()).or_default();
        let filter = |key: &str| body.get_document(key).cloned().unwrap_or_default();
        let cursor = |found: Vec<Document>| {
            doc! { "cursor": { "id": 0_i64, "ns": "d.c", "firstBatch": found }, "ok": 1.0 }
        };
        match name {
            "hello" | "isMaster" => self.hello(),
            "find" => {
                let mut found: Vec<Document> = documents
                    .iter()
                    .filter(|document| matches(document, &filter("filter")))
                    .cloned()
                    .collect();
                let limit = body.get("limit").and_then(number).unwrap_or(0);
                if limit > 0 {
                    found.truncate(limit as usize);
                }
                cursor(found)
            }
            "insert" => {
                let new = list("documents");
                let count = new.len() as i32;
                documents.extend(new);
                doc! { "n": count, "ok": 1.0 }
            }
            "update" => update(documents, &list("updates")),
            "delete" => {
                let mut count = 0;
                for delete in list("deletes") {
                    let query = delete.get_document("q").cloned().unwrap_or_default();
                    if let Some(at) = documents.iter().position(|it| matches(it, &query)) {
                        documents.remove(at);
                        count += 1;
                    }
                }
                doc! { "n": count, "ok": 1.0 }
            }
            "findAndModify" => {
                let query = filter("query");
                let found = documents.iter().position(|it| matches(it, &query));
                let value = found.map(|at| documents[at].clone());
                match found {
                    Some(at) if yes(body, "remove") => {
                        documents.remove(at);
                    }
                    Some(at) => change(&mut documents[at], &filter("update")),
                    None => {}
                }
                doc! { "value": value, "ok": 1.0 }
            }
            "aggregate" => {
                let mut found = documents.clone();
                for stage in list("pipeline") {
                    if let Ok(query) = stage.get_document("$match") {
                        found.retain(|document| matches(document, query));
                    }
                }
                cursor(found)
            }
            "listCollections" | "listIndexes" => cursor(documents.clone()),
            "count" => doc! { "n": documents.len() as i32, "ok": 1.0 },
            "distinct" => doc! { "values": [11, 22, 33], "ok": 1.0 },
            "listDatabases" => doc! { "databases": [], "totalSize": 0, "ok": 1.0 },
            "bulkWrite" => doc! { "nErrors": 0, "nInserted": 1, "ok": 1.0,
            "cursor": { "id": 0_i64, "ns": "admin.$cmd.bulkWrite", "firstBatch": [] } },
            "ping" => doc! { "ok": 1.0 },
            other => doc! { "ok": 0.0, "code": 59, "errmsg": format!("no such command: {other}") },
        }
    }
}

fn yes(document: &Document, name: &str) -> bool {
    document.get_bool(name).unwrap_or(false)
}

pub fn number(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    }
}

fn matches(document: &Document, query: &Document) -> bool {
    query.iter().all(|(name, wanted)| {
        let own = document.get(name);
        match wanted {
            Bson::Document(compared) => compared.iter().all(|(how, than)| {
                let (own, than) = (own.and_then(number), number(than));
                match how.as_str() {
                    "$gt" => own > than,
                    "$gte" => own >= than,
                    "$lt" => own < than,
                    "$lte" => own <= than,
                    "$ne" => own != than,
                    _ => false,
                }
            }),
            wanted => own == Some(wanted),
        }
    })
}

fn change(document: &mut Document, how: &Document) {
    if how.keys().all(|key| !key.starts_with('$')) {
        let id = document.get("_id").cloned();
        *document = how.clone();
        if let Some(id) = id {
            let mut whole = doc! { "_id": id };
            whole.extend(how.clone());
            *document = whole;
        }
    }
    for (name, by) in how.get_document("$inc").into_iter().flatten() {
        let before = document.get(name).and_then(number).unwrap_or(0);
        document.insert(name, (before + number(by).unwrap_or(0)) as i32);
    }
    for (name, value) in how.get_document("$set").into_iter().flatten() {
        document.insert(name, value.clone());
    }
}

fn update(documents: &mut Vec<Document>, updates: &[Document]) -> Document {
    let (mut count, mut changed, mut upserted) = (0, 0, Vec::new());
    for (index, update) in updates.iter().enumerate() {
        let query = update.get_document("q").cloned().unwrap_or_default();
        let how = update.get_document("u").cloned().unwrap_or_default();
        let many = yes(update, "multi");
        let mut found = 0;
        for document in documents.iter_mut().filter(|it| matches(it, &query)) {
            if found == 1 && !many {
                break;
            }
            change(document, &how);
            found += 1;
        }
        if found == 0 && yes(update, "upsert") {
            let mut new = query.clone();
            change(&mut new, &how);
            upserted.push(doc! { "index": index as i32, "_id": new.get("_id").cloned() });
            documents.push(new);
            count += 1;
        }
        (count, changed) = (count + found, changed + found);
    }
    let mut answer = doc! { "n": count, "nModified": changed, "ok": 1.0 };
    if !upserted.is_empty() {
        answer.insert("upserted", upserted);
    }
    answer
}
