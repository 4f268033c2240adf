//! A server on a thread that does what a test scripts, frame by frame.
#![allow(dead_code)] // Each test file uses a part of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use tare_cql::frame::{opcode, Decoder, Encoder, Header};
use tare_cql::{wire, Compression, Options, Protocol};

/// One request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub stream: i16,
    pub opcode: u8,
    pub body: Vec<u8>,
}

/// The server's side of one connection.
pub struct Peer {
    pub socket: TcpStream,
    pub encoder: Encoder,
    decoder: Decoder,
    inbox: Vec<Asked>,
}

impl Peer {
    pub fn new(socket: TcpStream, options: &Options) -> Peer {
        Peer {
            socket,
            encoder: Encoder::server(options.protocol, options.compression),
            decoder: Decoder::server(options.protocol, options.compression),
            inbox: Vec::new(),
        }
    }

    /// The next request; `None` when the client has closed.
    pub fn ask(&mut self) -> Option<Asked> {
        while self.inbox.is_empty() {
            let (socket, inbox) = (&mut self.socket, &mut self.inbox);
            let came = self.decoder.input.fill(|room| socket.read(room));
            came.ok().filter(|count| *count > 0)?;
            self.decoder
                .messages(|header, body| {
                    let stream = header.stream;
                    inbox.push(Asked {
                        stream,
                        opcode: header.opcode,
                        body: body.to_vec(),
                    });
                    Ok(())
                })
                .unwrap();
        }
        Some(self.inbox.remove(0))
    }

    pub fn answer(&mut self, stream: i16, opcode: u8, body: &[u8]) {
        self.encoder.message(stream, opcode, body).unwrap();
        let bytes = self.encoder.output().bytes().to_vec();
        self.encoder.output().sent(bytes.len());
        // A client that is gone is no failure of the script.
        let _ = self.socket.write_all(&bytes);
    }

    /// Answer in a plain frame of v4 with these header flags, whatever was agreed on.
    pub fn answer_v4(&mut self, stream: i16, opcode: u8, flags: u8, body: &[u8]) {
        let header = Header {
            version: 0x84,
            flags,
            stream,
            opcode,
            length: body.len() as u32,
        };
        let frame = [&header.encode()[..], body].concat();
        self.socket.write_all(&frame).unwrap();
    }

    /// Answer STARTUP with READY and agree on what was asked for; returns STARTUP's body.
    pub fn ready(&mut self) -> Vec<u8> {
        self.startup(opcode::READY, &[])
    }

    pub fn startup(&mut self, opcode: u8, body: &[u8]) -> Vec<u8> {
        let asked = self.ask().unwrap();
        assert_eq!(asked.opcode, opcode::STARTUP);
        self.answer(asked.stream, opcode, body);
        self.encoder.agreed();
        self.decoder.agreed();
        asked.body
    }
}

/// Listen on a port of its own and run `script` on the first connection.
pub fn serve<T: Send + 'static>(
    options: &Options,
    script: impl FnOnce(Peer) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let options = options.clone();
    let served = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        script(Peer::new(socket, &options))
    });
    (address, served)
}

/// All four ways to speak.
pub fn ways() -> Vec<Options> {
    let mut all = Vec::new();
    for protocol in [Protocol::V4, Protocol::V5] {
        for compression in [Compression::None, Compression::Lz4] {
            all.push(Options {
                protocol,
                compression,
                ..Options::default()
            });
        }
    }
    all
}

/// An ERROR body.
pub fn error(code: i32, message: &str) -> Vec<u8> {
    let mut body = Vec::new();
    wire::put_int(&mut body, code);
    wire::put_string(&mut body, message).unwrap();
    body
}

/// A Void result.
pub const VOID: [u8; 4] = [0, 0, 0, 1];

/// Listen on a port of its own and give every request of every connection its answer.
pub fn node(
    options: &Options,
    answer: impl Fn(&Asked) -> (u8, Vec<u8>) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (options, answer) = (options.clone(), std::sync::Arc::new(answer));
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let (options, answer) = (options.clone(), std::sync::Arc::clone(&answer));
            thread::spawn(move || {
                let mut peer = Peer::new(socket, &options);
                peer.ready();
                while let Some(asked) = peer.ask() {
                    let (opcode, body) = answer(&asked);
                    peer.answer(asked.stream, opcode, &body);
                }
            });
        }
    });
    address
}

/// The type of a column in `rows`, by its option (v4 section 4.2.5.2).
pub const TEXT: &[u8] = &[0x00, 0x0D];
pub const UUID: &[u8] = &[0x00, 0x0C];
pub const INET: &[u8] = &[0x00, 0x10];
pub const INT: &[u8] = &[0x00, 0x09];
pub const TEXTS: &[u8] = &[0x00, 0x22, 0x00, 0x0D];

/// A cell of a row: null or bytes.
pub type Cell = Option<Vec<u8>>;

/// A Rows result with its metadata.
pub fn rows(columns: &[(&str, &[u8])], rows: &[Vec<Cell>]) -> Vec<u8> {
    let mut body = Vec::new();
    wire::put_int(&mut body, 2);
    wire::put_int(&mut body, 1);
    wire::put_int(&mut body, columns.len() as i32);
    wire::put_string(&mut body, "system").unwrap();
    wire::put_string(&mut body, "table").unwrap();
    for (name, kind) in columns {
        wire::put_string(&mut body, name).unwrap();
        body.extend(*kind);
    }
    wire::put_int(&mut body, rows.len() as i32);
    for cell in rows.iter().flatten() {
        match cell {
            Some(bytes) => wire::put_bytes(&mut body, bytes).unwrap(),
            None => wire::put_int(&mut body, -1),
        }
    }
    body
}

/// A set of texts.
pub fn texts(elements: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::put_int(&mut bytes, elements.len() as i32);
    for element in elements {
        wire::put_bytes(&mut bytes, element.as_bytes()).unwrap();
    }
    bytes
}
