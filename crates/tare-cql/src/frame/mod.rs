//! Frames in both directions: headers, the v5 segments around them, compression.
//!
//! [`Encoder`] gathers messages into one output buffer, [`Decoder`] finds them in one input
//! buffer; neither does I/O, and both serve a client and a server alike.
mod decode;
mod encode;
mod header;
mod lz4;
pub mod segment;

pub use decode::Decoder;
pub use encode::Encoder;
pub use header::{flag, opcode, Header, HEADER, MAX_BODY};

use crate::options::Compression;

/// How messages lie on the connection now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One after another (v4, and v5 until STARTUP is answered); lz4 compresses bodies.
    Plain { lz4: bool },
    /// In segments (v5 section 2); lz4 compresses segments.
    Segments { lz4: bool },
}

impl Layout {
    fn plain(compression: Compression) -> Layout {
        Layout::Plain {
            lz4: compression == Compression::Lz4,
        }
    }

    fn segments(compression: Compression) -> Layout {
        Layout::Segments {
            lz4: compression == Compression::Lz4,
        }
    }
}
