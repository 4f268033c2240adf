//! A prepared statement, decoded from a Prepared result.
use crate::column::{
    check_metadata, column_count, columns, Column, TableName, HAS_MORE_PAGES, NO_METADATA,
};
use crate::error::Error;
use crate::options::Protocol;
use crate::wire::Reader;

/// A statement that every reachable node has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub cql: String,
    pub id: Vec<u8>,
    /// The id of the result's metadata (v5 only).
    pub result_id: Option<Vec<u8>>,
    pub keyspace: String,
    pub table: String,
    /// The bind markers, in order.
    pub columns: Vec<Column>,
    /// Which markers make up the partition key, in the key's order; empty when it is not bound.
    pub partition_key: Vec<u16>,
    /// The columns of the result; empty for what returns no rows.
    pub result: Vec<Column>,
}

impl Statement {
    /// Decode a Prepared result (section 4.2.5.4): the body of [`crate::ReplyKind::Prepared`].
    ///
    /// # Errors
    /// A body that breaks the protocol, and metadata of more than 16 MiB.
    pub fn decode(cql: &str, body: &[u8], protocol: Protocol) -> Result<Statement, Error> {
        check_metadata(body)?;
        let mut reader = Reader::new(body);
        let id = reader.short_bytes()?.to_vec();
        let result_id = match protocol {
            Protocol::V4 => None,
            Protocol::V5 => Some(reader.short_bytes()?.to_vec()),
        };
        let flags = reader.int()?;
        let count = column_count(&mut reader)?;
        let keys = reader.count("the number of key markers")?;
        let mut partition_key = Vec::new();
        for _ in 0..keys {
            let marker = reader.short()?;
            if usize::from(marker) >= count {
                return Err(Error::Protocol(format!("key marker {marker} of {count}")));
            }
            partition_key.push(marker);
        }
        let mut table = TableName::default();
        let markers = columns(&mut reader, flags, count, &mut table)?;
        let flags = reader.int()?;
        let count = column_count(&mut reader)?;
        if flags & HAS_MORE_PAGES != 0 {
            reader.bytes()?;
        }
        let result = if flags & NO_METADATA == 0 {
            columns(&mut reader, flags, count, &mut table)?
        } else {
            Vec::new()
        };
        let TableName { keyspace, table } = table;
        Ok(Statement {
            cql: cql.to_owned(),
            id,
            result_id,
            keyspace,
            table,
            columns: markers,
            partition_key,
            result,
        })
    }
}
