//! The worker's connections: which one a request takes, and new ones for those that broke.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use tare_net::Flush;

use crate::errors::Fatal;
use crate::wire::{Link, Owners, Ticket, Wire};

/// Pause before a broken connection is opened again, doubled at each failure up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Bytes that may wait on a connection, not counting the request that exceeds them: a node that
/// reads nothing must not fill the client's memory.
const MOST_WAITING: usize = 16 << 20;

/// Where a request can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Route(usize),
    /// To this node, but not yet: none of its connections takes more, so that it has to wait.
    Full(usize),
    /// Nowhere: no connection is open.
    None,
}

/// One connection of one worker, open or being opened again.
struct Route<W: Wire> {
    /// Position in `Routes::nodes`.
    node: usize,
    link: Option<Link<W>>,
    /// Bytes are queued that have not been written.
    dirty: bool,
    /// The socket takes no more for now; the poll reports when it does.
    blocked: bool,
}

/// All connections of one worker.
pub struct Routes<W: Wire> {
    routes: Vec<Route<W>>,
    /// Positions in `routes` per node, nodes as the map has them.
    nodes: Vec<Vec<usize>>,
    addresses: Vec<Option<W::Node>>,
    /// Counts each node's requests, so that its connections share them.
    turns: Vec<usize>,
    map: W::Map,
    cluster: W::Cluster,
    /// Counts all requests, so that nodes and replicas share them.
    turn: usize,
    /// The same for requests whose node in turn has no connection.
    astray: usize,
    dirty: Vec<usize>,
    opened: Receiver<(usize, Link<W>)>,
    opener: Sender<(usize, Link<W>)>,
    over: Arc<AtomicBool>,
}

impl<W: Wire> Routes<W> {
    /// Opens `links` connections to every node that can be reached.
    pub fn open(
        nodes: &[Option<W::Node>],
        map: W::Map,
        cluster: &W::Cluster,
        links: usize,
    ) -> Result<Routes<W>, Fatal> {
        let (opener, opened) = channel();
        let mut routes = Routes {
            routes: Vec::new(),
            nodes: Vec::new(),
            turns: vec![0; nodes.len()],
            addresses: nodes.to_vec(),
            map,
            cluster: cluster.clone(),
            turn: 0,
            astray: 0,
            dirty: Vec::new(),
            opened,
            opener,
            over: Arc::default(),
        };
        for node in nodes {
            let first = routes.routes.len();
            let Some(node) = node else {
                routes.nodes.push(Vec::new());
                continue;
            };
            for _ in 0..links {
                let link = W::open(node, cluster)?;
                routes.routes.push(Route {
                    node: routes.nodes.len(),
                    link: None,
                    dirty: false,
                    blocked: false,
                });
                routes.adopt(routes.routes.len() - 1, link);
            }
            routes.nodes.push((first..first + links).collect());
        }
        Ok(routes)
    }

    /// Connections to all nodes.
    pub fn links(&self) -> usize {
        self.routes.len()
    }

    fn adopt(&mut self, route: usize, link: Link<W>) {
        self.routes[route].link = Some(link);
        self.routes[route].blocked = false;
    }

    /// Takes in connections that were opened again.
    pub fn adopt_opened(&mut self) {
        while let Ok((route, link)) = self.opened.try_recv() {
            self.adopt(route, link);
        }
    }

