//! Statements prepared again on a server that has forgotten them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_cql::{Cluster, Options};

/// What to prepare again on a server that has forgotten it.
#[derive(Debug)]
pub struct Preparation {
    pub statements: Vec<String>,
    pub keyspace: Option<String>,
    /// The nodes that are being told.
    under_way: Mutex<BTreeSet<SocketAddr>>,
}

impl Preparation {
    pub fn new(statements: Vec<String>, keyspace: Option<String>) -> Preparation {
        Preparation {
            statements,
            keyspace,
            under_way: Mutex::default(),
        }
    }

    /// Prepares everything on one node; the next answer asks again for what fails.
    fn prepare(&self, address: SocketAddr, options: &Options) {
        let options = Options {
            contact_points_only: true,
            ..options.clone()
        };
        if let Ok(mut cluster) = Cluster::discover(&[address.to_string()], &options) {
            for cql in &self.statements {
                let _ = cluster.prepare(cql, self.keyspace.as_deref());
            }
        }
        self.nodes().remove(&address);
    }

    fn nodes(&self) -> MutexGuard<'_, BTreeSet<SocketAddr>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares everything on one node, on a thread and a connection of its own; does nothing while
    /// that is under way. A node that does not answer delays no other.
    pub fn begin(self: &Arc<Self>, address: SocketAddr, options: &Options) {
        if !self.nodes().insert(address) {
            return;
        }
        let (options, shared) = (options.clone(), Arc::clone(self));
        let spawned = std::thread::Builder::new()
            .name("prepare".into())
            .spawn(move || shared.prepare(address, &options));
        if spawned.is_err() {
            self.nodes().remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_node_that_does_not_answer_keeps_no_other_one_waiting() {
        let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
        let (silent, other) = (listen(), listen());
        let address = |listener: &TcpListener| listener.local_addr().unwrap();
        let (silent_one, other_one) = (address(&silent), address(&other));
        let preparation = Arc::new(Preparation::new(Vec::new(), None));
        let options = Options {
            connect_timeout: Duration::from_secs(60),
            ..Options::default()
        };
        preparation.begin(silent_one, &options);
        preparation.begin(other_one, &options);
        let (told, asked) = channel();
        std::thread::spawn(move || told.send(other.accept()));
        // Both are being told as long as neither connection is answered.
        let _connection = asked.recv_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(preparation.nodes().len(), 2);
        // The same node is not asked twice at a time.
        preparation.begin(silent_one, &options);
        assert_eq!(preparation.nodes().len(), 2);
    }
}
