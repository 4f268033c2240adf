//! BSON in place (bsonspec.org 1.1): a writer that patches lengths, a checked reader that allocates
//! nothing.
mod check;

use crate::error::Error;

/// Element types.
pub mod kind {
    pub const DOUBLE: u8 = 0x01;
    pub const STRING: u8 = 0x02;
    pub const DOCUMENT: u8 = 0x03;
    pub const ARRAY: u8 = 0x04;
    pub const BINARY: u8 = 0x05;
    pub const OBJECT_ID: u8 = 0x07;
    pub const BOOLEAN: u8 = 0x08;
    pub const DATE: u8 = 0x09;
    pub const NULL: u8 = 0x0A;
    pub const INT: u8 = 0x10;
    pub const TIMESTAMP: u8 = 0x11;
    pub const LONG: u8 = 0x12;
}

/// Binary subtypes.
pub mod subtype {
    pub const GENERIC: u8 = 0x00;
    pub const UUID: u8 = 0x04;
}

/// The smallest document: its length and its end.
const EMPTY: usize = 5;

/// Append the four bytes of a length that [`close`] or [`patch`] will know.
#[inline]
pub fn open(out: &mut Vec<u8>) -> usize {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    at
}

/// End the document whose length is at `at`.
#[inline]
pub fn close(out: &mut Vec<u8>, at: usize) {
    out.push(0);
    patch(out, at);
}

/// Write the length of the bytes from `at` to the end. A length beyond 31 bits is caught
/// where the whole message is measured.
#[inline]
pub fn patch(out: &mut [u8], at: usize) {
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Append a type and a name.
///
/// # Errors
/// A name with a NUL.
pub fn put_key(out: &mut Vec<u8>, kind: u8, name: &str) -> Result<(), Error> {
    if name.contains('\0') {
        return Err(Error::Name(name.to_owned()));
    }
    out.push(kind);
    out.extend_from_slice(name.as_bytes());
    out.push(0);
    Ok(())
}

/// Append a string's value: its length with the NUL, its bytes, the NUL.
#[inline]
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(text);
    out.push(0);
}

/// Append the value of a binary; `write` appends its bytes and touches nothing else.
#[inline]
pub fn put_binary(out: &mut Vec<u8>, subtype: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, subtype]);
    write(out);
    let length = (out.len() - at - 5) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Writes whole documents, for what is not done per request. Names are the program's own or have
/// been checked, so that a NUL in one is replaced rather than refused.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Append a document with what `write` puts into it.
    pub fn write(out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        let at = open(out);
        write(&mut Writer { out });
        close(out, at);
    }

    fn key(&mut self, kind: u8, name: &str) -> &mut Vec<u8> {
        self.out.push(kind);
        let bytes = name.bytes().map(|byte| if byte == 0 { b'?' } else { byte });
        self.out.extend(bytes);
        self.out.push(0);
        self.out
    }

    fn fixed(&mut self, kind: u8, name: &str, value: &[u8]) -> &mut Self {
        self.key(kind, name).extend_from_slice(value);
        self
    }

    pub fn text(&mut self, name: &str, value: &str) -> &mut Self {
        put_text(self.key(kind::STRING, name), value.as_bytes());
        self
    }

    pub fn int(&mut self, name: &str, value: i32) -> &mut Self {
        self.fixed(kind::INT, name, &value.to_le_bytes())
    }

    pub fn long(&mut self, name: &str, value: i64) -> &mut Self {
        self.fixed(kind::LONG, name, &value.to_le_bytes())
    }

    pub fn double(&mut self, name: &str, value: f64) -> &mut Self {
        self.fixed(kind::DOUBLE, name, &value.to_le_bytes())
    }

    pub fn boolean(&mut self, name: &str, value: bool) -> &mut Self {
        self.key(kind::BOOLEAN, name).push(u8::from(value));
        self
    }

    pub fn binary(&mut self, name: &str, subtype: u8, value: &[u8]) -> &mut Self {
        let out = self.key(kind::BINARY, name);
        put_binary(out, subtype, |out| out.extend_from_slice(value));
        self
    }

    pub fn document(&mut self, name: &str, write: impl FnOnce(&mut Writer<'_>)) -> &mut Self {
        Writer::write(self.key(kind::DOCUMENT, name), write);
        self
    }

    /// An array; `write` names its elements "0", "1", ... itself.
    pub fn array(&mut self, name: &str, write: impl FnOnce(&mut Writer<'_>)) -> &mut Self {
        Writer::write(self.key(kind::ARRAY, name), write);
        self
    }

    /// Elements that were encoded before, as [`Writer::encode`] does it.
    pub fn elements(&mut self, encoded: &[u8]) -> &mut Self {
        self.out.extend_from_slice(encoded);
        self
    }

    /// The elements that `write` puts, without a document around them.
    pub fn encode(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut Writer { out: &mut out });
        out
    }

    /// A value as it was read.
    pub fn value(&mut self, name: &str, value: &Value<'_>) -> &mut Self {
        let (kind, bytes): (u8, &[u8]) = match value {
            Value::Double(number) => return self.double(name, *number),
            Value::Text(text) => {
                put_text(self.key(kind::STRING, name), text);
                return self;
            }
            Value::Document(document) | Value::Array(document) => {
                let kind = match value {
                    Value::Array(_) => kind::ARRAY,
                    _ => kind::DOCUMENT,
                };
                let out = self.key(kind, name);
                let at = open(out);
                out.extend_from_slice(document.content);
                close(out, at);
                return self;
            }
            Value::Binary { subtype, bytes } => return self.binary(name, *subtype, bytes),
            Value::ObjectId(id) => (kind::OBJECT_ID, &id[..]),
            Value::Boolean(truth) => return self.boolean(name, *truth),
            Value::Date(date) => (kind::DATE, &date.to_le_bytes()),
            Value::Null => (kind::NULL, &[]),
            Value::Int(number) => return self.int(name, *number),
            Value::Timestamp { seconds, counter } => {
                let both = u64::from(*seconds) << 32 | u64::from(*counter);
                (kind::TIMESTAMP, &both.to_le_bytes())
            }
            Value::Long(number) => return self.long(name, *number),
            Value::Other { kind, bytes } => (*kind, bytes),
        };
        self.key(kind, name).extend_from_slice(bytes);
        self
    }

    /// The length of the message's bytes so far: where the next element will stand.
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }
}

