//! What a profile's operations are on the table that the cluster has: statements and arguments.

use tare_cql::{BatchKind, Statement};
use tare_draw::stress::{
    salt, Column, ColumnSpec, Contents, Distribution, Kind as Type, Position, Ratio, Shape, PROFILE,
};

use crate::grammar::Usage;
use crate::profile::{Fields, InsertPlan, Profile, RangeQuery};
use crate::run::table::{Role, Table};
use crate::settings::insert::Insert;

/// Values under one clustering column that are made at once; the tool would run out of memory.
const MOST_CLUSTERED: i64 = 10_000_000;
/// Rows that one operation writes at most.
const MOST_ROWS: f64 = 10_000_000.0;
/// From here on the tool refuses a logged batch.
const MOST_LOGGED: f64 = 65_535.0;

/// One operation of `ops(...)`.
#[derive(Debug, Clone)]
pub struct Operation {
    pub name: String,
    pub ratio: f64,
    pub cql: String,
    pub action: Action,
    /// Where the value of each bind marker comes from; known once it is prepared.
    pub arguments: Vec<Position>,
}

#[derive(Debug, Clone)]
pub enum Action {
    Insert {
        partitions: Distribution,
        select: Ratio,
        row_share: Ratio,
        batch: BatchKind,
    },
    Query {
        fields: Fields,
    },
    Range {
        page_size: i32,
    },
}

/// The columns of the table with the draws of the profile.
pub fn shape(profile: &Profile, table: &Table, contents: Contents) -> Result<Shape, Usage> {
    let column = |name: &str, cql: &str| {
        let draws = profile.columns.get(name).cloned().unwrap_or_default();
        let spec = ColumnSpec {
            size: draws.size.map(|draw| draw.distribution),
            population: draws.population.map(|draw| draw.distribution),
            cluster: draws.cluster.map(|draw| draw.distribution),
        };
        let failed = |why: String| Usage(format!("column {name} of {}: {why}", profile.table));
        let kind = Type::parse(cql).map_err(|e| failed(e.to_string()))?;
        let column = Column::new(name, kind, salt(PROFILE, name), &spec);
        let column = column.map_err(|e| failed(e.to_string()))?;
        match column.cluster().max().max(column.cluster().min()) {
            most if most > MOST_CLUSTERED => Err(failed(format!(
                "cluster reaches {most}; at most {MOST_CLUSTERED} values are made at once"
            ))),
            _ => Ok(column),
        }
    };
    let of = |wanted: fn(Role) -> bool| {
        let columns = table.columns.iter().filter(|c| wanted(c.role));
        columns
            .map(|c| column(&c.name, &c.kind))
            .collect::<Result<Vec<Column>, Usage>>()
    };
    Ok(Shape::new(
        of(|role| role == Role::Key)?,
        of(|role| role == Role::Clustering)?,
        of(|role| role == Role::Value)?,
        contents,
    ))
}

/// The operations that the ratios name, in their order.
pub fn operations(
    ratios: &[(String, f64)],
    profile: &Profile,
    table: &Table,
    shape: &Shape,
    insert: &Insert,
) -> Result<Vec<Operation>, Usage> {
    let operation = |(name, ratio): &(String, f64)| {
        let (cql, action) = if name == "insert" {
            (
                insert_cql(&profile.table, table),
                insert_action(&profile.insert, insert, shape)?,
            )
        } else if let Some(query) = profile.queries.iter().find(|query| query.name == *name) {
            let fields = query.fields;
            (
                query.cql.trim().trim_end_matches(';').to_owned(),
                Action::Query { fields },
            )
        } else if let Some(range) = profile
            .range_queries
            .iter()
            .find(|range| range.name == *name)
        {
            let page_size = range.page_size;
            (
                range_cql(&profile.table, range, table),
                Action::Range { page_size },
            )
        } else {
            return Err(Usage(
                "validate compares whole ranges of rows over Thrift in the tool; it is not done \
                 here: read back with a query"
                    .to_owned(),
            ));
        };
        Ok(Operation {
            name: name.clone(),
            ratio: *ratio,
            cql,
            action,
            arguments: Vec::new(),
        })
    };
    ratios.iter().map(operation).collect()
}

