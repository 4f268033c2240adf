//! Commands that a workload sends, and how a source writes its requests with them.

use tare_mongo::{Collection, Error, Field, Template};

use crate::request::Request;

use super::Mongo;

/// Commands on a collection that a workload sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MongoText {
    /// A look-up by `_id` of these fields, or of all.
    Find {
        table: String,
        fields: Option<Vec<String>>,
    },
    /// So many documents from an `_id` on.
    Scan {
        table: String,
        fields: Option<Vec<String>>,
    },
    /// The next documents of a scan.
    GetMore { table: String },
    /// New documents; `ordered` stops at the first that fails.
    Insert { table: String, ordered: bool },
    /// New values of fields.
    Update { table: String },
    /// Documents put in the place of others, or inserted.
    Replace { table: String },
}

/// A source begins a request with one of these; a write goes on with `document` and its fields.
impl Request<Mongo> {
    /// Looks one document up.
    pub fn find(&mut self, statement: usize, id: &[u8]) {
        let (draft, templates) = self.anew();
        draft.find(&templates[statement], id);
    }

    /// Looks up to `limit` documents up, from this one on.
    pub fn scan(&mut self, statement: usize, from: &[u8], limit: i32) {
        let (draft, templates) = self.anew();
        draft.scan(&templates[statement], from, limit);
    }

    /// Asks for the next documents of this cursor.
    pub fn get_more(&mut self, statement: usize, cursor: i64) {
        let (draft, templates) = self.anew();
        draft.get_more(&templates[statement], cursor);
    }

    /// Begins a write.
    pub fn write(&mut self, statement: usize) {
        let (draft, templates) = self.anew();
        draft.write(&templates[statement]);
    }

    /// The next document of a write.
    pub fn document(&mut self, id: &[u8]) {
        self.draft().document(id);
    }

    /// The next field of the document; what `write` appends is its value.
    pub fn field_with(&mut self, field: &Field, write: impl FnOnce(&mut Vec<u8>)) {
        self.draft().field_with(field, write);
    }

    /// Documents of the write that is being made.
    pub fn documents(&mut self) -> usize {
        self.draft().documents()
    }
}

impl MongoText {
    pub(super) fn writes(&self) -> bool {
        matches!(
            self,
            MongoText::Insert { .. } | MongoText::Update { .. } | MongoText::Replace { .. }
        )
    }

    pub(super) fn table(&self) -> &str {
        match self {
            MongoText::Find { table, .. }
            | MongoText::Scan { table, .. }
            | MongoText::GetMore { table }
            | MongoText::Insert { table, .. }
            | MongoText::Update { table }
            | MongoText::Replace { table } => table,
        }
    }

    pub(super) fn template(&self, collection: &Collection) -> Result<Template, Error> {
        match self {
            MongoText::Find { fields, .. } => Template::find(collection, fields.as_deref()),
            MongoText::Scan { fields, .. } => Template::scan(collection, fields.as_deref()),
            MongoText::GetMore { .. } => Template::get_more(collection),
            MongoText::Insert { ordered, .. } => Template::insert(collection, *ordered),
            MongoText::Update { .. } => Template::update(collection),
            MongoText::Replace { .. } => Template::replace(collection),
        }
    }
}
