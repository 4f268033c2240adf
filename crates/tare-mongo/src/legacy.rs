//! OP_QUERY and OP_REPLY (MongoDB wire protocol, "legacy opcodes") from a server's side: drivers
//! greet a server with them before they know its protocol, and use them for little else.

use crate::document::{patch, Document, Writer};
use crate::error::Error;
use crate::message::{HEADER, MAX_MESSAGE};

const OP_QUERY: i32 = 2004;
const OP_REPLY: i32 = 1;
/// The response flag of servers that take `getMore` with waiting.
const AWAIT_CAPABLE: i32 = 8;
/// What all commands are sent to, after the database's name.
const COMMANDS: &[u8] = b".$cmd";

/// A command that came by OP_QUERY.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub request_id: i32,
    pub command: Document<'a>,
}

/// Whether the message at the front of `bytes`, of which the header has come, is an OP_QUERY.
#[inline]
pub fn is_query(bytes: &[u8]) -> bool {
    let header = bytes.first_chunk();
    header.is_some_and(|header| word(header, 12) == OP_QUERY)
}

/// The query at the front of `bytes` and its size, or `None` while it has not come wholly.
///
/// # Errors
/// What is no command: a length that no message has, a collection of documents, no BSON.
pub fn decode(bytes: &[u8]) -> Result<Option<(Query<'_>, usize)>, Error> {
    let Some(header) = bytes.first_chunk() else {
        return Ok(None);
    };
    let length = word(header, 0);
    let size = usize::try_from(length).unwrap_or(0);
    if !(HEADER..=MAX_MESSAGE).contains(&size) {
        return Err(Error::Protocol(format!("a query of {length} bytes")));
    }
    let Some(whole) = bytes.get(..size) else {
        return Ok(None);
    };
    let query = Query {
        request_id: word(header, 4),
        command: command(whole)?,
    };
    Ok(Some((query, size)))
}

fn word(header: &[u8; HEADER], at: usize) -> i32 {
    i32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

/// The command in a whole OP_QUERY.
fn command(whole: &[u8]) -> Result<Document<'_>, Error> {
    let short = |wanted| Error::Truncated {
        what: "a query",
        wanted,
        left: whole.len(),
    };
    // Flags, the collection's name, documents to pass over, documents wanted.
    let rest = whole.get(HEADER + 4..).ok_or(short(HEADER + 4))?;
    let end = rest.iter().position(|byte| *byte == 0);
    let end = end.ok_or_else(|| Error::Protocol("a query without a collection".into()))?;
    let (name, rest) = rest.split_at(end);
    if !name.ends_with(COMMANDS) {
        return Err(Error::Protocol("a query that is no command".into()));
    }
    let before = 1 + 4 + 4;
    let body = rest.get(before..);
    let body = body.ok_or(short(HEADER + 4 + end + before))?;
    Document::take(body).map(|(command, _)| command)
}

/// Appends a whole OP_REPLY of one document.
pub fn put(out: &mut Vec<u8>, to: i32, write: impl FnOnce(&mut Writer<'_>)) {
    let at = out.len();
    for word in [0, to, to, OP_REPLY, AWAIT_CAPABLE] {
        out.extend(word.to_le_bytes());
    }
    // No cursor, from the first on, one document.
    out.extend(0_i64.to_le_bytes());
    out.extend(0_i32.to_le_bytes());
    out.extend(1_i32.to_le_bytes());
    Writer::write(out, write);
    patch(out, at);
}
