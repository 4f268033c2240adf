//! The notations of the protocol (v4 section 3): a checked reader and the writers.
use crate::error::Error;

/// Reads the notations from the front of a slice. Every read is checked; nothing is allocated.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(Error::Truncated {
                wanted: count,
                left: self.rest.len(),
            }),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(Error::Truncated {
                wanted: N,
                left: self.rest.len(),
            }),
        }
    }

    /// `[byte]`
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Error> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// `[short]`, unsigned.
    #[inline]
    pub fn short(&mut self) -> Result<u16, Error> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// `[int]`
    #[inline]
    pub fn int(&mut self) -> Result<i32, Error> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// `[long]`
    pub fn long(&mut self) -> Result<i64, Error> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// An `[int]` that counts something: never negative.
    #[inline]
    pub fn count(&mut self, what: &'static str) -> Result<usize, Error> {
        let count = self.int()?;
        usize::try_from(count).map_err(|_| Error::Protocol(format!("{what} is {count}")))
    }

    /// `[bytes]`; `None` is null.
    #[inline]
    pub fn bytes(&mut self) -> Result<Option<&'a [u8]>, Error> {
        let length = self.int()?;
        match usize::try_from(length) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// `[short bytes]`
    pub fn short_bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = self.short()?;
        self.take(usize::from(length))
    }

    /// `[string]`
    pub fn string(&mut self) -> Result<&'a str, Error> {
        let bytes = self.short_bytes()?;
        std::str::from_utf8(bytes).map_err(|_| Error::Protocol("a string is not UTF-8".into()))
    }

    /// `[string list]`, skipped.
    pub fn skip_string_list(&mut self) -> Result<(), Error> {
        for _ in 0..self.short()? {
            self.short_bytes()?;
        }
        Ok(())
    }

    /// `[bytes map]`, skipped.
    pub fn skip_bytes_map(&mut self) -> Result<(), Error> {
        for _ in 0..self.short()? {
            self.short_bytes()?;
            self.bytes()?;
        }
        Ok(())
    }
}

/// Append a `[short]`.
pub fn put_short(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Append an `[int]`.
pub fn put_int(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Append a `[long]`.
pub fn put_long(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Append `[short bytes]`; more than 65,535 bytes are refused.
pub fn put_short_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Error> {
    let length = u16::try_from(bytes.len()).map_err(|_| Error::TooLong { bytes: bytes.len() })?;
    put_short(out, length);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Append a `[string]`; more than 65,535 bytes are refused.
pub fn put_string(out: &mut Vec<u8>, text: &str) -> Result<(), Error> {
    put_short_bytes(out, text.as_bytes())
}

/// Append `[bytes]`, or a `[long string]`, which looks the same; more than 2^31 - 1 are refused.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Error> {
    let length = i32::try_from(bytes.len()).map_err(|_| Error::TooLong { bytes: bytes.len() })?;
    put_int(out, length);
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_are_read_back_as_written() {
        let mut out = Vec::new();
        put_short(&mut out, 0xBEEF);
        put_int(&mut out, -7);
        put_long(&mut out, i64::MIN);
        put_string(&mut out, "größe").unwrap();
        put_bytes(&mut out, b"xyz").unwrap();
        put_int(&mut out, -1);
        let mut reader = Reader::new(&out);
        assert_eq!(reader.short().unwrap(), 0xBEEF);
        assert_eq!(reader.int().unwrap(), -7);
        assert_eq!(reader.long().unwrap(), i64::MIN);
        assert_eq!(reader.string().unwrap(), "größe");
        assert_eq!(reader.bytes().unwrap(), Some(&b"xyz"[..]));
        assert_eq!(reader.bytes().unwrap(), None);
        assert!(reader.rest().is_empty());
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        let mut reader = Reader::new(&[0x7F, 0xFF, 0xFF, 0xFF, 1, 2, 3]);
        assert!(matches!(
            reader.bytes(),
            Err(Error::Truncated { left: 3, .. })
        ));
        assert!(Reader::new(&[0, 9, b'a']).string().is_err());
        assert!(Reader::new(&[0xFF, 0xFF, 0xFF, 0xFF])
            .count("rows")
            .is_err());
    }

    #[test]
    fn strings_that_cannot_be_written_are_refused() {
        assert!(put_string(&mut Vec::new(), &"x".repeat(65_536)).is_err());
    }
}
