//! The thread of a stub: one epoll, all connections, answers sent when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Result;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{Event, EventFlags};
use rustix::event::Timespec;

use tare_net::Identity;

use crate::clock::{now, timespec};
use crate::connection::{whole, Progress};
use crate::connections::{Connections, Readiness};
use crate::queue::Queue;
use crate::report::Tally;
use crate::script::Script;
use crate::speech::{Load, Outcome, Speech};
use crate::spend::Spend;
use crate::walk::Walk;

/// What its certificate calls it.
const NAME: &str = "tare-stub";
/// How long before an answer is due the thread stops sleeping: waking up takes that long at worst
/// on an idle machine, nanoseconds.
const AWAKE_BEFORE: u64 = 60_000;

/// An answer that waits until it is due: when, which, for whom.
type Waiting = Reverse<(u64, u64, usize, u64, Vec<u8>)>;

/// A request that waits for news, or for its time: when, for whom, its bytes.
type Patient = (u64, usize, u64, Vec<u8>);

/// Everything that the thread owns.
pub struct Serving<S: Speech> {
    node: S,
    queue: Queue,
    tally: Tally,
    /// Times after the first request at which all connections are closed, the next one last.
    drops: Vec<u64>,
    spin: bool,
    /// What each request of the load costs on top.
    spend: Spend,
    walk: Walk,
    connections: Connections<S::Talk>,
    waiting: BinaryHeap<Waiting>,
    patient: Vec<Patient>,
    spare: Vec<Vec<u8>>,
    order: u64,
}

impl<S: Speech> Serving<S> {
    /// Takes a bound listener; `wake` becomes readable when there is news, and ends when the thread
    /// is to stop.
    pub fn new(
        node: S,
        script: &Script,
        listener: TcpListener,
        wake: UnixStream,
    ) -> Result<Serving<S>> {
        let identity = script.tls.then(|| Identity::new(NAME)).transpose();
        let identity = identity.map_err(std::io::Error::other)?;
        let mut drops: Vec<u64> = script.drops.iter().map(|at| at.as_nanos() as u64).collect();
        drops.sort_unstable_by_key(|at| Reverse(*at));
        Ok(Serving {
            node,
            queue: Queue::new(script),
            tally: Tally::new(),
            drops,
            spin: script.spin,
            spend: Spend::new(script.spend),
            walk: Walk::new(script.walk),
            connections: Connections::new(listener, wake, identity)?,
            waiting: BinaryHeap::new(),
            patient: Vec::new(),
            spare: Vec::new(),
            order: 0,
        })
    }

    /// Serves until it is told to stop.
    pub fn run(mut self) -> Result<Tally> {
        let mut events: Vec<Event> = Vec::with_capacity(256);
        loop {
            let now = now();
            self.drop_connections(now);
            self.release(now);
            self.ask_again(now);
            self.flush();
            let timeout = self.timeout();
            self.connections.wait(timeout.as_ref(), &mut events)?;
            for event in &events {
                match Readiness::of(event) {
                    Readiness::Wake if self.connections.is_to_stop() => return Ok(self.tally),
                    Readiness::Wake => {}
                    Readiness::Arrival => self.tally.connections += self.connections.accept()?,
                    Readiness::Ready(place, flags) => self.ready(place, flags),
                }
            }
        }
    }

    /// How long to sleep: until shortly before the next event is due. None: until something comes.
    fn timeout(&self) -> Option<Timespec> {
        let first = self.queue.first();
        let drop = self.drops.last().zip(first).map(|(at, first)| first + at);
        let answer = self.waiting.peek().map(|Reverse(waiting)| waiting.0);
        let patient = self.patient.iter().map(|patient| patient.0).min();
        let next = drop.into_iter().chain(answer).chain(patient).min();
        let sleep = match next {
            _ if self.spin => 0,
            None => return None,
            Some(next) => next.saturating_sub(now()).saturating_sub(AWAKE_BEFORE),
        };
        Some(timespec(sleep))
    }

