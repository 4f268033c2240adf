//! Gathers messages into one output buffer, in segments and compressed where that was agreed.
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
    /// What goes out; what stands before `sent` has gone.
    out: Vec<u8>,
    sent: usize,
    /// Where the open plain segment's header is, when one is open.
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
            out: Vec::new(),
            sent: 0,
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
                self.out.extend_from_slice(&header.encode());
                self.out.extend_from_slice(body);
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
        let begin = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        self.out.extend_from_slice(&header.length.to_be_bytes());
        if body.len() >= WORTH_PACKING
            && self.packer.pack(body, &mut self.out)
            && self.out.len() - begin < HEADER + body.len()
        {
            header.flags |= flag::COMPRESSED;
            header.length = (self.out.len() - begin - HEADER) as u32;
        } else {
            self.out.truncate(begin + HEADER);
            self.out.extend_from_slice(body);
        }
        self.out[begin..begin + HEADER].copy_from_slice(&header.encode());
    }

    fn in_plain_segment(&mut self, header: &Header, body: &[u8]) {
        let size = HEADER + body.len();
        if size > segment::MAX_PAYLOAD {
            self.seal();
            return self.in_parts(header, body);
        }
        if let Some(begin) = self.open {
            if self.out.len() - begin - segment::PLAIN_HEADER + size > segment::MAX_PAYLOAD {
                self.seal();
            }
        }
        if self.open.is_none() {
            self.open = Some(self.out.len());
            self.out.extend_from_slice(&[0; segment::PLAIN_HEADER]);
        }
        self.out.extend_from_slice(&header.encode());
        self.out.extend_from_slice(body);
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
        for part in whole.chunks(segment::MAX_PAYLOAD) {
            if lz4 {
                lz4_segment(&mut self.packer, &mut self.out, part, false);
            } else {
                self.out
                    .extend_from_slice(&segment::plain_header(part.len(), false));
                self.out.extend_from_slice(part);
                self.out
                    .extend_from_slice(&segment::crc32(part).to_le_bytes());
            }
        }
    }

    /// Close the open segment: nothing can be added to it after this.
    fn seal(&mut self) {
        if let Some(begin) = self.open.take() {
            let payload = begin + segment::PLAIN_HEADER;
            let check = segment::crc32(&self.out[payload..]);
            let header = segment::plain_header(self.out.len() - payload, true);
            self.out[begin..payload].copy_from_slice(&header);
            self.out.extend_from_slice(&check.to_le_bytes());
        }
        if !self.unpacked.is_empty() {
            lz4_segment(&mut self.packer, &mut self.out, &self.unpacked, true);
            self.unpacked.clear();
        }
    }

    /// The bytes that have to go out now, in order (this closes the open segment).
    #[inline]
    pub fn bytes(&mut self) -> &[u8] {
        if self.open.is_some() || !self.unpacked.is_empty() {
            self.seal();
        }
        &self.out[self.sent..]
    }

    /// So many of [`Encoder::bytes`] have gone.
    #[inline]
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.out.len() {
            self.out.clear();
            self.sent = 0;
        } else if self.sent > self.out.len() / 2 && self.open.is_none() {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Bytes that wait to go out; those that are yet to be compressed count as they are.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.out.len() - self.sent + self.unpacked.len()
    }

    /// Whether nothing waits to go out.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.out.len() == self.sent && self.unpacked.is_empty()
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
