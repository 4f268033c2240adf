//! Gathers messages into one output buffer, in segments and compressed where that was agreed.
use tare_net::Output;

use super::lz4::Packer;
use super::{flag, segment, Header, Layout, HEADER, MAX_BODY};
use crate::error::Error;
use crate::options::{Compression, Protocol};

/// Bodies below this are sent as they are in v4: mostly a statement's id and a key, which do not
/// shrink.
const WORTH_PACKING: usize = 128;

/// Turns messages into the bytes that go out. No allocation once its buffers have grown.
#[derive(Debug)]
pub struct Encoder {
    version: u8,
    compression: Compression,
    layout: Layout,
    out: Output,
    /// Where the open plain segment's header is in `out`, when one is open.
    open: Option<usize>,
    /// The open lz4 segment's messages, not yet compressed.
    unpacked: Vec<u8>,
    packer: Packer,
}

impl Encoder {
    /// A client's encoder. Nothing is compressed nor put in segments until [`Encoder::agreed`].
    pub fn client(protocol: Protocol, compression: Compression) -> Encoder {
        Encoder::new(protocol.number(), compression)
    }

    /// A server's encoder: the same, with the direction bit set.
    pub fn server(protocol: Protocol, compression: Compression) -> Encoder {
        Encoder::new(protocol.number() | 0x80, compression)
    }

    fn new(version: u8, compression: Compression) -> Encoder {
        Encoder {
            version,
            compression,
            layout: Layout::plain(Compression::None),
            out: Output::default(),
            open: None,
            unpacked: Vec::new(),
            packer: Packer::new(),
        }
    }

    /// STARTUP has been answered: from here on, compression (v4) or segments (v5).
    pub fn agreed(&mut self) {
        self.layout = if self.version & 0x7F >= 5 {
            Layout::segments(self.compression)
        } else {
            Layout::plain(self.compression)
        };
    }

    /// Append one message.
    ///
    /// # Errors
    /// A body longer than 256 MiB.
    #[inline]
    pub fn message(&mut self, stream: i16, opcode: u8, body: &[u8]) -> Result<(), Error> {
        if body.len() > MAX_BODY {
            return Err(Error::TooLong { bytes: body.len() });
        }
        let header = Header {
            version: self.version,
            flags: 0,
            stream,
            opcode,
            length: body.len() as u32,
        };
        match self.layout {
            Layout::Plain { lz4: false } => {
                let out = self.out.append();
                out.extend_from_slice(&header.encode());
                out.extend_from_slice(body);
            }
            Layout::Plain { lz4: true } => self.packed(header, body),
            Layout::Segments { lz4: false } => self.in_plain_segment(&header, body),
            Layout::Segments { lz4: true } => self.in_lz4_segment(&header, body),
        }
        Ok(())
    }

    /// v4 section 5: the body is its length before compression, then an lz4 block. A body that
    /// would not shrink goes as it is, without the flag; a short one is not even tried.
    fn packed(&mut self, mut header: Header, body: &[u8]) {
        let out = self.out.append();
        let begin = out.len();
        out.extend_from_slice(&[0; HEADER]);
        out.extend_from_slice(&header.length.to_be_bytes());
        if body.len() >= WORTH_PACKING
            && self.packer.pack(body, out)
            && out.len() - begin < HEADER + body.len()
        {
            header.flags |= flag::COMPRESSED;
            header.length = (out.len() - begin - HEADER) as u32;
        } else {
            out.truncate(begin + HEADER);
            out.extend_from_slice(body);
        }
        out[begin..begin + HEADER].copy_from_slice(&header.encode());
    }

    fn in_plain_segment(&mut self, header: &Header, body: &[u8]) {
        let size = HEADER + body.len();
        if size > segment::MAX_PAYLOAD {
            self.seal();
            return self.in_parts(header, body);
        }
        if let Some(begin) = self.open {
            if self.out.append().len() - begin - segment::PLAIN_HEADER + size > segment::MAX_PAYLOAD
            {
                self.seal();
            }
        }
        let out = self.out.append();
        if self.open.is_none() {
            self.open = Some(out.len());
            out.extend_from_slice(&[0; segment::PLAIN_HEADER]);
        }
        out.extend_from_slice(&header.encode());
        out.extend_from_slice(body);
    }

    fn in_lz4_segment(&mut self, header: &Header, body: &[u8]) {
        let size = HEADER + body.len();
        if size > segment::MAX_PAYLOAD {
            self.seal();
            return self.in_parts(header, body);
        }
        if self.unpacked.len() + size > segment::MAX_PAYLOAD {
            self.seal();
        }
        self.unpacked.extend_from_slice(&header.encode());
        self.unpacked.extend_from_slice(body);
    }

    /// A message too large for one segment: several, none of them self-contained.
    fn in_parts(&mut self, header: &Header, body: &[u8]) {
        let mut whole = Vec::with_capacity(HEADER + body.len());
        whole.extend_from_slice(&header.encode());
        whole.extend_from_slice(body);
        let lz4 = self.layout == Layout::Segments { lz4: true };
        let out = self.out.append();
        for part in whole.chunks(segment::MAX_PAYLOAD) {
            if lz4 {
                lz4_segment(&mut self.packer, out, part, false);
            } else {
                out.extend_from_slice(&segment::plain_header(part.len(), false));
                out.extend_from_slice(part);
                out.extend_from_slice(&segment::crc32(part).to_le_bytes());
            }
        }
    }

    /// Close the open segment: nothing can be added to it after this.
    fn seal(&mut self) {
        if let Some(begin) = self.open.take() {
            let out = self.out.append();
            let payload = begin + segment::PLAIN_HEADER;
            let check = segment::crc32(&out[payload..]);
            let header = segment::plain_header(out.len() - payload, true);
            out[begin..payload].copy_from_slice(&header);
            out.extend_from_slice(&check.to_le_bytes());
        }
        if !self.unpacked.is_empty() {
            lz4_segment(&mut self.packer, self.out.append(), &self.unpacked, true);
            self.unpacked.clear();
        }
    }

    /// The bytes to send now (this closes the open segment).
    #[inline]
    pub fn output(&mut self) -> &mut Output {
        if self.open.is_some() || !self.unpacked.is_empty() {
            self.seal();
        }
        &mut self.out
    }

    /// Bytes that wait to go out; those that are yet to be compressed count as they are.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.out.bytes().len() + self.unpacked.len()
    }
}

fn lz4_segment(packer: &mut Packer, out: &mut Vec<u8>, payload: &[u8], self_contained: bool) {
    let begin = out.len();
    out.extend_from_slice(&[0; segment::LZ4_HEADER]);
    let packed = begin + segment::LZ4_HEADER;
    let unpacked = packer.pack(payload, out).then_some(payload.len());
    if unpacked.is_none() {
        out.extend_from_slice(payload);
    }
    let header = segment::lz4_header(out.len() - packed, unpacked, self_contained);
    out[begin..packed].copy_from_slice(&header);
    let check = segment::crc32(&out[packed..]);
    out.extend_from_slice(&check.to_le_bytes());
}
