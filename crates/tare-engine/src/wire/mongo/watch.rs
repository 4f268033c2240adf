//! Watches who is primary: asks from time to time, and when there is a reason to doubt it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tare_mongo::{Discovery, Host, Shape, Topology, Uri};

use super::prepare::{servers, ASK_AGAIN};
use super::Servers;

/// Keeps an eye on who is primary, as drivers do.
#[derive(Debug)]
pub struct Watch {
    uri: Uri,
    /// The members by their positions, which stay what they were at the start.
    hosts: Vec<Host>,
    /// What was learnt, so that older news that comes late is recognised.
    discovery: Mutex<Discovery>,
    servers: Mutex<Servers>,
    number: AtomicU64,
    under_way: AtomicBool,
}

impl Watch {
    /// Begin to watch these members; it ends when nobody holds it any more.
    pub(super) fn start(uri: Uri, discovery: Discovery, hosts: Vec<Host>) -> Arc<Watch> {
        let alone = discovery.topology().shape == Shape::Single;
        let (heartbeat, servers) = (uri.heartbeat, servers(&discovery.topology(), &uri));
        let watch = Arc::new(Watch {
            uri,
            hosts,
            discovery: Mutex::new(discovery),
            servers: Mutex::new(servers),
            number: AtomicU64::new(0),
            under_way: AtomicBool::new(false),
        });
        if !alone {
            let watched = Arc::downgrade(&watch);
            let beat = move || beat(&watched, heartbeat);
            // Without it the members are asked only when there is a reason to.
            let _ = thread::Builder::new().name("heartbeat".into()).spawn(beat);
        }
        watch
    }

    /// Asks the members who is primary until one is, on a thread of its own; does nothing while
    /// that is under way.
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
            if self.asked_once() {
                return;
            }
            thread::sleep(ASK_AGAIN);
        }
    }

    /// Asks each member once; true if one takes writes.
    fn asked_once(&self) -> bool {
        let mut discovery = self
            .discovery
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Ok(topology) = discovery.look() else {
            return false;
        };
        let found = self.known(&servers(&topology, &self.uri), &topology);
        let settled = !found.writers.is_empty();
        self.tell(found);
        settled
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

    /// Who serves what now, if that is newer than this number; the number is then updated.
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

/// Ask all members from time to time, for as long as somebody listens.
fn beat(watched: &Weak<Watch>, heartbeat: Duration) {
    loop {
        thread::sleep(heartbeat);
        let Some(watch) = watched.upgrade() else {
            return;
        };
        watch.asked_once();
    }
}
