//! A MongoDB client as small as can be, written from the wire protocol's documentation for these
//! tests: documents by the `bson` crate, messages by hand.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use bson::{doc, Document};
use tare_stub::{Protocol, Script, Stub};

const OP_MSG: i32 = 2013;
const OP_QUERY: i32 = 2004;
const OP_REPLY: i32 = 1;
pub const MORE_TO_COME: u32 = 2;

/// A stub that speaks MongoDB's protocol.
pub fn stub(script: Script) -> Stub {
    Stub::start(Script {
        protocol: Protocol::Mongodb,
        ..script
    })
    .expect("a stub")
}

pub struct Client {
    pub socket: TcpStream,
    sent: i32,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let socket = TcpStream::connect(address).expect("the stub listens");
        Client { socket, sent: 0 }
    }

    /// Sends a message of a body and, beside it, documents of this name.
    pub fn send(&mut self, flags: u32, body: &Document, beside: Option<(&str, &[Document])>) {
        let mut rest = flags.to_le_bytes().to_vec();
        rest.push(0);
        rest.extend(body.to_vec().expect("BSON"));
        if let Some((name, documents)) = beside {
            let mut sequence = name.as_bytes().to_vec();
            sequence.push(0);
            for document in documents {
                sequence.extend(document.to_vec().expect("BSON"));
            }
            rest.push(1);
            rest.extend((sequence.len() as u32 + 4).to_le_bytes());
            rest.extend(sequence);
        }
        self.put(OP_MSG, &rest);
    }

    fn put(&mut self, opcode: i32, rest: &[u8]) {
        self.sent += 1;
        let head = [rest.len() as i32 + 16, self.sent, 0, opcode];
        let mut message: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        message.extend(rest);
        // The stub may have closed the connection.
        let _ = self.socket.write_all(&message);
    }

    /// The next answer; None: the stub closed the connection.
    pub fn receive(&mut self) -> Option<Document> {
        let mut head = [0; 16];
        self.socket.read_exact(&mut head).ok()?;
        let word = |at: usize| i32::from_le_bytes(head[at..at + 4].try_into().expect("four"));
        let mut rest = vec![0; word(0) as usize - 16];
        self.socket.read_exact(&mut rest).expect("the whole answer");
        assert_eq!(word(8), self.sent, "it answers the last request");
        let skipped = match word(12) {
            OP_MSG => 5,
            OP_REPLY => 20,
            other => panic!("an answer of opcode {other}"),
        };
        Some(Document::from_reader(&rest[skipped..]).expect("BSON"))
    }

    pub fn ask(&mut self, body: &Document) -> Document {
        self.send(0, body, None);
        self.receive().expect("an answer")
    }

    /// As `ask`, with documents beside the body.
    pub fn write(&mut self, body: &Document, name: &str, documents: &[Document]) -> Document {
        self.send(0, body, Some((name, documents)));
        self.receive().expect("an answer")
    }

    /// Greets as drivers do that do not know yet what the server speaks.
    pub fn greet_of_old(&mut self, body: &Document) -> Document {
        let mut rest = vec![0; 4];
        rest.extend(b"admin.$cmd\0");
        rest.extend([0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
        rest.extend(body.to_vec().expect("BSON"));
        self.put(OP_QUERY, &rest);
        self.receive().expect("an answer")
    }

    pub fn hello(&mut self) -> Document {
        self.ask(&doc! { "hello": 1, "$db": "admin" })
    }
}

/// The documents of a cursor's batch, and its id.
pub fn batch(answer: &Document) -> (Vec<Document>, i64) {
    let cursor = answer.get_document("cursor").expect("a cursor");
    let list = ["firstBatch", "nextBatch"];
    let list = list.iter().find_map(|name| cursor.get_array(name).ok());
    let documents = list.expect("a batch").iter();
    let documents = documents.map(|one| one.as_document().expect("a document").clone());
    (documents.collect(), cursor.get_i64("id").expect("an id"))
}

pub fn code(answer: &Document) -> i32 {
    assert_eq!(answer.get_f64("ok").ok(), Some(0.0), "{answer}");
    answer.get_i32("code").expect("a code")
}
