//! The thread of a stub: one epoll, all connections, answers sent when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Result;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{Event, EventFlags};
use rustix::event::Timespec;

use crate::clock::{now, timespec};
use crate::connection::{whole_frame, Progress};
use crate::connections::{Connections, Readiness};
use crate::node::{Node, Outcome};
use crate::queue::Queue;
use crate::report::Tally;
use crate::spend::Spend;

/// How long before an answer is due the thread stops sleeping: waking up takes that long at worst
/// on an idle machine, nanoseconds.
const AWAKE_BEFORE: u64 = 60_000;

/// An answer that waits until it is due: when, which, for whom.
type Waiting = Reverse<(u64, u64, usize, u64, Vec<u8>)>;

/// Everything that the thread owns.
pub struct Serving {
    node: Node,
    queue: Queue,
    tally: Tally,
    /// Times after the first request at which all connections are closed, the next one last.
    drops: Vec<u64>,
    spin: bool,
    /// What each request of the load costs on top.
    spend: Spend,
    connections: Connections,
    waiting: BinaryHeap<Waiting>,
    spare: Vec<Vec<u8>>,
    order: u64,
}

impl Serving {
    /// Takes a bound listener; `wake` becomes readable when the thread is to stop.
    pub fn new(
        node: Node,
        queue: Queue,
        mut drops: Vec<u64>,
        spin: bool,
        spend: Spend,
        listener: TcpListener,
        wake: UnixStream,
    ) -> Result<Serving> {
        drops.sort_unstable_by_key(|at| Reverse(*at));
        Ok(Serving {
            node,
            queue,
            tally: Tally::new(),
            drops,
            spin,
            spend,
            connections: Connections::new(listener, wake)?,
            waiting: BinaryHeap::new(),
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
            self.flush();
            let timeout = self.timeout();
            self.connections.wait(timeout.as_ref(), &mut events)?;
            for event in &events {
                match Readiness::of(event) {
                    Readiness::Stop => return Ok(self.tally),
                    Readiness::Arrival => self.tally.connections += self.connections.accept()?,
                    Readiness::Ready(place, flags) => self.ready(place, flags),
                }
            }
        }
    }

    /// How long may be slept: until shortly before the next thing is due. None: until something comes.
    fn timeout(&self) -> Option<Timespec> {
        let first = self.queue.first();
        let drop = self.drops.last().zip(first).map(|(at, first)| first + at);
        let answer = self.waiting.peek().map(|Reverse(waiting)| waiting.0);
        let next = drop.into_iter().chain(answer).min();
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
                progress => progress,
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
        while let Some((header, body)) = whole_frame(&input[used..filled]) {
            used += crate::wire::HEADER + body.len();
            match self.node.ask(
                &mut connection.keyspace,
                header,
                body,
                &mut connection.output,
            ) {
                Outcome::Answered => {}
                Outcome::Over => {
                    connection.last_words = true;
                    used = filled;
                }
                Outcome::Load(load) => {
                    let fate = self.queue.admit(arrival);
                    self.tally.admitted(arrival, fate.service, fate.due);
                    self.tally.spent(self.spend.once());
                    match fate.due {
                        None => continue,
                        Some(due) if due <= arrival => {
                            load.put(&mut connection.output, header.stream, fate.fault);
                            connection.dues.push(due);
                        }
                        Some(due) => {
                            let mut frame = self.spare.pop().unwrap_or_default();
                            load.put(&mut frame, header.stream, fate.fault);
                            self.order += 1;
                            let waiting = (due, self.order, place, connection.generation, frame);
                            self.waiting.push(Reverse(waiting));
                        }
                    }
                    if let Some(fault) = fate.fault {
                        self.tally.failed(fault);
                    }
                }
            }
        }
        let progress = connection.keep(input, used);
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
