//! Answers, decoded lazily and in place: a result's kind and row count cost a few comparisons.
use crate::column::{
    check_metadata, column_count, read_columns, skip_columns, Column, HAS_MORE_PAGES,
    METADATA_CHANGED, NO_METADATA,
};
use crate::error::{Error, ServerError, ServerErrorKind};
use crate::frame::{flag, opcode};
use crate::wire::Reader;

/// One answer. It borrows from the link's buffer.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub opcode: u8,
    /// The header's flags.
    pub flags: u8,
    /// The message alone: tracing id, warnings and custom payload have been passed over.
    pub body: &'a [u8],
}

/// What an answer says.
#[derive(Debug, Clone, Copy)]
pub enum ReplyKind<'a> {
    Void,
    Rows(Rows<'a>),
    SetKeyspace,
    /// The rest of a Prepared result.
    Prepared(&'a [u8]),
    SchemaChange,
    Error(ErrorReply<'a>),
    Event,
    /// Anything else; its opcode.
    Other(u8),
}

impl<'a> Reply<'a> {
    /// Strip what the flags say stands before the message (v4 section 2.2).
    #[inline]
    pub(crate) fn new(opcode: u8, flags: u8, body: &'a [u8]) -> Result<Reply<'a>, Error> {
        const BEFORE: u8 = flag::TRACING | flag::WARNING | flag::CUSTOM_PAYLOAD;
        if flags & BEFORE == 0 {
            return Ok(Reply {
                opcode,
                flags,
                body,
            });
        }
        let mut reader = Reader::new(body);
        if flags & flag::TRACING != 0 {
            reader.take(16)?;
        }
        if flags & flag::WARNING != 0 {
            reader.skip_string_list()?;
        }
        if flags & flag::CUSTOM_PAYLOAD != 0 {
            reader.skip_bytes_map()?;
        }
        Ok(Reply {
            opcode,
            flags,
            body: reader.rest(),
        })
    }

    /// What this answer says; rows and error details are not decoded by this.
    ///
    /// # Errors
    /// A body that is cut short.
    #[inline]
    pub fn kind(&self) -> Result<ReplyKind<'a>, Error> {
        match self.opcode {
            opcode::RESULT => {
                let mut reader = Reader::new(self.body);
                Ok(match reader.int()? {
                    0x0001 => ReplyKind::Void,
                    0x0002 => ReplyKind::Rows(Rows::decode(reader)?),
                    0x0003 => ReplyKind::SetKeyspace,
                    0x0004 => ReplyKind::Prepared(reader.rest()),
                    0x0005 => ReplyKind::SchemaChange,
                    kind => return Err(Error::Protocol(format!("result of kind {kind}"))),
                })
            }
            opcode::ERROR => {
                let code = Reader::new(self.body).int()?;
                Ok(ReplyKind::Error(ErrorReply {
                    code,
                    body: self.body,
                }))
            }
            opcode::EVENT => Ok(ReplyKind::Event),
            other => Ok(ReplyKind::Other(other)),
        }
    }
}

/// An ERROR answer: its code now, the rest on demand.
#[derive(Debug, Clone, Copy)]
pub struct ErrorReply<'a> {
    pub code: i32,
    body: &'a [u8],
}

impl ErrorReply<'_> {
    /// The kind that the code means.
    pub fn kind(&self) -> ServerErrorKind {
        ServerErrorKind::of(self.code)
    }

    /// The whole error.
    ///
    /// # Errors
    /// A body that is cut short before the message's end.
    pub fn decode(&self) -> Result<ServerError, Error> {
        ServerError::decode(self.body)
    }
}

/// A Rows result: counts and paging state are known, rows are not decoded.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    flags: i32,
    columns: usize,
    rows: usize,
    paging_state: Option<&'a [u8]>,
    metadata: &'a [u8],
    content: &'a [u8],
}

impl<'a> Rows<'a> {
    /// Decode the front of a Rows result (v4 section 4.2.5.2; v5 adds the new metadata id).
    fn decode(mut reader: Reader<'a>) -> Result<Rows<'a>, Error> {
        let flags = reader.int()?;
        let columns = column_count(&mut reader)?;
        let paging_state = if flags & HAS_MORE_PAGES != 0 {
            reader.bytes()?
        } else {
            None
        };
        if flags & METADATA_CHANGED != 0 {
            reader.short_bytes()?;
        }
        let before = reader.rest();
        if flags & NO_METADATA == 0 {
            skip_columns(&mut reader, flags, columns)?;
        }
        let metadata = &before[..before.len() - reader.rest().len()];
        let rows = reader.count("the number of rows")?;
        let content = reader.rest();
        // A cell takes four bytes at least: no count may claim more than there is.
        match rows
            .checked_mul(columns.max(1))
            .and_then(|cells| cells.checked_mul(4))
        {
            Some(least) if least <= content.len() || rows == 0 => {}
            _ => {
                return Err(Error::Protocol(format!(
                    "{rows} rows of {columns} columns in {} bytes",
                    content.len()
                )))
            }
        }
        Ok(Rows {
            flags,
            columns,
            rows,
            paging_state,
            metadata,
            content,
        })
    }

    /// How many rows this page has.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether this page has no rows.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Columns of each row.
    pub fn width(&self) -> usize {
        self.columns
    }

    /// Where the next page begins, when there is one.
    pub fn paging_state(&self) -> Option<&'a [u8]> {
        self.paging_state
    }

    /// The columns' names and types; `None` when the server was asked to leave them out.
    ///
    /// # Errors
    /// Metadata that is not the protocol's.
    pub fn columns(&self) -> Result<Option<Vec<Column>>, Error> {
        if self.flags & NO_METADATA != 0 {
            return Ok(None);
        }
        check_metadata(self.metadata)?;
        let mut reader = Reader::new(self.metadata);
        read_columns(&mut reader, self.flags, self.columns).map(Some)
    }

    /// The rows, one after another; each is checked when it is reached.
    pub fn iter(&self) -> RowIter<'a> {
        RowIter {
            columns: self.columns,
            left: self.rows,
            reader: Reader::new(self.content),
        }
    }
}

impl<'a> IntoIterator for &Rows<'a> {
    type Item = Result<Row<'a>, Error>;
    type IntoIter = RowIter<'a>;

    fn into_iter(self) -> RowIter<'a> {
        self.iter()
    }
}

/// Goes through the rows of a page. It ends after the first row that is damaged.
#[derive(Debug, Clone)]
pub struct RowIter<'a> {
    columns: usize,
    left: usize,
    reader: Reader<'a>,
}

impl<'a> RowIter<'a> {
    fn row(&mut self) -> Result<Row<'a>, Error> {
        let before = self.reader.rest();
        for _ in 0..self.columns {
            self.reader.bytes()?;
        }
        let size = before.len() - self.reader.rest().len();
        Ok(Row {
            bytes: &before[..size],
        })
    }
}

impl<'a> Iterator for RowIter<'a> {
    type Item = Result<Row<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let row = self.row();
        if row.is_err() {
            self.left = 0;
        }
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left))
    }
}

/// One row, whole.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    bytes: &'a [u8],
}

impl<'a> Row<'a> {
    /// The cells in order; null is `None`.
    pub fn cells(&self) -> Cells<'a> {
        Cells {
            reader: Reader::new(self.bytes),
        }
    }
}

/// Goes through the cells of a row.
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    reader: Reader<'a>,
}

impl<'a> Iterator for Cells<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Option<&'a [u8]>> {
        // The row was checked when it was cut out, so the only error is its end.
        self.reader.bytes().ok()
    }
}
