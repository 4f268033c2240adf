//! Request bodies, written into one reused buffer: EXECUTE from a template, BATCH, QUERY, PREPARE.
mod query;
mod template;

use crate::error::Error;
use crate::frame::{opcode, MAX_BODY};
use crate::options::{Consistency, Protocol};
use crate::token::{push_component, token};
use crate::wire::{put_bytes, put_int, put_long, put_short};
use template::{put_flags, PAGING_STATE, SERIAL, TIMESTAMP};

pub use template::{BatchKind, Parameters, Template};

/// What follows the values; known when the request begins, written by [`Request::finish`].
#[derive(Debug, Clone, Copy)]
struct Tail {
    flags_at: Option<usize>,
    page_size: Option<i32>,
    serial: Option<Consistency>,
    timestamp: Option<i64>,
    /// A batch: its consistency and flags come behind the statements.
    batch: Option<(Consistency, Protocol)>,
}

const NO_TAIL: Tail = Tail {
    flags_at: None,
    page_size: None,
    serial: None,
    timestamp: None,
    batch: None,
};

/// Writes one request body at a time. Nothing is allocated once its buffers have grown.
#[derive(Debug)]
pub struct Request {
    opcode: u8,
    body: Vec<u8>,
    tail: Tail,
    /// Values given to, and wanted by, the current statement.
    given: usize,
    wanted: usize,
    wrong_count: Option<(usize, usize)>,
    /// Statements of the batch.
    statements: usize,
    /// Where the values of the first statement are in `body`; null and unset are `None`.
    values: Vec<Option<(usize, usize)>>,
    partition_key: Vec<u16>,
    paging_state: Vec<u8>,
    key: Vec<u8>,
}

impl Default for Request {
    fn default() -> Self {
        Request::new()
    }
}

impl Request {
    /// An empty one.
    pub fn new() -> Request {
        Request {
            opcode: opcode::OPTIONS,
            body: Vec::with_capacity(4096),
            tail: NO_TAIL,
            given: 0,
            wanted: 0,
            wrong_count: None,
            statements: 0,
            values: Vec::new(),
            partition_key: Vec::new(),
            paging_state: Vec::new(),
            key: Vec::new(),
        }
    }

    #[inline]
    fn begin(&mut self, opcode: u8, tail: Tail) {
        self.opcode = opcode;
        self.body.clear();
        self.tail = tail;
        self.given = 0;
        self.wanted = 0;
        self.wrong_count = None;
        self.statements = 0;
        self.values.clear();
        self.partition_key.clear();
        self.paging_state.clear();
    }

    /// Begin an EXECUTE; its values follow in the markers' order, then [`Request::finish`].
    #[inline]
    pub fn execute(&mut self, template: &Template) {
        let parameters = &template.parameters;
        self.begin(
            opcode::EXECUTE,
            Tail {
                flags_at: Some(template.flags_at),
                page_size: parameters.page_size,
                serial: parameters.serial,
                timestamp: parameters.timestamp,
                batch: None,
            },
        );
        self.wanted = template.markers;
        self.body.extend_from_slice(&template.prefix);
        self.partition_key
            .extend_from_slice(&template.partition_key);
    }

    /// Begin a BATCH; each [`Request::statement`] with its values follows, then
    /// [`Request::finish`]. It is routed by its first statement's key.
    pub fn batch(&mut self, kind: BatchKind, parameters: &Parameters, protocol: Protocol) {
        self.begin(
            opcode::BATCH,
            Tail {
                flags_at: None,
                page_size: None,
                serial: parameters.serial,
                timestamp: parameters.timestamp,
                batch: Some((parameters.consistency, protocol)),
            },
        );
        self.body.push(kind as u8);
        put_short(&mut self.body, 0);
    }

    /// Begin the batch's next statement.
    pub fn statement(&mut self, template: &Template) {
        self.check_count();
        self.statements += 1;
        self.given = 0;
        self.wanted = template.markers;
        self.body.extend_from_slice(&template.batched);
        if self.statements == 1 {
            self.partition_key
                .extend_from_slice(&template.partition_key);
        }
    }

    /// The next value.
    #[inline]
    pub fn value(&mut self, bytes: &[u8]) {
        self.value_with(|out| out.extend_from_slice(bytes));
    }

