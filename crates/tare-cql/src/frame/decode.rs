//! Finds complete messages in the input, in place where they are not compressed.
use super::{flag, lz4, segment, Header, Layout, HEADER, MAX_BODY};
use tare_net::Input;

use crate::error::Error;
use crate::options::{Compression, Protocol};

/// The buffer's first size.
const FIRST: usize = 256 << 10;
/// Least room for a read call.
const ROOM: usize = 32 << 10;
/// The buffer's largest size: one largest message and what surrounds it.
const MOST: usize = MAX_BODY + HEADER + FIRST;

/// Turns the bytes that come in into messages. No allocation once its buffers have grown; they
/// grow only as bytes really come, never by what a length claims.
#[derive(Debug)]
pub struct Decoder {
    /// The version byte that the peer's messages carry.
    version: u8,
    compression: Compression,
    layout: Layout,
    /// What has come in: fill it, then ask for [`Decoder::messages`].
    pub input: Input,
    /// Parts of one large message that came in several segments.
    parts: Vec<u8>,
    /// The message or segment that was decompressed last.
    unpacked: Vec<u8>,
}

impl Decoder {
    /// A client's decoder: of what a server sends.
    pub fn client(protocol: Protocol, compression: Compression) -> Decoder {
        Decoder::new(protocol.number() | 0x80, compression)
    }

    /// A server's decoder: of what a client sends.
    pub fn server(protocol: Protocol, compression: Compression) -> Decoder {
        Decoder::new(protocol.number(), compression)
    }

    fn new(version: u8, compression: Compression) -> Decoder {
        Decoder {
            version,
            compression,
            // v4 lets the very answer to STARTUP be compressed; its flag says whether it is.
            layout: Layout::plain(compression),
            input: Input::new(FIRST, ROOM, MOST),
            parts: Vec::new(),
            unpacked: Vec::new(),
        }
    }

    /// STARTUP has been answered: from here on, segments in v5.
    pub fn agreed(&mut self) {
        if self.version & 0x7F >= 5 {
            self.layout = Layout::segments(self.compression);
        }
    }

    /// Hand every whole message to `each`; what is left over waits for more. Returns how many
    /// messages there were. The flag "compressed" is dealt with and never seen by `each`.
    ///
    /// # Errors
    /// Bytes that break the protocol, and what `each` returns. The connection is then unusable.
    #[inline]
    pub fn messages(
        &mut self,
        mut each: impl FnMut(&Header, &[u8]) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        match self.layout {
            Layout::Plain { lz4 } => self.plain(lz4, &mut each),
            Layout::Segments { lz4 } => self.segments(lz4, &mut each),
        }
    }

    #[inline]
    fn plain(
        &mut self,
        lz4: bool,
        each: &mut impl FnMut(&Header, &[u8]) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let mut count = 0;
        while let Some(Message {
            mut header,
            body,
            size,
        }) = message(self.input.bytes(), self.version)?
        {
            count += 1;
            if header.flags & flag::COMPRESSED == 0 {
                each(&header, body)?;
            } else if lz4 {
                unpack_body(body, &mut self.unpacked)?;
                header.flags &= !flag::COMPRESSED;
                header.length = self.unpacked.len() as u32;
                each(&header, &self.unpacked)?;
            } else {
                return Err(Error::Protocol(
                    "a frame is compressed; that was not agreed".into(),
                ));
            }
            self.input.consume(size);
        }
        Ok(count)
    }

    fn segments(
        &mut self,
        lz4: bool,
        each: &mut impl FnMut(&Header, &[u8]) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let mut count = 0;
        while let Some(segment) = segment::decode(self.input.bytes(), lz4)? {
            let size = segment.size;
            let payload = match segment.header.unpacked {
                None => segment.payload,
                Some(length) => {
                    self.unpacked.clear();
                    lz4::unpack(segment.payload, length, &mut self.unpacked)?;
                    &self.unpacked[..]
                }
            };
            if segment.header.self_contained {
                if !self.parts.is_empty() {
                    return Err(Error::Protocol("a large message was interrupted".into()));
                }
                let left = whole(payload, self.version, &mut count, each)?;
                if left != 0 {
                    return Err(Error::Protocol("a segment ends inside a message".into()));
                }
            } else {
                self.parts.extend_from_slice(payload);
                let left = whole(&self.parts, self.version, &mut count, each)?;
                if left == 0 {
                    self.parts.clear();
                } else if left != self.parts.len() {
                    return Err(Error::Protocol(
                        "a large message shares its segments".into(),
                    ));
                }
            }
            self.input.consume(size);
        }
        Ok(count)
    }

    /// Bytes received that form no complete message yet.
    pub fn waiting(&self) -> usize {
        self.input.bytes().len() + self.parts.len()
    }
}

/// A complete message.
struct Message<'a> {
    header: Header,
    body: &'a [u8],
    /// Bytes of header and body.
    size: usize,
}

/// The message at the front of `bytes`, or `None` while it is incomplete.
#[inline]
fn message(bytes: &[u8], version: u8) -> Result<Option<Message<'_>>, Error> {
    let Some(header) = Header::decode(bytes)? else {
        return Ok(None);
    };
    // A server of another version answers STARTUP with an ERROR of its own version (section 2.1).
    let foreign_error = header.opcode == super::opcode::ERROR && header.version & 0x80 != 0;
    if header.version != version && !foreign_error {
        return Err(Error::Protocol(format!(
            "a frame carries version 0x{:02X}, not 0x{version:02X}",
            header.version
        )));
    }
    let size = HEADER + header.length as usize;
    Ok(bytes
        .get(HEADER..size)
        .map(|body| Message { header, body, size }))
}

/// Hand over the whole messages in `bytes`; returns how many bytes are left behind them.
fn whole(
    bytes: &[u8],
    version: u8,
    count: &mut usize,
    each: &mut impl FnMut(&Header, &[u8]) -> Result<(), Error>,
) -> Result<usize, Error> {
    let mut rest = bytes;
    while let Some(Message { header, body, size }) = message(rest, version)? {
        each(&header, body)?;
        *count += 1;
        rest = &rest[size..];
    }
    Ok(rest.len())
}

/// v4 section 5: four bytes of length, then an lz4 block.
fn unpack_body(body: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let Some((length, block)) = body.split_first_chunk::<4>() else {
        return Err(Error::Truncated {
            wanted: 4,
            left: body.len(),
        });
    };
    let length = u32::from_be_bytes(*length) as usize;
    if length > MAX_BODY {
        return Err(Error::Protocol(format!(
            "a compressed frame claims {length} bytes"
        )));
    }
    out.clear();
    if length == 0 {
        return Ok(());
    }
    lz4::unpack(block, length, out)
}
