//! read, write, mixed, counter_write and counter_read on the predefined tables.

pub mod cells;
mod source;

use std::sync::Arc;

use tare_cql::{Consistency, Statement};
use tare_draw::stress::{
    salt, Column, ColumnSpec, Contents, Distribution, Kind as Type, Ratio, Shape, PREDEFINED,
};
use tare_draw::Error;
use tare_engine::workload::{Seat, StatementText, Workload};

use super::Shared;
use crate::settings::column::Columns;
use crate::settings::command::Kind;
use source::PredefinedSource;

/// Rows of a page, as the tool's driver asks for them.
pub const PAGE_SIZE: i32 = 5_000;

/// What every worker needs to make the operations.
#[derive(Debug, Clone)]
pub struct Predefined {
    pub shared: Arc<Shared>,
    /// The operations and their ratios.
    pub ratios: Vec<(Kind, f64)>,
    pub clustering: Option<Distribution>,
    pub columns: Columns,
    pub add: Distribution,
    pub row_share: Ratio,
    pub consistency: Consistency,
    pub serial: Consistency,
    pub shape: Shape,
    /// Compare what is read with what was written.
    pub validate: bool,
    pub seed: u64,
}

/// The table of keys of this size and the columns of `-col`.
pub fn shape(columns: &Columns, key_size: u32, contents: Contents) -> Result<Shape, Error> {
    let sized = |size: Distribution| ColumnSpec {
        size: Some(size),
        ..ColumnSpec::default()
    };
    let key_size = sized(Distribution::Fixed {
        value: i64::from(key_size),
    });
    let key = Column::new("key", Type::HexBlob, salt(PREDEFINED, "key"), &key_size)?;
    let size = sized(columns.size.distribution.clone());
    let values = columns
        .names
        .iter()
        .map(|name| Column::new(name, Type::Blob, salt(PREDEFINED, name), &size));
    let values = values.collect::<Result<_, _>>()?;
    Ok(Shape::new(vec![key], Vec::new(), values, contents))
}

/// The statement of an operation, word for word as the tool prepares it.
pub fn cql(kind: Kind, columns: &Columns) -> String {
    let names = |part: fn(&str) -> String| {
        let parts: Vec<String> = columns.names.iter().map(|name| part(name)).collect();
        parts.join(",")
    };
    match kind {
        Kind::Write => {
            let timestamp = columns.timestamp.map(|t| format!(" USING TIMESTAMP {t}"));
            let sets = names(|name| format!("\"{name}\" = ?"));
            let timestamp = timestamp.unwrap_or_default();
            format!("UPDATE \"standard1\"{timestamp} SET {sets} WHERE KEY=?")
        }
        Kind::CounterWrite => {
            let sets = names(|name| format!("\"{name}\"=\"{name}\"+?"));
            format!("UPDATE counter1 SET {sets} WHERE KEY=?")
        }
        Kind::CounterRead => "SELECT * FROM \"counter1\" WHERE KEY=?".to_owned(),
        _ if columns.slice => "SELECT * FROM \"standard1\" WHERE KEY=?".to_owned(),
        _ => {
            let names = names(|name| format!("\"{name}\""));
            format!("SELECT {names} FROM \"standard1\" WHERE KEY=?")
        }
    }
}

impl Workload for Predefined {
    type Source = PredefinedSource;

    fn statements(&self) -> Vec<StatementText> {
        let text = |(kind, _): &(Kind, f64)| StatementText {
            serial: Some(self.serial),
            page_size: Some(PAGE_SIZE),
            ..StatementText::new(cql(*kind, &self.columns), self.consistency)
        };
        self.ratios.iter().map(text).collect()
    }

    fn operations(&self) -> Vec<String> {
        self.ratios
            .iter()
            .map(|(kind, _)| kind.operation())
            .collect()
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> PredefinedSource {
        PredefinedSource::new(self.clone(), &seat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_the_tools() {
        let columns = Columns::read(None).unwrap();
        assert_eq!(
            cql(Kind::Write, &columns),
            "UPDATE \"standard1\" SET \"C0\" = ?,\"C1\" = ?,\"C2\" = ?,\"C3\" = ?,\"C4\" = ? \
             WHERE KEY=?"
        );
        assert_eq!(
            cql(Kind::Read, &columns),
            "SELECT \"C0\",\"C1\",\"C2\",\"C3\",\"C4\" FROM \"standard1\" WHERE KEY=?"
        );
        let two = ["n=FIXED(2)".to_owned(), "timestamp=5".to_owned()];
        let columns = Columns::read(Some(&two)).unwrap();
        assert_eq!(
            cql(Kind::CounterWrite, &columns),
            "UPDATE counter1 SET \"C0\"=\"C0\"+?,\"C1\"=\"C1\"+? WHERE KEY=?"
        );
        assert!(cql(Kind::Write, &columns).contains("USING TIMESTAMP 5 SET"));
    }
}