/// A document (or an array) whose length has been checked; what is inside is checked as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document<'a> {
    /// Its elements, without its length and its end.
    content: &'a [u8],
}

impl<'a> Document<'a> {
    /// The document at the front of `bytes`, and what follows it.
    ///
    /// # Errors
    /// Fewer bytes than it claims, or no end where it should be.
    #[inline]
    pub fn take(bytes: &'a [u8]) -> Result<(Document<'a>, &'a [u8]), Error> {
        let short = |wanted| Error::Truncated {
            what: "a document",
            wanted,
            left: bytes.len(),
        };
        let (head, _) = bytes.split_first_chunk::<4>().ok_or(short(EMPTY))?;
        let size = u32::from_le_bytes(*head) as usize;
        if size < EMPTY {
            return Err(Error::Protocol(format!("a document of {size} bytes")));
        }
        let (own, rest) = bytes.split_at_checked(size).ok_or(short(size))?;
        match own.split_last() {
            Some((0, own)) => Ok((Document { content: &own[4..] }, rest)),
            _ => Err(Error::Protocol("a document without an end".into())),
        }
    }

    /// Whether it has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// The document as it came, length and end included.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.content.len() + EMPTY);
        let at = open(&mut bytes);
        bytes.extend_from_slice(self.content);
        close(&mut bytes, at);
        bytes
    }

    /// Its elements in order; the first malformed one is an error and ends them.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        Elements { rest: self.content }
    }

    /// The value of the first element of this name.
    ///
    /// # Errors
    /// Something before it is not BSON.
    pub fn get(&self, name: &str) -> Result<Option<Value<'a>>, Error> {
        for element in self.elements() {
            let element = element?;
            if element.name == name.as_bytes() {
                return Ok(Some(element.value));
            }
        }
        Ok(None)
    }
}

/// One element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Element<'a> {
    pub name: &'a [u8],
    pub value: Value<'a>,
}

/// A value, as far as Tare looks into values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Double(f64),
    Text(&'a [u8]),
    Document(Document<'a>),
    Array(Document<'a>),
    Binary {
        subtype: u8,
        bytes: &'a [u8],
    },
    ObjectId(&'a [u8; 12]),
    Boolean(bool),
    /// Milliseconds since 1970.
    Date(i64),
    Null,
    Int(i32),
    /// Seconds since 1970 and a counter, as the oplog has them.
    Timestamp {
        seconds: u32,
        counter: u32,
    },
    Long(i64),
    /// Any other type: its number, and its bytes.
    Other {
        kind: u8,
        bytes: &'a [u8],
    },
}

impl<'a> Value<'a> {
    /// A number of any type, as servers mix them; fractions are cut off.
    #[inline]
    pub fn number(&self) -> Option<i64> {
        match *self {
            Value::Int(number) => Some(i64::from(number)),
            Value::Long(number) => Some(number),
            Value::Double(number) => Some(number as i64),
            Value::Boolean(truth) => Some(i64::from(truth)),
            _ => None,
        }
    }

    /// Whether it is a number other than 0, or true.
    #[inline]
    pub fn truth(&self) -> bool {
        match *self {
            Value::Double(number) => number != 0.0,
            _ => self.number().is_some_and(|number| number != 0),
        }
    }

    /// A string; invalid UTF-8 in it is replaced.
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// A document or an array.
    pub fn document(&self) -> Option<Document<'a>> {
        match self {
            Value::Document(document) | Value::Array(document) => Some(*document),
            _ => None,
        }
    }
}

/// The elements of a document.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let element = self.element();
        if element.is_err() {
            self.rest = &[];
        }
        Some(element)
    }
}

