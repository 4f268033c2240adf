//! Which nodes hold a token: the replicas of every range, by a keyspace's replication.
mod place;

pub use place::Replication;

use crate::control::Node;

/// The replicas of each range of the token ring. Nodes are positions in [`crate::Cluster::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// The ranges' ends (inclusive), ascending.
    ends: Vec<i64>,
    /// `owners[starts[i]..starts[i + 1]]` are the replicas of range `i`.
    starts: Vec<u32>,
    owners: Vec<u16>,
}

impl Ring {
    /// The ring of `nodes` under a replication.
    pub fn new(nodes: &[Node], replication: &Replication) -> Ring {
        let mut tokens: Vec<(i64, u16)> = Vec::new();
        for (position, node) in (0_u16..).zip(nodes) {
            tokens.extend(node.tokens.iter().map(|token| (*token, position)));
        }
        tokens.sort_unstable();
        tokens.dedup_by_key(|(token, _)| *token);
        if nodes.len() == 1 {
            return Ring {
                ends: Vec::new(),
                starts: vec![0, 1],
                owners: vec![0],
            };
        }
        if tokens.is_empty() {
            return Ring::unknown();
        }
        let mut ring = Ring {
            ends: Vec::new(),
            starts: vec![0],
            owners: Vec::new(),
        };
        for at in 0..tokens.len() {
            ring.ends.push(tokens[at].0);
            let onwards = tokens[at..]
                .iter()
                .chain(&tokens[..at])
                .map(|(_, node)| *node);
            place::replicas(nodes, onwards, replication, &mut ring.owners);
            ring.starts.push(ring.owners.len() as u32);
        }
        ring
    }

    /// A ring that knows nothing: no token has owners.
    pub fn unknown() -> Ring {
        Ring {
            ends: Vec::new(),
            starts: vec![0, 0],
            owners: Vec::new(),
        }
    }

    /// Whether tokens can be routed by this ring.
    pub fn is_known(&self) -> bool {
        !self.owners.is_empty()
    }

    /// The replicas of a token in the order of the ring, the first replica first; empty when
    /// nothing is known.
    #[inline]
    pub fn owners(&self, token: i64) -> &[u16] {
        let at = if self.ends.is_empty() {
            0
        } else {
            // The range that ends at or after the token; beyond the last one the ring wraps.
            let at = self.ends.partition_point(|end| *end < token);
            if at == self.ends.len() {
                0
            } else {
                at
            }
        };
        &self.owners[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
