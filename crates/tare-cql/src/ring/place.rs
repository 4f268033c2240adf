//! Placing replicas on the ring as Cassandra's replication strategies do.
use std::collections::{BTreeMap, BTreeSet};

use crate::control::Node;

/// How a keyspace is replicated (`system_schema.keyspaces`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replication {
    /// `SimpleStrategy`: so many different nodes, onwards on the ring.
    Simple(usize),
    /// `NetworkTopologyStrategy`: so many in each datacenter, on different racks where it can.
    NetworkTopology(BTreeMap<String, usize>),
    /// `EverywhereStrategy`: all nodes.
    Everywhere,
    /// `LocalStrategy` or an unknown one: each node has its own, nothing can be routed.
    Local,
}

impl Replication {
    /// From the keyspace's `replication` map. Of a transient factor such as `3/1` the first number
    /// counts.
    pub fn of(map: &BTreeMap<String, String>) -> Replication {
        let factor = |text: &String| {
            text.split('/')
                .next()
                .and_then(|text| text.trim().parse::<usize>().ok())
        };
        let class = map.get("class").map_or("", String::as_str);
        match class.rsplit('.').next().unwrap_or(class) {
            "SimpleStrategy" => match map.get("replication_factor").and_then(factor) {
                Some(count) => Replication::Simple(count),
                None => Replication::Local,
            },
            "NetworkTopologyStrategy" => Replication::NetworkTopology(
                map.iter()
                    .filter(|(name, _)| *name != "class")
                    .filter_map(|(name, text)| Some((name.clone(), factor(text)?)))
                    .collect(),
            ),
            "EverywhereStrategy" => Replication::Everywhere,
            _ => Replication::Local,
        }
    }
}

/// Append the replicas of a range to `out`: `onwards` are the ring's nodes from the range's end.
pub(super) fn replicas(
    nodes: &[Node],
    onwards: impl Iterator<Item = u16>,
    replication: &Replication,
    out: &mut Vec<u16>,
) {
    match replication {
        Replication::Simple(count) => distinct(onwards, *count, out),
        Replication::Everywhere => distinct(onwards, nodes.len(), out),
        Replication::NetworkTopology(factors) => by_datacenter(nodes, onwards, factors, out),
        Replication::Local => {}
    }
}

fn distinct(onwards: impl Iterator<Item = u16>, count: usize, out: &mut Vec<u16>) {
    let begin = out.len();
    for node in onwards {
        if out.len() - begin >= count {
            return;
        }
        if !out[begin..].contains(&node) {
            out.push(node);
        }
    }
}

/// What a datacenter still needs (`NetworkTopologyStrategy.DatacenterEndpoints`).
struct Wanted<'a> {
    left: usize,
    /// Replicas that may share a rack: those beyond the number of racks.
    repeats: usize,
    racks: BTreeSet<&'a str>,
}

fn by_datacenter(
    nodes: &[Node],
    onwards: impl Iterator<Item = u16>,
    factors: &BTreeMap<String, usize>,
    out: &mut Vec<u16>,
) {
    let mut wanted: BTreeMap<&str, Wanted<'_>> = BTreeMap::new();
    for (datacenter, factor) in factors {
        let members = || nodes.iter().filter(|node| node.datacenter == *datacenter);
        let racks = members()
            .map(|node| node.rack.as_str())
            .collect::<BTreeSet<_>>()
            .len();
        let left = (*factor).min(members().count());
        let repeats = factor.saturating_sub(racks);
        wanted.insert(
            datacenter,
            Wanted {
                left,
                repeats,
                racks: BTreeSet::new(),
            },
        );
    }
    let begin = out.len();
    for position in onwards {
        if wanted.values().all(|datacenter| datacenter.left == 0) {
            return;
        }
        let node = &nodes[usize::from(position)];
        let Some(datacenter) = wanted.get_mut(node.datacenter.as_str()) else {
            continue;
        };
        if datacenter.left == 0 || out[begin..].contains(&position) {
            continue;
        }
        if !datacenter.racks.insert(&node.rack) {
            if datacenter.repeats == 0 {
                continue;
            }
            datacenter.repeats -= 1;
        }
        datacenter.left -= 1;
        out.push(position);
    }
}
