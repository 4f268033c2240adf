//! The table of a profile, as the cluster describes it.

use tare_cql::Cluster;
use tare_engine::errors::Fatal;

/// What a column is in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Key,
    Clustering,
    /// Regular and static columns.
    Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumn {
    pub name: String,
    /// Its CQL type.
    pub kind: String,
    pub role: Role,
}

/// Partition key, clustering columns, then the others by name: the order in which the tool's driver
/// lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<TableColumn>,
}

impl Table {
    /// Reads it from `system_schema` (Cassandra 3.0 and later).
    pub fn read(cluster: &mut Cluster, keyspace: &str, table: &str) -> Result<Table, Fatal> {
        let place = format!("{keyspace}.{table}");
        let cql = format!(
            "SELECT column_name, kind, position, type FROM system_schema.columns \
             WHERE keyspace_name = '{keyspace}' AND table_name = '{table}'"
        );
        let found = cluster.query(&cql).map_err(|e| Fatal::schema(&place, e))?;
        let mut columns: Vec<(Role, i32, TableColumn)> = Vec::new();
        for row in found.rows() {
            let role = match row.text("kind").as_deref() {
                Some("partition_key") => Role::Key,
                Some("clustering") => Role::Clustering,
                _ => Role::Value,
            };
            let column = TableColumn {
                name: row.text("column_name").unwrap_or_default(),
                kind: row.text("type").unwrap_or_default().to_lowercase(),
                role,
            };
            columns.push((role, row.int("position").unwrap_or(0), column));
        }
        if columns.is_empty() {
            return Err(Fatal::schema(
                &place,
                "Unable to find table: name it as the cluster does, or give a table_definition",
            ));
        }
        columns.sort_by(|(role, position, column), (other, place, another)| {
            let rank = |role: &Role, position: &i32| match role {
                Role::Key => (0, *position),
                Role::Clustering => (1, *position),
                Role::Value => (2, 0),
            };
            rank(role, position)
                .cmp(&rank(other, place))
                .then(column.name.cmp(&another.name))
        });
        Ok(Table {
            columns: columns.into_iter().map(|(.., column)| column).collect(),
        })
    }
}
