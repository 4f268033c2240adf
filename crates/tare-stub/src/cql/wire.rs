//! Frames of the native protocol, version 4, as a server sees them.
//! native_protocol_v4.spec: section 2 (header), 3 (notations), 4.1 (requests).

pub const HEADER: usize = 9;
/// native_protocol_v4.spec, section 2.5: a frame's body is at most 256 MB.
pub const LARGEST_BODY: usize = 256 << 20;
pub const VERSION: u8 = 4;
const FLAG_CUSTOM_PAYLOAD: u8 = 0x04;

/// Opcodes of requests and answers, section 2.4.
pub mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const OPTIONS: u8 = 0x05;
    pub const SUPPORTED: u8 = 0x06;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0A;
    pub const REGISTER: u8 = 0x0B;
    pub const BATCH: u8 = 0x0D;
}

/// The header of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub version: u8,
    pub flags: u8,
    pub stream: i16,
    pub opcode: u8,
    pub length: usize,
}

impl Header {
    /// The header at the start of `bytes`, if all of it is there.
    pub fn read(bytes: &[u8]) -> Option<Header> {
        let header: &[u8; HEADER] = bytes.first_chunk()?;
        Some(Header {
            version: header[0],
            flags: header[1],
            stream: i16::from_be_bytes([header[2], header[3]]),
            opcode: header[4],
            length: u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize,
        })
    }
}

/// Appends an answer frame; `body` writes its body.
pub fn answer(out: &mut Vec<u8>, stream: i16, opcode: u8, body: impl FnOnce(&mut Vec<u8>)) {
    let [high, low] = stream.to_be_bytes();
    let begin = out.len();
    out.extend([0x80 | VERSION, 0, high, low, opcode, 0, 0, 0, 0]);
    body(out);
    let length = (out.len() - begin - HEADER) as u32;
    out[begin + 5..begin + HEADER].copy_from_slice(&length.to_be_bytes());
}

/// Reads the notations of section 3, one after the other; None past the end.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn short(&mut self) -> Option<u16> {
        self.take(2)
            .map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn int(&mut self) -> Option<i32> {
        self.take(4)
            .map(|bytes| i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub fn short_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.short()?;
        self.take(usize::from(length))
    }

    pub fn long_string(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.int()?).ok()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// A `[value]`: None inside is null or unset.
    pub fn value(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }
}

/// The parameters of QUERY and EXECUTE that matter here, section 4.1.4.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    pub consistency: u16,
    pub skip_metadata: bool,
    named: bool,
    count: u16,
    values: Reader<'a>,
}

impl<'a> Parameters<'a> {
    pub fn read(reader: &mut Reader<'a>) -> Option<Parameters<'a>> {
        let consistency = reader.short()?;
        let flags = reader.byte()?;
        let count = if flags & 0x01 != 0 {
            reader.short()?
        } else {
            0
        };
        Some(Parameters {
            consistency,
            skip_metadata: flags & 0x02 != 0,
            named: flags & 0x40 != 0,
            count,
            values: *reader,
        })
    }

    /// The bound values in their order.
    pub fn values(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let (mut reader, named) = (self.values, self.named);
        (0..self.count).map_while(move |_| {
            if named {
                reader.short_bytes()?;
            }
            reader.value()
        })
    }
}

/// The body behind a custom payload (section 2.2), which is passed over.
pub fn after_payload(flags: u8, body: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader(body);
    if flags & FLAG_CUSTOM_PAYLOAD != 0 {
        for _ in 0..reader.short()? {
            reader.short_bytes()?;
            reader.value()?;
        }
    }
    Some(reader.0)
}

pub fn put_string(out: &mut Vec<u8>, text: &str) {
    let bytes = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
    out.extend((bytes.len() as u16).to_be_bytes());
    out.extend(bytes);
}

pub fn put_value(out: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        None => out.extend((-1_i32).to_be_bytes()),
        Some(bytes) => {
            out.extend((bytes.len() as u32).to_be_bytes());
            out.extend(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_carries_its_stream_and_length() {
        let mut out = Vec::new();
        answer(&mut out, 0x0102, opcode::RESULT, |body| {
            body.extend([0, 0, 0, 1])
        });
        assert_eq!(out, [0x84, 0, 1, 2, 8, 0, 0, 0, 4, 0, 0, 0, 1]);
    }

    #[test]
    fn values_are_read_with_and_without_names() {
        let plain = [0, 1, 0x01, 0, 2, 0, 0, 0, 1, b'x', 0xFF, 0xFF, 0xFF, 0xFF];
        let parameters = Parameters::read(&mut Reader(&plain)).expect("whole");
        assert_eq!(
            parameters.values().collect::<Vec<_>>(),
            [Some(&b"x"[..]), None]
        );
        let named = [0, 1, 0x41, 0, 1, 0, 1, b'n', 0, 0, 0, 1, b'x'];
        let parameters = Parameters::read(&mut Reader(&named)).expect("whole");
        assert_eq!(parameters.values().collect::<Vec<_>>(), [Some(&b"x"[..])]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, flags: u8) {
            if let Some(body) = after_payload(flags, &bytes) {
                if let Some(parameters) = Parameters::read(&mut Reader(body)) {
                    prop_assert!(parameters.values().count() <= usize::from(u16::MAX));
                }
            }
            Reader(&bytes).long_string();
        }
    }
}
