//! The thread of a stub: one epoll, all connections, answers sent when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Result;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::Timespec;

use crate::clock::{now, timespec};
use crate::connection::{whole_frame, Connection, Progress};
use crate::node::{Asked, Node};
use crate::queue::Queue;
use crate::report::Tally;

const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
const MOST_CONNECTIONS: usize = 4096;
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
    poll: OwnedFd,
    listener: TcpListener,
    // Kept open: its end tells the thread to stop.
    _wake: UnixStream,
    connections: Vec<Option<Connection>>,
    generations: u64,
    waiting: BinaryHeap<Waiting>,
    spare: Vec<Vec<u8>>,
    order: u64,
    dirty: Vec<usize>,
}

impl Serving {
    /// Takes a bound listener; `wake` becomes readable when the thread is to stop.
    pub fn new(
        node: Node,
        queue: Queue,
        mut drops: Vec<u64>,
        spin: bool,
        listener: TcpListener,
        wake: UnixStream,
    ) -> Result<Serving> {
        listener.set_nonblocking(true)?;
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(
            &poll,
            &listener,
            EventData::new_u64(LISTENER),
            EventFlags::IN,
        )?;
        epoll::add(&poll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        drops.sort_unstable_by_key(|at| Reverse(*at));
        Ok(Serving {
            node,
            queue,
            tally: Tally::new(),
            drops,
            spin,
            poll,
            listener,
            _wake: wake,
            connections: Vec::new(),
            generations: 0,
            waiting: BinaryHeap::new(),
            spare: Vec::new(),
            order: 0,
            dirty: Vec::new(),
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
            events.clear();
            match epoll::wait(&self.poll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(why) => return Err(why.into()),
            }
            for event in &events {
                match event.data.u64() {
                    WAKE => return Ok(self.tally),
                    LISTENER => self.accept()?,
                    place => self.ready(place as usize, event.flags),
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

    fn accept(&mut self) -> Result<()> {
        while let Ok((stream, _)) = self.listener.accept() {
            let free = self.connections.iter().position(Option::is_none);
            let place = free.unwrap_or(self.connections.len());
            if place >= MOST_CONNECTIONS {
                continue; // dropping it closes it
            }
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            epoll::add(
                &self.poll,
                &stream,
                EventData::new_u64(place as u64),
                EventFlags::IN,
            )?;
            self.generations += 1;
            let connection = Some(Connection::new(stream, self.generations));
            match self.connections.get_mut(place) {
                Some(empty) => *empty = connection,
                None => self.connections.push(connection),
            }
            self.tally.connections += 1;
        }
        Ok(())
    }

    fn ready(&mut self, place: usize, flags: EventFlags) {
        let Some(Some(connection)) = self.connections.get_mut(place) else {
            return;
        };
        if flags.contains(EventFlags::OUT) {
            mark(connection, place, &mut self.dirty);
        }
        if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            let progress = match connection.receive() {
                Progress::Done => self.requests(place),
                progress => progress,
            };
            if progress == Progress::Over {
                self.close(place);
            }
        }
    }

    /// Answers every whole request that was read, or puts its answer by until it is due.
    fn requests(&mut self, place: usize) -> Progress {
        let arrival = now();
        let Some(Some(connection)) = self.connections.get_mut(place) else {
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
                Asked::Answered => {}
                Asked::Over => {
                    connection.last_words = true;
                    used = filled;
                }
                Asked::Load(load) => {
                    let fate = self.queue.admit(arrival);
                    self.tally.admitted(arrival, fate.service, fate.due);
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
        mark(connection, place, &mut self.dirty);
        connection.keep(input, used)
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
            if let Some(Some(connection)) = self.connections.get_mut(place) {
                if connection.generation == generation {
                    connection.output.extend(&frame);
                    connection.dues.push(due);
                    mark(connection, place, &mut self.dirty);
                }
            }
            frame.clear();
            self.spare.push(frame);
        }
    }

    fn flush(&mut self) {
        while let Some(place) = self.dirty.pop() {
            let Some(Some(connection)) = self.connections.get_mut(place) else {
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
            if over
                || (blocked != connection.blocked
                    && !listen(&self.poll, connection, place, blocked))
            {
                self.close(place);
            }
        }
    }

    fn drop_connections(&mut self, now: u64) {
        let Some(first) = self.queue.first() else {
            return;
        };
        while self.drops.last().is_some_and(|at| first + at <= now) {
            self.drops.pop();
            for place in 0..self.connections.len() {
                self.close(place);
            }
        }
    }

    /// Closing the socket takes it out of the epoll.
    fn close(&mut self, place: usize) {
        if let Some(connection) = self.connections.get_mut(place) {
            *connection = None;
        }
    }
}

/// Whether the wish to hear when it can be written could be changed.
fn listen(poll: &OwnedFd, connection: &mut Connection, place: usize, blocked: bool) -> bool {
    connection.blocked = blocked;
    let flags = if blocked {
        EventFlags::OUT
    } else {
        EventFlags::IN
    };
    epoll::modify(
        poll,
        &connection.stream,
        EventData::new_u64(place as u64),
        flags,
    )
    .is_ok()
}

fn mark(connection: &mut Connection, place: usize, dirty: &mut Vec<usize>) {
    if !connection.dirty {
        connection.dirty = true;
        dirty.push(place);
    }
}
