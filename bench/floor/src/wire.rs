//! The few CQL frames that the floor speaks: a blocking set-up, and EXECUTE frames encoded beforehand.
//! Native protocol version 4, native_protocol_v4.spec: headers section 2, requests section 4.1.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

pub const HEADER: usize = 9;
pub const ERROR: u8 = 0x00;
pub const STARTUP: u8 = 0x01;
const QUERY: u8 = 0x07;
const PREPARE: u8 = 0x09;
pub const EXECUTE: u8 = 0x0A;
const CONSISTENCY_ONE: [u8; 2] = [0, 1];
const LARGEST_ANSWER: usize = 16 << 20;

/// One request frame on stream 0.
pub fn frame(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![4, 0, 0, 0, opcode];
    frame.extend((body.len() as u32).to_be_bytes());
    frame.extend(body);
    frame
}

/// Body length of the frame that begins at `at`, if its header is there.
pub fn body_length(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes.get(at + 5..at + HEADER)?;
    Some(u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize)
}

/// Sends a frame and waits for its answer's body; a server error becomes an error.
pub fn ask(stream: &mut TcpStream, opcode: u8, body: &[u8]) -> Result<Vec<u8>> {
    stream.write_all(&frame(opcode, body))?;
    let mut header = [0; HEADER];
    stream.read_exact(&mut header)?;
    let length = body_length(&header, 0).unwrap_or(0);
    if length > LARGEST_ANSWER {
        return Err(Error::new(ErrorKind::InvalidData, "this is no CQL server"));
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    if header[4] == ERROR {
        let message = String::from_utf8_lossy(answer.get(6..).unwrap_or_default()).into_owned();
        return Err(Error::other(message));
    }
    Ok(answer)
}

/// A connection to the server, past STARTUP.
pub fn connect(address: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    ask(
        &mut stream,
        STARTUP,
        b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0",
    )?;
    Ok(stream)
}

/// Executes a statement without values.
pub fn query(stream: &mut TcpStream, cql: &str) -> Result<()> {
    let mut body = long_string(cql);
    body.extend(CONSISTENCY_ONE);
    body.push(0);
    ask(stream, QUERY, &body).map(|_| ())
}

/// Prepares a statement; gives its id.
pub fn prepare(stream: &mut TcpStream, cql: &str) -> Result<Vec<u8>> {
    let answer = ask(stream, PREPARE, &long_string(cql))?;
    let short = |at: usize| {
        answer
            .get(at..at + 2)
            .map(|b| usize::from(b[0]) << 8 | usize::from(b[1]))
    };
    short(4)
        .and_then(|length| answer.get(6..6 + length))
        .map(<[u8]>::to_vec)
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, "the answer to PREPARE is cut short"))
}

/// An EXECUTE frame at consistency ONE, without result metadata, as drivers send it.
pub fn execute(id: &[u8], values: &[&[u8]]) -> Vec<u8> {
    let mut body = (id.len() as u16).to_be_bytes().to_vec();
    body.extend(id);
    body.extend(CONSISTENCY_ONE);
    body.push(0x01 | 0x02); // values; skip metadata
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        body.extend((value.len() as u32).to_be_bytes());
        body.extend(*value);
    }
    frame(EXECUTE, &body)
}

fn long_string(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}
