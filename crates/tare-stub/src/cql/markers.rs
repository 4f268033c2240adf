//! The bind markers of a statement: the column that each is about, its type, its part of the key.

use crate::cql::catalogue::{Role, Table};
use crate::cql::kind::Kind;
use crate::cql::statement::Statement;
use crate::cql::words::Word;

/// A bind marker of a prepared statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub name: String,
    pub kind: Kind,
    /// Set if the marker gives this part of the partition key.
    pub partition: Option<u16>,
}

impl Statement {
    /// The bind markers in order, typed by the table that the statement is about.
    pub fn markers(&self, table: &Table) -> Vec<Marker> {
        let inserted = self.inserted();
        let mut nth = 0;
        let mut found = Vec::new();
        for (place, word) in self.words.iter().enumerate() {
            let within = inserted.as_ref().filter(|(values, _)| place > *values);
            let column = match within {
                Some((_, columns)) if place < self.closing() => columns.get(nth).cloned(),
                _ => self.column_before(place, table),
            };
            if within.is_some() && place < self.closing() && word.sign(',') {
                nth += 1;
            }
            if let Word::Marker(name) = word {
                found.push(self.marker(place, name.as_deref(), column, table));
            }
        }
        found
    }

    fn marker(
        &self,
        place: usize,
        name: Option<&str>,
        column: Option<String>,
        table: &Table,
    ) -> Marker {
        let before = |keyword| place > 0 && self.words[place - 1].is(keyword);
        let special = [
            ("limit", Kind::INT),
            ("ttl", Kind::INT),
            ("timestamp", Kind::BIGINT),
        ];
        if let Some((keyword, kind)) = special.into_iter().find(|(keyword, _)| before(keyword)) {
            return Marker {
                name: format!("[{keyword}]"),
                kind,
                partition: None,
            };
        }
        let column = column.and_then(|column| table.column(&column));
        let said = |column: &str| name.unwrap_or(column).to_owned();
        match column {
            None => Marker {
                name: said("value"),
                kind: Kind::BLOB,
                partition: None,
            },
            Some(column) if before("in") => {
                let kind = Kind::List(Box::new(column.kind.clone()));
                Marker {
                    name: format!("in({})", said(&column.name)),
                    kind,
                    partition: None,
                }
            }
            Some(column) => {
                let equal =
                    self.inserted().is_some() || (place > 0 && self.words[place - 1].sign('='));
                let partition = match column.role {
                    Role::Partition(part) if equal => Some(part),
                    _ => None,
                };
                Marker {
                    name: said(&column.name),
                    kind: column.kind.clone(),
                    partition,
                }
            }
        }
    }

    /// Of INSERT: the place of VALUES and the columns that are named before it.
    fn inserted(&self) -> Option<(usize, Vec<String>)> {
        if !self.words.first().is_some_and(|word| word.is("insert")) {
            return None;
        }
        let values = self.words.iter().position(|word| word.is("values"))?;
        let open = self.words.iter().position(|word| word.sign('('))?;
        let names = self
            .words
            .get(open..values)?
            .iter()
            .filter_map(|word| match word {
                Word::Name(name) => Some(name.clone()),
                _ => None,
            });
        Some((values, names.collect()))
    }

    /// Of INSERT: the place of the parenthesis that closes VALUES.
    fn closing(&self) -> usize {
        let values = self
            .words
            .iter()
            .position(|word| word.is("values"))
            .unwrap_or(0);
        let closing = self
            .words
            .iter()
            .skip(values)
            .position(|word| word.sign(')'));
        closing.map_or(self.words.len(), |place| values + place)
    }

    /// The nearest column of the table that is named before a place.
    fn column_before(&self, place: usize, table: &Table) -> Option<String> {
        self.words[..place]
            .iter()
            .rev()
            .find_map(|word| match word {
                Word::Name(name) if table.column(name).is_some() => Some(name.clone()),
                _ => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cql::catalogue::Catalogue;

    fn markers(cql: &str) -> Vec<(String, Option<u16>)> {
        let statement = Statement::parse(cql);
        let catalogue = Catalogue::default();
        let keyspace = statement.keyspace.as_deref().expect("named");
        let table = catalogue.table(keyspace, &statement.table).expect("known");
        let markers = statement.markers(table).into_iter();
        markers
            .map(|marker| (marker.name, marker.partition))
            .collect()
    }

    fn named(name: &str, partition: Option<u16>) -> (String, Option<u16>) {
        (name.into(), partition)
    }

    #[test]
    fn an_insert_binds_its_columns_in_order() {
        let cql = "INSERT INTO ycsb.usertable (field1, y_id, field0) VALUES (?, ?, ?) USING TTL ?";
        let expected = [
            named("field1", None),
            named("y_id", Some(0)),
            named("field0", None),
            named("[ttl]", None),
        ];
        assert_eq!(markers(cql), expected);
    }

    #[test]
    fn an_update_binds_what_it_sets_and_its_key() {
        let cql = "UPDATE keyspace1.counter1 SET \"C1\" = \"C1\" + ?, \"C0\"=? WHERE KEY=?";
        assert_eq!(
            markers(cql),
            [named("C1", None), named("C0", None), named("key", Some(0))]
        );
    }

    #[test]
    fn a_scan_binds_no_partition_key() {
        let cql = "SELECT * FROM ycsb.usertable WHERE token(y_id) >= token(?) LIMIT ?";
        assert_eq!(markers(cql), [named("y_id", None), named("[limit]", None)]);
    }
}
