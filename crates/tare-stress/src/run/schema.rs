//! Makes keyspaces and tables, and empties them.

use tare_cql::{Cluster, Error, ServerErrorKind};
use tare_engine::errors::Fatal;

use crate::output::printer::Printer;
use crate::profile::Profile;
use crate::settings::column::Columns;
use crate::settings::command::Kind;
use crate::settings::schema::Schema;
use crate::settings::Settings;

const PREDEFINED: [&str; 2] = ["standard1", "counter1"];

/// Makes what the command writes to, if it is not there; reads make nothing.
pub fn create(
    settings: &Settings,
    cluster: &mut Cluster,
    printer: &mut Printer,
) -> Result<(), Fatal> {
    if let Some(profile) = settings.command.profile() {
        return create_of_profile(profile, cluster, printer);
    }
    if !matches!(settings.command.kind, Kind::Write | Kind::CounterWrite) {
        return Ok(());
    }
    let schema = &settings.schema;
    execute(cluster, &keyspace(schema))?;
    execute(
        cluster,
        &table(schema, &settings.columns, "standard1", "blob"),
    )?;
    execute(
        cluster,
        &table(schema, &settings.columns, "counter1", "counter"),
    )?;
    agree(cluster)?;
    printer.line("Created keyspaces. All nodes agree on the schema.")
}

fn create_of_profile(
    profile: &Profile,
    cluster: &mut Cluster,
    printer: &mut Printer,
) -> Result<(), Fatal> {
    if let Some(definition) = &profile.keyspace_definition {
        execute(cluster, definition)?;
    }
    execute(cluster, &format!("USE \"{}\"", profile.keyspace))?;
    if let Some(definition) = &profile.table_definition {
        execute(cluster, definition)?;
        agree(cluster)?;
        printer.line("Created schema. All nodes agree on it.")?;
    }
    for definition in &profile.extra_definitions {
        execute(cluster, definition)?;
    }
    if !profile.extra_definitions.is_empty() {
        agree(cluster)?;
        printer.line("Created extra schema. All nodes agree on it.")?;
    }
    Ok(())
}

/// Empties the tables of the command, those that there are.
pub fn truncate(
    settings: &Settings,
    cluster: &mut Cluster,
    printer: &mut Printer,
) -> Result<(), Fatal> {
    let keyspace = &settings.schema.keyspace;
    let tables = match settings.command.profile() {
        Some(profile) => vec![profile.table.as_str()],
        None => PREDEFINED.to_vec(),
    };
    for table in &tables {
        execute(cluster, &format!("TRUNCATE \"{keyspace}\".\"{table}\""))?;
    }
    printer.line(&format!("Truncated {keyspace}.[{}].", tables.join(", ")))
}

/// Runs a schema statement; what exists already stays.
fn execute(cluster: &mut Cluster, cql: &str) -> Result<(), Fatal> {
    match cluster.query(cql.trim().trim_end_matches(';')) {
        Ok(_) => Ok(()),
        Err(Error::Server(error)) if error.kind() == ServerErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Fatal::schema(
            cql.split_whitespace().collect::<Vec<_>>().join(" "),
            error,
        )),
    }
}

/// Waits until every node that is up reports the same version of the schema.
fn agree(cluster: &mut Cluster) -> Result<(), Fatal> {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);
    const TRIES: u32 = 300;
    for _ in 0..TRIES {
        let mut versions = Vec::new();
        for table in ["local", "peers"] {
            let cql = format!("SELECT schema_version FROM system.{table}");
            let found = cluster
                .query(&cql)
                .map_err(|e| Fatal::schema("schema_version", e))?;
            versions.extend(
                found
                    .rows()
                    .filter_map(|row| row.bytes("schema_version").map(<[u8]>::to_vec)),
            );
        }
        if versions.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(Fatal::schema(
        "schema agreement",
        "the nodes do not agree on the schema after 30 s; see `nodetool describecluster`",
    ))
}

fn options(pairs: &[(String, String)]) -> String {
    pairs
        .iter()
        .map(|(key, value)| format!(", '{key}' : '{value}'"))
        .collect()
}

fn keyspace(schema: &Schema) -> String {
    format!(
        "CREATE KEYSPACE IF NOT EXISTS \"{}\" WITH replication = {{'class': '{}'{}}} AND \
         durable_writes = true",
        schema.keyspace,
        schema.replication,
        options(&schema.replication_options)
    )
}

/// As the tool of Cassandra 4 makes it: without COMPACT STORAGE.
fn table(schema: &Schema, columns: &Columns, name: &str, kind: &str) -> String {
    let columns: String = columns
        .names
        .iter()
        .map(|column| format!(", \"{column}\" {kind}"))
        .collect();
    let compression = schema
        .compression
        .as_ref()
        .map(|class| format!("'class' : '{class}'"));
    let compaction = schema.compaction.as_ref().map(|class| {
        let options = options(&schema.compaction_options);
        format!(" AND compaction = {{'class' : '{class}'{options}}}")
    });
    format!(
        "CREATE TABLE IF NOT EXISTS \"{}\".{name} (key blob PRIMARY KEY{columns}) WITH compression \
         = {{{}}}{}",
        schema.keyspace,
        compression.unwrap_or_default(),
        compaction.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(words: &[&str]) -> Schema {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Schema::read(Some(&words), None).unwrap()
    }

    #[test]
    fn the_default_keyspace_and_table_are_the_tools() {
        let columns = Columns::read(None).unwrap();
        assert_eq!(
            keyspace(&schema(&[])),
            "CREATE KEYSPACE IF NOT EXISTS \"keyspace1\" WITH replication = {'class': \
             'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor' : '1'} AND \
             durable_writes = true"
        );
        assert_eq!(
            table(&schema(&[]), &columns, "standard1", "blob"),
            "CREATE TABLE IF NOT EXISTS \"keyspace1\".standard1 (key blob PRIMARY KEY, \"C0\" blob, \
             \"C1\" blob, \"C2\" blob, \"C3\" blob, \"C4\" blob) WITH compression = {}"
        );
    }

    #[test]
    fn replication_compaction_and_compression_are_said() {
        let schema = schema(&[
            "replication(strategy=NetworkTopologyStrategy,datacenter1=3)",
            "compaction(strategy=LeveledCompactionStrategy,sstable_size_in_mb=64)",
            "compression=LZ4Compressor",
            "keyspace=k2",
        ]);
        assert!(keyspace(&schema).contains(
            "\"k2\" WITH replication = {'class': \
             'org.apache.cassandra.locator.NetworkTopologyStrategy', 'datacenter1' : '3'}"
        ));
        let table = table(
            &schema,
            &Columns::read(None).unwrap(),
            "counter1",
            "counter",
        );
        assert!(table.ends_with(
            "compression = {'class' : 'LZ4Compressor'} AND compaction = {'class' : \
             'LeveledCompactionStrategy', 'sstable_size_in_mb' : '64'}"
        ));
    }
}
