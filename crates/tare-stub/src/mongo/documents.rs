//! What queries find: documents as YCSB's are, made up as they are asked for, in batches.

use std::borrow::Cow;
use std::collections::HashMap;

use tare_mongo::document::{subtype, Document, Value, Writer};
use tare_mongo::Error;

use super::asked::Asked;

/// Fields of a document, as YCSB's core workloads have them.
const FIELDS: usize = 10;
/// Documents of a first batch, unless asked for otherwise; and bytes of any batch (MongoDB manual,
/// "Cursor Batches").
const FIRST_BATCH: usize = 101;
const BATCH_BYTES: usize = 16 << 20;
/// What a document needs beside its fields and its id, bytes.
const AROUND: usize = 40;
/// The id that others are made from where a query names none.
const ANY: &[u8] = b"user";
/// Most cursors that are kept: clients with more open them and never end them.
const MOST_CURSORS: usize = 100_000;

/// All documents there are, and the cursors over them.
#[derive(Debug)]
pub struct Documents {
    /// Most documents that a query finds.
    count: usize,
    /// Name and encoded element of each field, and all of them together.
    fields: Vec<(String, Vec<u8>)>,
    all: Vec<u8>,
    cursors: HashMap<i64, Rest>,
    last_cursor: i64,
}

/// What a cursor has still to give.
#[derive(Debug)]
struct Rest {
    from: Vec<u8>,
    given: usize,
    left: usize,
    fields: Option<Vec<u8>>,
}

/// Which ids documents have.
#[derive(Debug)]
enum Ids<'a> {
    One(Value<'a>),
    /// This one, and then others behind it, from this place on.
    From(Cow<'a, [u8]>, usize),
}

/// One batch, until it is sent.
#[derive(Debug)]
pub struct Batch<'a> {
    first: bool,
    database: &'a [u8],
    collection: &'a [u8],
    ids: Ids<'a>,
    count: usize,
    fields: Cow<'a, [u8]>,
    cursor: i64,
}

impl Documents {
    pub fn new(count: usize, value_bytes: usize) -> Documents {
        let value = vec![b'v'; value_bytes];
        let field = |number| {
            let name = format!("field{number}");
            let element = Writer::encode(|out| {
                out.binary(&name, subtype::GENERIC, &value);
            });
            (name, element)
        };
        let fields: Vec<_> = (0..FIELDS).map(field).collect();
        let all = fields.iter().flat_map(|(_, element)| element).copied();
        Documents {
            count,
            all: all.collect(),
            fields,
            cursors: HashMap::new(),
            last_cursor: 0,
        }
    }

