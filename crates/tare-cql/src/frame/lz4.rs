//! lz4 blocks with bounds: what a peer claims never decides what is allocated.
use std::fmt;

use lz4_flex::block::{
    compress_into_with_table, decompress_into, get_maximum_output_size, CompressTable,
};

use crate::error::Error;

/// An lz4 block cannot grow by more than this factor when decompressed: a length is coded in steps
/// of at most 255 (LZ4 block format description).
const MOST: usize = 255;

/// Decompress the block `packed` of `length` bytes to the end of `out`.
///
/// # Errors
/// A claimed length that no such block can have, or a damaged block.
pub fn unpack(packed: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    if length / MOST > packed.len() {
        return Err(Error::Protocol(format!(
            "{} bytes of lz4 claim to hold {length}",
            packed.len()
        )));
    }
    let begin = out.len();
    out.resize(begin + length, 0);
    let written = decompress_into(packed, &mut out[begin..])
        .map_err(|error| Error::Protocol(format!("damaged lz4: {error}")))?;
    if written != length {
        return Err(Error::Protocol(format!(
            "lz4 holds {written} bytes, not {length}"
        )));
    }
    Ok(())
}

/// Compresses; keeps its tables, which would else be allocated for every block.
pub struct Packer {
    /// For blocks below 64 KiB, and for larger ones.
    small: CompressTable,
    large: Option<CompressTable>,
}

impl fmt::Debug for Packer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Packer")
    }
}

impl Packer {
    pub fn new() -> Packer {
        Packer {
            small: CompressTable::small(),
            large: None,
        }
    }

    /// Compress `bytes` to the end of `out`. False if that would not make them smaller; then `out`
    /// is as it was.
    pub fn pack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let table = if bytes.len() < usize::from(u16::MAX) {
            &mut self.small
        } else {
            self.large.get_or_insert_with(CompressTable::large)
        };
        let begin = out.len();
        out.resize(begin + get_maximum_output_size(bytes.len()), 0);
        match compress_into_with_table(bytes, &mut out[begin..], table) {
            Ok(written) if written < bytes.len() => {
                out.truncate(begin + written);
                true
            }
            _ => {
                out.truncate(begin);
                false
            }
        }
    }
}
