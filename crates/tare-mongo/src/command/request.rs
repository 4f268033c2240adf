//! One command in the making: a template's bytes, the values between them, the lengths.
use ring::rand::{SecureRandom, SystemRandom};

use super::template::{patch_all, Field, Kind, Template, CURSOR};
use crate::document::{close, kind, open, put_binary, put_text, subtype};
use crate::error::Error;
use crate::message::{self, MAX_MESSAGE};

/// What is known when a command begins and needed when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing has been begun.
    Nothing,
    /// The values are written; the body is to be closed.
    Body,
    /// Documents follow each other in a sequence.
    Sequence,
    Finished,
}

/// Keys of the parts of an update: the query, and what becomes of the document.
const QUERY: &[u8] = b"\x03q\0";
const CHANGE: &[u8] = b"\x03u\0";
const ID: &[u8] = b"\x02_id\0";
const SET: &[u8] = b"\x03$set\0";
const UPSERT: &[u8] = b"\x08upsert\0\x01";

/// A session's id: a random UUID (RFC 9562, version 4). Where the system has no random numbers it is
/// all zeros but for its marks; servers accept that, too.
pub fn session_id() -> [u8; 16] {
    let mut id = [0; 16];
    let _ = SystemRandom::new().fill(&mut id);
    id[6] = id[6] & 0x0F | 0x40;
    id[8] = id[8] & 0x3F | 0x80;
    id
}

/// Writes one whole message at a time. Nothing is allocated once its buffers have grown.
///
/// Begin with one of [`Request::find`], [`Request::scan`], [`Request::get_more`],
/// [`Request::write`]; a write is followed by one [`Request::document`] or more, each with its
/// fields; end with [`Request::finish`].
#[derive(Debug)]
pub struct Request {
    message: Vec<u8>,
    kind: Kind,
    stage: Stage,
    /// Lengths of what is open, outermost first.
    open: Vec<usize>,
    /// Lengths of the open document of a sequence, outermost first.
    inner: Vec<usize>,
    documents: usize,
    session: [u8; 16],
    writes: i64,
}

impl Request {
    /// A request whose commands run in the session of this id, if their templates have sessions.
    /// Requests in flight at the same time must not share a session.
    pub fn new(session: [u8; 16]) -> Request {
        Request {
            message: Vec::with_capacity(4096),
            kind: Kind::Find,
            stage: Stage::Nothing,
            open: Vec::new(),
            inner: Vec::new(),
            documents: 0,
            session,
            writes: 0,
        }
    }

    #[inline]
    fn begin(&mut self, template: &Template, stage: Stage) {
        self.message.clear();
        self.message.extend_from_slice(&template.prefix);
        self.open.clear();
        self.open.extend_from_slice(&template.open);
        self.inner.clear();
        self.kind = template.kind;
        self.stage = stage;
        self.documents = 0;
        if let Some(places) = template.session {
            self.message[places.id..places.id + 16].copy_from_slice(&self.session);
            if let Some(at) = places.number {
                self.writes += 1;
                self.message[at..at + 8].copy_from_slice(&self.writes.to_le_bytes());
            }
        }
    }

    /// Look one document up by its `_id`.
    #[inline]
    pub fn find(&mut self, template: &Template, id: &[u8]) {
        debug_assert_eq!(template.kind, Kind::Find);
        self.begin(template, Stage::Body);
        put_text(&mut self.message, id);
    }

    /// Look at most `limit` documents up, from this `_id` on.
    #[inline]
    pub fn scan(&mut self, template: &Template, from: &[u8], limit: i32) {
        debug_assert_eq!(template.kind, Kind::Scan);
        self.begin(template, Stage::Body);
        put_text(&mut self.message, from);
        // The comparison and the filter end here, the command goes on.
        let filter = self.open.split_off(1);
        patch_all(&mut self.message, &filter, true);
        self.message.extend_from_slice(&template.middle);
        self.message.extend_from_slice(&limit.to_le_bytes());
    }

