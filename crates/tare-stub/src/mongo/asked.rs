//! A command, walked over once.

use tare_mongo::document::{Document, Value};
use tare_mongo::message::Message;
use tare_mongo::Error;

/// A command with the fields that the load's commands use.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub name: &'a [u8],
    pub value: Value<'a>,
    pub body: Document<'a>,
    pub database: &'a [u8],
    /// The collection of a `getMore`.
    pub collection: &'a [u8],
    pub filter: Option<Document<'a>>,
    pub projection: Option<Document<'a>>,
    pub limit: i64,
    pub batch: Option<i64>,
    pub single_batch: bool,
    /// It is a write that is numbered, so that it can be sent again.
    pub numbered: bool,
    /// A secondary may serve it.
    pub anywhere: bool,
    /// Documents that stand in the body itself.
    list: Option<Document<'a>>,
}

impl<'a> Asked<'a> {
    /// # Errors
    /// What is no BSON, or no command at all.
    pub fn read(body: Document<'a>) -> Result<Asked<'a>, Error> {
        let mut elements = body.elements();
        let first = elements
            .next()
            .ok_or_else(|| Error::Protocol("no command".into()))??;
        let mut asked = Asked {
            name: first.name,
            value: first.value,
            body,
            database: b"",
            collection: b"",
            filter: None,
            projection: None,
            limit: 0,
            batch: None,
            single_batch: false,
            numbered: false,
            anywhere: false,
            list: None,
        };
        for element in elements {
            let element = element?;
            asked.take(element.name, &element.value)?;
        }
        Ok(asked)
    }

    fn take(&mut self, name: &[u8], value: &Value<'a>) -> Result<(), Error> {
        match name {
            b"$db" => self.database = bytes(value),
            b"collection" => self.collection = bytes(value),
            b"filter" => self.filter = value.document(),
            b"projection" => self.projection = value.document(),
            b"limit" => self.limit = value.number().unwrap_or(0),
            b"batchSize" => self.batch = value.number(),
            b"singleBatch" => self.single_batch = value.truth(),
            b"txnNumber" => self.numbered = true,
            b"documents" | b"updates" | b"deletes" => self.list = value.document(),
            b"$readPreference" => {
                let mode = match value.document() {
                    Some(preference) => preference.get("mode")?,
                    None => None,
                };
                self.anywhere = mode.is_some_and(|mode| mode != Value::Text(b"primary"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The collection that the command names first.
    pub fn own_collection(&self) -> &'a [u8] {
        bytes(&self.value)
    }

    /// Documents of a write, in the body and beside it.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn documents(&self, message: &Message<'_>) -> Result<i32, Error> {
        let mut count = 0;
        for element in self.list.iter().flat_map(Document::elements) {
            element?;
            count += 1;
        }
        for sequence in message.sequences() {
            for document in sequence.documents() {
                document?;
                count += 1;
            }
        }
        Ok(count)
    }
}

fn bytes<'a>(value: &Value<'a>) -> &'a [u8] {
    match value {
        Value::Text(text) => text,
        _ => b"",
    }
}