    /// Nodes, including those that cannot be reached.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn node_of(&self, route: usize) -> usize {
        self.routes[route].node
    }

    /// Takes a new map: other nodes may serve a request now.
    pub fn redraw(&mut self, map: W::Map) {
        self.map = map;
    }

    /// Where a request of this key goes: to the nodes that serve it, in turn. If none is known and
    /// any node may serve it, to all nodes in turn. A node that takes no more for now keeps its
    /// turn, so that its backlog makes no other node's share larger; only a node without a
    /// connection loses its turn.
    pub fn choose(&mut self, key: &W::Key) -> Choice {
        self.turn = self.turn.wrapping_add(1);
        let Owners {
            nodes: owners,
            only,
        } = W::owners(&self.map, key);
        let node = match owners.len() {
            0 if only => return Choice::None,
            0 => self.turn % self.nodes.len().max(1),
            count => usize::from(owners[self.turn % count]),
        };
        match self.on(node) {
            Choice::None => self.elsewhere(key),
            choice => choice,
        }
    }

    /// Where a request for this node goes: to its connections in turn, but for those that take no
    /// more for now.
    pub fn on(&mut self, node: usize) -> Choice {
        let (Some(routes), Some(turn)) = (self.nodes.get(node), self.turns.get_mut(node)) else {
            return Choice::None;
        };
        *turn = turn.wrapping_add(1);
        let first = *turn;
        let mut in_turn = (0..routes.len()).map(|i| routes[first.wrapping_add(i) % routes.len()]);
        match in_turn.find(|&route| self.takes_more(route)) {
            Some(route) => Choice::Route(route),
            None if self.is_connected(node) => Choice::Full(node),
            None => Choice::None,
        }
    }

    /// The choice where the node in turn has no connection: the others share its part evenly.
    fn elsewhere(&mut self, key: &W::Key) -> Choice {
        self.astray = self.astray.wrapping_add(1);
        let Owners {
            nodes: owners,
            only,
        } = W::owners(&self.map, key);
        let connected = |node: &usize| self.is_connected(*node);
        let replicas = || {
            owners
                .iter()
                .map(|&node| usize::from(node))
                .filter(connected)
        };
        let others = if only { 0 } else { self.nodes.len() };
        let all = || (0..others).filter(connected);
        let node = match (replicas().count(), all().count()) {
            (0, 0) => None,
            (0, count) => all().nth(self.astray % count),
            (count, _) => replicas().nth(self.astray % count),
        };
        match node {
            Some(node) => self.on(node),
            None => Choice::None,
        }
    }

    fn is_connected(&self, node: usize) -> bool {
        let routes = self.nodes.get(node).map_or(&[][..], Vec::as_slice);
        routes
            .iter()
            .any(|&route| self.routes[route].link.is_some())
    }

    fn takes_more(&self, route: usize) -> bool {
        let link = self.routes[route].link.as_ref();
        link.is_some_and(|link| link.free() > 0 && link.waiting() < MOST_WAITING)
    }

    /// Whether every connection to this node is full: the node does not read.
    pub fn is_unread(&self, node: usize) -> bool {
        let routes = self.nodes.get(node).map_or(&[][..], Vec::as_slice);
        let mut links = routes.iter().filter_map(|&r| self.routes[r].link.as_ref());
        links.all(|link| link.waiting() >= MOST_WAITING)
    }

    /// Queues a request; none if the connection takes no more or broke.
    pub fn queue(&mut self, route: usize, draft: &W::Draft, tag: u32) -> Option<Ticket<W>> {
        let entry = &mut self.routes[route];
        let ticket = entry.link.as_mut()?.queue(W::request(draft), tag)?;
        if !entry.dirty {
            entry.dirty = true;
            self.dirty.push(route);
        }
        Some(ticket)
    }

    /// An answer is no longer waited for.
    pub fn abandon(&mut self, route: usize, ticket: Ticket<W>) {
        if let Some(link) = &mut self.routes[route].link {
            link.abandon(ticket);
        }
    }

    /// Writes what is queued. Connections that broke are returned.
    pub fn flush(&mut self) -> Vec<usize> {
        let mut broken = Vec::new();
        while let Some(route) = self.dirty.pop() {
            self.routes[route].dirty = false;
            if !self.routes[route].blocked && self.write(route).is_err() {
                broken.push(route);
            }
        }
        broken
    }

    /// Writes as much as the socket takes.
    pub fn write(&mut self, route: usize) -> Result<(), Broken> {
        let entry = &mut self.routes[route];
        let Some(link) = &mut entry.link else {
            return Ok(());
        };
        entry.blocked = link.flush().map_err(|_| Broken)? == Flush::Blocked;
        Ok(())
    }

    /// Takes a connection out of use while its answers are looked at.
    pub fn lend(&mut self, route: usize) -> Option<Link<W>> {
        self.routes.get_mut(route)?.link.take()
    }

    pub fn give_back(&mut self, route: usize, link: Link<W>) {
        self.routes[route].link = Some(link);
    }

    /// Closes a broken connection. A thread of its own tries to open it again until it succeeds or
    /// the run is over.
    pub fn reopen(&mut self, route: usize) {
        let entry = &mut self.routes[route];
        (entry.link, entry.dirty, entry.blocked) = (None, false, false);
        self.dirty.retain(|&dirty| dirty != route);
        let Some(node) = self.addresses[entry.node].clone() else {
            return;
        };
        let cluster = self.cluster.clone();
        let (opener, over) = (self.opener.clone(), Arc::clone(&self.over));
        // If no thread can be started, the connection stays closed, as its operations show.
        let _ = std::thread::Builder::new()
            .name("reconnect".into())
            .spawn(move || {
                let mut pause = FIRST_PAUSE;
                while !over.load(Ordering::Relaxed) {
                    std::thread::sleep(pause);
                    if let Ok(link) = W::open(&node, &cluster) {
                        let _ = opener.send((route, link));
                        return;
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            });
    }

    /// Closes a connection and opens another in its place; blocks. False if that failed: it is then
    /// reopened like a broken one.
    pub fn renew(&mut self, route: usize) -> bool {
        let node = self.routes[route].node;
        self.routes[route].link = None;
        let opened = self.addresses[node]
            .as_ref()
            .and_then(|node| W::open(node, &self.cluster).ok());
        match opened {
            Some(link) => self.adopt(route, link),
            None => self.reopen(route),
        }
        self.routes[route].link.is_some()
    }

    /// Re-prepares or rediscovers after a node reported stale state.
    pub fn recover(&self, route: usize, recovery: &Arc<W::Recovery>) {
        if let Some(node) = &self.addresses[self.routes[route].node] {
            W::recover(recovery, node, &self.cluster);
        }
    }

    /// Waits until a connection can be read or written, or so many nanoseconds have passed.
    /// Positions of connections go into `ready`: (position, readable, writable).
    ///
    /// By `ppoll`, whose time-outs are in nanoseconds on every kernel; `epoll_wait` has
    /// milliseconds, and its successor is missing before Linux 5.11.
    pub fn wait(&self, ns: u64, ready: &mut Vec<(usize, bool, bool)>) {
        let timeout = Timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as _,
        };
        ready.clear();
        let mut waiting = Vec::with_capacity(self.routes.len());
        for (position, route) in self.routes.iter().enumerate() {
            if let Some(link) = &route.link {
                let mut flags = PollFlags::IN;
                flags.set(PollFlags::OUT, route.blocked);
                waiting.push(PollFd::from_borrowed_fd(link.as_fd(), flags));
                ready.push((position, false, false));
            }
        }
        // An interruption by a signal counts as no event.
        let count = poll(&mut waiting, Some(&timeout)).unwrap_or(0);
        if count == 0 {
            return ready.clear();
        }
        for (entry, fd) in ready.iter_mut().zip(&waiting) {
            let flags = fd.revents();
            // Errors and hang-ups show when reading.
            entry.1 = !(flags - PollFlags::OUT).is_empty();
            entry.2 = flags.contains(PollFlags::OUT);
        }
        ready.retain(|&(_, readable, writable)| readable || writable);
    }
}

impl<W: Wire> Drop for Routes<W> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// The connection can no longer be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

#[cfg(test)]
mod tests;
