//! A whole document checked, with all that is in it, for answers that are trusted later.
use super::{Document, Elements, Value};
use crate::error::Error;

/// Deepest nesting of documents: MongoDB's own limit. No stack grows with it here.
const DEEPEST: usize = 200;
/// A binary of this subtype holds its length once more.
const OLD_BINARY: u8 = 0x02;

impl<'a> Document<'a> {
    /// The document that fills these bytes exactly, once everything in it has been read.
    ///
    /// # Errors
    /// Invalid BSON: lengths, ends, types, text that is not UTF-8, more than 200 nested documents.
    pub fn whole(bytes: &'a [u8]) -> Result<Document<'a>, Error> {
        let (document, rest) = Document::take(bytes)?;
        if !rest.is_empty() {
            let why = format!("{} bytes behind a document", rest.len());
            return Err(Error::Protocol(why));
        }
        document.check()?;
        Ok(document)
    }

    /// Read everything in it.
    ///
    /// # Errors
    /// As of [`Document::whole`].
    pub fn check(&self) -> Result<(), Error> {
        let mut open = vec![self.elements()];
        while let Some(innermost) = open.last_mut() {
            let Some(element) = innermost.next() else {
                open.pop();
                continue;
            };
            let element = element?;
            readable(element.name)?;
            let inner = match element.value {
                Value::Document(document) | Value::Array(document) => Some(document),
                Value::Text(text) => readable(text).map(|()| None)?,
                Value::Binary { subtype, bytes } if subtype == OLD_BINARY => {
                    let claimed = bytes
                        .first_chunk::<4>()
                        .map(|head| u32::from_le_bytes(*head));
                    if claimed.map(|length| length as usize) != bytes.len().checked_sub(4) {
                        let why = "a binary of the old kind with two lengths";
                        return Err(Error::Protocol(why.into()));
                    }
                    None
                }
                Value::Other { kind, bytes } => rare(kind, bytes)?,
                _ => None,
            };
            if let Some(inner) = inner {
                if open.len() >= DEEPEST {
                    let why = format!("more than {DEEPEST} documents inside each other");
                    return Err(Error::Protocol(why));
                }
                open.push(inner.elements());
            }
        }
        Ok(())
    }
}

fn readable(text: &[u8]) -> Result<(), Error> {
    std::str::from_utf8(text)
        .map(drop)
        .map_err(|_| Error::Protocol("text that is no UTF-8".into()))
}

/// A value of a type that nothing here needs; the document in it, where it has one.
fn rare(kind: u8, bytes: &[u8]) -> Result<Option<Document<'_>>, Error> {
    let mut rest = Elements { rest: bytes };
    match kind {
        // A regular expression.
        0x0B => {
            readable(rest.name()?)?;
            readable(rest.name()?)?;
        }
        // A pointer, code, a symbol: each begins with a string.
        0x0C..=0x0E => readable(rest.text()?)?,
        // Code with its scope.
        0x0F => {
            rest.length()?;
            readable(rest.text()?)?;
            let scope = rest.document()?;
            if !rest.rest.is_empty() {
                let why = "a scope that ends before its length says";
                return Err(Error::Protocol(why.into()));
            }
            return Ok(Some(scope));
        }
        _ => {}
    }
    Ok(None)
}
