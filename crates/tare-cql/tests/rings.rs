//! Where replicas are, against placements worked out by hand from Cassandra's strategies.
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use proptest::prelude::*;
use tare_cql::{Node, Replication, Ring};

fn node(datacenter: &str, rack: &str, tokens: &[i64]) -> Node {
    Node {
        address: SocketAddr::from(([127, 0, 0, 1], 9042)),
        contact_point: true,
        host_id: Vec::new(),
        datacenter: datacenter.into(),
        rack: rack.into(),
        release_version: String::new(),
        tokens: tokens.to_vec(),
        unreachable: None,
    }
}

fn topology(factors: &[(&str, usize)]) -> Replication {
    let factors = factors
        .iter()
        .map(|(name, factor)| ((*name).to_owned(), *factor));
    Replication::NetworkTopology(factors.collect())
}

#[test]
fn a_token_belongs_to_the_range_that_ends_at_or_after_it() {
    let nodes = [
        node("d", "r", &[-100]),
        node("d", "r", &[0]),
        node("d", "r", &[100]),
    ];
    let ring = Ring::new(&nodes, &Replication::Simple(2));
    assert_eq!(ring.owners(-101), [0, 1]);
    assert_eq!(ring.owners(-100), [0, 1]);
    assert_eq!(ring.owners(-99), [1, 2]);
    assert_eq!(ring.owners(100), [2, 0]);
    // Beyond the last token the ring begins again.
    assert_eq!(ring.owners(101), [0, 1]);
    assert_eq!(ring.owners(i64::MAX), [0, 1]);
    assert_eq!(ring.owners(i64::MIN), [0, 1]);
}

#[test]
fn more_replicas_than_nodes_are_all_nodes() {
    let nodes = [node("d", "r", &[5, 30]), node("d", "r", &[10, 20])];
    let ring = Ring::new(&nodes, &Replication::Simple(3));
    assert_eq!(ring.owners(7), [1, 0]);
    assert_eq!(ring.owners(25), [0, 1]);
}

#[test]
fn replicas_go_to_different_racks_first() {
    // Racks a, a, b: of two replicas one is on b, though another node of rack a comes before it.
    let nodes = [
        node("d", "a", &[0]),
        node("d", "a", &[10]),
        node("d", "b", &[20]),
    ];
    let ring = Ring::new(&nodes, &topology(&[("d", 2)]));
    assert_eq!(ring.owners(0), [0, 2]);
    assert_eq!(ring.owners(5), [1, 2]);
    assert_eq!(ring.owners(15), [2, 0]);
    // Three replicas on two racks: one rack may repeat, in the ring's order.
    let ring = Ring::new(&nodes, &topology(&[("d", 3)]));
    assert_eq!(ring.owners(0), [0, 1, 2]);
}

#[test]
fn each_datacenter_has_its_own_number_of_replicas() {
    let nodes = [
        node("east", "a", &[0]),
        node("west", "a", &[1]),
        node("east", "b", &[10]),
        node("west", "b", &[11]),
        node("east", "c", &[20]),
    ];
    let ring = Ring::new(
        &nodes,
        &topology(&[("east", 2), ("west", 1), ("nowhere", 3)]),
    );
    assert_eq!(ring.owners(0), [0, 1, 2]);
    assert_eq!(ring.owners(2), [2, 3, 4]);
    assert_eq!(ring.owners(12), [4, 0, 1]);
    assert_eq!(
        Ring::new(&nodes, &topology(&[("west", 2)])).owners(15),
        [1, 3]
    );
}

#[test]
fn one_node_owns_everything_and_the_unknown_ring_nothing() {
    let one = Ring::new(&[node("d", "r", &[3, 9])], &Replication::Local);
    assert_eq!(one.owners(i64::MIN), [0]);
    assert_eq!(one.owners(77), [0]);
    assert!(one.is_known());
    assert!(Ring::unknown().owners(7).is_empty());
    assert!(!Ring::unknown().is_known());
    let two = [node("d", "r", &[3]), node("d", "r", &[9])];
    assert!(!Ring::new(&two, &Replication::Local).is_known());
    assert_eq!(Ring::new(&two, &Replication::Everywhere).owners(5), [1, 0]);
}

#[test]
fn replication_is_read_as_the_schema_tables_write_it() {
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    };
    let simple = map(&[
        ("class", "org.apache.cassandra.locator.SimpleStrategy"),
        ("replication_factor", "3"),
    ]);
    assert_eq!(Replication::of(&simple), Replication::Simple(3));
    let network = map(&[
        (
            "class",
            "org.apache.cassandra.locator.NetworkTopologyStrategy",
        ),
        ("dc1", "3"),
        ("dc2", "3/1"),
    ]);
    assert_eq!(
        Replication::of(&network),
        topology(&[("dc1", 3), ("dc2", 3)])
    );
    assert_eq!(
        Replication::of(&map(&[("class", "LocalStrategy")])),
        Replication::Local
    );
    assert_eq!(Replication::of(&map(&[])), Replication::Local);
}

proptest! {
    #[test]
    fn replicas_are_different_nodes_as_many_as_there_can_be_on_as_many_racks(
        racks in proptest::collection::vec(0_u8..4, 1..8),
        tokens in proptest::collection::btree_set(any::<i64>(), 8..64),
        factor in 1_usize..6,
        token in any::<i64>(),
    ) {
        let tokens: Vec<i64> = tokens.into_iter().collect();
        let nodes: Vec<Node> = racks
            .iter()
            .enumerate()
            .map(|(at, rack)| {
                let own: Vec<i64> = tokens.iter().copied().skip(at).step_by(racks.len()).collect();
                node("d", &rack.to_string(), &own)
            })
            .collect();
        let rack_count = |owners: &[u16]| {
            owners.iter().map(|node| racks[usize::from(*node)]).collect::<BTreeSet<_>>().len()
        };
        let all: BTreeSet<u8> = racks.iter().copied().collect();
        let (simple, network) = (
            Ring::new(&nodes, &Replication::Simple(factor)),
            Ring::new(&nodes, &topology(&[("d", factor)])),
        );
        for ring in [&simple, &network] {
            let owners = ring.owners(token);
            prop_assert_eq!(owners.len(), factor.min(nodes.len()));
            prop_assert_eq!(owners.iter().collect::<BTreeSet<_>>().len(), owners.len());
        }
        prop_assert_eq!(simple.owners(token)[0], network.owners(token)[0]);
        prop_assert_eq!(rack_count(network.owners(token)), all.len().min(factor));
    }
}
