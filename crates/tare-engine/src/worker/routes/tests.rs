//! Tests of how nodes and connections share the load, and of what is kept for a node that does not
//! read.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use tare_cql::{Consistency, Node, Parameters, Protocol, Replication, Ring};

use super::*;
use crate::order::Cluster;
use crate::wire::Cql;

/// A frame of the native protocol v4: version, flags, stream, opcode, length (section 2).
const READY: [u8; 9] = [0x84, 0, 0, 0, 2, 0, 0, 0, 0];

/// Answers STARTUP on a new connection.
fn ready(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    let mut header = [0; 9];
    stream.read_exact(&mut header).unwrap();
    let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
    stream.read_exact(&mut vec![0; length as usize]).unwrap();
    let mut ready = READY;
    ready[2..4].copy_from_slice(&header[2..4]);
    stream.write_all(&ready).unwrap();
    stream
}

/// Nodes with so many connections each, and their ends of these; connection `i` is one of node
/// `i / links`.
fn cluster(nodes: usize, links: usize, ring: Option<Ring>) -> (Routes<Cql>, Vec<TcpStream>) {
    let listeners: Vec<_> = (0..nodes)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let addresses: Vec<_> = listeners
        .iter()
        .map(|listener| Some(listener.local_addr().unwrap()))
        .collect();
    let answers = std::thread::spawn(move || {
        let accepted = listeners
            .iter()
            .flat_map(|l| (0..links).map(move |_| ready(l)));
        accepted.collect()
    });
    let routes = Routes::open(&addresses, ring, &defaults(), links).unwrap();
    (routes, answers.join().unwrap())
}

/// One node with one connection.
fn node() -> (Routes<Cql>, TcpStream) {
    let (routes, mut streams) = cluster(1, 1, None);
    (routes, streams.remove(0))
}

/// Nodes 0, 1, 2, ... own the ranges up to the tokens 0, 100, 200, ..., and the next ones have the
/// further replicas.
fn ring(nodes: usize, replicas: usize) -> Option<Ring> {
    let node = |position: usize| Node {
        address: ([127, 0, 0, 1], 9042).into(),
        contact_point: true,
        host_id: Vec::new(),
        datacenter: "dc1".to_owned(),
        rack: "rack1".to_owned(),
        release_version: "4.1.0".to_owned(),
        tokens: vec![position as i64 * 100],
        unreachable: None,
    };
    let nodes: Vec<Node> = (0..nodes).map(node).collect();
    Some(Ring::new(&nodes, &Replication::Simple(replicas)))
}

fn defaults() -> Cluster {
    Cluster {
        contact_points: Vec::new(),
        options: tare_cql::Options::default(),
    }
}

/// A request of at least so many bytes.
fn large(bytes: usize) -> <Cql as Wire>::Draft {
    let mut draft = Cql::draft(&defaults());
    let parameters = Parameters::at(Consistency::One);
    let text = "x".repeat(bytes);
    let request = &mut draft.request;
    request.query(&text, &parameters, Protocol::V4).unwrap();
    request.finish().unwrap();
    draft
}

/// Fills what the client keeps for the connection.
fn fill(routes: &mut Routes<Cql>, route: usize) {
    let draft = large(1 << 20);
    while routes.takes_more(route) {
        assert!(routes.queue(route, &draft, 0).is_some());
        assert_eq!(routes.flush(), []);
    }
}

/// How often each connection was chosen, and each node whose connections were full.
fn shares(
    routes: &mut Routes<Cql>,
    choices: usize,
    token: Option<i64>,
) -> (Vec<usize>, Vec<usize>) {
    let mut shares = (vec![0; routes.links()], vec![0; routes.nodes()]);
    for _ in 0..choices {
        match routes.choose(&token) {
            Choice::Route(route) => shares.0[route] += 1,
            Choice::Full(node) => shares.1[node] += 1,
            Choice::None => panic!("nowhere to go"),
        }
    }
    shares
}