/// Finds the column behind every bind marker.
pub fn bind(operation: &mut Operation, statement: &Statement, shape: &Shape) -> Result<(), Usage> {
    if matches!(operation.action, Action::Range { .. }) {
        return Ok(());
    }
    let position = |name: &str| {
        shape.position(name).ok_or_else(|| {
            Usage(format!(
                "{}: the bind marker {name} is no column of the table; only columns can be bound",
                operation.name
            ))
        })
    };
    let names = statement.columns.iter().map(|column| column.name.as_str());
    operation.arguments = names.map(position).collect::<Result<_, _>>()?;
    Ok(())
}

/// UPDATE of all columns, or INSERT where there are none but keys, as the tool writes them.
fn insert_cql(name: &str, table: &Table) -> String {
    let is_value = |role| role == Role::Value;
    let names = |wanted: bool, part: fn(&str, &str) -> String, between: &str| {
        let columns = table
            .columns
            .iter()
            .filter(|column| is_value(column.role) == wanted);
        columns
            .map(|column| part(&column.name, &column.kind))
            .collect::<Vec<_>>()
            .join(between)
    };
    if !table.columns.iter().any(|column| is_value(column.role)) {
        let keys = names(false, |name, _| format!("\"{name}\""), ", ");
        let marks = names(false, |_, _| "?".to_owned(), ", ");
        return format!("INSERT INTO \"{name}\" ({keys}) values({marks})");
    }
    let set = |name: &str, kind: &str| match kind.starts_with("set<")
        || kind.starts_with("list<")
        || kind == "counter"
    {
        true => format!("\"{name}\" = \"{name}\" + ?"),
        false => format!("\"{name}\" = ?"),
    };
    let values = names(true, set, ",");
    let keys = names(false, |name, _| format!("\"{name}\" = ?"), " AND ");
    format!("UPDATE \"{name}\" SET {values} WHERE {keys}")
}

/// The command line goes before the profile, the profile before the defaults.
fn insert_action(plan: &InsertPlan, insert: &Insert, shape: &Shape) -> Result<Action, Usage> {
    let partitions = insert.partitions.as_ref().or(plan.partitions.as_ref());
    let partitions = partitions.map(|draw| draw.distribution.clone());
    let partitions = partitions.unwrap_or(Distribution::Fixed { value: 1 });
    let whole = || Ratio::parse("fixed(1)/1").map_err(|e| Usage(e.to_string()));
    let select = match insert.select.as_ref().or(plan.select.as_ref()) {
        Some(share) => share.ratio.clone(),
        None => whole()?,
    };
    let batch = insert.batch.or(plan.batch).unwrap_or(BatchKind::Logged);
    let most_partitions = partitions.max().max(partitions.min()) as f64;
    let visits = &insert.visits.distribution;
    let fewest_visits = visits.min().min(visits.max()).max(1) as f64;
    let most = select.max() * most_partitions * shape.rows().1 as f64 / fewest_visits;
    if most > MOST_ROWS {
        return Err(Usage(format!(
            "insert: an operation may write {most:.0} rows; at most {MOST_ROWS:.0} are made at \
             once: lower cluster, partitions or select, or raise -insert visits="
        )));
    }
    if batch == BatchKind::Logged && most > MOST_LOGGED {
        return Err(Usage(format!(
            "insert: logged batches hold at most 65535 rows and this profile may make {most:.0}: \
             use batchtype: UNLOGGED"
        )));
    }
    Ok(Action::Insert {
        partitions,
        select,
        // The profile's own share goes unused, as in the tool: -insert always has one.
        row_share: insert.row_population.ratio.clone(),
        batch,
    })
}

/// The tool puts the tokens into the text; bound, the statement is prepared once.
fn range_cql(name: &str, range: &RangeQuery, table: &Table) -> String {
    let keys = table
        .columns
        .iter()
        .filter(|column| column.role == Role::Key);
    let keys: Vec<String> = keys.map(|column| format!("\"{}\"", column.name)).collect();
    let token = format!("token({})", keys.join(", "));
    let columns = match range.columns.trim() {
        "*" => {
            let all = table
                .columns
                .iter()
                .map(|column| format!("\"{}\"", column.name));
            all.collect::<Vec<_>>().join(", ")
        }
        columns => columns.to_owned(),
    };
    format!("SELECT {token}, {columns} FROM \"{name}\" WHERE {token} > ? AND {token} <= ?")
}

#[cfg(test)]
mod tests;
