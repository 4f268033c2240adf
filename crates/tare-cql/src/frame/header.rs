//! The nine bytes before every message (v4 section 2; v5 calls the whole an envelope).
use crate::error::Error;

/// Bytes of a header.
pub const HEADER: usize = 9;
/// The largest body: 256 MiB (v4 section 2.5).
pub const MAX_BODY: usize = 256 << 20;

/// What a message is (v4 section 2.4).
pub mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const AUTHENTICATE: u8 = 0x03;
    pub const OPTIONS: u8 = 0x05;
    pub const SUPPORTED: u8 = 0x06;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0A;
    pub const REGISTER: u8 = 0x0B;
    pub const EVENT: u8 = 0x0C;
    pub const BATCH: u8 = 0x0D;
    pub const AUTH_CHALLENGE: u8 = 0x0E;
    pub const AUTH_RESPONSE: u8 = 0x0F;
    pub const AUTH_SUCCESS: u8 = 0x10;
}

/// Header flags (v4 section 2.2).
pub mod flag {
    pub const COMPRESSED: u8 = 0x01;
    pub const TRACING: u8 = 0x02;
    pub const CUSTOM_PAYLOAD: u8 = 0x04;
    pub const WARNING: u8 = 0x08;
}

/// A frame header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The protocol's version; the highest bit is set in what a server sends.
    pub version: u8,
    pub flags: u8,
    pub stream: i16,
    pub opcode: u8,
    /// Bytes of the body that follows.
    pub length: u32,
}

impl Header {
    /// The header as it lies on the connection.
    #[inline]
    pub fn encode(&self) -> [u8; HEADER] {
        let [s0, s1] = self.stream.to_be_bytes();
        let [l0, l1, l2, l3] = self.length.to_be_bytes();
        [
            self.version,
            self.flags,
            s0,
            s1,
            self.opcode,
            l0,
            l1,
            l2,
            l3,
        ]
    }

    /// The header at the front of `bytes`, or `None` while fewer than nine have come.
    ///
    /// # Errors
    /// A body longer than [`MAX_BODY`].
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Option<Header>, Error> {
        let Some(&[version, flags, s0, s1, opcode, l0, l1, l2, l3]) = bytes.first_chunk::<HEADER>()
        else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        if length as usize > MAX_BODY {
            return Err(Error::Protocol(format!("a frame claims {length} bytes")));
        }
        let stream = i16::from_be_bytes([s0, s1]);
        Ok(Some(Header {
            version,
            flags,
            stream,
            opcode,
            length,
        }))
    }
}