    fn ready(&mut self, place: usize, flags: EventFlags) {
        if flags.contains(EventFlags::OUT) {
            self.connections.mark(place);
        }
        let Some(connection) = self.connections.get(place) else {
            return;
        };
        if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            let progress = match connection.receive() {
                Progress::Done => self.requests(place),
                progress => {
                    let holds = connection.stream.holds(); // a handshake that was not sent whole
                    if holds {
                        self.connections.mark(place);
                    }
                    progress
                }
            };
            if progress == Progress::Over {
                self.connections.close(place);
            }
        }
    }

    /// Answers every whole request that was read, or puts its answer by until it is due.
    fn requests(&mut self, place: usize) -> Progress {
        let arrival = now();
        let Some(connection) = self.connections.get(place) else {
            return Progress::Over;
        };
        let (input, filled) = connection.take_input();
        let mut used = 0;
        while let Some(request) = whole::<S>(&input[used..filled]) {
            used += request.len();
            let output = &mut connection.output;
            match self.node.ask(&mut connection.talk, request, true, output) {
                Outcome::Answered => {}
                Outcome::Over => {
                    connection.last_words = true;
                    used = filled;
                }
                Outcome::Later(patience) => {
                    let until = arrival.saturating_add(patience);
                    let generation = connection.generation;
                    self.patient
                        .push((until, place, generation, request.to_vec()));
                }
                Outcome::Load(load) => {
                    let fate = self.queue.admit(arrival);
                    self.tally.admitted(arrival, fate.service, fate.due);
                    self.tally.spent(self.spend.once());
                    self.walk.once();
                    match fate.due {
                        None => continue,
                        Some(due) if due <= arrival => {
                            load.put(output, fate.fault);
                            connection.dues.push(due);
                        }
                        Some(due) => {
                            let mut answer = self.spare.pop().unwrap_or_default();
                            load.put(&mut answer, fate.fault);
                            self.order += 1;
                            let waiting = (due, self.order, place, connection.generation, answer);
                            self.waiting.push(Reverse(waiting));
                        }
                    }
                    if let Some(fault) = fate.fault {
                        self.tally.failed(fault);
                    }
                }
            }
        }
        let progress = connection.keep::<S>(input, used);
        self.connections.mark(place);
        progress
    }

    /// Moves the answers that are due to their connections.
    fn release(&mut self, now: u64) {
        while self
            .waiting
            .peek()
            .is_some_and(|Reverse(waiting)| waiting.0 <= now)
        {
            let Some(Reverse((due, _, place, generation, mut frame))) = self.waiting.pop() else {
                return;
            };
            let connection = self.connections.get(place);
            if let Some(connection) = connection.filter(|one| one.generation == generation) {
                connection.output.extend(&frame);
                connection.dues.push(due);
                self.connections.mark(place);
            }
            frame.clear();
            self.spare.push(frame);
        }
    }

    /// Asks again the requests whose time has come; all of them, if there is news.
    fn ask_again(&mut self, now: u64) {
        let news = self.node.has_news();
        let (due, later): (Vec<Patient>, Vec<Patient>) = std::mem::take(&mut self.patient)
            .into_iter()
            .partition(|patient| news || patient.0 <= now);
        self.patient = later;
        for (_, place, generation, request) in due {
            let connection = self.connections.get(place);
            if let Some(connection) = connection.filter(|one| one.generation == generation) {
                let output = &mut connection.output;
                let talk = &mut connection.talk;
                let is_over = matches!(self.node.ask(talk, &request, false, output), Outcome::Over);
                connection.last_words |= is_over;
                self.connections.mark(place);
            }
        }
    }

    fn flush(&mut self) {
        while let Some(place) = self.connections.marked() {
            let Some(connection) = self.connections.get(place) else {
                continue;
            };
            connection.dirty = false;
            let began = now();
            let progress = connection.flush();
            let blocked = progress == Progress::Blocked;
            if progress == Progress::Done {
                let ended = now();
                for due in connection.dues.drain(..) {
                    self.tally.sent(due, began, ended);
                }
            }
            let over = progress == Progress::Over || (connection.last_words && !blocked);
            if over || !self.connections.listen(place, blocked) {
                self.connections.close(place);
            }
        }
    }

    fn drop_connections(&mut self, now: u64) {
        let Some(first) = self.queue.first() else {
            return;
        };
        while self.drops.last().is_some_and(|at| first + at <= now) {
            self.drops.pop();
            self.connections.close_all();
        }
    }
}
