//! Discovery, preparation and schema queries against scripted nodes.
mod scripted;

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;
use std::time::Duration;

use scripted::{error, node, rows, texts, ways, Asked, Cell, INET, INT, TEXT, TEXTS, UUID};
use tare_cql::frame::opcode;
use tare_cql::{wire, Cluster, ColumnType, Error, Options, Protocol};

/// What a scripted node tells of itself and of others.
#[derive(Clone)]
struct Tale {
    id: u8,
    token: &'static str,
    /// Of others: id, address, token.
    peers: Vec<(u8, SocketAddr, &'static str)>,
    /// Whether there is a `peers_v2`.
    modern: bool,
    /// The id that it gives to every statement.
    statement: &'static [u8],
    /// How often it is asked for its schema's version before it has the newest.
    late: Arc<AtomicI32>,
}

impl Tale {
    fn of(id: u8, token: &'static str) -> Tale {
        Tale {
            id,
            token,
            peers: Vec::new(),
            modern: true,
            statement: b"SAME",
            late: Arc::default(),
        }
    }

    fn tell(&self, options: &Options) -> SocketAddr {
        let (tale, protocol) = (self.clone(), options.protocol);
        node(options, move |asked| tale.answer(asked, protocol))
    }

    fn answer(&self, asked: &Asked, protocol: Protocol) -> (u8, Vec<u8>) {
        if asked.opcode == opcode::PREPARE {
            return (opcode::RESULT, self.prepared(protocol));
        }
        let cql = String::from_utf8_lossy(&asked.body).into_owned();
        if cql.contains("endless") {
            // Always another page of one MiB.
            let mut body = vec![0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 1];
            wire::put_bytes(&mut body, b"more").unwrap();
            wire::put_int(&mut body, 1);
            wire::put_bytes(&mut body, &vec![0; 1 << 20]).unwrap();
            (opcode::RESULT, body)
        } else if cql.contains("schema_version") {
            let version = self.late.fetch_sub(1, Ordering::Relaxed).max(0);
            let cell = Some(vec![version as u8; 16]);
            (
                opcode::RESULT,
                rows(&[("schema_version", UUID)], &[vec![cell]]),
            )
        } else if cql.contains("CREATE") {
            (opcode::RESULT, vec![0, 0, 0, 5])
        } else if cql.contains("system.local") {
            (opcode::RESULT, self.local())
        } else if cql.contains("system.peers_v2") && self.modern {
            (opcode::RESULT, self.peers("native_address"))
        } else if cql.contains("system.peers_v2") {
            (opcode::ERROR, error(0x2200, "unconfigured table peers_v2"))
        } else if cql.contains("system.peers") {
            (opcode::RESULT, self.peers("rpc_address"))
        } else if cql.contains("system_schema.keyspaces") {
            (opcode::RESULT, keyspaces())
        } else {
            (
                opcode::ERROR,
                error(0x2000, "line 1:0 no viable alternative"),
            )
        }
    }

    fn local(&self) -> Vec<u8> {
        let columns = [
            ("cluster_name", TEXT),
            ("partitioner", TEXT),
            ("host_id", UUID),
            ("data_center", TEXT),
            ("rack", TEXT),
            ("release_version", TEXT),
            ("tokens", TEXTS),
        ];
        let text = |text: &str| Some(text.as_bytes().to_vec());
        rows(
            &columns,
            &[vec![
                text("Scripted"),
                text("org.apache.cassandra.dht.Murmur3Partitioner"),
                Some(vec![self.id; 16]),
                text("dc"),
                text("r1"),
                text("5.0.2"),
                Some(texts(&[self.token])),
            ]],
        )
    }

    fn peers(&self, address: &str) -> Vec<u8> {
        let port = if self.modern { "native_port" } else { "other" };
        let columns = [
            ("peer", INET),
            (address, INET),
            (port, INT),
            ("host_id", UUID),
            ("data_center", TEXT),
            ("rack", TEXT),
            ("release_version", TEXT),
            ("tokens", TEXTS),
        ];
        let told: Vec<Vec<Cell>> = self
            .peers
            .iter()
            .map(|(id, address, token)| {
                let SocketAddr::V4(address) = address else {
                    panic!("not IPv4")
                };
                let text = |text: &str| Some(text.as_bytes().to_vec());
                vec![
                    Some(address.ip().octets().to_vec()),
                    // Listens everywhere: the peer's own address counts.
                    Some(vec![0; 4]),
                    Some(i32::from(address.port()).to_be_bytes().to_vec()),
                    Some(vec![*id; 16]),
                    text("dc"),
                    text("r1"),
                    text("5.0.2"),
                    Some(texts(&[token])),
                ]
            })
            .collect();
        rows(&columns, &told)
    }