    /// Fetch a cursor's next documents, from the member that it came from.
    pub fn get_more(&mut self, template: &Template, cursor: i64) {
        debug_assert_eq!(template.kind, Kind::GetMore);
        self.begin(template, Stage::Body);
        self.message[CURSOR..CURSOR + 8].copy_from_slice(&cursor.to_le_bytes());
    }

    /// Begin an insert, an update or a replacement.
    #[inline]
    pub fn write(&mut self, template: &Template) {
        debug_assert!(template.kind.writes());
        self.begin(template, Stage::Sequence);
    }

    /// Begin the next document of a write: the one of this `_id`.
    #[inline]
    pub fn document(&mut self, id: &[u8]) {
        debug_assert_eq!(self.stage, Stage::Sequence);
        self.end_document();
        self.documents += 1;
        self.inner.push(open(&mut self.message));
        match self.kind {
            Kind::Update => {
                self.query(id);
                self.nest(CHANGE);
                self.nest(SET);
            }
            Kind::Replace => {
                self.query(id);
                self.nest(CHANGE);
                self.id(id);
            }
            _ => self.id(id),
        }
    }

    fn query(&mut self, id: &[u8]) {
        self.message.extend_from_slice(QUERY);
        let query = open(&mut self.message);
        self.id(id);
        close(&mut self.message, query);
    }

    fn id(&mut self, id: &[u8]) {
        self.message.extend_from_slice(ID);
        put_text(&mut self.message, id);
    }

    fn nest(&mut self, key: &[u8]) {
        self.message.extend_from_slice(key);
        self.inner.push(open(&mut self.message));
    }

    /// The next field of the document.
    #[inline]
    pub fn field(&mut self, field: &Field, value: &[u8]) {
        self.field_with(field, |out| out.extend_from_slice(value));
    }

    /// The next field, written in place: `write` appends its value's bytes and touches nothing
    /// else.
    #[inline]
    pub fn field_with(&mut self, field: &Field, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(!self.inner.is_empty());
        debug_assert_eq!(field.0[0], kind::BINARY);
        self.message.extend_from_slice(&field.0);
        put_binary(&mut self.message, subtype::GENERIC, write);
    }

    #[inline]
    fn end_document(&mut self) {
        // What an update does to the document ends; the update itself may go on.
        while self.inner.len() > 1 {
            if let Some(at) = self.inner.pop() {
                close(&mut self.message, at);
            }
        }
        if let Some(at) = self.inner.pop() {
            if self.kind == Kind::Replace {
                self.message.extend_from_slice(UPSERT);
            }
            close(&mut self.message, at);
        }
    }

    /// Write what follows the values. The message is complete after this, but for its number.
    ///
    /// # Errors
    /// Nothing was begun, a write without a document, a message longer than a server takes.
    #[inline]
    pub fn finish(&mut self) -> Result<(), Error> {
        match self.stage {
            Stage::Finished => return Ok(()),
            Stage::Nothing => return Err(Error::Protocol("no command was begun".into())),
            Stage::Sequence if self.documents == 0 => {
                return Err(Error::Protocol("a write without a document".into()))
            }
            Stage::Sequence => {
                self.end_document();
                patch_all(&mut self.message, &self.open, false);
            }
            Stage::Body => patch_all(&mut self.message, &self.open, true),
        }
        message::end(&mut self.message, 0);
        self.stage = Stage::Finished;
        if self.message.len() > MAX_MESSAGE {
            return Err(Error::TooLong {
                bytes: self.message.len(),
            });
        }
        Ok(())
    }

    /// Whether only a primary serves what was written.
    #[inline]
    pub fn writes(&self) -> bool {
        self.kind.writes()
    }

    /// Whether it must go where the last answer came from.
    #[inline]
    pub fn stays(&self) -> bool {
        self.kind == Kind::GetMore
    }

    /// Documents of a write.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The message that was written.
    #[inline]
    pub fn message(&self) -> &[u8] {
        &self.message
    }
}
