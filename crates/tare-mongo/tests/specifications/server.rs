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

    /// What is to be done to this command, once; `write` is what a numbered write is known by.
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
                Fate::Answer(body) => peer.answer(&asked, &body),
                Fate::Hang => return,
            }
        }
    }

    fn fate(&self, asked: &Asked) -> Fate {
        let name = asked.command();
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
        if let Some(code) = what.get("errorCode").and_then(self::number) {
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

    /// The answer; that of before where this write was done before.
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
                let count: i32 = list("deletes")
                    .iter()
                    .map(|it| {
                        let query = it.get_document("q").cloned().unwrap_or_default();
                        let many = it.get("limit").and_then(number) == Some(0);
                        delete(documents, &query, many)
                    })
                    .sum();
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
                    // The one that counts documents.
                    if stage.contains_key("$group") {
                        found = vec![doc! { "_id": 1, "n": found.len() as i32 }];
                    }
                }
                cursor(found)
            }
            "listCollections" | "listIndexes" => cursor(documents.clone()),
            "count" => {
                let found = documents.iter().filter(|it| matches(it, &filter("query")));
                doc! { "n": found.count() as i32, "ok": 1.0 }
            }
            "distinct" => {
                let query = filter("query");
                let key = body.get_str("key").unwrap_or_default();
                let mut values: Vec<Bson> = Vec::new();
                for document in documents.iter().filter(|it| matches(it, &query)) {
                    let new = document.get(key).filter(|value| !values.contains(value));
                    values.extend(new.cloned());
                }
                doc! { "values": values, "ok": 1.0 }
            }
            // It runs no JavaScript but does what that of the cases says: the sum of `x + 1`.
            "mapReduce" => {
                let sum: i64 = documents
                    .iter()
                    .filter_map(|it| it.get("x").and_then(number))
                    .map(|x| x + 1)
                    .sum();
                doc! { "results": [{ "_id": 0, "value": sum }], "ok": 1.0 }
            }
            "listDatabases" => doc! { "databases": [], "totalSize": 0, "ok": 1.0 },
            "bulkWrite" => bulk_write(&mut state.documents, &list("ops"), &list("nsInfo")),
            "ping" => doc! { "ok": 1.0 },
            other => doc! { "ok": 0.0, "code": 59, "errmsg": format!("no such command: {other}") },
        }
    }
}

/// What a numbered write is known by when it is sent again.
fn numbered_write(asked: &Asked) -> Option<String> {
    let number = asked.body.get("txnNumber")?;
    Some(format!("{:?} {number:?}", asked.body.get("lsid")))
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
                if how == "$eq" {
                    return own == Some(than);
                }
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

/// Delete the first document that fits, or all; how many it were.
fn delete(documents: &mut Vec<Document>, query: &Document, many: bool) -> i32 {
    let mut count = 0;
    documents.retain(|document| {
        let goes = (many || count == 0) && matches(document, query);
        count += i32::from(goes);
        !goes
    });
    count
}

/// Writes to several collections, with an answer to each.
fn bulk_write(
    collections: &mut HashMap<String, Vec<Document>>,
    operations: &[Document],
    spaces: &[Document],
) -> Document {
    let (mut inserted, mut matched, mut modified, mut deleted) = (0, 0, 0, 0);
    let mut single = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let Some((kind, at)) = operation.iter().next() else {
            continue;
        };
        let space = number(at).and_then(|at| spaces.get(usize::try_from(at).ok()?));
        let space = space
            .and_then(|it| it.get_str("ns").ok())
            .unwrap_or_default();
        let name = space.split_once('.').map_or(space, |(_, name)| name);
        let documents = collections.entry(name.to_owned()).or_default();
        let part = |key: &str| operation.get_document(key).cloned().unwrap_or_default();
        let many = yes(operation, "multi");
        let mut answer = doc! { "ok": 1.0, "idx": index as i32 };
        match kind.as_str() {
            "insert" => {
                documents.push(part("document"));
                inserted += 1;
                answer.insert("n", 1);
            }
            "update" => {
                let change = doc! { "q": part("filter"), "u": part("updateMods"), "multi": many };
                let done = update(documents, &[change]);
                matched += done.get_i32("n").unwrap_or(0);
                modified += done.get_i32("nModified").unwrap_or(0);
                answer.extend(done);
            }
            _ => {
                let count = delete(documents, &part("filter"), many);
                deleted += count;
                answer.insert("n", count);
            }
        }
        single.push(answer);
    }
    doc! {
        "nErrors": 0, "nInserted": inserted, "nMatched": matched, "nModified": modified,
        "nUpserted": 0, "nDeleted": deleted, "ok": 1.0,
        "cursor": { "id": 0_i64, "ns": "admin.$cmd.bulkWrite", "firstBatch": single },
    }
}
