//! The columns and the primary key of a CREATE TABLE statement.

use crate::cql::catalogue::{Column, Role, Table};
use crate::cql::kind::Kind;
use crate::cql::words::Word;

/// The words after CREATE TABLE: `ks.name (column type [PRIMARY KEY], ..., PRIMARY KEY (...))`.
pub fn parse_table(rest: &[&Word], current: Option<&str>) -> Result<Table, String> {
    let open = rest
        .iter()
        .position(|word| word.sign('('))
        .ok_or("CREATE TABLE has no columns")?;
    let (keyspace, name) = match &rest[..open] {
        [Word::Name(keyspace), Word::Sign('.'), Word::Name(name)] => {
            (keyspace.clone(), name.clone())
        }
        [Word::Name(name)] => (
            current.ok_or("no keyspace is in use")?.to_owned(),
            name.clone(),
        ),
        _ => return Err("CREATE TABLE names no table".into()),
    };
    let mut table = Table {
        keyspace,
        name,
        columns: Vec::new(),
        value_bytes: None,
    };
    for part in parts(&rest[open + 1..]) {
        if part.first().is_some_and(|word| word.is("primary")) {
            set_key(&mut table, &part[2..])?;
        } else {
            table.columns.push(parse_column(&part)?);
        }
    }
    if !table
        .columns
        .iter()
        .any(|column| column.role == Role::Partition(0))
    {
        return Err(format!("table {} has no primary key", table.name));
    }
    Ok(table)
}

/// The parts between commas, up to the parenthesis that closes the list.
fn parts<'a>(list: &[&'a Word]) -> Vec<Vec<&'a Word>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0_i32;
    for word in list {
        match word {
            Word::Sign('(' | '<') => depth += 1,
            Word::Sign(')') if depth == 0 => break,
            Word::Sign(')' | '>') => depth -= 1,
            Word::Sign(',') if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(*word);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn parse_column(part: &[&Word]) -> Result<Column, String> {
    let Some(Word::Name(name)) = part.first() else {
        return Err("a column has no name".into());
    };
    let end = part
        .iter()
        .position(|word| word.is("primary") || word.is("static"));
    let key = part.iter().any(|word| word.is("primary"));
    let text: String = part[1..end.unwrap_or(part.len())]
        .iter()
        .map(|word| spelt(word))
        .collect();
    let kind = Kind::parse(&text).ok_or_else(|| format!("type {text} is not understood"))?;
    let role = if key {
        Role::Partition(0)
    } else {
        Role::Regular
    };
    Ok(Column {
        name: name.clone(),
        kind,
        role,
    })
}

fn spelt(word: &Word) -> String {
    match word {
        Word::Name(name) => name.clone(),
        Word::Sign(sign) => sign.to_string(),
        _ => String::new(),
    }
}

/// `(a, b)` or `((a, b), c)`: the columns of the primary key.
fn set_key(table: &mut Table, words: &[&Word]) -> Result<(), String> {
    let names = |part: &[&Word]| -> Vec<String> {
        part.iter()
            .filter_map(|word| match word {
                Word::Name(name) => Some(name.clone()),
                _ => None,
            })
            .collect()
    };
    let mut key = parts(words.get(1..).unwrap_or_default()).into_iter();
    let partition = names(&key.next().unwrap_or_default());
    let clustering = key.flat_map(|part| names(&part));
    let roles = (0..).map(Role::Partition).zip(partition);
    for (role, name) in roles.chain((0..).map(Role::Clustering).zip(clustering)) {
        let column = table.columns.iter_mut().find(|column| column.name == name);
        column
            .ok_or_else(|| format!("the key's column {name} is not declared"))?
            .role = role;
    }
    Ok(())
}
