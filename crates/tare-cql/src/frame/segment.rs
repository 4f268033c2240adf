//! The v5 segment: a checked wrapper around a stream of messages (v5 sections 2.1 and 2.2).
//!
//! Lengths and checksums are little-endian. The plain header has 17 bits of payload length and the
//! self-contained bit in three bytes, then three bytes of CRC24; the lz4 header 17 bits of
//! compressed length, 17 bits of uncompressed length (0: not compressed) and the self-contained bit
//! in five bytes, then CRC24. The payload is followed by four bytes of CRC32.
use crate::error::Error;

/// The longest payload: 2^17 - 1 bytes.
pub const MAX_PAYLOAD: usize = (1 << 17) - 1;
/// Bytes of a plain segment's header.
pub const PLAIN_HEADER: usize = 6;
/// Bytes of an lz4 segment's header.
pub const LZ4_HEADER: usize = 8;
/// Bytes of the checksum after the payload.
pub const TRAILER: usize = 4;

const SELF_CONTAINED_PLAIN: u64 = 1 << 17;
const SELF_CONTAINED_LZ4: u64 = 1 << 34;

/// A segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Bytes of payload on the connection.
    pub length: usize,
    /// Bytes of payload after decompression; `None` when it is not compressed.
    pub unpacked: Option<usize>,
    /// The payload holds whole messages (otherwise a part of one large message).
    pub self_contained: bool,
}

/// A complete segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    pub header: SegmentHeader,
    /// As it came: compressed, where it is.
    pub payload: &'a [u8],
    /// Bytes of the whole segment.
    pub size: usize,
}

/// CRC24 of a header: initial value 0x875060, polynomial 0x1974F0B (v5 section 2.1), most
/// significant bit first.
pub fn crc24(bytes: &[u8]) -> u32 {
    let mut crc: u32 = 0x0087_5060;
    for &byte in bytes {
        crc = (crc << 8) ^ CRC24[usize::from(((crc >> 16) as u8) ^ byte)];
        crc &= 0x00FF_FFFF;
    }
    crc
}

const CRC24: [u32; 256] = crc24_table();

const fn crc24_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= 0x0197_4F0B;
            }
            bit += 1;
        }
        table[byte] = crc & 0x00FF_FFFF;
        byte += 1;
    }
    table
}

/// CRC32 of a payload: the usual one (IEEE 802.3), begun with four fixed bytes (v5 section 2.1).
pub fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(SEED);
    hasher.update(payload);
    hasher.finalize()
}

/// The CRC32 of the four bytes FA 2D 55 CA, with which every payload's checksum begins.
const SEED: u32 = seed();

const fn seed() -> u32 {
    let bytes = [0xFA_u8, 0x2D, 0x55, 0xCA];
    let mut crc = u32::MAX;
    let mut at = 0;
    while at < bytes.len() {
        crc ^= bytes[at] as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 != 0 {
                (crc >> 1) ^ 0xEDB8_8320
            } else {
                crc >> 1
            };
            bit += 1;
        }
        at += 1;
    }
    !crc
}

/// A plain segment's header. `length` is at most [`MAX_PAYLOAD`].
pub fn plain_header(length: usize, self_contained: bool) -> [u8; PLAIN_HEADER] {
    debug_assert!(length <= MAX_PAYLOAD);
    let word = length as u64
        | if self_contained {
            SELF_CONTAINED_PLAIN
        } else {
            0
        };
    let [a, b, c, ..] = word.to_le_bytes();
    let [x, y, z, _] = crc24(&[a, b, c]).to_le_bytes();
    [a, b, c, x, y, z]
}

/// An lz4 segment's header; `unpacked` is `None` when the payload is not compressed.
pub fn lz4_header(
    length: usize,
    unpacked: Option<usize>,
    self_contained: bool,
) -> [u8; LZ4_HEADER] {
    debug_assert!(length <= MAX_PAYLOAD && unpacked.unwrap_or(0) <= MAX_PAYLOAD);
    let word = length as u64
        | (unpacked.unwrap_or(0) as u64) << 17
        | if self_contained {
            SELF_CONTAINED_LZ4
        } else {
            0
        };
    let [a, b, c, d, e, ..] = word.to_le_bytes();
    let [x, y, z, _] = crc24(&[a, b, c, d, e]).to_le_bytes();
    [a, b, c, d, e, x, y, z]
}

/// The segment at the front of `bytes`; `None` while it is incomplete.
///
/// # Errors
/// A checksum that does not match.
pub fn decode(bytes: &[u8], lz4: bool) -> Result<Option<Segment<'_>>, Error> {
    let size = if lz4 { LZ4_HEADER } else { PLAIN_HEADER };
    let Some(front) = bytes.get(..size) else {
        return Ok(None);
    };
    let header = header(front, lz4)?;
    let end = size + header.length;
    let (Some(payload), Some(trailer)) = (bytes.get(size..end), bytes.get(end..end + TRAILER))
    else {
        return Ok(None);
    };
    if crc32(payload).to_le_bytes() != *trailer {
        return Err(Error::Protocol(
            "a segment's payload is damaged (CRC32)".into(),
        ));
    }
    Ok(Some(Segment {
        header,
        payload,
        size: end + TRAILER,
    }))
}

fn header(front: &[u8], lz4: bool) -> Result<SegmentHeader, Error> {
    let (data, check) = front.split_at(front.len() - 3);
    if crc24(data).to_le_bytes()[..3] != *check {
        return Err(Error::Protocol(
            "a segment's header is damaged (CRC24)".into(),
        ));
    }
    let mut word = [0; 8];
    word[..data.len()].copy_from_slice(data);
    let word = u64::from_le_bytes(word);
    let length = (word & MAX_PAYLOAD as u64) as usize;
    if !lz4 {
        let self_contained = word & SELF_CONTAINED_PLAIN != 0;
        return Ok(SegmentHeader {
            length,
            unpacked: None,
            self_contained,
        });
    }
    let unpacked = ((word >> 17) & MAX_PAYLOAD as u64) as usize;
    let unpacked = (unpacked != 0).then_some(unpacked);
    Ok(SegmentHeader {
        length,
        unpacked,
        self_contained: word & SELF_CONTAINED_LZ4 != 0,
    })
}
