//! The rows of system_schema: the catalogue as drivers read it.

use std::collections::HashMap;

use crate::cql::catalogue::{Catalogue, Role};
use crate::cql::wire::put_value;

pub const SCHEMA_VERSION: [u8; 16] = *b"tare-s\x40t\x80ubschem";

/// The cells of a row, by their columns; what is missing is null.
pub type Row = HashMap<&'static str, Vec<u8>>;

pub fn keyspaces(catalogue: &Catalogue) -> Vec<Row> {
    let rows = catalogue.keyspaces.iter().map(|keyspace| {
        let mut row = texts([("keyspace_name", keyspace.name.as_str())]);
        row.insert("durable_writes", vec![1]);
        row.insert("replication", map(&keyspace.replication));
        row
    });
    rows.collect()
}

pub fn tables(catalogue: &Catalogue) -> Vec<Row> {
    let rows = catalogue.tables.iter().enumerate().map(|(place, table)| {
        let mut row = texts([
            ("keyspace_name", table.keyspace.as_str()),
            ("table_name", table.name.as_str()),
            ("comment", ""),
            ("speculative_retry", "99PERCENTILE"),
        ]);
        let compaction = "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy";
        row.insert("compaction", map(&[("class".into(), compaction.into())]));
        row.insert("caching", map(&[("keys".into(), "ALL".into())]));
        row.insert("compression", map(&[("enabled".into(), "false".into())]));
        row.insert("extensions", map(&[]));
        row.insert("flags", collection(&[b"compound"], 1));
        for (name, value) in [
            ("bloom_filter_fp_chance", 0.01_f64),
            ("crc_check_chance", 1.0),
            ("dclocal_read_repair_chance", 0.0),
            ("read_repair_chance", 0.0),
        ] {
            row.insert(name, value.to_be_bytes().to_vec());
        }
        for (name, value) in [
            ("default_time_to_live", 0_i32),
            ("gc_grace_seconds", 864_000),
            ("max_index_interval", 2048),
            ("memtable_flush_period_in_ms", 0),
            ("min_index_interval", 128),
        ] {
            row.insert(name, value.to_be_bytes().to_vec());
        }
        let mut id = SCHEMA_VERSION;
        id[14..].copy_from_slice(&(place as u16).to_be_bytes());
        row.insert("id", id.to_vec());
        row.insert("cdc", vec![0]);
        row
    });
    rows.collect()
}

pub fn columns(catalogue: &Catalogue) -> Vec<Row> {
    let mut rows = Vec::new();
    for table in &catalogue.tables {
        for column in &table.columns {
            let (kind, position, order) = match column.role {
                Role::Partition(part) => ("partition_key", i32::from(part), "none"),
                Role::Clustering(part) => ("clustering", i32::from(part), "asc"),
                Role::Regular => ("regular", -1, "none"),
            };
            let kind_name = column.kind.name();
            let mut row = texts([
                ("keyspace_name", table.keyspace.as_str()),
                ("table_name", table.name.as_str()),
                ("column_name", column.name.as_str()),
                ("column_name_bytes", column.name.as_str()),
                ("clustering_order", order),
                ("kind", kind),
                ("type", kind_name.as_str()),
            ]);
            row.insert("position", position.to_be_bytes().to_vec());
            rows.push(row);
        }
    }
    rows
}

pub fn texts<const N: usize>(cells: [(&'static str, &str); N]) -> Row {
    cells
        .into_iter()
        .map(|(name, text)| (name, text.as_bytes().to_vec()))
        .collect()
}

fn map(pairs: &[(String, String)]) -> Vec<u8> {
    let flat: Vec<&[u8]> = pairs
        .iter()
        .flat_map(|(k, v)| [k.as_bytes(), v.as_bytes()])
        .collect();
    collection(&flat, 2)
}

/// A list, set (`each` 1) or map (`each` 2): native_protocol_v4.spec, sections 6.10, 6.11 and 6.18.
pub fn collection(elements: &[&[u8]], each: usize) -> Vec<u8> {
    let mut bytes = ((elements.len() / each) as u32).to_be_bytes().to_vec();
    for element in elements {
        put_value(&mut bytes, Some(element));
    }
    bytes
}
