//! What is the same in every command of a kind, encoded once.
use crate::document::{kind, open, patch, put_key, subtype, Writer};
use crate::error::Error;
use crate::message::{self, flag, section};
use crate::options::{ReadConcern, ReadMode, ReadPreference, WriteConcern};

/// A collection, and how it is read and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    pub database: String,
    pub name: String,
    pub read: ReadPreference,
    pub read_concern: ReadConcern,
    pub write_concern: WriteConcern,
    /// Name a session in every command, and number the writes, so that the server recognises a
    /// resent one. Only where the servers keep sessions.
    pub sessions: bool,
    pub checksums: bool,
}

impl Collection {
    /// A collection with everything left to the server.
    pub fn new(database: &str, name: &str) -> Collection {
        Collection {
            database: database.to_owned(),
            name: name.to_owned(),
            read: ReadPreference::default(),
            read_concern: None,
            write_concern: WriteConcern::default(),
            sessions: false,
            checksums: false,
        }
    }
}

/// A field's type and name, encoded once; its values are binaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field(pub(super) Box<[u8]>);

impl Field {
    /// # Errors
    /// A name with a NUL.
    pub fn new(name: &str) -> Result<Field, Error> {
        let mut key = Vec::with_capacity(name.len() + 2);
        put_key(&mut key, kind::BINARY, name)?;
        Ok(Field(key.into_boxed_slice()))
    }
}

/// What a template's commands do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Find,
    Scan,
    Insert,
    Update,
    Replace,
    GetMore,
}

impl Kind {
    /// Whether only a primary serves it.
    pub fn writes(self) -> bool {
        matches!(self, Kind::Insert | Kind::Update | Kind::Replace)
    }
}

/// Where a session's id and the number of a write stand in a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Session {
    pub id: usize,
    pub number: Option<usize>,
}

/// What is the same in every command of a kind.
#[derive(Debug, Clone)]
pub struct Template {
    pub(super) kind: Kind,
    /// From the message's header to the first value.
    pub(super) prefix: Vec<u8>,
    /// Where the prefix has lengths that are known only at the end, outermost first.
    pub(super) open: Vec<usize>,
    /// What stands between a scan's start and its limit.
    pub(super) middle: Vec<u8>,
    pub(super) session: Option<Session>,
}

/// Where a message's body stands: behind its header, its flags and its kind.
const BODY: usize = message::HEADER + 5;
/// Where the cursor's id stands in a `getMore`: behind the body's length, a type and the name.
pub(super) const CURSOR: usize = BODY + 4 + 1 + b"getMore\0".len();

impl Template {
    /// `find` of one document by its `_id`, with some of its fields or all.
    ///
    /// # Errors
    /// A name with a NUL.
    pub fn find(collection: &Collection, fields: Option<&[String]>) -> Result<Template, Error> {
        let mut template = Template::begin(collection, Kind::Find, "find", |out| {
            out.int("limit", 1).boolean("singleBatch", true);
            read(out, collection, fields);
        });
        template.nest("filter")?;
        put_key(&mut template.prefix, kind::STRING, "_id")?;
        template.checked(collection, fields)
    }

    /// `find` of so many documents from an `_id` on, in the order of their `_id`.
    ///
    /// # Errors
    /// A name with a NUL.
    pub fn scan(collection: &Collection, fields: Option<&[String]>) -> Result<Template, Error> {
        let mut template = Template::begin(collection, Kind::Scan, "find", |out| {
            out.document("sort", |out| {
                out.int("_id", 1);
            });
            read(out, collection, fields);
        });
        template.nest("filter")?;
        template.nest("_id")?;
        put_key(&mut template.prefix, kind::STRING, "$gte")?;
        put_key(&mut template.middle, kind::INT, "limit")?;
        template.checked(collection, fields)
    }

    /// `insert` of one document or several; `ordered` stops at the first that fails.
    ///
    /// # Errors
    /// A name with a NUL.
    pub fn insert(collection: &Collection, ordered: bool) -> Result<Template, Error> {
        let template = Template::begin(collection, Kind::Insert, "insert", |out| {
            write(out, collection, ordered);
        });
        template.sequence("documents").checked(collection, None)
    }

    /// `update` of one document by its `_id`, fields by `$set`.
    ///
    /// # Errors
    /// A name with a NUL.
    pub fn update(collection: &Collection) -> Result<Template, Error> {
        Template::updates(collection, Kind::Update)
    }

    /// `update` that replaces whole documents of the same `_id`, or inserts them.
    ///
    /// # Errors
    /// A name with a NUL.
    pub fn replace(collection: &Collection) -> Result<Template, Error> {
        Template::updates(collection, Kind::Replace)
    }

