//! OP_QUERY and OP_REPLY (MongoDB wire protocol, "legacy opcodes"): drivers greet a server with them
//! before they know what it speaks, and with nothing else.

use tare_mongo::document::{patch, Document, Writer};
use tare_mongo::message::HEADER;

pub const OP_QUERY: i32 = 2004;
const OP_REPLY: i32 = 1;
/// The response flag of servers that take `getMore` with waiting.
const AWAIT_CAPABLE: i32 = 8;
/// What all commands are sent to, after the database's name.
const COMMANDS: &[u8] = b".$cmd";

/// The command in a whole OP_QUERY; None: it is no command.
pub fn command(request: &[u8]) -> Option<Document<'_>> {
    let rest = request.get(HEADER + 4..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (name, rest) = rest.split_at(end);
    // The name's end, documents to pass over, documents wanted.
    let (body, _) = Document::take(rest.get(1 + 4 + 4..)?).ok()?;
    name.ends_with(COMMANDS).then_some(body)
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
