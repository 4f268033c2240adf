//! HdrHistogram's V2 encoding: base64 of a zlib stream of counts as ZigZag LEB128 numbers.
//!
//! Source: org.HdrHistogram.AbstractHistogram (encodeIntoCompressedByteBuffer, V2) and
//! ZigZagEncoding. A negative number is a run of so many empty bins.

use std::hint::select_unpredictable;

use base64::engine::general_purpose::STANDARD;
use base64::Engine as _;
use flate2::{Decompress, FlushDecompress, Status};

const COMPRESSED: u32 = 0x1c84_9314;
const ENCODED: u32 = 0x1c84_9313;
/// Cookie and length before the zlib stream, bytes.
const WRAPPER: usize = 8;
/// Cookie, length, index offset, figures, lowest, highest, ratio before the counts, bytes.
const HEADER: usize = 40;
/// Longest number, bytes.
const LONGEST: usize = 9;
/// Most bins of a histogram: 4 figures up to 2^63 need 800,000.
const MOST_BINS: usize = 1 << 20;

/// How a histogram's bins lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// log2 of half the number of sub-buckets; 10 for 3 significant figures.
    pub half: u32,
    /// Number of bins.
    pub bins: usize,
}

/// Decodes histograms one after the other, in buffers of its own.
pub struct Decoder {
    packed: Vec<u8>,
    payload: Vec<u8>,
    inflate: Decompress,
}

impl Decoder {
    pub fn new() -> Self {
        Self {
            packed: Vec::new(),
            payload: Vec::new(),
            inflate: Decompress::new(true),
        }
    }

    /// Unpacks a histogram; then its counts can be asked for. None: unusual or damaged.
    pub fn unpack(&mut self, text: &[u8]) -> Option<Shape> {
        self.packed.clear();
        STANDARD.decode_vec(text, &mut self.packed).ok()?;
        let (wrapper, stream) = self.packed.split_at_checked(WRAPPER)?;
        if word(wrapper, 0)? != COMPRESSED || word(wrapper, 4)? as usize != stream.len() {
            return None;
        }
        self.inflate.reset(true);
        self.payload.clear();
        self.payload.reserve(stream.len() * 3 + HEADER);
        while self
            .inflate
            .decompress_vec(
                stream_rest(&self.inflate, stream)?,
                &mut self.payload,
                FlushDecompress::Finish,
            )
            .ok()?
            != Status::StreamEnd
        {
            // without room it wants more of it; with room, the stream is cut off
            if self.payload.len() < self.payload.capacity()
                || self.payload.len() > HEADER + LONGEST * MOST_BINS
            {
                return None;
            }
            self.payload.reserve(self.payload.len());
        }
        let shape = shape(&self.payload)?;
        (self.payload.len() <= HEADER + LONGEST * shape.bins).then_some(shape)
    }

    /// Adds the counts to both, which hold as many bins as the shape. None: damaged.
    ///
    /// Does not branch on count or run of empty bins: no processor can predict which comes, and
    /// each wrong guess costs more than the addition.
    pub fn add(&self, shape: Shape, one: &mut [i64], other: &mut [i64]) -> Option<Added> {
        let mut rest = self.payload.get(HEADER..)?;
        let (one, other) = (one.get_mut(..shape.bins)?, other.get_mut(..shape.bins)?);
        let mut added = Added {
            first: usize::MAX,
            end: 0,
            bits: 0,
        };
        let mut index: usize = 0;
        while let Some((&byte, tail)) = rest.split_first() {
            let raw = if byte < 0x80 {
                rest = tail;
                u64::from(byte)
            } else {
                let (raw, used) = number(rest)?;
                rest = rest.get(used..)?;
                raw
            };
            if index >= shape.bins {
                return None;
            }
            let value = (raw >> 1) as i64 ^ -((raw & 1) as i64);
            let run = value >> 63; // all bits of it, or none
            let count = value & !run;
            one[index] = one[index].wrapping_add(count);
            other[index] = other[index].wrapping_add(count);
            added.bits |= count;
            let filled = count > 0;
            added.end = select_unpredictable(filled, index + 1, added.end);
            added.first = added
                .first
                .min(select_unpredictable(filled, index, usize::MAX));
            let step = (value.wrapping_neg() & run) | (1 & !run);
            index = index.saturating_add(step as usize);
        }
        (index <= shape.bins).then_some(added)
    }
}

/// Which bins were added to.
pub struct Added {
    /// First index; `usize::MAX` where nothing was added.
    pub first: usize,
    /// Index behind the last.
    pub end: usize,
    /// All counts, bit by bit: none is larger than this.
    pub bits: i64,
}

/// The rest of the stream.
fn stream_rest<'a>(inflate: &Decompress, stream: &'a [u8]) -> Option<&'a [u8]> {
    stream.get(usize::try_from(inflate.total_in()).ok()?..)
}

/// A number of several bytes, and how many; the ninth byte has eight bits of it.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut raw: u64 = 0;
    for (place, &byte) in bytes.iter().take(LONGEST).enumerate() {
        if place == LONGEST - 1 {
            return Some((raw | u64::from(byte) << 56, LONGEST));
        }
        raw |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((raw, place + 1));
        }
    }
    None
}

/// The shape that the header tells, where it is a usual one: smallest value 1, no index offset.
fn shape(payload: &[u8]) -> Option<Shape> {
    let counts = payload.len().checked_sub(HEADER)?;
    let usual = word(payload, 0)? == ENCODED
        && word(payload, 4)? as usize == counts
        && word(payload, 8)? == 0
        && long(payload, 16)? == 1;
    let figures = word(payload, 12)?;
    let highest = long(payload, 24)?;
    if !usual || !(1..=4).contains(&figures) || !(2..1 << 62).contains(&highest) {
        return None;
    }
    let half = (2 * 10_u64.pow(figures)).next_power_of_two().ilog2() - 1;
    // as many buckets as it takes, each twice as wide as the one before
    let mut untrackable = 2_u64 << half;
    let mut buckets: usize = 1;
    while untrackable <= highest {
        untrackable <<= 1;
        buckets += 1;
    }
    let bins = (buckets + 1) << half;
    (bins <= MOST_BINS).then_some(Shape { half, bins })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let own = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(own.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let own = bytes.get(at..at + 8)?;
    Some(u64::from_be_bytes(own.try_into().ok()?))
}
