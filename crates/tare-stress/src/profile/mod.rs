//! User profiles: a YAML file that says which table, which columns, which queries.

pub mod yaml;

use std::collections::BTreeMap;
use std::fs;

use tare_cql::BatchKind;

use crate::grammar::nearest::hint;
use crate::grammar::Usage;
use crate::settings::forms::{Draw, Share};
use crate::settings::insert::batch_kind;
use yaml::Node;

/// A file that is longer is no profile.
const LONGEST: u64 = 1 << 20;
const KEYS: [&str; 9] = [
    "keyspace",
    "keyspace_definition",
    "table",
    "table_definition",
    "extra_definitions",
    "columnspec",
    "insert",
    "queries",
    "token_range_queries",
];
const COLUMN_KEYS: [&str; 4] = ["name", "size", "population", "cluster"];
const INSERT_KEYS: [&str; 4] = ["partitions", "select", "row-population", "batchtype"];
const QUERY_KEYS: [&str; 2] = ["cql", "fields"];
const RANGE_KEYS: [&str; 2] = ["columns", "page_size"];

/// How a column's values are drawn, as far as the profile says it.
#[derive(Debug, Clone, Default)]
pub struct ColumnDraws {
    pub size: Option<Draw>,
    pub population: Option<Draw>,
    pub cluster: Option<Draw>,
}

/// How rows are inserted.
#[derive(Debug, Clone, Default)]
pub struct InsertPlan {
    pub partitions: Option<Draw>,
    pub select: Option<Share>,
    pub row_population: Option<Share>,
    pub batch: Option<BatchKind>,
}

/// Where the arguments of a query come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    SameRow,
    MultiRow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Lower case, as it is looked up.
    pub name: String,
    pub cql: String,
    pub fields: Fields,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeQuery {
    pub name: String,
    pub columns: String,
    pub page_size: i32,
}

#[derive(Debug, Clone)]
pub struct Profile {
    pub path: String,
    pub keyspace: String,
    pub keyspace_definition: Option<String>,
    pub table: String,
    pub table_definition: Option<String>,
    pub extra_definitions: Vec<String>,
    pub columns: BTreeMap<String, ColumnDraws>,
    pub insert: InsertPlan,
    pub queries: Vec<Query>,
    pub range_queries: Vec<RangeQuery>,
}

impl Profile {
    /// Reads a profile from a file.
    pub fn load(path: &str) -> Result<Profile, Usage> {
        let failed = |why: String| Usage(format!("profile={path}: {why}"));
        let scheme = ["http:", "https:", "ftp:"].iter().any(|scheme| path.starts_with(scheme));
        if scheme {
            return Err(failed("profiles are read from files; fetch it first".to_owned()));
        }
        let plain = path.strip_prefix("file://").or(path.strip_prefix("file:")).unwrap_or(path);
        let size = fs::metadata(plain).map_err(|e| failed(e.to_string()))?.len();
        if size > LONGEST {
            return Err(failed(format!("{size} bytes; a profile has at most 1 MiB")));
        }
        let text = fs::read_to_string(plain).map_err(|e| failed(e.to_string()))?;
        Profile::read(path, &text).map_err(|error| failed(error.0))
    }

    /// Reads a profile from its text.
    pub fn read(path: &str, text: &str) -> Result<Profile, Usage> {
        let root = yaml::read(text).map_err(|e| Usage(e.to_string()))?;
        let mut keys = map(&root, "the profile", Some(&KEYS))?;
        let mut take = |key: &str| keys.remove(key).filter(|node| **node != Node::Null);
        let keyspace = name(take("keyspace"), "keyspace")?;
        let table = name(take("table"), "table")?;
        let definition = |node: Option<&Node>, key| node.map(|n| said(n, key)).transpose();
        let profile = Profile {
            path: path.to_owned(),
            keyspace_definition: definition(take("keyspace_definition"), "keyspace_definition")?,
            table_definition: definition(take("table_definition"), "table_definition")?,
            extra_definitions: texts(take("extra_definitions"), "extra_definitions")?,
            columns: columns(take("columnspec"))?,
            insert: insert(take("insert"))?,
            queries: queries(take("queries"))?,
            range_queries: range_queries(take("token_range_queries"))?,
            keyspace,
            table,
        };
        let twice = profile.queries.iter().find(|query| {
            profile.range_queries.iter().any(|other| other.name.eq_ignore_ascii_case(&query.name))
        });
        match twice {
            Some(query) => Err(Usage(format!(
                "Found {} in both queries and token_range_queries, please use different names",
                query.name
            ))),
            None => Ok(profile),
        }
    }

    /// Names that `ops(...)` may call.
    pub fn operations(&self) -> Vec<&str> {
        let queries = self.queries.iter().map(|query| query.name.as_str());
        let ranges = self.range_queries.iter().map(|query| query.name.as_str());
        queries.chain(ranges).chain(["insert", "validate"]).collect()
    }
}