    /// The next value, written in place: `write` appends its bytes and touches nothing else.
    #[inline]
    pub fn value_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let length_at = self.body.len();
        self.body.extend_from_slice(&[0; 4]);
        write(&mut self.body);
        let begin = length_at + 4;
        debug_assert!(self.body.len() >= begin);
        // A length that does not fit is caught by `finish`: the body is too long then.
        let length = (self.body.len() - begin) as u32;
        self.body[length_at..begin].copy_from_slice(&length.to_be_bytes());
        self.given(Some((begin, self.body.len())));
    }

    /// The next value is null.
    pub fn null(&mut self) {
        put_int(&mut self.body, -1);
        self.given(None);
    }

    /// The next value is left as it is in the table (v4 section 3, `[value]`).
    pub fn unset(&mut self) {
        put_int(&mut self.body, -2);
        self.given(None);
    }

    #[inline]
    fn given(&mut self, place: Option<(usize, usize)>) {
        self.given += 1;
        if self.statements <= 1 {
            self.values.push(place);
        }
    }

    /// Continue a result where its last page ended.
    pub fn paging_state(&mut self, state: &[u8]) {
        self.paging_state.clear();
        self.paging_state.extend_from_slice(state);
        if let Some(at) = self.tail.flags_at {
            self.body[at] |= PAGING_STATE;
        }
    }

    /// This request's write time, in microseconds since 1970.
    pub fn timestamp(&mut self, micros: i64) {
        self.tail.timestamp = Some(micros);
    }

    fn check_count(&mut self) {
        if self.given != self.wanted && self.wrong_count.is_none() {
            self.wrong_count = Some((self.given, self.wanted));
        }
    }

    /// Write what follows the values. The body is complete after this.
    ///
    /// # Errors
    /// Too few or too many values; a body of more than 256 MiB; a batch of more than 65,535.
    #[inline]
    pub fn finish(&mut self) -> Result<(), Error> {
        self.check_count();
        if let Some((given, wanted)) = self.wrong_count {
            return Err(Error::Protocol(format!(
                "{given} values for {wanted} bind markers"
            )));
        }
        if let Some((consistency, protocol)) = self.tail.batch {
            let count = u16::try_from(self.statements).map_err(|_| Error::TooLong {
                bytes: self.body.len(),
            })?;
            self.body[1..3].copy_from_slice(&count.to_be_bytes());
            put_short(&mut self.body, consistency as u16);
            self.tail.flags_at = Some(put_flags(&mut self.body, 0, protocol));
        }
        let Some(flags_at) = self.tail.flags_at else {
            return Ok(());
        };
        if let Some(size) = self.tail.page_size {
            put_int(&mut self.body, size);
        }
        if self.body[flags_at] & PAGING_STATE != 0 {
            put_bytes(&mut self.body, &self.paging_state)?;
        }
        if let Some(serial) = self.tail.serial {
            self.body[flags_at] |= SERIAL;
            put_short(&mut self.body, serial as u16);
        }
        if let Some(timestamp) = self.tail.timestamp {
            self.body[flags_at] |= TIMESTAMP;
            put_long(&mut self.body, timestamp);
        }
        if self.body.len() > MAX_BODY {
            return Err(Error::TooLong {
                bytes: self.body.len(),
            });
        }
        Ok(())
    }

    /// The opcode of what was written.
    #[inline]
    pub fn opcode(&self) -> u8 {
        self.opcode
    }

    /// The body that was written.
    #[inline]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The token of the partition key among the values; `None` when the statement does not bind
    /// the whole key, or a part of it is null.
    #[inline]
    pub fn token(&mut self) -> Option<i64> {
        if let [marker] = self.partition_key[..] {
            let (begin, end) = (*self.values.get(usize::from(marker))?)?;
            return Some(token(&self.body[begin..end]));
        }
        if self.partition_key.is_empty() {
            return None;
        }
        self.key.clear();
        for marker in &self.partition_key {
            let (begin, end) = (*self.values.get(usize::from(*marker))?)?;
            if !push_component(&mut self.key, &self.body[begin..end]) {
                return None;
            }
        }
        Some(token(&self.key))
    }
}
