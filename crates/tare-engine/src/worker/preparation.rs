//! Statements prepared again on a server that has forgotten them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use tare_cql::{Cluster, Options};

/// What a server must be told again that has forgotten it.
#[derive(Debug)]
pub struct Preparation {
    pub statements: Vec<String>,
    pub keyspace: Option<String>,
    under_way: AtomicBool,
}

impl Preparation {
    pub fn new(statements: Vec<String>, keyspace: Option<String>) -> Preparation {
        Preparation {
            statements,
            keyspace,
            under_way: AtomicBool::new(false),
        }
    }

    /// Prepares everything on one node; what fails is asked for again by the next answer.
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
        self.under_way.store(false, Ordering::Release);
    }

    /// Has everything prepared on one node, on a thread of its own and a connection of its own;
    /// nothing where that is under way.
    pub(super) fn begin(self: &Arc<Self>, address: SocketAddr, options: &Options) {
        if self.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let (options, shared) = (options.clone(), Arc::clone(self));
        let spawned = std::thread::Builder::new()
            .name("prepare".into())
            .spawn(move || shared.prepare(address, &options));
        if spawned.is_err() {
            self.under_way.store(false, Ordering::Release);
        }
    }
}
