//! A client's socket, bare or under TLS, as the client chooses by its first byte.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::TcpStream;

use tare_net::{Identity, TlsStream};

/// The first byte of a TLS handshake (RFC 8446, 5.1); of a request of CQL it is the version.
const HANDSHAKE: u8 = 0x16;
/// Plaintext that one read may bring and that no event reports later: what rustls holds at most,
/// and a record more.
pub const ROOM: usize = 64 << 10;

/// One client's socket.
#[derive(Debug)]
pub enum Stream {
    Plain(TcpStream),
    /// Nothing has come yet.
    Undecided(TcpStream, Identity),
    Tls(Box<TlsStream>),
    /// It could not be taken.
    Lost,
}

impl Stream {
    pub fn new(socket: TcpStream, identity: Option<&Identity>) -> Stream {
        match identity {
            Some(identity) => Stream::Undecided(socket, identity.clone()),
            None => Stream::Plain(socket),
        }
    }

    /// To be waited on.
    pub fn socket(&self) -> Option<&TcpStream> {
        match self {
            Stream::Plain(socket) | Stream::Undecided(socket, _) => Some(socket),
            Stream::Tls(session) => Some(session.socket()),
            Stream::Lost => None,
        }
    }

    /// What has come; under TLS all of it, for which `into` has [`ROOM`].
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if matches!(self, Stream::Undecided(..)) {
            *self = std::mem::replace(self, Stream::Lost).decided();
        }
        match self {
            Stream::Plain(socket) => socket.read(into),
            Stream::Undecided(..) => Err(ErrorKind::WouldBlock.into()),
            Stream::Tls(session) => under_tls(session, into),
            Stream::Lost => Ok(0),
        }
    }

    /// By its first byte, if that is there.
    fn decided(self) -> Stream {
        let Stream::Undecided(socket, identity) = self else {
            return self;
        };
        let mut first = [0];
        match socket.peek(&mut first) {
            Ok(1) if first[0] == HANDSHAKE => identity
                .accept(socket)
                .map_or(Stream::Lost, |session| Stream::Tls(Box::new(session))),
            Err(why) if why.kind() == ErrorKind::WouldBlock => Stream::Undecided(socket, identity),
            _ => Stream::Plain(socket), // which has the end, or what is wrong, too
        }
    }

    /// How much was taken over.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Stream::Plain(socket) | Stream::Undecided(socket, _) => socket.write(bytes),
            Stream::Tls(session) => loop {
                // 0: it was full, and has sent all of it
                match session.write(bytes)? {
                    0 => {}
                    taken => return Ok(taken),
                }
            },
            Stream::Lost => Ok(0),
        }
    }

    /// Whether TLS holds something back.
    pub fn holds(&self) -> bool {
        matches!(self, Stream::Tls(session) if session.holds())
    }

    /// Sends what TLS holds back; true when nothing is.
    pub fn push(&mut self) -> Result<bool> {
        match self {
            Stream::Tls(session) => session.push(),
            _ => Ok(true),
        }
    }
}

fn under_tls(session: &mut TlsStream, into: &mut [u8]) -> Result<usize> {
    if session.is_handshaking() {
        session.advance()?;
        if session.is_handshaking() {
            return Err(ErrorKind::WouldBlock.into());
        }
    }
    let mut read = session.read(into)?;
    while read < into.len() {
        match session.rest(&mut into[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}
