//! What a CQL statement asks: its verb, its table, what it selects, and the column of each marker.

use crate::cql::words::{words, Word};

/// The first word of a statement, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Select,
    /// INSERT, UPDATE, DELETE, BATCH.
    Write,
    Use,
    Create,
    /// TRUNCATE, DROP, ALTER and everything else: done without doing anything.
    Other,
}

/// One item of a SELECT's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Column(String),
    Count,
}

/// A condition `column = value`, `column IN (values)`, by the values' words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub column: String,
    pub values: Vec<Word>,
}

/// A statement, taken apart.
#[derive(Debug, Clone)]
pub struct Statement {
    pub verb: Verb,
    pub keyspace: Option<String>,
    pub table: String,
    /// None: all columns.
    pub items: Option<Vec<Item>>,
    pub conditions: Vec<Condition>,
    pub(crate) words: Vec<Word>,
}

impl Statement {
    pub fn parse(cql: &str) -> Statement {
        let words = words(cql);
        let starts = |keyword: &str| words.first().is_some_and(|word| word.is(keyword));
        let verb = match () {
            () if starts("select") => Verb::Select,
            () if ["insert", "update", "delete", "begin"]
                .into_iter()
                .any(starts) =>
            {
                Verb::Write
            }
            () if starts("use") => Verb::Use,
            () if starts("create") => Verb::Create,
            () => Verb::Other,
        };
        let after = if starts("update") || starts("use") || starts("truncate") {
            Some(1 + usize::from(words.get(1).is_some_and(|word| word.is("table"))))
        } else {
            let before = words
                .iter()
                .position(|word| word.is("from") || word.is("into"));
            before.map(|place| place + 1)
        };
        let (keyspace, table) = table_at(&words, after);
        let items = if verb == Verb::Select {
            items(&words)
        } else {
            None
        };
        let conditions = conditions(&words);
        Statement {
            verb,
            keyspace,
            table,
            items,
            conditions,
            words,
        }
    }
}

fn table_at(words: &[Word], after: Option<usize>) -> (Option<String>, String) {
    let rest = after
        .and_then(|place| words.get(place..))
        .unwrap_or_default();
    match rest {
        [Word::Name(keyspace), Word::Sign('.'), Word::Name(table), ..] => {
            (Some(keyspace.clone()), table.clone())
        }
        [Word::Name(table), ..] => (None, table.clone()),
        _ => (None, String::new()),
    }
}

fn items(words: &[Word]) -> Option<Vec<Item>> {
    let from = words.iter().position(|word| word.is("from"))?;
    let list = words.get(1..from)?;
    let mut items = Vec::new();
    for part in list.split(|word| word.sign(',')) {
        match part {
            [Word::Sign('*')] => return None,
            [Word::Name(count), Word::Sign('('), ..] if count == "count" => items.push(Item::Count),
            [.., Word::Sign('('), Word::Name(name), Word::Sign(')')] => {
                items.push(Item::Column(name.clone()))
            }
            [Word::Name(distinct), Word::Name(name)] if distinct == "distinct" => {
                items.push(Item::Column(name.clone()));
            }
            [Word::Name(name), ..] => items.push(Item::Column(name.clone())),
            _ => {}
        }
    }
    Some(items)
}

fn conditions(words: &[Word]) -> Vec<Condition> {
    let Some(place) = words.iter().position(|word| word.is("where")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for part in
        words[place + 1..].split(|word| word.is("and") || word.is("limit") || word.is("allow"))
    {
        let (column, values) = match part {
            [Word::Name(column), Word::Sign('='), value] => (column, vec![value.clone()]),
            [Word::Name(column), Word::Name(within), values @ ..] if within == "in" => {
                let values = values.iter().filter(|word| !matches!(word, Word::Sign(_)));
                (column, values.cloned().collect())
            }
            _ => continue,
        };
        found.push(Condition {
            column: column.clone(),
            values,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_conditions_are_read() {
        let statement =
            Statement::parse("SELECT a, count(*), \"B\" FROM k.t WHERE x = 'y' AND z IN (1, 2)");
        let items = [
            Item::Column("a".into()),
            Item::Count,
            Item::Column("B".into()),
        ];
        assert_eq!(statement.items, Some(items.to_vec()));
        let conditions: Vec<_> = statement
            .conditions
            .iter()
            .map(|c| (c.column.as_str(), c.values.len()))
            .collect();
        assert_eq!(conditions, [("x", 1), ("z", 2)]);
    }

    #[test]
    fn the_table_is_found_after_every_verb() {
        for (cql, verb) in [
            ("select * from k.t", Verb::Select),
            ("UPDATE k.t SET a = 1 WHERE b = 2", Verb::Write),
            ("DELETE FROM k.t WHERE b = 2", Verb::Write),
            ("TRUNCATE TABLE k.t", Verb::Other),
        ] {
            let statement = Statement::parse(cql);
            assert_eq!(
                (statement.verb, statement.keyspace.as_deref()),
                (verb, Some("k")),
                "{cql}"
            );
            assert_eq!(statement.table, "t", "{cql}");
        }
    }
}
