//! Waiting until all reachable nodes have the same schema.
use std::thread;
use std::time::{Duration, Instant};

use super::{query, Cluster};
use crate::error::Error;

/// Between two rounds of asking.
const PAUSE: Duration = Duration::from_millis(20);

impl Cluster {
    /// Ask every reachable node for its schema's version until all answer the same.
    pub(super) fn agree(&mut self) -> Result<(), Error> {
        let deadline = Instant::now() + self.patience();
        loop {
            let versions = self.schema_versions()?;
            if versions.windows(2).all(|pair| pair[0] == pair[1]) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                let why =
                    "the nodes do not come to the same schema; look at `nodetool describecluster`";
                return Err(Error::Schema(why.to_owned()));
            }
            thread::sleep(PAUSE);
        }
    }

    fn schema_versions(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        const CQL: &str = "SELECT schema_version FROM system.local";
        let mut versions = Vec::new();
        for position in 0..self.nodes.len() {
            if !self.nodes[position].is_reachable() {
                continue;
            }
            let timeout = self.patience();
            let mut link = self.link_to(position)?;
            let (table, _) = query(&mut link, &mut self.request, CQL, timeout)?;
            self.links[position] = Some(link);
            let version = table
                .rows()
                .next()
                .and_then(|row| row.bytes("schema_version"));
            versions.push(version.unwrap_or_default().to_vec());
        }
        Ok(versions)
    }
}
