//! An eye on who is primary, when there is a reason to doubt it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use tare_mongo::{Host, Topology, Uri};

use super::prepare::{servers, ASK_AGAIN};
use super::Servers;

/// Keeps an eye on who is primary, when there is a reason to doubt it.
#[derive(Debug)]
pub struct Watch {
    uri: Uri,
    /// The members by their positions, which stay what they were at the start.
    hosts: Vec<Host>,
    servers: Mutex<Servers>,
    number: AtomicU64,
    under_way: AtomicBool,
}

impl Watch {
    pub(super) fn new(uri: Uri, hosts: Vec<Host>) -> Watch {
        Watch {
            uri,
            hosts,
            servers: Mutex::default(),
            number: AtomicU64::new(0),
            under_way: AtomicBool::new(false),
        }
    }

    /// Asks the members who is primary until one is, on a thread of its own; nothing where that is
    /// under way.
    pub(super) fn look(self: &Arc<Self>) {
        if self.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("discover".into())
            .spawn(move || {
                shared.ask();
                shared.under_way.store(false, Ordering::Release);
            });
        if spawned.is_err() {
            self.under_way.store(false, Ordering::Release);
        }
    }

    fn ask(&self) {
        let deadline = Instant::now() + self.uri.selection_timeout;
        while Instant::now() < deadline {
            if let Ok(topology) = Topology::discover(&self.uri) {
                let found = self.known(&servers(&topology, &self.uri), &topology);
                let settled = !found.writers.is_empty();
                self.tell(found);
                if settled {
                    return;
                }
            }
            thread::sleep(ASK_AGAIN);
        }
    }

    /// The same members by the positions that they had at the start; new ones have none.
    fn known(&self, found: &Servers, topology: &Topology) -> Servers {
        let translated = |positions: &[u16]| {
            let hosts = positions
                .iter()
                .map(|at| &topology.members[usize::from(*at)].host);
            let known = hosts.filter_map(|host| self.hosts.iter().position(|known| known == host));
            known
                .filter_map(|position| u16::try_from(position).ok())
                .collect()
        };
        Servers {
            writers: translated(&found.writers),
            readers: translated(&found.readers),
        }
    }

    fn tell(&self, servers: Servers) {
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = servers;
        self.number.fetch_add(1, Ordering::Release);
    }

    /// Who serves what now, if that has changed since it had this number, which then becomes the
    /// new one's.
    #[inline]
    pub(super) fn renewed(&self, number: &mut u64) -> Option<Servers> {
        let newest = self.number.load(Ordering::Acquire);
        if newest == *number {
            return None;
        }
        *number = newest;
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        Some(servers.clone())
    }
}
