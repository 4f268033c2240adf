//! Rows of a control query, decoded: cells with accessors for the few types that are needed.
use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::column::Column;
use crate::error::Error;
use crate::reply::Rows;
use crate::wire::Reader;

/// The rows of a result with their columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub cells: Vec<Vec<Option<Vec<u8>>>>,
}

/// One row of a [`Table`]. Accessors give `None` for a null, a missing column, or a value that is
/// not of the type asked for.
#[derive(Debug, Clone, Copy)]
pub struct TableRow<'a> {
    columns: &'a [Column],
    cells: &'a [Option<Vec<u8>>],
}

impl Table {
    pub(super) fn add(&mut self, rows: &Rows<'_>) -> Result<(), Error> {
        if let Some(columns) = rows.columns()? {
            self.columns = columns;
        }
        for row in rows {
            self.cells
                .push(row?.cells().map(|cell| cell.map(<[u8]>::to_vec)).collect());
        }
        Ok(())
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = TableRow<'_>> {
        self.cells.iter().map(|cells| TableRow {
            columns: &self.columns,
            cells,
        })
    }
}

impl<'a> TableRow<'a> {
    /// The bytes of a column.
    pub fn bytes(&self, column: &str) -> Option<&'a [u8]> {
        let at = self.columns.iter().position(|known| known.name == column)?;
        self.cells.get(at)?.as_deref()
    }

    /// A text.
    pub fn text(&self, column: &str) -> Option<String> {
        String::from_utf8(self.bytes(column)?.to_vec()).ok()
    }

    /// An int.
    pub fn int(&self, column: &str) -> Option<i32> {
        Some(i32::from_be_bytes(self.bytes(column)?.try_into().ok()?))
    }

    /// A bigint, counter, or timestamp in milliseconds.
    pub fn bigint(&self, column: &str) -> Option<i64> {
        Some(i64::from_be_bytes(self.bytes(column)?.try_into().ok()?))
    }

    /// A boolean.
    pub fn boolean(&self, column: &str) -> Option<bool> {
        Some(*self.bytes(column)?.first()? != 0)
    }

    /// An inet.
    pub fn address(&self, column: &str) -> Option<IpAddr> {
        let bytes = self.bytes(column)?;
        match <[u8; 4]>::try_from(bytes) {
            Ok(four) => Some(IpAddr::from(four)),
            Err(_) => Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        }
    }

    /// A set or list of texts; empty when null.
    pub fn texts(&self, column: &str) -> Vec<String> {
        self.bytes(column)
            .and_then(|bytes| texts(bytes, 1))
            .unwrap_or_default()
    }

    /// A map of texts to texts; empty when null.
    pub fn text_map(&self, column: &str) -> BTreeMap<String, String> {
        let flat = self
            .bytes(column)
            .and_then(|bytes| texts(bytes, 2))
            .unwrap_or_default();
        flat.chunks_exact(2)
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect()
    }
}

/// The elements of a collection of texts (v4 sections 6.13 and 6.20).
fn texts(bytes: &[u8], each: usize) -> Option<Vec<String>> {
    let mut reader = Reader::new(bytes);
    let mut found = Vec::new();
    for _ in 0..reader.count("elements").ok()?.checked_mul(each)? {
        let text = reader.bytes().ok()??;
        found.push(std::str::from_utf8(text).ok()?.to_owned());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::ColumnType;
    use crate::wire::{put_bytes, put_int};

    fn table(cell: Vec<u8>) -> Table {
        let kind = ColumnType::Blob;
        Table {
            columns: vec![Column {
                name: "c".into(),
                kind,
            }],
            cells: vec![vec![Some(cell)]],
        }
    }

    #[test]
    fn cells_are_read_by_name_and_type() {
        let address = table(vec![127, 0, 0, 1]);
        let row = address.rows().next().unwrap();
        assert_eq!(row.address("c"), Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(row.int("c"), Some(0x7F00_0001));
        assert_eq!(row.bigint("c"), None);
        assert_eq!(row.text("d"), None);
    }

    #[test]
    fn a_map_of_texts_is_read_and_a_damaged_one_is_empty() {
        let mut map = Vec::new();
        put_int(&mut map, 1);
        put_bytes(&mut map, b"class").unwrap();
        put_bytes(&mut map, b"SimpleStrategy").unwrap();
        let whole = table(map.clone());
        let read = whole.rows().next().unwrap().text_map("c");
        assert_eq!(read["class"], "SimpleStrategy");
        map.pop();
        assert!(table(map).rows().next().unwrap().text_map("c").is_empty());
        assert!(table(vec![0x7F, 0xFF, 0xFF, 0xFF])
            .rows()
            .next()
            .unwrap()
            .texts("c")
            .is_empty());
    }
}