    /// The documents of a `find`: one where it names an id; otherwise as many as there are, or as
    /// it wants.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn find<'a>(&'a mut self, asked: &Asked<'a>) -> Result<Batch<'a>, Error> {
        let id = match asked.filter {
            Some(filter) => filter.get("_id")?,
            None => None,
        };
        let (ids, mut total) = match id {
            Some(Value::Document(compared)) => match compared.elements().next().transpose()? {
                Some(first) if first.name.first() == Some(&b'$') => {
                    let from = match first.value {
                        Value::Text(from) => from,
                        _ => ANY,
                    };
                    (Ids::From(from.into(), 0), self.count)
                }
                _ => (Ids::One(Value::Document(compared)), self.count.min(1)),
            },
            Some(id) => (Ids::One(id), self.count.min(1)),
            None => (Ids::From(ANY.into(), 0), self.count),
        };
        let limit = usize::try_from(asked.limit.unsigned_abs()).unwrap_or(usize::MAX);
        if limit > 0 {
            total = total.min(limit);
        }
        let projected = match asked.projection {
            Some(projection) => Some(self.projected(projection)?),
            None => None,
        };
        let own = projected.as_ref().unwrap_or(&self.all).len();
        let count = total.min(batch(asked.batch, FIRST_BATCH, own));
        let mut cursor = 0;
        if count < total && !asked.single_batch && asked.limit >= 0 {
            cursor = self.open(&ids, count, total - count, projected.as_ref());
        }
        let fields = match projected {
            Some(fields) => Cow::Owned(fields),
            None => Cow::Borrowed(&self.all[..]),
        };
        Ok(Batch {
            first: true,
            database: asked.database,
            collection: asked.own_collection(),
            ids,
            count,
            fields,
            cursor,
        })
    }

    fn open(&mut self, ids: &Ids<'_>, given: usize, left: usize, fields: Option<&Vec<u8>>) -> i64 {
        if self.cursors.len() >= MOST_CURSORS {
            self.cursors.clear();
        }
        let from = match ids {
            Ids::From(from, _) => from.to_vec(),
            Ids::One(_) => ANY.to_vec(),
        };
        self.last_cursor += 1;
        let rest = Rest {
            from,
            given,
            left,
            fields: fields.cloned(),
        };
        self.cursors.insert(self.last_cursor, rest);
        self.last_cursor
    }

    /// The next batch of a cursor; None: it is not known.
    pub fn more<'a>(&'a mut self, asked: &Asked<'a>) -> Option<Batch<'a>> {
        let cursor = asked.value.number()?;
        let rest = self.cursors.get_mut(&cursor)?;
        let own = rest.fields.as_ref().unwrap_or(&self.all).len();
        let count = rest.left.min(batch(asked.batch, usize::MAX, own));
        let ids = Ids::From(rest.from.clone().into(), rest.given);
        rest.given += count;
        rest.left -= count;
        let (is_over, projected) = (rest.left == 0, rest.fields.clone());
        if is_over {
            self.cursors.remove(&cursor);
        }
        Some(Batch {
            first: false,
            database: asked.database,
            collection: asked.collection,
            ids,
            count,
            fields: projected.map_or(Cow::Borrowed(&self.all[..]), Cow::Owned),
            cursor: if is_over { 0 } else { cursor },
        })
    }

    /// Ends these cursors.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn end(&mut self, cursors: Document<'_>) -> Result<(), Error> {
        for element in cursors.elements() {
            if let Some(cursor) = element?.value.number() {
                self.cursors.remove(&cursor);
            }
        }
        Ok(())
    }

    /// The fields that a projection names, or all but those; the id is always there.
    fn projected(&self, projection: Document<'_>) -> Result<Vec<u8>, Error> {
        let mut named = Vec::new();
        let mut without = false;
        for element in projection.elements() {
            let element = element?;
            if element.name != b"_id" {
                without |= !element.value.truth();
                named.push(element.name);
            }
        }
        let is_named = |name: &str| named.contains(&name.as_bytes());
        let wanted = |name: &str| named.is_empty() || is_named(name) != without;
        let kept = self.fields.iter().filter(|(name, _)| wanted(name));
        Ok(kept.flat_map(|(_, element)| element).copied().collect())
    }
}

/// Documents of one batch at most: as many as asked for, and no more bytes than a batch may have.
fn batch(asked: Option<i64>, usual: usize, fields: usize) -> usize {
    let asked = asked.map(|batch| usize::try_from(batch).unwrap_or(usize::MAX));
    asked
        .unwrap_or(usual)
        .min((BATCH_BYTES / (fields + AROUND)).max(1))
}

impl Batch<'_> {
    /// Writes the answer's body.
    pub fn put(&self, out: &mut Writer<'_>) {
        let name = if self.first {
            "firstBatch"
        } else {
            "nextBatch"
        };
        out.document("cursor", |out| {
            out.array(name, |out| self.put_documents(out));
            let parts = [self.database, self.collection];
            let parts = parts.map(String::from_utf8_lossy);
            out.long("id", self.cursor).text("ns", &parts.join("."));
        });
        out.double("ok", 1.0);
    }

    fn put_documents(&self, out: &mut Writer<'_>) {
        for place in 0..self.count {
            out.document(&place.to_string(), |out| {
                match &self.ids {
                    Ids::One(id) => out.value("_id", id),
                    Ids::From(from, 0) if place == 0 => out.value("_id", &Value::Text(from)),
                    Ids::From(from, given) => {
                        let from = String::from_utf8_lossy(from);
                        out.text("_id", &format!("{from}.{:06}", given + place))
                    }
                };
                out.elements(&self.fields);
            });
        }
    }
}
