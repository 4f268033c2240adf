//! From contact points to the nodes of the cluster.
use std::net::{IpAddr, SocketAddr};
use std::panic::resume_unwind;
use std::thread;

use super::table::TableRow;
use super::{query, Cluster, Node, Table};
use crate::error::Error;
use crate::link::{connect, Link};
use crate::options::Options;
use crate::request::Request;

const LOCAL: &str = "SELECT * FROM system.local";
const PEERS: &str = "SELECT * FROM system.peers";
const PEERS_V2: &str = "SELECT * FROM system.peers_v2";

/// Nodes that are visited at the same time, each by a thread.
const MOST_VISITS: usize = 64;

/// A contact point that was tried.
struct Contact {
    address: SocketAddr,
    /// The connection and `system.local`, or why there is none.
    outcome: Result<(Link, Table), Error>,
}

pub(super) fn discover(given: &[String], options: &Options) -> Result<Cluster, Error> {
    let mut addresses: Vec<Vec<SocketAddr>> = Vec::new();
    for point in given {
        let candidates = resolve(point)?;
        if !addresses.contains(&candidates) {
            addresses.push(candidates);
        }
    }
    let contacts = visit(&addresses, options);
    let mut nodes: Vec<Node> = Vec::new();
    let mut links: Vec<Option<Link>> = Vec::new();
    let mut described: Option<(String, String)> = None;
    let mut first_error = None;
    for Contact { address, outcome } in contacts {
        match outcome {
            Ok((link, local)) => {
                let node = local_node(address, &local);
                let known = nodes.iter().any(|known| known.host_id == node.host_id);
                if known && !options.contact_points_only {
                    continue;
                }
                described = described.or_else(|| describe(&local));
                nodes.push(node);
                links.push(Some(link));
            }
            Err(error) => {
                nodes.push(unreachable(address, &error));
                links.push(None);
                first_error = first_error.or(Some(error));
            }
        }
    }
    let Some(mut control) = links.iter_mut().find_map(Option::take) else {
        return Err(no_contact(first_error));
    };
    let (name, partitioner) = described.unwrap_or_default();
    let mut request = Request::new();
    if !options.contact_points_only {
        let known = peers(&mut control, &mut request, options)?;
        add_peers(known, &mut nodes, &mut links, options);
    }
    Ok(Cluster {
        name,
        partitioner,
        nodes,
        options: options.clone(),
        control,
        links,
        request,
    })
}

/// What is wrong when no contact point answers: a refused password says more than "unreachable".
fn no_contact(first: Option<Error>) -> Error {
    match first {
        None => Error::NoContact {
            why: "none was given".to_owned(),
        },
        Some(Error::Net(error)) if error.is_refusal() => error.into(),
        Some(error) => Error::NoContact {
            why: error.to_string(),
        },
    }
}

/// All addresses of a contact point: a name may have one that nobody listens on, such as `::1`.
fn resolve(point: &str) -> Result<Vec<SocketAddr>, Error> {
    tare_net::addresses(point).map_err(|why| Error::ContactPoint {
        given: point.to_owned(),
        why,
    })
}

