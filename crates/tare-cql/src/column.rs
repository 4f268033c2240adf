//! Columns and their types, as results and prepared statements describe them.
use crate::error::Error;
use crate::wire::Reader;

/// Deepest nesting of types that is accepted from a server.
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

/// Metadata of more bytes than this is refused: decoded types take far more memory than that.
const MOST_METADATA: usize = 16 << 20;

/// Refuse metadata that no table has.
pub(crate) fn check_metadata(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > MOST_METADATA {
        return Err(Error::Protocol(format!(
            "{} bytes of metadata",
            bytes.len()
        )));
    }
    Ok(())
}

/// Flags of a metadata block.
pub(crate) const GLOBAL_TABLE: i32 = 0x0001;
pub(crate) const HAS_MORE_PAGES: i32 = 0x0002;
pub(crate) const NO_METADATA: i32 = 0x0004;
pub(crate) const METADATA_CHANGED: i32 = 0x0008;

/// The first keyspace and table that a metadata block names.
#[derive(Default)]
pub(crate) struct TableName {
    pub keyspace: String,
    pub table: String,
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

pub(crate) fn columns(
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
