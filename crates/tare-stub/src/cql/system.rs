//! The system tables: what drivers read to learn the nodes, the keyspaces and the tables.

use std::net::{IpAddr, SocketAddr};

use crate::cql::catalogue::{Catalogue, Table};
use crate::cql::declared::DECLARED;
use crate::cql::described::{collection, columns, keyspaces, tables, texts, Row, SCHEMA_VERSION};
use crate::cql::kind::Kind;
use crate::cql::rows::{put_rows_head, Shape};
use crate::cql::statement::{Condition, Item, Statement};
use crate::cql::wire::put_value;
use crate::cql::words::Word;

pub const RELEASE: &str = "3.11.19";

/// The system tables of one node.
#[derive(Debug)]
pub struct System {
    own: SocketAddr,
    /// All nodes of the cluster in the order of their addresses: their tokens divide the ring evenly.
    nodes: Vec<SocketAddr>,
    declared: Catalogue,
}

impl System {
    pub fn new(own: SocketAddr, peers: &[SocketAddr]) -> System {
        let mut nodes: Vec<SocketAddr> = peers.iter().copied().chain([own]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut declared = Catalogue {
            keyspaces: Vec::new(),
            tables: Vec::new(),
        };
        for cql in DECLARED {
            // These are understood: a test says so.
            let _ = declared.create(cql, None);
        }
        System {
            own,
            nodes,
            declared,
        }
    }

    pub fn table(&self, keyspace: &str, name: &str) -> Option<&Table> {
        self.declared.table(keyspace, name)
    }

    /// Whether a keyspace is the system's.
    pub fn owns(keyspace: &str) -> bool {
        matches!(keyspace, "system" | "system_schema") || keyspace.starts_with("system_")
    }

    /// The body of the answer to a SELECT; `bound` are the values of its markers.
    pub fn select(
        &self,
        out: &mut Vec<u8>,
        table: &Table,
        statement: &Statement,
        bound: &[Option<Vec<u8>>],
        catalogue: &Catalogue,
    ) {
        let shape = shape(table, statement);
        let mut rows = match (table.keyspace.as_str(), table.name.as_str()) {
            ("system", "local") => vec![self.node(self.own)],
            ("system", _) => {
                let others = self.nodes.iter().filter(|node| **node != self.own);
                others.map(|node| self.node(*node)).collect()
            }
            (_, "keyspaces") => keyspaces(catalogue),
            (_, "tables") => tables(catalogue),
            (_, "columns") => columns(catalogue),
            _ => Vec::new(),
        };
        let mut markers = bound.iter();
        for condition in &statement.conditions {
            let wanted = wanted(table, condition, &mut markers);
            rows.retain(|row| {
                row.get(condition.column.as_str())
                    .is_some_and(|cell| wanted.contains(cell))
            });
        }
        let counts = shape.len() == 1 && statement.items.as_deref() == Some(&[Item::Count]);
        put_rows_head(
            out,
            table,
            &shape,
            if counts { 1 } else { rows.len() },
            true,
        );
        if counts {
            put_value(out, Some(&(rows.len() as u64).to_be_bytes()));
            return;
        }
        for row in &rows {
            for (name, _) in &shape {
                put_value(out, row.get(name.as_str()).map(Vec::as_slice));
            }
        }
    }

    fn node(&self, address: SocketAddr) -> Row {
        let place = self
            .nodes
            .iter()
            .position(|node| *node == address)
            .unwrap_or(0);
        // The ring of Murmur3 tokens, -2^63 to 2^63 - 1, in even parts.
        let part = (1_i128 << 64) / self.nodes.len() as i128 * place as i128;
        let token = (i128::from(i64::MIN) + part).to_string();
        let mut host_id = [0; 16];
        host_id[..9].copy_from_slice(b"tare-stub");
        (host_id[6], host_id[8]) = (0x40, 0x80);
        host_id[14..].copy_from_slice(&(place as u16 + 1).to_be_bytes());
        let ip = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let port = i32::from(address.port()).to_be_bytes().to_vec();
        let mut row: Row = texts([
            ("key", "local"),
            ("bootstrapped", "COMPLETED"),
            ("cluster_name", "tare-stub"),
            ("cql_version", "3.4.4"),
            ("data_center", "datacenter1"),
            ("native_protocol_version", "4"),
            ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
            ("rack", "rack1"),
            ("release_version", RELEASE),
        ]);
        for name in [
            "broadcast_address",
            "listen_address",
            "rpc_address",
            "peer",
            "native_address",
        ] {
            row.insert(name, ip.clone());
        }
        row.insert("peer_port", 7000_i32.to_be_bytes().to_vec());
        row.insert("native_port", port);
        row.insert("host_id", host_id.to_vec());
        row.insert("schema_version", SCHEMA_VERSION.to_vec());
        row.insert("gossip_generation", 1_i32.to_be_bytes().to_vec());
        row.insert("tokens", collection(&[token.as_bytes()], 1));
        row
    }
}

/// The names and types of a SELECT's columns.
pub fn shape(table: &Table, statement: &Statement) -> Vec<Shape> {
    let Some(items) = &statement.items else {
        return table
            .columns
            .iter()
            .map(|column| (column.name.clone(), column.kind.clone()))
            .collect();
    };
    let shape = items.iter().map(|item| match item {
        Item::Count => ("count".to_owned(), Kind::BIGINT),
        Item::Column(name) => {
            let kind = table
                .column(name)
                .map_or(Kind::BLOB, |column| column.kind.clone());
            (name.clone(), kind)
        }
    });
    shape.collect()
}

/// The cells that a condition lets through, of text columns and markers.
fn wanted<'a>(
    table: &Table,
    condition: &Condition,
    markers: &mut impl Iterator<Item = &'a Option<Vec<u8>>>,
) -> Vec<Vec<u8>> {
    let address = table
        .column(&condition.column)
        .is_some_and(|column| column.kind.name() == "inet");
    let mut wanted = Vec::new();
    for value in &condition.values {
        match value {
            Word::Text(text) if address => match text.parse() {
                Ok(IpAddr::V4(ip)) => wanted.push(ip.octets().to_vec()),
                Ok(IpAddr::V6(ip)) => wanted.push(ip.octets().to_vec()),
                Err(_) => {}
            },
            Word::Text(text) => wanted.push(text.as_bytes().to_vec()),
            Word::Marker(_) => wanted.extend(markers.next().cloned().flatten()),
            _ => {}
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> System {
        let own = "127.0.0.1:9042".parse().expect("an address");
        System::new(own, &["127.0.0.2:9042".parse().expect("an address")])
    }

    fn rows(cql: &str, bound: &[Option<Vec<u8>>]) -> u32 {
        let system = system();
        let statement = Statement::parse(cql);
        let keyspace = statement.keyspace.clone().expect("named");
        let table = system.table(&keyspace, &statement.table).expect("known");
        let mut out = Vec::new();
        put_rows_head(&mut out, table, &shape(table, &statement), 0, true);
        let before_count = out.len() - 4;
        out.clear();
        system.select(&mut out, table, &statement, bound, &Catalogue::default());
        u32::from_be_bytes(
            out[before_count..before_count + 4]
                .try_into()
                .expect("four bytes"),
        )
    }

    #[test]
    fn every_declared_table_is_understood() {
        assert_eq!(system().declared.tables.len(), DECLARED.len());
    }

    #[test]
    fn a_node_knows_itself_and_its_peers() {
        assert_eq!(rows("SELECT * FROM system.local WHERE key='local'", &[]), 1);
        assert_eq!(rows("SELECT peer, tokens FROM system.peers", &[]), 1);
        assert_eq!(
            rows(
                "SELECT * FROM system.peers_v2 WHERE peer = '127.0.0.9'",
                &[]
            ),
            0
        );
    }

    #[test]
    fn conditions_select_by_literal_and_by_marker() {
        let all = rows("SELECT * FROM system_schema.tables", &[]);
        assert_eq!(all, 3);
        assert_eq!(
            rows(
                "SELECT * FROM system_schema.tables WHERE keyspace_name = 'ycsb'",
                &[]
            ),
            1
        );
        let bound = [Some(b"keyspace1".to_vec())];
        assert_eq!(
            rows(
                "SELECT * FROM system_schema.tables WHERE keyspace_name = ?",
                &bound
            ),
            2
        );
        assert_eq!(
            rows(
                "SELECT * FROM system_schema.tables WHERE keyspace_name IN ('ycsb', 'x')",
                &[]
            ),
            1
        );
    }
}