/// Visit the points, many at a time, and ask each who it is. The first of a point's addresses that
/// answers is the one that is used.
fn visit(points: &[Vec<SocketAddr>], options: &Options) -> Vec<Contact> {
    let some = |points: &[Vec<SocketAddr>]| -> Vec<Contact> {
        thread::scope(|scope| {
            let visits: Vec<_> = points
                .iter()
                .map(|candidates| scope.spawn(move || visit_one(candidates, options)))
                .collect();
            visits
                .into_iter()
                .filter_map(|visit| visit.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    };
    points.chunks(MOST_VISITS).flat_map(some).collect()
}

/// `None` without candidates.
fn visit_one(candidates: &[SocketAddr], options: &Options) -> Option<Contact> {
    let mut failed: Option<Contact> = None;
    for address in candidates {
        let outcome = introduce(*address, options);
        let contact = Contact {
            address: *address,
            outcome,
        };
        if contact.outcome.is_ok() {
            return Some(contact);
        }
        failed = failed.or(Some(contact));
    }
    failed
}

fn introduce(address: SocketAddr, options: &Options) -> Result<(Link, Table), Error> {
    let mut link = connect(address, options)?;
    let (local, _) = query(
        &mut link,
        &mut Request::new(),
        LOCAL,
        options.connect_timeout,
    )?;
    Ok((link, local))
}

fn describe(local: &Table) -> Option<(String, String)> {
    let row = local.rows().next()?;
    let partitioner = row.text("partitioner").unwrap_or_default();
    let short = partitioner
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_owned();
    Some((row.text("cluster_name").unwrap_or_default(), short))
}

fn local_node(address: SocketAddr, local: &Table) -> Node {
    match local.rows().next() {
        Some(row) => Node {
            contact_point: true,
            ..node(address, &row)
        },
        None => Node {
            contact_point: true,
            ..blank(address)
        },
    }
}

fn unreachable(address: SocketAddr, why: &Error) -> Node {
    Node {
        contact_point: true,
        unreachable: Some(why.to_string()),
        ..blank(address)
    }
}

fn blank(address: SocketAddr) -> Node {
    Node {
        address,
        contact_point: false,
        host_id: Vec::new(),
        datacenter: String::new(),
        rack: String::new(),
        release_version: String::new(),
        tokens: Vec::new(),
        unreachable: None,
    }
}

/// A node from its row in `system.local`, `system.peers` or `system.peers_v2`.
fn node(address: SocketAddr, row: &TableRow<'_>) -> Node {
    let text = |column| row.text(column).unwrap_or_default();
    Node {
        host_id: row.bytes("host_id").unwrap_or_default().to_vec(),
        datacenter: text("data_center"),
        rack: text("rack"),
        release_version: text("release_version"),
        tokens: row
            .texts("tokens")
            .iter()
            .filter_map(|token| token.parse().ok())
            .collect(),
        ..blank(address)
    }
}

/// The other nodes as the control connection's node reports them. `peers_v2` (Cassandra 4.0 and
/// later) knows their ports; before it all nodes have the same.
fn peers(link: &mut Link, request: &mut Request, options: &Options) -> Result<Vec<Node>, Error> {
    let port = link.address().port();
    match query(link, request, PEERS_V2, options.connect_timeout) {
        Ok((table, _)) => Ok(peer_nodes(&table, "native_address", port)),
        Err(Error::Server(_)) => {
            let (table, _) = query(link, request, PEERS, options.connect_timeout)?;
            Ok(peer_nodes(&table, "rpc_address", port))
        }
        Err(other) => Err(other),
    }
}

fn peer_nodes(table: &Table, column: &str, port: u16) -> Vec<Node> {
    let mut nodes = Vec::new();
    for row in table.rows() {
        // A row without an address or an id is of a node that is not (or no longer) a member.
        let (Some(ip), Some(_)) = (reported(&row, column), row.bytes("host_id")) else {
            continue;
        };
        let port = row
            .int("native_port")
            .and_then(|port| u16::try_from(port).ok())
            .unwrap_or(port);
        nodes.push(node(SocketAddr::new(ip, port), &row));
    }
    nodes
}

/// A node that listens everywhere reports the wildcard; it is reached where its peers reach it.
fn reported(row: &TableRow<'_>, column: &str) -> Option<IpAddr> {
    row.address(column)
        .filter(|ip| !ip.is_unspecified())
        .or_else(|| row.address("peer"))
}

/// Add the peers that no contact point led to. A peer at the address of a contact point that
/// did not answer is that contact point.
fn add_peers(
    peers: Vec<Node>,
    nodes: &mut Vec<Node>,
    links: &mut Vec<Option<Link>>,
    options: &Options,
) {
    let unknown: Vec<Node> = peers
        .into_iter()
        .filter(|peer| !nodes.iter().any(|node| node.host_id == peer.host_id))
        .collect();
    let silent = |peer: &Node, nodes: &[Node]| nodes.iter().position(|n| n.address == peer.address);
    let fresh: Vec<Vec<SocketAddr>> = unknown
        .iter()
        .filter(|peer| silent(peer, nodes).is_none())
        .map(|peer| vec![peer.address])
        .collect();
    let mut visits = visit(&fresh, options);
    for mut peer in unknown {
        if let Some(position) = silent(&peer, nodes) {
            peer.contact_point = true;
            peer.unreachable = nodes[position].unreachable.clone();
            nodes[position] = peer;
            continue;
        }
        let visit = visits
            .iter()
            .position(|visit| visit.address == peer.address);
        let link = match visit.map(|at| visits.swap_remove(at).outcome) {
            Some(Ok((link, _))) => Some(link),
            Some(Err(error)) => {
                peer.unreachable = Some(error.to_string());
                None
            }
            None => None,
        };
        nodes.push(peer);
        links.push(link);
    }
}