impl<'a> Elements<'a> {
    #[inline]
    fn element(&mut self) -> Result<Element<'a>, Error> {
        let kind = self.array::<1>()?[0];
        let name = self.name()?;
        let value = self.value(kind)?;
        Ok(Element { name, value })
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Error::Truncated {
            what: "an element",
            wanted: count,
            left: self.rest.len(),
        })?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Error> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Error::Truncated {
            what: "an element",
            wanted: N,
            left: self.rest.len(),
        })?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn name(&mut self) -> Result<&'a [u8], Error> {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| Error::Protocol("a name without an end".into()))?;
        let name = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(name)
    }

    #[inline]
    fn length(&mut self) -> Result<usize, Error> {
        Ok(u32::from_le_bytes(*self.array()?) as usize)
    }

    fn text(&mut self) -> Result<&'a [u8], Error> {
        let length = self.length()?;
        match self.take(length)?.split_last() {
            Some((0, text)) => Ok(text),
            _ => Err(Error::Protocol("a string without an end".into())),
        }
    }

    fn document(&mut self) -> Result<Document<'a>, Error> {
        let (document, rest) = Document::take(self.rest)?;
        self.rest = rest;
        Ok(document)
    }

    #[inline]
    fn value(&mut self, kind: u8) -> Result<Value<'a>, Error> {
        Ok(match kind {
            kind::DOUBLE => Value::Double(f64::from_le_bytes(*self.array()?)),
            kind::STRING => Value::Text(self.text()?),
            kind::DOCUMENT => Value::Document(self.document()?),
            kind::ARRAY => Value::Array(self.document()?),
            kind::BINARY => {
                let length = self.length()?;
                let subtype = self.array::<1>()?[0];
                let bytes = self.take(length)?;
                Value::Binary { subtype, bytes }
            }
            kind::OBJECT_ID => Value::ObjectId(self.array()?),
            kind::BOOLEAN => match self.array::<1>()?[0] {
                truth @ 0..=1 => Value::Boolean(truth == 1),
                other => return Err(Error::Protocol(format!("a boolean of {other}"))),
            },
            kind::DATE => Value::Date(i64::from_le_bytes(*self.array()?)),
            kind::NULL => Value::Null,
            kind::INT => Value::Int(i32::from_le_bytes(*self.array()?)),
            kind::TIMESTAMP => {
                let counter = u32::from_le_bytes(*self.array()?);
                let seconds = u32::from_le_bytes(*self.array()?);
                Value::Timestamp { seconds, counter }
            }
            kind::LONG => Value::Long(i64::from_le_bytes(*self.array()?)),
            kind => {
                let begin = self.rest;
                self.skip(kind)?;
                let bytes = &begin[..begin.len() - self.rest.len()];
                Value::Other { kind, bytes }
            }
        })
    }

    /// The rare types, whose values nothing here needs.
    fn skip(&mut self, kind: u8) -> Result<(), Error> {
        match kind {
            // Undefined, the smallest and the largest key have no value.
            0x06 | 0x7F | 0xFF => Ok(()),
            // A regular expression: pattern and options.
            0x0B => self.name().and_then(|_| self.name()).map(drop),
            // A pointer: a collection and an id.
            0x0C => self.text().and_then(|_| self.take(12)).map(drop),
            // Code, a symbol.
            0x0D | 0x0E => self.text().map(drop),
            // Code with scope: its length counts itself.
            0x0F => {
                let length = self.length()?;
                let rest = length
                    .checked_sub(4)
                    .ok_or_else(|| Error::Protocol(format!("code with scope of {length} bytes")))?;
                self.take(rest).map(drop)
            }
            // A decimal.
            0x13 => self.take(16).map(drop),
            other => Err(Error::Protocol(format!("an element of type 0x{other:02X}"))),
        }
    }
}
