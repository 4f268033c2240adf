//! A server that keeps documents in memory and speaks OP_MSG: as much of MongoDB as YCSB needs.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use bson::{doc, Bson, Document};
use tare_mongo::message::{self, Decoder};

/// Documents of a first batch; what a scan wants beyond must be fetched.
const BATCH: usize = 101;

/// What the server keeps and has been asked.
#[derive(Default)]
pub struct Store {
    pub documents: Mutex<BTreeMap<String, Document>>,
    /// Bodies of the commands, and how many documents stood beside each.
    pub asked: Mutex<Vec<(Document, usize)>>,
    /// What it says that it is.
    pub build: Mutex<Document>,
    /// Says of so many writes that it is no primary.
    pub not_primary: Mutex<u32>,
    rests: Mutex<BTreeMap<i64, Vec<Bson>>>,
}

impl Store {
    /// Serves on a port of its own until the test process ends.
    pub fn serve() -> (Arc<Store>, SocketAddr) {
        let store = Arc::new(Store::default());
        *store.build.lock().unwrap() =
            doc! { "version": "7.0.14", "gitVersion": "ce59cfc6a3c5", "ok": 1.0 };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::clone(&store);
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let store = Arc::clone(&shared);
                thread::spawn(move || store.talk(socket));
            }
        });
        (store, address)
    }

    /// Commands of this name.
    pub fn count(&self, command: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|(body, _)| name(body) == command)
            .count()
    }

    fn talk(&self, mut socket: TcpStream) {
        let mut decoder = Decoder::new();
        loop {
            let Ok(1..) = decoder.input.fill(|room| socket.read(room)) else {
                return;
            };
            let mut answers = Vec::new();
            decoder
                .messages(|message| {
                    let owned = |bytes: Vec<u8>| Document::from_reader(&bytes[..]).unwrap();
                    let mut beside = Vec::new();
                    for sequence in message.sequences() {
                        for document in sequence.documents() {
                            beside.push(owned(document?.to_bytes()));
                        }
                    }
                    let body = self.answer(&owned(message.body.to_bytes()), beside);
                    let at = message::begin(&mut answers, 1, message.request_id, 0);
                    answers.extend(body.to_vec().unwrap());
                    message::end(&mut answers, at);
                    Ok(())
                })
                .unwrap();
            if socket.write_all(&answers).is_err() {
                return;
            }
        }
    }

    fn answer(&self, body: &Document, beside: Vec<Document>) -> Document {
        self.asked
            .lock()
            .unwrap()
            .push((body.clone(), beside.len()));
        let writes = matches!(name(body), "insert" | "update");
        let mut left = self.not_primary.lock().unwrap();
        if writes && *left > 0 {
            *left -= 1;
            return doc! {
                "ok": 0.0, "errmsg": "not primary", "code": 10107,
                "errorLabels": ["RetryableWriteError"],
            };
        }
        drop(left);
        match name(body) {
            "hello" => doc! { "isWritablePrimary": true, "maxWireVersion": 21, "ok": 1.0 },
            "insert" => self.insert(beside),
            "update" => self.update(beside),
            "find" => self.find(body),
            "buildInfo" => self.build.lock().unwrap().clone(),
            "getMore" => self.more(body.get_i64("getMore").unwrap()),
            _ => doc! { "ok": 1.0 },
        }
    }

    fn insert(&self, documents: Vec<Document>) -> Document {
        let mut kept = self.documents.lock().unwrap();
        let mut count = 0;
        for document in documents {
            let id = document.get_str("_id").unwrap().to_owned();
            if kept.contains_key(&id) {
                let error =
                    doc! { "index": count, "code": 11000, "errmsg": "E11000 duplicate key" };
                return doc! { "n": count, "writeErrors": [error], "ok": 1.0 };
            }
            kept.insert(id, document);
            count += 1;
        }
        doc! { "n": count, "ok": 1.0 }
    }

    fn update(&self, updates: Vec<Document>) -> Document {
        let mut kept = self.documents.lock().unwrap();
        let mut matched = 0;
        for update in updates {
            let id = update
                .get_document("q")
                .unwrap()
                .get_str("_id")
                .unwrap()
                .to_owned();
            let change = update.get_document("u").unwrap();
            match (change.get_document("$set"), kept.get_mut(&id)) {
                (Ok(fields), Some(document)) => {
                    document.extend(fields.clone());
                    matched += 1;
                }
                (Ok(_), None) => {}
                (Err(_), _) => {
                    assert!(update.get_bool("upsert").unwrap());
                    kept.insert(id, change.clone());
                    matched += 1;
                }
            }
        }
        doc! { "n": matched, "nModified": matched, "ok": 1.0 }
    }

    fn find(&self, body: &Document) -> Document {
        let limit = body.get_i32("limit").unwrap() as usize;
        let kept = self.documents.lock().unwrap();
        let mut found: Vec<Bson> = match body.get_document("filter").unwrap().get("_id").unwrap() {
            Bson::String(id) => kept.get(id).into_iter().cloned().map(Bson::from).collect(),
            from => {
                assert_eq!(body.get_document("sort").unwrap(), &doc! { "_id": 1 });
                let from = from
                    .as_document()
                    .unwrap()
                    .get_str("$gte")
                    .unwrap()
                    .to_owned();
                let rest = kept.range(from..).take(limit);
                rest.map(|(_, document)| document.clone().into()).collect()
            }
        };
        let rest = found.split_off(found.len().min(BATCH));
        let id = match rest.is_empty() {
            true => 0,
            false => {
                let mut rests = self.rests.lock().unwrap();
                let id = rests.len() as i64 + 1;
                rests.insert(id, rest);
                id
            }
        };
        doc! { "cursor": { "firstBatch": found, "id": id, "ns": "ycsb.usertable" }, "ok": 1.0 }
    }

    fn more(&self, cursor: i64) -> Document {
        let rest = self
            .rests
            .lock()
            .unwrap()
            .insert(cursor, Vec::new())
            .unwrap();
        doc! { "cursor": { "nextBatch": rest, "id": 0_i64, "ns": "ycsb.usertable" }, "ok": 1.0 }
    }
}

fn name(body: &Document) -> &str {
    body.keys().next().map_or("", String::as_str)
}
