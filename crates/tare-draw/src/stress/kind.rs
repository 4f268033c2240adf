//! The CQL types that cassandra-stress makes values of.

use std::fmt;

use crate::Error;

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `ascii`, `text`, `varchar`
    Text,
    /// `bigint`
    Bigint,
    /// `counter`, written as the number to add
    Counter,
    /// `blob`
    Blob,
    /// `blob` of hexadecimal-like letters: the key of the predefined commands
    HexBlob,
    /// `boolean`
    Boolean,
    /// `decimal`
    Decimal,
    /// `double`
    Double,
    /// `float`
    Float,
    /// `inet`, always of version 4
    Inet,
    /// `int`
    Int,
    /// `varint`
    Varint,
    /// `timestamp`
    Timestamp,
    /// `uuid`
    Uuid,
    /// `timeuuid`
    Timeuuid,
    /// `tinyint`
    Tinyint,
    /// `smallint`
    Smallint,
    /// `time`
    Time,
    /// `date`
    Date,
    /// `set<...>` of a type that is no collection
    Set(Box<Kind>),
    /// `list<...>` of a type that is no collection
    List(Box<Kind>),
}

impl Kind {
    /// Reads a CQL type, frozen or not, in any case.
    ///
    /// # Errors
    /// When cassandra-stress makes no values of it: maps, tuples, user types, nested collections.
    pub fn parse(cql: &str) -> Result<Self, Error> {
        let text: String = cql
            .chars()
            .filter(|character| !character.is_whitespace())
            .map(|character| character.to_ascii_lowercase())
            .collect();
        let unfrozen = inside(&text, "frozen").unwrap_or(&text);
        let collection = |element: &str| {
            let element = inside(element, "frozen").unwrap_or(element);
            simple(element).map(Box::new)
        };
        let kind = if let Some(element) = inside(unfrozen, "set") {
            collection(element).map(Self::Set)
        } else if let Some(element) = inside(unfrozen, "list") {
            collection(element).map(Self::List)
        } else {
            simple(unfrozen)
        };
        kind.ok_or_else(|| {
            Error::new(format!(
                "values of the type {cql} cannot be made: expected a simple type, or a set or list of one"
            ))
        })
    }

    /// Whether the size distribution of a column decides about its values.
    pub(super) fn has_size(&self) -> bool {
        matches!(
            self,
            Self::Text | Self::Blob | Self::HexBlob | Self::Set(_) | Self::List(_)
        )
    }
}

fn inside<'a>(text: &'a str, outer: &str) -> Option<&'a str> {
    text.strip_prefix(outer)?
        .strip_prefix('<')?
        .strip_suffix('>')
}

fn simple(name: &str) -> Option<Kind> {
    Some(match name {
        "ascii" | "text" | "varchar" => Kind::Text,
        "bigint" => Kind::Bigint,
        "counter" => Kind::Counter,
        "blob" => Kind::Blob,
        "boolean" => Kind::Boolean,
        "decimal" => Kind::Decimal,
        "double" => Kind::Double,
        "float" => Kind::Float,
        "inet" => Kind::Inet,
        "int" => Kind::Int,
        "varint" => Kind::Varint,
        "timestamp" => Kind::Timestamp,
        "uuid" => Kind::Uuid,
        "timeuuid" => Kind::Timeuuid,
        "tinyint" => Kind::Tinyint,
        "smallint" => Kind::Smallint,
        "time" => Kind::Time,
        "date" => Kind::Date,
        _ => return None,
    })
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Text => "text",
            Self::Bigint => "bigint",
            Self::Counter => "counter",
            Self::Blob | Self::HexBlob => "blob",
            Self::Boolean => "boolean",
            Self::Decimal => "decimal",
            Self::Double => "double",
            Self::Float => "float",
            Self::Inet => "inet",
            Self::Int => "int",
            Self::Varint => "varint",
            Self::Timestamp => "timestamp",
            Self::Uuid => "uuid",
            Self::Timeuuid => "timeuuid",
            Self::Tinyint => "tinyint",
            Self::Smallint => "smallint",
            Self::Time => "time",
            Self::Date => "date",
            Self::Set(element) => return write!(formatter, "set<{element}>"),
            Self::List(element) => return write!(formatter, "list<{element}>"),
        };
        formatter.write_str(name)
    }
}
