//! A CQL client as small as can be, written from native_protocol_v4.spec for these tests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

pub const ERROR: u8 = 0x00;
pub const STARTUP: u8 = 0x01;
pub const READY: u8 = 0x02;
pub const OPTIONS: u8 = 0x05;
pub const SUPPORTED: u8 = 0x06;
pub const QUERY: u8 = 0x07;
pub const RESULT: u8 = 0x08;
pub const PREPARE: u8 = 0x09;
pub const EXECUTE: u8 = 0x0A;
pub const BATCH: u8 = 0x0D;

pub const VOID: [u8; 4] = [0, 0, 0, 1];

/// An answer: its stream, opcode and body.
pub type Answer = (i16, u8, Vec<u8>);

pub struct Client(pub TcpStream);

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let mut client = Client(TcpStream::connect(address).expect("the stub listens"));
        let startup = client.ask(STARTUP, b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0");
        assert_eq!(startup.1, READY);
        client
    }

    pub fn send(&mut self, stream: i16, opcode: u8, body: &[u8]) {
        self.0
            .write_all(&frame(stream, opcode, body))
            .expect("the connection is open");
    }

    /// The next answer; None: the stub closed the connection.
    pub fn receive(&mut self) -> Option<Answer> {
        let mut header = [0; 9];
        self.0.read_exact(&mut header).ok()?;
        assert_eq!(header[0], 0x84, "an answer of version 4");
        let length = u32::from_be_bytes(header[5..].try_into().expect("four bytes"));
        let mut body = vec![0; length as usize];
        self.0.read_exact(&mut body).expect("the whole body");
        Some((i16::from_be_bytes([header[2], header[3]]), header[4], body))
    }

    pub fn ask(&mut self, opcode: u8, body: &[u8]) -> Answer {
        self.send(7, opcode, body);
        self.receive().expect("an answer")
    }

    /// Prepares a statement; gives its id.
    pub fn prepare(&mut self, cql: &str) -> Vec<u8> {
        let (_, opcode, body) = self.ask(PREPARE, &long_string(cql));
        assert_eq!((opcode, &body[..4]), (RESULT, &[0, 0, 0, 4][..]), "{cql}");
        let length = usize::from(u16::from_be_bytes([body[4], body[5]]));
        body[6..6 + length].to_vec()
    }
}

pub fn frame(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = stream.to_be_bytes();
    let mut frame = vec![4, 0, high, low, opcode];
    frame.extend((body.len() as u32).to_be_bytes());
    frame.extend(body);
    frame
}

pub fn long_string(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

/// The body of QUERY at ONE without values.
pub fn query(cql: &str) -> Vec<u8> {
    [&long_string(cql)[..], &[0, 1, 0]].concat()
}

/// The body of EXECUTE at ONE without result metadata.
pub fn execute(id: &[u8], values: &[&[u8]]) -> Vec<u8> {
    let mut body = [&(id.len() as u16).to_be_bytes(), id, &[0, 1, 0x03]].concat();
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        body.extend((value.len() as u32).to_be_bytes());
        body.extend(*value);
    }
    body
}

/// The code of an error's body.
pub fn code(body: &[u8]) -> i32 {
    i32::from_be_bytes(body[..4].try_into().expect("four bytes"))
}
