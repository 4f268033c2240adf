//! The parts of a profile, each checked as it is read.

use std::collections::BTreeMap;

use super::yaml::Node;
use super::{ColumnDraws, Fields, InsertPlan, Query, RangeQuery};
use crate::grammar::Usage;
use crate::settings::forms::{Draw, Share};
use crate::settings::insert::batch_kind;
use tare_engine::nearest::hint;

const COLUMN_KEYS: [&str; 4] = ["name", "size", "population", "cluster"];
const INSERT_KEYS: [&str; 4] = ["partitions", "select", "row-population", "batchtype"];
const QUERY_KEYS: [&str; 2] = ["cql", "fields"];
const RANGE_KEYS: [&str; 2] = ["columns", "page_size"];

/// The pairs of a map; keys that are not among `known` are refused with the nearest one.
pub fn map<'a>(
    node: &'a Node,
    place: &str,
    known: Option<&[&str]>,
) -> Result<BTreeMap<String, &'a Node>, Usage> {
    let Node::Map(pairs) = node else {
        return Err(Usage(format!("{place} must be a map of names and values")));
    };
    let mut found = BTreeMap::new();
    for (key, node) in pairs {
        let key = if known.is_some() {
            key.to_lowercase()
        } else {
            key.clone()
        };
        if let Some(known) = known.filter(|known| !known.contains(&key.as_str())) {
            let hint = hint(&key, known.iter().copied());
            return Err(Usage(format!(
                "Unrecognised option {key:.60} in {place}{hint}"
            )));
        }
        found.insert(key, node);
    }
    Ok(found)
}

pub fn scalar(node: &Node, place: &str) -> Result<String, Usage> {
    match node {
        Node::Text(text) => Ok(text.clone()),
        _ => Err(Usage(format!("{place} must be a text"))),
    }
}

/// The name of a keyspace or table: a CQL identifier, with or without quotes.
pub fn name(node: Option<&Node>, place: &str) -> Result<String, Usage> {
    let Some(node) = node else {
        return Err(Usage(format!("{place} name is required in yaml file")));
    };
    let text = scalar(node, place)?;
    let bare = text.trim_matches('"');
    let fits = bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if bare.is_empty() || bare.len() > 222 || !fits {
        return Err(Usage(format!(
            "{place}: {text:.60} must be letters, digits and _"
        )));
    }
    Ok(bare.to_owned())
}

pub fn texts(node: Option<&Node>, place: &str) -> Result<Vec<String>, Usage> {
    match node {
        None => Ok(Vec::new()),
        Some(Node::List(items)) => items.iter().map(|item| scalar(item, place)).collect(),
        Some(_) => Err(Usage(format!("{place} must be a list of CQL texts"))),
    }
}

fn draw(node: Option<&&Node>, place: &str) -> Result<Option<Draw>, Usage> {
    let parse = |text: String| Draw::parse(&text).map_err(|e| Usage(format!("{place}: {}", e.0)));
    node.map(|node| scalar(node, place).and_then(parse))
        .transpose()
}

fn share(node: Option<&&Node>, place: &str) -> Result<Option<Share>, Usage> {
    let parse = |text: String| Share::parse(&text).map_err(|e| Usage(format!("{place}: {}", e.0)));
    node.map(|node| scalar(node, place).and_then(parse))
        .transpose()
}

pub fn columns(node: Option<&Node>) -> Result<BTreeMap<String, ColumnDraws>, Usage> {
    let mut columns = BTreeMap::new();
    let items = match node {
        None => return Ok(columns),
        Some(Node::List(items)) => items,
        Some(_) => return Err(Usage::new("columnspec must be a list")),
    };
    for item in items {
        let spec = map(item, "columnspec", Some(&COLUMN_KEYS))?;
        let Some(name) = spec.get("name") else {
            return Err(Usage::new("Missing name argument in column spec"));
        };
        let name = scalar(name, "columnspec: name")?;
        let place = |key: &str| format!("columnspec of {name:.60}: {key}");
        let draws = ColumnDraws {
            size: draw(spec.get("size"), &place("size"))?,
            population: draw(spec.get("population"), &place("population"))?,
            cluster: draw(spec.get("cluster"), &place("cluster"))?,
        };
        columns.insert(name, draws);
    }
    Ok(columns)
}

pub fn insert(node: Option<&Node>) -> Result<InsertPlan, Usage> {
    let Some(node) = node else {
        return Ok(InsertPlan::default());
    };
    let plan = map(node, "insert", Some(&INSERT_KEYS))?;
    let batch = plan
        .get("batchtype")
        .map(|node| scalar(node, "insert: batchtype"))
        .transpose()?;
    let batch = batch.map(|text| {
        batch_kind(&text).ok_or_else(|| {
            Usage(format!(
                "insert: batchtype {text:.60} must be LOGGED, UNLOGGED or COUNTER"
            ))
        })
    });
    Ok(InsertPlan {
        partitions: draw(plan.get("partitions"), "insert: partitions")?,
        select: share(plan.get("select"), "insert: select")?,
        row_population: share(plan.get("row-population"), "insert: row-population")?,
        batch: batch.transpose()?,
    })
}

pub fn queries(node: Option<&Node>) -> Result<Vec<Query>, Usage> {
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (name, node) in map(node, "queries", None)? {
        let place = format!("query {name:.60}");
        let query = map(node, &place, Some(&QUERY_KEYS))?;
        let Some(cql) = query.get("cql") else {
            return Err(Usage(format!("{place}: cql is missing")));
        };
        let fields = query
            .get("fields")
            .map(|node| scalar(node, &place))
            .transpose()?;
        let fields = match fields.map(|text| text.to_lowercase()).as_deref() {
            None | Some("multirow") => Fields::MultiRow,
            Some("samerow") => Fields::SameRow,
            Some(other) => {
                return Err(Usage(format!(
                    "{place}: fields {other:.60} must be samerow or multirow"
                )));
            }
        };
        found.push(Query {
            name: name.to_lowercase(),
            cql: scalar(cql, &place)?,
            fields,
        });
    }
    Ok(found)
}

pub fn range_queries(node: Option<&Node>) -> Result<Vec<RangeQuery>, Usage> {
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (name, node) in map(node, "token_range_queries", None)? {
        let place = format!("token range query {name:.60}");
        let query = map(node, &place, Some(&RANGE_KEYS))?;
        let columns = query
            .get("columns")
            .map(|node| scalar(node, &place))
            .transpose()?;
        let size = query
            .get("page_size")
            .map(|node| scalar(node, &place))
            .transpose()?;
        let size = size
            .map_or(Some(5000), |text| text.parse().ok())
            .filter(|&size| size > 0);
        found.push(RangeQuery {
            columns: columns
                .ok_or_else(|| Usage(format!("{place}: columns is missing; use '*' for all")))?,
            page_size: size
                .ok_or_else(|| Usage(format!("{place}: page_size must be a number above 0")))?,
            name,
        });
    }
    Ok(found)
}