    fn updates(collection: &Collection, kind: Kind) -> Result<Template, Error> {
        let template = Template::begin(collection, kind, "update", |out| {
            write(out, collection, true);
        });
        template.sequence("updates").checked(collection, None)
    }

    /// `getMore` of a scan's cursor.
    ///
    /// # Errors
    /// A name with a NUL.
    pub fn get_more(collection: &Collection) -> Result<Template, Error> {
        let begin = |out: &mut Writer<'_>| {
            out.long("getMore", 0).text("collection", &collection.name);
        };
        Template::body(collection, Kind::GetMore, begin, |_| {}).checked(collection, None)
    }

    /// The body of a command on the collection up to what `rest` writes; it stays open.
    fn begin(
        collection: &Collection,
        kind: Kind,
        command: &str,
        rest: impl FnOnce(&mut Writer<'_>),
    ) -> Template {
        let begin = |out: &mut Writer<'_>| {
            out.text(command, &collection.name);
        };
        Template::body(collection, kind, begin, rest)
    }

    fn body(
        collection: &Collection,
        kind: Kind,
        begin: impl FnOnce(&mut Writer<'_>),
        rest: impl FnOnce(&mut Writer<'_>),
    ) -> Template {
        let mut prefix = Vec::with_capacity(256);
        let flags = if collection.checksums {
            flag::CHECKSUM
        } else {
            0
        };
        message::begin(&mut prefix, 0, 0, flags);
        debug_assert_eq!(prefix.len(), BODY);
        let mut session = None;
        Writer::write(&mut prefix, |out| {
            begin(out);
            out.text("$db", &collection.database);
            if collection.sessions {
                session = Some(put_session(out, kind));
            }
            rest(out);
        });
        // It goes on: its end, and with it its length, come with the values.
        prefix.pop();
        Template {
            kind,
            prefix,
            open: vec![BODY],
            middle: Vec::new(),
            session,
        }
    }

    /// Open a document of this name inside what is open.
    fn nest(&mut self, name: &str) -> Result<(), Error> {
        put_key(&mut self.prefix, kind::DOCUMENT, name)?;
        self.open.push(open(&mut self.prefix));
        Ok(())
    }

    /// Close the body and open a document sequence, whose length stands for it from here on.
    fn sequence(mut self, name: &str) -> Template {
        self.prefix.push(0);
        let size = self.prefix.len() - BODY;
        self.prefix[BODY..BODY + 4].copy_from_slice(&(size as u32).to_le_bytes());
        self.prefix.push(section::SEQUENCE);
        self.open = vec![open(&mut self.prefix)];
        self.prefix.extend_from_slice(name.as_bytes());
        self.prefix.push(0);
        self
    }

    /// The template, if no name in it holds a NUL: the writer would have replaced it.
    fn checked(
        self,
        collection: &Collection,
        fields: Option<&[String]>,
    ) -> Result<Template, Error> {
        let own = [&collection.name, &collection.database];
        let fields = fields.unwrap_or_default().iter();
        match own
            .into_iter()
            .chain(fields)
            .find(|name| name.contains('\0'))
        {
            Some(name) => Err(Error::Name(name.clone())),
            None => Ok(self),
        }
    }

    /// What the commands do.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

/// Append a session's id and the number of a write, both still zero; where they stand.
fn put_session(out: &mut Writer<'_>, kind: Kind) -> Session {
    let mut id = 0;
    out.document("lsid", |out| {
        out.binary("id", subtype::UUID, &[0; 16]);
        id = out.position() - 16;
    });
    let number = kind.writes().then(|| {
        out.long("txnNumber", 0);
        out.position() - 8
    });
    Session { id, number }
}

fn read(out: &mut Writer<'_>, collection: &Collection, fields: Option<&[String]>) {
    if let Some(fields) = fields {
        out.document("projection", |out| {
            for field in fields {
                out.int(field, 1);
            }
        });
    }
    if let Some(level) = &collection.read_concern {
        out.document("readConcern", |out| {
            out.text("level", level);
        });
    }
    if collection.read.mode != ReadMode::Primary {
        out.document("$readPreference", |out| collection.read.put(out));
    }
}

fn write(out: &mut Writer<'_>, collection: &Collection, ordered: bool) {
    out.boolean("ordered", ordered);
    if !collection.write_concern.is_default() {
        out.document("writeConcern", |out| collection.write_concern.put(out));
    }
}

/// Lengths of what is open are written from the inside out.
pub(super) fn patch_all(out: &mut Vec<u8>, open: &[usize], ended: bool) {
    for at in open.iter().rev() {
        if ended {
            out.push(0);
        }
        patch(out, *at);
    }
}