#[test]
fn nodes_and_their_connections_share_the_load_evenly() {
    let (mut routes, _streams) = cluster(3, 2, None);
    assert_eq!(shares(&mut routes, 600, None).0, [100; 6]);
}

#[test]
fn replicas_share_the_load_of_their_tokens_evenly_and_alone() {
    let (mut routes, _streams) = cluster(3, 2, ring(3, 2));
    // Of the range that ends at 100, the nodes 1 and 2 are the replicas.
    let expected = [0, 0, 150, 150, 150, 150];
    assert_eq!(shares(&mut routes, 600, Some(50)).0, expected);
}

#[test]
fn what_a_node_does_not_read_waits_for_it_and_makes_no_other_share_larger() {
    let (mut routes, _streams) = cluster(3, 1, None);
    fill(&mut routes, 1);
    assert_eq!(
        shares(&mut routes, 300, None),
        (vec![100, 0, 100], vec![0, 100, 0])
    );
}

#[test]
fn a_replica_that_does_not_read_keeps_its_part_of_the_tokens() {
    let (mut routes, _streams) = cluster(3, 1, ring(3, 1));
    fill(&mut routes, 1);
    assert_eq!(
        shares(&mut routes, 50, Some(50)),
        (vec![0; 3], vec![0, 50, 0])
    );
    assert_eq!(shares(&mut routes, 50, Some(150)).0, [0, 0, 50]);
}

#[test]
fn a_node_with_another_connection_is_not_full() {
    let (mut routes, _streams) = cluster(2, 2, None);
    fill(&mut routes, 0);
    assert!(!routes.is_unread(0));
    assert_eq!(
        shares(&mut routes, 400, None),
        (vec![0, 200, 100, 100], vec![0; 2])
    );
}

#[test]
fn the_part_of_a_node_without_a_connection_is_shared_by_all_others() {
    let (mut routes, _streams) = cluster(4, 1, None);
    routes.lend(1);
    assert_eq!(shares(&mut routes, 1200, None).0, [400, 0, 400, 400]);
}

#[test]
fn replicas_stand_in_for_each_other_before_anybody_else_does() {
    let (mut routes, _streams) = cluster(4, 1, ring(4, 3));
    routes.lend(1);
    // Of the range that ends at 100, all nodes but the first are replicas.
    assert_eq!(shares(&mut routes, 600, Some(50)).0, [0, 0, 300, 300]);
    routes.lend(2);
    routes.lend(3);
    assert_eq!(shares(&mut routes, 10, Some(50)).0, [10, 0, 0, 0]);
}

#[test]
fn a_node_that_does_not_read_is_kept_no_more_than_so_much_for() {
    let (mut routes, mut stream) = node();
    let draft = large(1 << 20);
    let body = draft.request.body();
    let mut queued = 0;
    while let Choice::Route(route) = routes.choose(&None) {
        assert!(routes.queue(route, &draft, queued).is_some());
        assert_eq!(routes.flush(), []);
        queued += 1;
        assert!(queued < 100, "it takes more and more");
    }
    assert_eq!(routes.choose(&None), Choice::Full(0));
    assert!(routes.is_unread(0));
    let waiting = routes.routes[0].link.as_ref().unwrap().waiting();
    assert!((MOST_WAITING..=MOST_WAITING + body.len() + 9).contains(&waiting));

    // It reads again: the connection takes more as soon as less waits.
    let mut part = vec![0; 1 << 20];
    while routes.choose(&None) == Choice::Full(0) {
        stream.read_exact(&mut part).unwrap();
        routes.write(0).unwrap();
    }
    assert_eq!(routes.choose(&None), Choice::Route(0));
}

#[test]
fn without_a_connection_there_is_nowhere_to_go() {
    let (mut routes, _stream) = node();
    assert!(routes.lend(0).is_some());
    assert_eq!(routes.choose(&None), Choice::None);
}
