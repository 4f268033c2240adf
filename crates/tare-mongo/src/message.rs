//! OP_MSG messages of both directions: header, flags, sections, checksum.
use tare_net::Input;

use crate::document::{patch, Document};
use crate::error::Error;

/// Bytes of a message header: length, request id, response to, opcode.
pub const HEADER: usize = 16;
/// The opcode of OP_MSG.
pub const OP_MSG: i32 = 2013;
/// The longest message a server takes (`maxMessageSizeBytes`).
pub const MAX_MESSAGE: usize = 48_000_000;

/// Where the request id stands in a message.
const REQUEST_ID: std::ops::Range<usize> = 4..8;
/// Where the flags stand.
const FLAGS: std::ops::Range<usize> = 16..20;

/// Flag bits.
pub mod flag {
    /// The message ends with a CRC-32C of everything before it.
    pub const CHECKSUM: u32 = 1;
    /// Another message follows without being asked for.
    pub const MORE_TO_COME: u32 = 1 << 1;
    /// The sender takes answers with `MORE_TO_COME`.
    pub const EXHAUST_ALLOWED: u32 = 1 << 16;
    /// Bits that must all be understood.
    pub const REQUIRED: u32 = 0xFFFF;
}

/// What kinds of section there are.
pub mod section {
    pub const BODY: u8 = 0;
    pub const SEQUENCE: u8 = 1;
}

/// A complete message; its sections have been walked over.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    pub request_id: i32,
    pub response_to: i32,
    pub flags: u32,
    pub body: Document<'a>,
    /// Everything after the flags and before the checksum.
    sections: &'a [u8],
}

/// A document sequence: a list of documents beside the body.
#[derive(Debug, Clone, Copy)]
pub struct Sequence<'a> {
    pub name: &'a [u8],
    documents: &'a [u8],
}

impl<'a> Sequence<'a> {
    /// Its documents.
    pub fn documents(&self) -> impl Iterator<Item = Result<Document<'a>, Error>> {
        let mut rest = self.documents;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            match Document::take(rest) {
                Ok((document, behind)) => {
                    rest = behind;
                    Some(Ok(document))
                }
                Err(error) => {
                    rest = &[];
                    Some(Err(error))
                }
            }
        })
    }
}

impl<'a> Message<'a> {
    /// The document sequences beside the body.
    pub fn sequences(&self) -> impl Iterator<Item = Sequence<'a>> {
        // Every section was walked over when the message came.
        let mut rest = self.sections;
        std::iter::from_fn(move || loop {
            match next_section(&mut rest) {
                Ok(Some(Section::Sequence(sequence))) => return Some(sequence),
                Ok(Some(Section::Body(_))) => {}
                Ok(None) | Err(_) => return None,
            }
        })
    }
}

enum Section<'a> {
    Body(Document<'a>),
    Sequence(Sequence<'a>),
}

#[inline]
fn next_section<'a>(rest: &mut &'a [u8]) -> Result<Option<Section<'a>>, Error> {
    let Some((kind, behind)) = rest.split_first() else {
        return Ok(None);
    };
    match *kind {
        section::BODY => {
            let (body, behind) = Document::take(behind)?;
            *rest = behind;
            Ok(Some(Section::Body(body)))
        }
        section::SEQUENCE => {
            let size = behind
                .first_chunk::<4>()
                .map(|head| u32::from_le_bytes(*head) as usize);
            let (own, after) = size
                .filter(|size| *size >= 4)
                .and_then(|size| behind.split_at_checked(size))
                .ok_or(Error::Truncated {
                    what: "a document sequence",
                    wanted: size.unwrap_or(4),
                    left: behind.len(),
                })?;
            let own = &own[4..];
            let end = own.iter().position(|byte| *byte == 0);
            let end = end.ok_or_else(|| Error::Protocol("a sequence without a name".into()))?;
            *rest = after;
            Ok(Some(Section::Sequence(Sequence {
                name: &own[..end],
                documents: &own[end + 1..],
            })))
        }
        other => Err(Error::Protocol(format!("a section of kind {other}"))),
    }
}

