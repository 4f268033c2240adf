//! Answers, read in place: whether a command succeeded costs one walk over its top-level elements.
use crate::document::{Document, Value};
use crate::error::{Error, Origin, Peer, ServerError};
use crate::hello::TopologyVersion;

/// One answer. It borrows from the link's buffer.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub body: Document<'a>,
    /// Who answers.
    pub peer: Peer,
}

/// What an answer says, as far as it is looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome<'a> {
    /// Documents that were inserted or matched.
    pub count: i64,
    /// Documents that were changed.
    pub modified: i64,
    /// Documents that came to be by an upsert.
    pub upserted: usize,
    /// What a query found.
    pub cursor: Option<Cursor<'a>>,
}

/// The documents of one answer to a query.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    /// Where more is to be had; 0 when there is no more.
    pub id: i64,
    pub batch: Batch<'a>,
}

/// A list of documents, not yet looked at.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    documents: Document<'a>,
}

impl<'a> Batch<'a> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The documents; what is no document is an error.
    pub fn documents(&self) -> impl Iterator<Item = Result<Document<'a>, Error>> {
        self.documents
            .elements()
            .map(|element| match element?.value {
                Value::Document(document) => Ok(document),
                _ => Err(Error::Protocol(
                    "a batch of something else than documents".into(),
                )),
            })
    }
}

/// Top-level elements that decide the outcome of an answer.
#[derive(Default)]
struct Seen<'a> {
    ok: bool,
    write_errors: Option<Document<'a>>,
    concern: Option<Document<'a>>,
}

impl<'a> Reply<'a> {
    /// The answer that an owned document holds.
    ///
    /// # Errors
    /// What is no BSON.
    pub fn of(bytes: &'a [u8]) -> Result<Reply<'a>, Error> {
        let (body, _) = Document::take(bytes)?;
        let peer = Peer::default();
        Ok(Reply { body, peer })
    }

    /// What the answer says; [`Error::Server`] where the command, one of its writes, or its
    /// acknowledgement failed.
    ///
    /// # Errors
    /// That, and what is no BSON.
    #[inline]
    pub fn outcome(&self) -> Result<Outcome<'a>, Error> {
        let mut outcome = Outcome::default();
        let mut seen = Seen::default();
        for element in self.body.elements() {
            let element = element?;
            match element.name {
                b"ok" => seen.ok = element.value.truth(),
                b"n" => outcome.count = element.value.number().unwrap_or(0),
                b"nModified" => outcome.modified = element.value.number().unwrap_or(0),
                b"cursor" => outcome.cursor = cursor(&element.value)?,
                b"upserted" => {
                    outcome.upserted = match element.value.document() {
                        Some(list) => list.elements().count(),
                        None => 0,
                    };
                }
                b"writeErrors" => seen.write_errors = element.value.document(),
                b"writeConcernError" => seen.concern = element.value.document(),
                _ => {}
            }
        }
        let failed = !seen.ok || seen.write_errors.is_some() || seen.concern.is_some();
        match failed.then(|| self.failure(&seen)).transpose()?.flatten() {
            Some(mut error) => {
                error.label(self.peer);
                Err(Error::Server(error))
            }
            None => Ok(outcome),
        }
    }

    /// The error in an answer that has one, the gravest first.
    #[cold]
    fn failure(&self, seen: &Seen<'a>) -> Result<Option<ServerError>, Error> {
        if !seen.ok {
            return server_error(self.body, Origin::Command).map(Some);
        }
        let mut whole = server_error(self.body, Origin::WriteConcern)?;
        if let Some(errors) = seen.write_errors {
            if let Some(first) = errors.elements().next() {
                let first = first?.value.document();
                let first =
                    first.ok_or_else(|| Error::Protocol("a write error of no kind".into()))?;
                return server_error(first, Origin::Write).map(Some);
            }
        }
        let Some(concern) = seen.concern else {
            return Ok(None);
        };
        let error = server_error(concern, Origin::WriteConcern)?;
        // Labels and state stand beside the error, or in it.
        whole.labels.extend(error.labels);
        Ok(Some(ServerError {
            labels: whole.labels,
            state: whole.state,
            ..error
        }))
    }
}

fn cursor<'a>(value: &Value<'a>) -> Result<Option<Cursor<'a>>, Error> {
    let Some(document) = value.document() else {
        return Ok(None);
    };
    let (mut id, mut batch) = (0, None);
    for element in document.elements() {
        let element = element?;
        match element.name {
            b"id" => id = element.value.number().unwrap_or(0),
            b"firstBatch" | b"nextBatch" => batch = element.value.document(),
            _ => {}
        }
    }
    Ok(batch.map(|documents| Cursor {
        id,
        batch: Batch { documents },
    }))
}

fn server_error(document: Document<'_>, origin: Origin) -> Result<ServerError, Error> {
    let mut error = ServerError {
        origin,
        code: 0,
        code_name: String::new(),
        message: String::new(),
        labels: Vec::new(),
        state: None,
    };
    for element in document.elements() {
        let element = element?;
        match element.name {
            b"code" => error.code = element.value.number().unwrap_or(0) as i32,
            b"codeName" => error.code_name = element.value.text().unwrap_or_default(),
            b"errmsg" => error.message = element.value.text().unwrap_or_default(),
            b"topologyVersion" => error.state = TopologyVersion::read(&element.value)?,
            b"errorLabels" => {
                for label in element.value.document().iter().flat_map(Document::elements) {
                    error.labels.extend(label?.value.text());
                }
            }
            _ => {}
        }
    }
    Ok(error)
}