    /// `SELECT v FROM k.t WHERE a = ? AND b = ?` with the key (b, a).
    fn prepared(&self, protocol: Protocol) -> Vec<u8> {
        let mut body = Vec::new();
        wire::put_int(&mut body, 4);
        wire::put_short_bytes(&mut body, self.statement).unwrap();
        if protocol == Protocol::V5 {
            wire::put_short_bytes(&mut body, b"META").unwrap();
        }
        for number in [1, 2, 2] {
            wire::put_int(&mut body, number);
        }
        body.extend([0, 1, 0, 0]);
        for name in ["k", "t", "a"] {
            wire::put_string(&mut body, name).unwrap();
        }
        body.extend(TEXT);
        wire::put_string(&mut body, "b").unwrap();
        body.extend(INT);
        // The result, whose columns name their table each: map<text, frozen<set<text>>>.
        for number in [0, 1] {
            wire::put_int(&mut body, number);
        }
        for name in ["k", "t", "v"] {
            wire::put_string(&mut body, name).unwrap();
        }
        body.extend([0x00, 0x21, 0x00, 0x0D]);
        body.extend(TEXTS);
        body
    }
}

fn keyspaces() -> Vec<u8> {
    let map = {
        let mut bytes = texts(&["class", "SimpleStrategy", "replication_factor", "2"]);
        bytes[..4].copy_from_slice(&2_i32.to_be_bytes());
        bytes
    };
    let map_type = &[0x00, 0x21, 0x00, 0x0D, 0x00, 0x0D][..];
    rows(
        &[("keyspace_name", TEXT), ("replication", map_type)],
        &[vec![Some(b"k".to_vec()), Some(map)]],
    )
}

/// An address at which nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

fn points(addresses: &[SocketAddr]) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

/// The cluster of one node that tells this.
fn found(tale: &Tale, options: &Options) -> Cluster {
    Cluster::discover(&points(&[tale.tell(options)]), options).unwrap()
}

/// The cluster of a first node and this second one, and the address of that.
fn two(second: &Tale, options: &Options) -> (Cluster, SocketAddr) {
    let second = second.tell(options);
    let first = Tale {
        peers: vec![(2, second, "9")],
        ..Tale::of(1, "0")
    };
    (found(&first, options), second)
}

#[test]
fn every_node_is_found_and_the_unreachable_ones_are_listed() {
    for options in ways() {
        let second = Tale::of(2, "0").tell(&options);
        let (dead_contact, dead_peer) = (nobody(), nobody());
        let first = Tale {
            peers: vec![
                (2, second, "0"),
                (3, dead_contact, "50"),
                (4, dead_peer, "100"),
            ],
            ..Tale::of(1, "-100")
        }
        .tell(&options);
        let mut cluster = Cluster::discover(&points(&[dead_contact, first]), &options).unwrap();
        assert_eq!(
            (cluster.name.as_str(), cluster.control_address()),
            ("Scripted", first)
        );
        let found: Vec<_> = cluster
            .nodes
            .iter()
            .map(|node| {
                (
                    node.address,
                    node.contact_point,
                    node.is_reachable(),
                    node.tokens[0],
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (dead_contact, true, false, 50),
                (first, true, true, -100),
                (second, false, true, 0),
                (dead_peer, false, false, 100),
            ]
        );
        // Replicas may be nodes that cannot be reached: the caller sees that in `nodes`.
        assert_eq!(cluster.ring("k").unwrap().owners(1), [0, 3]);
        assert_eq!(cluster.ring("k").unwrap().owners(-5), [2, 0]);
        assert!(matches!(cluster.ring("none"), Err(Error::Schema(_))));
    }
}

#[test]
fn a_node_named_twice_is_one_node_and_an_older_one_has_peers_without_ports() {
    let options = Options::default();
    let tale = Tale {
        modern: false,
        ..Tale::of(1, "0")
    };
    let (here, there) = (tale.tell(&options), tale.tell(&options));
    let cluster = Cluster::discover(&points(&[here, here, there]), &options).unwrap();
    assert_eq!(cluster.nodes.len(), 1);
    assert_eq!(cluster.nodes[0].address, here);
}

#[test]
fn contact_points_alone_are_used_without_routing_where_that_is_asked_for() {
    let options = Options {
        contact_points_only: true,
        ..Options::default()
    };
    let tale = Tale {
        peers: vec![(2, nobody(), "5")],
        ..Tale::of(1, "0")
    };
    let addresses = [tale.tell(&options), tale.tell(&options)];
    let mut cluster = Cluster::discover(&points(&addresses), &options).unwrap();
    assert_eq!(
        cluster
            .nodes
            .iter()
            .map(|node| node.address)
            .collect::<Vec<_>>(),
        addresses
    );
    assert!(!cluster.ring("k").unwrap().is_known());
    assert_eq!(cluster.prepare("SELECT", None).unwrap().id, b"SAME");
}

#[test]
fn a_statement_is_prepared_on_all_nodes_and_described() {
    for options in ways() {
        let (mut cluster, _) = two(&Tale::of(2, "9"), &options);
        let statement = cluster.prepare("SELECT v", None).unwrap();
        assert_eq!(
            (statement.keyspace.as_str(), statement.table.as_str()),
            ("k", "t")
        );
        assert_eq!(statement.partition_key, [1, 0]);
        let v5 = options.protocol == Protocol::V5;
        assert_eq!(statement.result_id, v5.then(|| b"META".to_vec()));
        assert_eq!(statement.columns[0].name, "a");
        assert_eq!(statement.columns[1].kind, ColumnType::Int);
        let set = ColumnType::Set(Box::new(ColumnType::Text));
        let map = ColumnType::Map(Box::new(ColumnType::Text), Box::new(set));
        assert_eq!(statement.result[0].kind, map);
    }
}

#[test]
fn nodes_that_disagree_about_a_statement_are_told() {
    let options = Options::default();
    let other = Tale {
        statement: b"OTHER",
        ..Tale::of(2, "9")
    };
    let (mut cluster, second) = two(&other, &options);
    let error = cluster.prepare("SELECT v", None).unwrap_err();
    assert!(
        matches!(&error, Error::Prepare { address, .. } if *address == second),
        "{error}"
    );
}

#[test]
fn what_cannot_be_used_or_reached_is_said_with_a_hint() {
    let connect_timeout = Duration::from_millis(200);
    let options = Options {
        connect_timeout,
        ..Options::default()
    };
    let unusable = Cluster::discover(&["127.0.0.1".to_owned()], &options).unwrap_err();
    assert!(
        unusable.to_string().contains("write host:port"),
        "{unusable}"
    );
    let nowhere = nobody();
    let alone = Cluster::discover(&points(&[nowhere]), &options).unwrap_err();
    assert!(alone.to_string().contains(&nowhere.to_string()), "{alone}");
    assert!(Cluster::discover(&[], &options).is_err());
}

#[test]
fn an_error_of_the_server_is_handed_on() {
    let options = Options::default();
    let mut cluster = found(&Tale::of(1, "0"), &options);
    let error = cluster.query("SELEKT").unwrap_err();
    assert!(
        matches!(&error, Error::Server(error) if error.code == 0x2000),
        "{error}"
    );
    assert!(error.to_string().contains("0x2000"), "{error}");
}

#[test]
fn a_change_of_the_schema_is_waited_for_on_all_nodes() {
    let options = Options::default();
    let slow = Tale::of(2, "9");
    slow.late.store(3, Ordering::Relaxed);
    let (mut cluster, _) = two(&slow, &options);
    cluster
        .query("CREATE TABLE k.t (a text PRIMARY KEY)")
        .unwrap();
    // It was asked until it had the version that the first node always has.
    assert_eq!(slow.late.load(Ordering::Relaxed), -1);
}

#[test]
fn a_name_with_several_addresses_is_reached_at_the_one_that_answers() {
    let options = Options::default();
    let address = Tale::of(1, "0").tell(&options);
    // Where there is an IPv6 loopback, it comes first and nobody listens on it.
    let named = format!("localhost:{}", address.port());
    let cluster = Cluster::discover(&[named], &options).unwrap();
    assert_eq!(cluster.nodes[0].address, address);
}

#[test]
fn a_server_that_never_comes_to_an_end_is_not_believed() {
    let options = Options::default();
    let mut cluster = found(&Tale::of(1, "0"), &options);
    let error = cluster.query("SELECT endless").unwrap_err();
    assert!(matches!(error, Error::Protocol(_)), "{error}");
}
