//! One worker: a thread with its own connections, its own slots and its own recorder.

mod begin;
mod flight;
mod replies;
mod room;
mod routes;
mod schedule;
mod send;

use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::sync::Arc;

use crate::clock::Clock;
use crate::order::Pace;
use crate::record::{Interval, Recorder};
use crate::request::Request;
use crate::timeline::Timeline;
use crate::wire::{Ticket, Wire};
use crate::workload::Source;

use begin::beat;
use flight::{Agenda, Flight};
use room::Room;
pub use routes::Routes;
use schedule::Schedule;

/// Operations begun in one go before the sockets are written and looked at.
const BURST: usize = 64;
/// Pause before retrying an operation that found no connection, nanoseconds; without it a dead
/// cluster would keep the client spinning.
const NO_CONNECTION: u64 = 10_000_000;

/// What a worker is given to begin with.
pub struct Start<W: Wire> {
    pub number: usize,
    pub workers: usize,
    /// The worker's part of the slots.
    pub slots: usize,
    pub pace: Pace,
    /// Nanoseconds until a request counts as timed out.
    pub timeout: u64,
    pub seed: u64,
    pub clock: Clock,
    pub timeline: Timeline,
    /// As `Order` has it.
    pub connections_per_slice: Option<u64>,
    pub stop: Arc<AtomicBool>,
    pub templates: Rc<[W::Template]>,
    pub cluster: W::Cluster,
    /// For what changes on the servers.
    pub recovery: Arc<W::Recovery>,
    /// Sealed intervals whose memory can be used again.
    pub recycled: Receiver<Interval>,
}

/// The worker's own idea of the pace.
enum Beat {
    Closed,
    Open(Schedule),
    /// Tick in nanoseconds.
    PerSlot(f64),
}

/// A worker at work.
pub struct Worker<W: Wire, S: Source<W>> {
    start: Start<W>,
    source: S,
    routes: Routes<W>,
    recorder: Recorder,
    beat: Beat,
    flights: Vec<Flight<Ticket<W>>>,
    requests: Vec<Request<W>>,
    /// Slots that wait for an operation (open loop), the one used last on top.
    idle: Vec<usize>,
    /// Per slot: first deadline and operations begun (per-slot pace).
    deadlines: Vec<(u64, u64)>,
    /// Slots whose requests are written and not yet sent.
    outbox: Vec<usize>,
    /// Slots whose requests wait until their node takes more.
    room: Room,
    /// A server reported stale state; recovery is due.
    ailing: bool,
    /// Number of the map that is in use.
    map: u64,
    agenda: Agenda,
    finished: usize,
    /// The source had nothing left for a slot.
    exhausted: bool,
    busy: usize,
    /// The last slice's number, and how many operations it has had.
    begun: (u64, u64),
    /// When the last slot became free while none was (open loop).
    full_until: u64,
}

impl<W: Wire, S: Source<W>> Worker<W, S> {
    pub fn new(start: Start<W>, source: S, routes: Routes<W>, recorder: Recorder) -> Worker<W, S> {
        let (beat, deadlines) = beat(&start);
        let room = Room::new(routes.nodes());
        Worker {
            source,
            routes,
            recorder,
            beat,
            flights: Vec::new(),
            requests: Vec::new(),
            idle: Vec::new(),
            deadlines,
            outbox: Vec::new(),
            room,
            ailing: false,
            map: 0,
            agenda: Agenda::default(),
            finished: 0,
            exhausted: false,
            busy: 0,
            begun: (0, 0),
            full_until: 0,
            start,
        }
    }

    /// Works until the end of the run, until all slots have finished, or until stopped.
    pub fn run(mut self) {
        // A wake-up that comes 50 microseconds late, the kernel's default, would be lateness.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        self.occupy();
        let mut ready = Vec::new();
        while !self.over() {
            let now = self.start.clock.now();
            let rest = self.begin_due(now);
            self.dispatch();
            self.expire(now);
            self.recorder.advance(now);
            if let Ok(spare) = self.start.recycled.try_recv() {
                self.recorder.recycle(spare);
            }
            self.routes.adopt_opened();
            if let Some(map) = W::renewed(&self.start.recovery, &mut self.map) {
                self.routes.redraw(map);
            }
            let wait = if rest { 0 } else { self.pause() };
            self.routes.wait(wait, &mut ready);
            for &(route, readable, writable) in &ready {
                if writable && self.routes.write(route).is_err() {
                    self.broke(route);
                } else if readable {
                    self.receive(route);
                }
            }
            self.dispatch();
        }
        let now = self.start.clock.now();
        self.give_up(now);
        self.count_unsent(now);
        self.recorder.finish(now);
    }
}
