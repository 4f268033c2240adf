//! A server on threads that does what a test scripts, command by command.
#![allow(dead_code)] // Each test file uses a part of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bson::{doc, Document};
use tare_mongo::legacy;
use tare_mongo::message::{self, Decoder};

/// One command that came.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub id: i32,
    pub flags: u32,
    /// It came by OP_QUERY and is answered by OP_REPLY.
    pub is_legacy: bool,
    /// The command, with the documents that came beside it.
    pub body: Document,
}

impl Asked {
    /// The name of the command: its first key.
    pub fn command(&self) -> &str {
        self.body.keys().next().map_or("", String::as_str)
    }

    /// The command at the front of these bytes and its size, once it is complete.
    fn take(bytes: &[u8]) -> Option<(Asked, usize)> {
        if legacy::is_query(bytes) {
            let (query, size) = legacy::decode(bytes).unwrap()?;
            let asked = Asked {
                id: query.request_id,
                flags: 0,
                is_legacy: true,
                body: owned(query.command),
            };
            return Some((asked, size));
        }
        let (message, size) = message::decode(bytes).unwrap()?;
        let mut body = owned(message.body);
        for sequence in message.sequences() {
            let name = String::from_utf8(sequence.name.to_vec()).unwrap();
            let documents = sequence.documents().map(|it| owned(it.unwrap()));
            body.insert(name, documents.collect::<Vec<Document>>());
        }
        let asked = Asked {
            id: message.request_id,
            flags: message.flags,
            is_legacy: false,
            body,
        };
        Some((asked, size))
    }
}

fn owned(document: tare_mongo::document::Document<'_>) -> Document {
    Document::from_reader(&document.to_bytes()[..]).unwrap()
}

/// The server's side of one connection.
pub struct Peer {
    pub socket: TcpStream,
    decoder: Decoder,
    inbox: Vec<Asked>,
}

impl Peer {
    pub fn new(socket: TcpStream) -> Peer {
        Peer {
            socket,
            decoder: Decoder::new(),
            inbox: Vec::new(),
        }
    }

    /// The next command; `None` when the client has closed.
    pub fn ask(&mut self) -> Option<Asked> {
        while self.inbox.is_empty() {
            let (socket, input) = (&mut self.socket, &mut self.decoder.input);
            let came = input.fill(|room| socket.read(room));
            came.ok().filter(|count| *count > 0)?;
            while let Some((asked, size)) = Asked::take(input.bytes()) {
                input.consume(size);
                self.inbox.push(asked);
            }
        }
        Some(self.inbox.remove(0))
    }

    /// Have this command come once more.
    pub fn put_back(&mut self, asked: Asked) {
        self.inbox.insert(0, asked);
    }

    pub fn answer(&mut self, asked: &Asked, body: &Document) {
        if asked.is_legacy {
            let whole = body.to_vec().unwrap();
            let mut bytes = Vec::new();
            // Between its length and its end.
            let elements = &whole[4..whole.len() - 1];
            legacy::put(&mut bytes, asked.id, |out| {
                out.elements(elements);
            });
            self.send(&bytes);
        } else {
            self.answer_with(asked.id, asked.flags & message::flag::CHECKSUM, body);
        }
    }

    pub fn answer_with(&mut self, response_to: i32, flags: u32, body: &Document) {
        let mut bytes = Vec::new();
        let at = message::begin(&mut bytes, 1, response_to, flags);
        bytes.extend(body.to_vec().unwrap());
        message::end(&mut bytes, at);
        self.send(&bytes);
    }

    fn send(&mut self, bytes: &[u8]) {
        // A client that is gone is no failure of the script.
        let _ = self.socket.write_all(bytes);
    }

    /// Answer `hello` with this; returns the hello.
    pub fn greet(&mut self, hello: &Document) -> Asked {
        let asked = self.ask().unwrap();
        assert_eq!(asked.command(), "hello");
        self.answer(&asked, hello);
        asked
    }
}

/// What a standalone server of MongoDB 7.0 answers to `hello`, as its manual shows it.
pub fn standalone() -> Document {
    doc! {
        "isWritablePrimary": true, "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000, "logicalSessionTimeoutMinutes": 30, "connectionId": 1,
        "minWireVersion": 0, "maxWireVersion": 21, "readOnly": false, "ok": 1.0,
    }
}

/// What a member of a replica set answers to `hello`, as the manual shows it.
pub fn member(me: SocketAddr, hosts: &[SocketAddr], primary: Option<SocketAddr>) -> Document {
    let hosts: Vec<String> = hosts.iter().map(SocketAddr::to_string).collect();
    let mut hello = doc! {
        "topologyVersion": { "processId": bson::oid::ObjectId::from_bytes([1; 12]), "counter": 6_i64 },
        "hosts": hosts, "setName": "rs0", "setVersion": 1,
        "isWritablePrimary": primary == Some(me), "secondary": primary != Some(me),
        "me": me.to_string(),
    };
    if let Some(primary) = primary {
        hello.insert("primary", primary.to_string());
    }
    if primary == Some(me) {
        hello.insert("electionId", bson::oid::ObjectId::from_bytes([2; 12]));
    }
    hello.extend(
        standalone()
            .into_iter()
            .filter(|(name, _)| name != "isWritablePrimary"),
    );
    hello
}

/// Listen on a port of its own and run `script` on the first connection.
pub fn serve<T: Send + 'static>(
    script: impl FnOnce(Peer) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        script(Peer::new(socket))
    });
    (address, served)
}

/// Answer every command of every connection on this listener.
pub fn answer_all(
    listener: TcpListener,
    answer: impl Fn(&Asked) -> Document + Send + Sync + 'static,
) {
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let mut peer = Peer::new(socket);
                while let Some(asked) = peer.ask() {
                    let body = answer(&asked);
                    peer.answer(&asked, &body);
                }
            });
        }
    });
}

pub fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An answer that says no.
pub fn refusal(code: i32, name: &str, message: &str) -> Document {
    doc! { "ok": 0.0, "errmsg": message, "code": code, "codeName": name }
}
