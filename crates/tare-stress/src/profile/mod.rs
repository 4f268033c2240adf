//! User profiles: a YAML file that says which table, which columns, which queries.

mod parts;
pub mod yaml;

use std::collections::BTreeMap;
use std::fs;

use tare_cql::BatchKind;

use crate::grammar::Usage;
use crate::settings::forms::{Draw, Share};
use parts::{columns, insert, map, name, queries, range_queries, scalar, texts};
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
        let scheme = ["http:", "https:", "ftp:"]
            .iter()
            .any(|scheme| path.starts_with(scheme));
        if scheme {
            return Err(failed(
                "profiles are read from files; fetch it first".to_owned(),
            ));
        }
        let plain = path
            .strip_prefix("file://")
            .or(path.strip_prefix("file:"))
            .unwrap_or(path);
        let size = fs::metadata(plain)
            .map_err(|e| failed(e.to_string()))?
            .len();
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
        let definition = |node: Option<&Node>, key| node.map(|n| scalar(n, key)).transpose();
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
            profile
                .range_queries
                .iter()
                .any(|other| other.name.eq_ignore_ascii_case(&query.name))
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
        queries
            .chain(ranges)
            .chain(["insert", "validate"])
            .collect()
    }
}

#[cfg(test)]
mod tests;
