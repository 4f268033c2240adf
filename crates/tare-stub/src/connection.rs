//! One client connection: bytes in, whole requests out of them, answers out.

use std::io::ErrorKind;

use crate::speech::Speech;
use crate::stream::{Stream, ROOM};

const READ: usize = 256 << 10;
/// Bytes of answers that wait for a slow client; beyond them nothing more is read from it.
const MOST_WAITING: usize = 16 << 20;

/// How far reading or writing got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// The other side is not ready.
    Blocked,
    /// The connection is at its end.
    Over,
}

/// A connection with its buffers.
#[derive(Debug)]
pub struct Connection<T> {
    pub stream: Stream,
    /// Tells it from an earlier one in the same place.
    pub generation: u64,
    /// What it has agreed on so far.
    pub talk: T,
    /// Answers to be written.
    pub output: Vec<u8>,
    /// When the answers in `output` were due.
    pub dues: Vec<u64>,
    /// Close it when everything is written.
    pub last_words: bool,
    /// Whether it waits until it can be written.
    pub blocked: bool,
    /// Whether it is among those that are to be flushed.
    pub dirty: bool,
    written: usize,
    input: Vec<u8>,
    filled: usize,
}

impl<T: Default> Connection<T> {
    pub fn new(stream: Stream, generation: u64) -> Connection<T> {
        Connection {
            stream,
            generation,
            talk: T::default(),
            output: Vec::new(),
            dues: Vec::new(),
            last_words: false,
            blocked: false,
            dirty: false,
            written: 0,
            input: vec![0; READ],
            filled: 0,
        }
    }

    /// One read.
    pub fn receive(&mut self) -> Progress {
        if self.last_words || self.output.len() - self.written > MOST_WAITING {
            return Progress::Blocked;
        }
        if matches!(self.stream, Stream::Tls(_)) && self.input.len() - self.filled < ROOM {
            self.input.resize(self.filled + ROOM, 0);
        }
        match self.stream.read(&mut self.input[self.filled..]) {
            Ok(0) => Progress::Over,
            Ok(read) => {
                self.filled += read;
                Progress::Done
            }
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Progress::Blocked
            }
            Err(_) => Progress::Over,
        }
    }

    /// The bytes that were read and not yet used; give them back with `keep`.
    pub fn take_input(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.input), self.filled)
    }

    /// Gives the buffer back; its first `used` bytes were whole requests. Over: the next one is too
    /// large.
    pub fn keep<S: Speech>(&mut self, mut input: Vec<u8>, used: usize) -> Progress {
        input.copy_within(used..self.filled, 0);
        self.filled -= used;
        if S::length(&input[..self.filled]).is_some_and(|length| length > S::LONGEST) {
            return Progress::Over;
        }
        // The buffer grows with the bytes received, not with a claimed length.
        if self.filled == input.len() {
            input.resize(input.len() * 2, 0);
        }
        self.input = input;
        Progress::Done
    }

    /// Writes what there is to write.
    pub fn flush(&mut self) -> Progress {
        while self.written < self.output.len() {
            match self.stream.write(&self.output[self.written..]) {
                Ok(0) => return Progress::Over,
                Ok(written) => self.written += written,
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Progress::Blocked,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Progress::Over,
            }
        }
        self.output.clear();
        self.written = 0;
        match self.stream.push() {
            Ok(true) => Progress::Done,
            Ok(false) => Progress::Blocked,
            Err(_) => Progress::Over,
        }
    }
}

/// The next whole request at the start of `bytes`.
pub fn whole<S: Speech>(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(..S::length(bytes)?)
}