/// The pairs of a map; keys that are not among `known` are refused with the nearest one.
fn map<'a>(
    node: &'a Node,
    place: &str,
    known: Option<&[&str]>,
) -> Result<BTreeMap<String, &'a Node>, Usage> {
    let Node::Map(pairs) = node else {
        return Err(Usage(format!("{place} must be a map of names and values")));
    };
    let mut found = BTreeMap::new();
    for (key, node) in pairs {
        let key = if known.is_some() { key.to_lowercase() } else { key.clone() };
        if let Some(known) = known.filter(|known| !known.contains(&key.as_str())) {
            let hint = hint(&key, known.iter().copied());
            return Err(Usage(format!("Unrecognised option {key:.60} in {place}{hint}")));
        }
        found.insert(key, node);
    }
    Ok(found)
}

fn said(node: &Node, place: &str) -> Result<String, Usage> {
    match node {
        Node::Text(text) => Ok(text.clone()),
        _ => Err(Usage(format!("{place} must be a text"))),
    }
}

/// The name of a keyspace or table: a CQL identifier, with or without quotes.
fn name(node: Option<&Node>, place: &str) -> Result<String, Usage> {
    let Some(node) = node else {
        return Err(Usage(format!("{place} name is required in yaml file")));
    };
    let text = said(node, place)?;
    let bare = text.trim_matches('"');
    let fits = bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if bare.is_empty() || bare.len() > 222 || !fits {
        return Err(Usage(format!("{place}: {text:.60} must be letters, digits and _")));
    }
    Ok(bare.to_owned())
}

fn texts(node: Option<&Node>, place: &str) -> Result<Vec<String>, Usage> {
    match node {
        None => Ok(Vec::new()),
        Some(Node::List(items)) => items.iter().map(|item| said(item, place)).collect(),
        Some(_) => Err(Usage(format!("{place} must be a list of CQL texts"))),
    }
}

fn draw(node: Option<&&Node>, place: &str) -> Result<Option<Draw>, Usage> {
    let parse = |text: String| Draw::parse(&text).map_err(|e| Usage(format!("{place}: {}", e.0)));
    node.map(|node| said(node, place).and_then(parse)).transpose()
}

fn share(node: Option<&&Node>, place: &str) -> Result<Option<Share>, Usage> {
    let parse = |text: String| Share::parse(&text).map_err(|e| Usage(format!("{place}: {}", e.0)));
    node.map(|node| said(node, place).and_then(parse)).transpose()
}

fn columns(node: Option<&Node>) -> Result<BTreeMap<String, ColumnDraws>, Usage> {
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
        let name = said(name, "columnspec: name")?;
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

fn insert(node: Option<&Node>) -> Result<InsertPlan, Usage> {
    let Some(node) = node else {
        return Ok(InsertPlan::default());
    };
    let plan = map(node, "insert", Some(&INSERT_KEYS))?;
    let batch = plan.get("batchtype").map(|node| said(node, "insert: batchtype")).transpose()?;
    let batch = batch.map(|text| {
        batch_kind(&text).ok_or_else(|| {
            Usage(format!("insert: batchtype {text:.60} must be LOGGED, UNLOGGED or COUNTER"))
        })
    });
    Ok(InsertPlan {
        partitions: draw(plan.get("partitions"), "insert: partitions")?,
        select: share(plan.get("select"), "insert: select")?,
        row_population: share(plan.get("row-population"), "insert: row-population")?,
        batch: batch.transpose()?,
    })
}

fn queries(node: Option<&Node>) -> Result<Vec<Query>, Usage> {
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
        let fields = query.get("fields").map(|node| said(node, &place)).transpose()?;
        let fields = match fields.map(|text| text.to_lowercase()).as_deref() {
            None | Some("multirow") => Fields::MultiRow,
            Some("samerow") => Fields::SameRow,
            Some(other) => {
                return Err(Usage(format!("{place}: fields {other:.60} must be samerow or multirow")));
            }
        };
        found.push(Query {
            name: name.to_lowercase(),
            cql: said(cql, &place)?,
            fields,
        });
    }
    Ok(found)
}

fn range_queries(node: Option<&Node>) -> Result<Vec<RangeQuery>, Usage> {
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (name, node) in map(node, "token_range_queries", None)? {
        let place = format!("token range query {name:.60}");
        let query = map(node, &place, Some(&RANGE_KEYS))?;
        let columns = query.get("columns").map(|node| said(node, &place)).transpose()?;
        let size = query.get("page_size").map(|node| said(node, &place)).transpose()?;
        let size = size.map_or(Some(5000), |text| text.parse().ok()).filter(|&size| size > 0);
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

#[cfg(test)]
mod tests;
