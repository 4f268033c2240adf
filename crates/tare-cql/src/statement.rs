//! A prepared statement and the types of its columns, decoded from a Prepared result.
use crate::error::Error;
use crate::options::Protocol;
use crate::wire::Reader;

/// Types nest no deeper than this in what is accepted from a server.
const DEEPEST: usize = 16;
/// Columns of one statement or result that are accepted: 65,535, the most that can be bound.
const MOST_COLUMNS: usize = u16::MAX as usize;

/// The type of a column or bind marker (v4 section 4.2.5.2, `[option]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnType {
    Ascii,
    Bigint,
    Blob,
    Boolean,
    Counter,
    Decimal,
    Double,
    Float,
    Int,
    Timestamp,
    Uuid,
    Text,
    Varint,
    Timeuuid,
    Inet,
    Date,
    Time,
    Smallint,
    Tinyint,
    Duration,
    List(Box<ColumnType>),
    Map(Box<ColumnType>, Box<ColumnType>),
    Set(Box<ColumnType>),
    /// A user-defined type: its keyspace, name, and fields.
    User {
        keyspace: String,
        name: String,
        fields: Vec<(String, ColumnType)>,
    },
    Tuple(Vec<ColumnType>),
    /// A server-side class, such as a vector type, by its class name.
    Custom(String),
}

/// A bind marker or a column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnType,
}

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

/// Flags of a metadata block.
pub(crate) const GLOBAL_TABLE: i32 = 0x0001;
pub(crate) const HAS_MORE_PAGES: i32 = 0x0002;
pub(crate) const NO_METADATA: i32 = 0x0004;
pub(crate) const METADATA_CHANGED: i32 = 0x0008;

impl Statement {
    /// Decode a Prepared result (section 4.2.5.4), the kind already read from `body`.
    pub(crate) fn decode(cql: &str, body: &[u8], protocol: Protocol) -> Result<Statement, Error> {
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
        let columns = columns(&mut reader, flags, count, &mut table)?;
        let flags = reader.int()?;
        let count = column_count(&mut reader)?;
        if flags & HAS_MORE_PAGES != 0 {
            reader.bytes()?;
        }
        let result = if flags & NO_METADATA == 0 {
            self::columns(&mut reader, flags, count, &mut table)?
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
            columns,
            partition_key,
            result,
        })
    }
}

/// The first keyspace and table that a metadata block names.
#[derive(Default)]
struct TableName {
    keyspace: String,
    table: String,
}

impl TableName {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let (keyspace, table) = (reader.string()?, reader.string()?);
        if self.table.is_empty() {
            self.keyspace = keyspace.to_owned();
            self.table = table.to_owned();
        }
        Ok(())
    }
}

pub(crate) fn column_count(reader: &mut Reader<'_>) -> Result<usize, Error> {
    let count = reader.count("the number of columns")?;
    if count > MOST_COLUMNS {
        return Err(Error::Protocol(format!("{count} columns")));
    }
    Ok(count)
}

/// The columns of a metadata block, behind its count and paging state.
pub(crate) fn read_columns(
    reader: &mut Reader<'_>,
    flags: i32,
    count: usize,
) -> Result<Vec<Column>, Error> {
    columns(reader, flags, count, &mut TableName::default())
}

fn columns(
    reader: &mut Reader<'_>,
    flags: i32,
    count: usize,
    table: &mut TableName,
) -> Result<Vec<Column>, Error> {
    let global = flags & GLOBAL_TABLE != 0;
    if global && flags & NO_METADATA == 0 {
        table.read(reader)?;
    }
    let mut columns = Vec::new();
    for _ in 0..count {
        if !global {
            table.read(reader)?;
        }
        let name = reader.string()?.to_owned();
        columns.push(Column {
            name,
            kind: ColumnType::decode(reader, 0)?,
        });
    }
    Ok(columns)
}

/// Pass over the columns of a metadata block without building them.
pub(crate) fn skip_columns(reader: &mut Reader<'_>, flags: i32, count: usize) -> Result<(), Error> {
    let global = flags & GLOBAL_TABLE != 0;
    if global {
        reader.short_bytes()?;
        reader.short_bytes()?;
    }
    for _ in 0..count {
        if !global {
            reader.short_bytes()?;
            reader.short_bytes()?;
        }
        reader.short_bytes()?;
        skip_type(reader, 0)?;
    }
    Ok(())
}

fn skip_type(reader: &mut Reader<'_>, depth: usize) -> Result<(), Error> {
    check_depth(depth)?;
    match reader.short()? {
        0x0000 => {
            reader.short_bytes()?;
        }
        0x0020 | 0x0022 => skip_type(reader, depth + 1)?,
        0x0021 => {
            skip_type(reader, depth + 1)?;
            skip_type(reader, depth + 1)?;
        }
        0x0030 => {
            reader.short_bytes()?;
            reader.short_bytes()?;
            for _ in 0..reader.short()? {
                reader.short_bytes()?;
                skip_type(reader, depth + 1)?;
            }
        }
        0x0031 => {
            for _ in 0..reader.short()? {
                skip_type(reader, depth + 1)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn check_depth(depth: usize) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(Error::Protocol(format!(
            "types nested more than {DEEPEST} deep"
        )));
    }
    Ok(())
}

impl ColumnType {
    fn decode(reader: &mut Reader<'_>, depth: usize) -> Result<ColumnType, Error> {
        check_depth(depth)?;
        let inner = |reader: &mut Reader<'_>| ColumnType::decode(reader, depth + 1);
        Ok(match reader.short()? {
            0x0000 => ColumnType::Custom(reader.string()?.to_owned()),
            0x0001 => ColumnType::Ascii,
            0x0002 => ColumnType::Bigint,
            0x0003 => ColumnType::Blob,
            0x0004 => ColumnType::Boolean,
            0x0005 => ColumnType::Counter,
            0x0006 => ColumnType::Decimal,
            0x0007 => ColumnType::Double,
            0x0008 => ColumnType::Float,
            0x0009 => ColumnType::Int,
            0x000B => ColumnType::Timestamp,
            0x000C => ColumnType::Uuid,
            0x000D => ColumnType::Text,
            0x000E => ColumnType::Varint,
            0x000F => ColumnType::Timeuuid,
            0x0010 => ColumnType::Inet,
            0x0011 => ColumnType::Date,
            0x0012 => ColumnType::Time,
            0x0013 => ColumnType::Smallint,
            0x0014 => ColumnType::Tinyint,
            0x0015 => ColumnType::Duration,
            0x0020 => ColumnType::List(Box::new(inner(reader)?)),
            0x0021 => ColumnType::Map(Box::new(inner(reader)?), Box::new(inner(reader)?)),
            0x0022 => ColumnType::Set(Box::new(inner(reader)?)),
            0x0030 => {
                let keyspace = reader.string()?.to_owned();
                let name = reader.string()?.to_owned();
                let mut fields = Vec::new();
                for _ in 0..reader.short()? {
                    let field = reader.string()?.to_owned();
                    fields.push((field, inner(reader)?));
                }
                ColumnType::User {
                    keyspace,
                    name,
                    fields,
                }
            }
            0x0031 => {
                let mut parts = Vec::new();
                for _ in 0..reader.short()? {
                    parts.push(inner(reader)?);
                }
                ColumnType::Tuple(parts)
            }
            other => {
                return Err(Error::Protocol(format!(
                    "unknown column type 0x{other:04X}"
                )))
            }
        })
    }
}