/// The message at the front of `bytes` and its size, or `None` while it is incomplete.
///
/// # Errors
/// Not an OP_MSG: another opcode, required flags that are unknown, a wrong checksum,
/// sections that do not fit, no body or two.
#[inline]
pub fn decode(bytes: &[u8]) -> Result<Option<(Message<'_>, usize)>, Error> {
    let Some(header) = bytes.first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let word = |at: usize| {
        i32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (length, opcode) = (word(0), word(12));
    if opcode != OP_MSG {
        return Err(Error::Protocol(format!("a message of opcode {opcode}")));
    }
    let size = usize::try_from(length).unwrap_or(0);
    if !(FLAGS.end..=MAX_MESSAGE).contains(&size) {
        return Err(Error::Protocol(format!("a message of {length} bytes")));
    }
    let Some(whole) = bytes.get(..size) else {
        return Ok(None);
    };
    let flags = u32::from_le_bytes([whole[16], whole[17], whole[18], whole[19]]);
    let sections = sections(whole, flags)?;
    let (mut body, mut rest) = (None, sections);
    while let Some(section) = next_section(&mut rest)? {
        if let Section::Body(document) = section {
            if body.replace(document).is_some() {
                return Err(Error::Protocol("a message with two bodies".into()));
            }
        }
    }
    let body = body.ok_or_else(|| Error::Protocol("a message without a body".into()))?;
    let message = Message {
        request_id: word(4),
        response_to: word(8),
        flags,
        body,
        sections,
    };
    Ok(Some((message, size)))
}

/// What lies between the flags and the checksum, which is checked where there is one.
#[inline]
fn sections(whole: &[u8], flags: u32) -> Result<&[u8], Error> {
    let unknown = flags & flag::REQUIRED & !(flag::CHECKSUM | flag::MORE_TO_COME);
    if unknown != 0 {
        return Err(Error::Protocol(format!("unknown flags 0x{unknown:04X}")));
    }
    if flags & flag::CHECKSUM == 0 {
        return Ok(&whole[FLAGS.end..]);
    }
    match whole[FLAGS.end..].split_last_chunk::<4>() {
        Some((sections, sum)) => {
            let counted = crc32c::crc32c(&whole[..whole.len() - 4]);
            if counted == u32::from_le_bytes(*sum) {
                Ok(sections)
            } else {
                Err(Error::Protocol("a message's checksum is wrong".into()))
            }
        }
        None => Err(Error::Truncated {
            what: "a message",
            wanted: 4,
            left: whole.len() - FLAGS.end,
        }),
    }
}

/// Begin a message: its header, its flags, the first byte of its body section. The body's document
/// follows; [`end`] completes it.
pub fn begin(out: &mut Vec<u8>, request_id: i32, response_to: i32, flags: u32) -> usize {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    for word in [request_id, response_to, OP_MSG] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&flags.to_le_bytes());
    out.push(section::BODY);
    at
}

/// Complete the message that begins at `at` and goes to the end: its length, its checksum where its
/// flags announce one.
pub fn end(out: &mut Vec<u8>, at: usize) {
    let flags = out
        .get(at + FLAGS.start..at + FLAGS.end)
        .map_or(0, |flags| {
            u32::from_le_bytes([flags[0], flags[1], flags[2], flags[3]])
        });
    if flags & flag::CHECKSUM == 0 {
        return patch(out, at);
    }
    out.extend_from_slice(&[0; 4]);
    patch(out, at);
    seal(&mut out[at..]);
}

/// Give a whole message its number, and update its checksum.
#[inline]
pub fn number(message: &mut [u8], request_id: i32) {
    if let Some(place) = message.get_mut(REQUEST_ID) {
        place.copy_from_slice(&request_id.to_le_bytes());
    }
    if message
        .get(FLAGS.start)
        .is_some_and(|low| u32::from(*low) & flag::CHECKSUM != 0)
    {
        seal(message);
    }
}

/// Write the checksum into the message's last four bytes.
fn seal(message: &mut [u8]) {
    if let Some((content, sum)) = message.split_last_chunk_mut::<4>() {
        *sum = crc32c::crc32c(content).to_le_bytes();
    }
}

/// The buffer's first size.
const FIRST: usize = 32 << 10;
/// Least room for a read call.
const ROOM: usize = 16 << 10;
/// The buffer's largest size: one largest message and what surrounds it.
const MOST: usize = MAX_MESSAGE + FIRST;

/// Finds complete messages in the input. No allocation once its buffer has grown.
#[derive(Debug)]
pub struct Decoder {
    /// What has come in: fill it, then ask for [`Decoder::messages`].
    pub input: Input,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::new()
    }
}

impl Decoder {
    pub fn new() -> Decoder {
        Decoder {
            input: Input::new(FIRST, ROOM, MOST),
        }
    }

    /// Hand every whole message to `each`; what is left over waits for more. Returns how many
    /// messages there were.
    ///
    /// # Errors
    /// Bytes that break the protocol, and what `each` returns. The connection is then unusable.
    #[inline]
    pub fn messages(
        &mut self,
        mut each: impl FnMut(&Message<'_>) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let mut count = 0;
        while let Some((message, size)) = decode(self.input.bytes())? {
            count += 1;
            each(&message)?;
            self.input.consume(size);
        }
        Ok(count)
    }
}
