//! One connection: its requests in flight, and one turn of reading headers and sending as much again.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

use crate::wire::{body_length, ERROR, HEADER};

const BUFFER: usize = 256 << 10;

/// One connection with a constant number of requests in flight.
pub struct Lane {
    stream: TcpStream,
    in_flight: usize,
    read: Vec<u8>,
    write: Vec<u8>,
    /// Bytes of a cut frame at the start of `read`.
    kept: usize,
}

impl Lane {
    /// A lane over a connection that is past its set-up.
    pub fn new(stream: TcpStream, in_flight: usize) -> Self {
        Self {
            stream,
            in_flight,
            read: vec![0; BUFFER],
            write: Vec::with_capacity(BUFFER),
            kept: 0,
        }
    }

    /// The connection, to wait for.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends the first requests.
    pub fn fill<'a>(&mut self, next: &mut impl Iterator<Item = &'a [u8]>) -> Result<()> {
        self.write.clear();
        for stream in 0..self.in_flight {
            self.push(stream as u16, next);
        }
        self.stream.write_all(&self.write)
    }

    /// One read, then one write with a new request on the stream of every answer; gives how many.
    pub fn turn<'a>(&mut self, next: &mut impl Iterator<Item = &'a [u8]>) -> Result<usize> {
        let got = self.stream.read(&mut self.read[self.kept..])?;
        if got == 0 {
            return Err(Error::new(
                ErrorKind::UnexpectedEof,
                "the server closed the connection",
            ));
        }
        let filled = self.kept + got;
        let (mut at, mut answers) = (0, 0);
        self.write.clear();
        while let Some(length) = body_length(&self.read[..filled], at) {
            if at + HEADER + length > filled {
                break;
            }
            if self.read[at + 4] == ERROR {
                let body = &self.read[at + HEADER..at + HEADER + length];
                return Err(Error::other(format!(
                    "the server answered {}",
                    String::from_utf8_lossy(body)
                )));
            }
            let stream = u16::from_be_bytes([self.read[at + 2], self.read[at + 3]]);
            self.push(stream, next);
            answers += 1;
            at += HEADER + length;
        }
        self.read.copy_within(at..filled, 0);
        self.kept = filled - at;
        if self.kept == self.read.len() {
            return Err(Error::new(
                ErrorKind::InvalidData,
                "an answer is larger than the buffer",
            ));
        }
        if answers > 0 {
            self.stream.write_all(&self.write)?;
        }
        Ok(answers)
    }

    fn push<'a>(&mut self, stream: u16, next: &mut impl Iterator<Item = &'a [u8]>) {
        if let Some(frame) = next.next() {
            let begin = self.write.len();
            self.write.extend_from_slice(frame);
            self.write[begin + 2..begin + 4].copy_from_slice(&stream.to_be_bytes());
        }
    }
}
