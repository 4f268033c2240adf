//! One worker: a thread with its own connections, its own slots and its own recorder.

mod flight;
mod routes;
mod schedule;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::Arc;

use tare_cql::{Reply, ReplyKind, Template};

use crate::clock::Clock;
use crate::errors::ErrorKind;
use crate::order::Pace;
use crate::record::{Interval, Notes, Recorder, Times};
use crate::request::Request;
use crate::timeline::Timeline;
use crate::workload::{Answer, Begin, Follow, Outcome, Source};

use flight::{Agenda, Flight, Later};
pub use routes::Routes;
use schedule::Schedule;

/// Longest sleep, nanoseconds: how soon a worker sees that it is to stop.
const LOOK_UP: u64 = 20_000_000;
/// Operations begun in one go before the sockets are written and looked at.
const BURST: usize = 64;
/// Pause before an operation is tried that found no connection, nanoseconds; without it a dead
/// cluster would keep the client spinning.
const NO_CONNECTION: u64 = 10_000_000;
/// Pause before a request is sent again whose statement the server had forgotten.
const UNPREPARED: u64 = 5_000_000;
/// Most tries for a statement that the server keeps forgetting.
const MOST_UNPREPARED: u32 = 200;
/// Tag of a PREPARE that the worker sends by itself.
const OWN: u32 = u32::MAX;
/// Opcode of PREPARE and server error UNPREPARED (native protocol v4, sections 2.4 and 9).
const PREPARE: u8 = 0x09;
const FORGOTTEN: i32 = 0x2500;

/// What a worker is given to begin with.
pub struct Start {
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
    pub stop: Arc<AtomicBool>,
    pub templates: Rc<[Template]>,
    pub protocol: tare_cql::Protocol,
    /// PREPARE bodies, for statements that a restarted server has forgotten.
    pub prepares: Vec<Vec<u8>>,
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
pub struct Worker<S: Source> {
    start: Start,
    source: S,
    routes: Routes,
    recorder: Recorder,
    beat: Beat,
    flights: Vec<Flight>,
    requests: Vec<Request>,
    /// Slots that wait for an operation (open loop), the one used last on top.
    idle: Vec<usize>,
    /// Per slot: first deadline and operations begun (per-slot pace).
    deadlines: Vec<(u64, u64)>,
    /// Slots whose requests are written and not yet sent.
    outbox: Vec<usize>,
    /// Connections whose servers have forgotten statements.
    forgotten: Vec<usize>,
    agenda: Agenda,
    finished: usize,
    busy: usize,
}

impl<S: Source> Worker<S> {
    pub fn new(start: Start, source: S, routes: Routes, recorder: Recorder) -> Worker<S> {
        let (beat, deadlines) = beat(&start);
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
            forgotten: Vec::new(),
            agenda: Agenda::default(),
            finished: 0,
            busy: 0,
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
        self.count_unsent(now);
        self.recorder.finish(now);
    }

    /// Gives every slot its first operation's time.
    fn occupy(&mut self) {
        match self.beat {
            Beat::Open(_) => {}
            Beat::Closed => {
                for slot in 0..self.start.slots {
                    self.agenda.at(0, slot, Later::Begin);
                }
            }
            Beat::PerSlot(_) => {
                for slot in 0..self.start.slots {
                    self.agenda.at(self.deadlines[slot].0, slot, Later::Begin);
                }
            }
        }
    }

    fn over(&self) -> bool {
        if self.start.stop.load(Ordering::Relaxed) {
            return true;
        }
        if matches!(self.beat, Beat::Open(_)) {
            if self.finished > 0 && self.busy == 0 {
                return true;
            }
        } else if self.finished == self.start.slots {
            return true;
        }
        let end = self.start.timeline.end;
        if end == u64::MAX {
            return false;
        }
        let now = self.start.clock.now();
        match self.beat {
            // Operations still in flight were neither answered in time nor failed.
            Beat::Closed => now >= end,
            // Every operation ends by its own timeout; the rest is for the timers' own delay.
            _ => now >= end && (self.busy == 0 || now >= end + self.start.timeout + 100_000_000),
        }
    }

    /// Nanoseconds until something must be done that no socket tells of.
    fn pause(&self) -> u64 {
        let before = self.start.clock.until_origin();
        if before > 0 {
            return before.min(LOOK_UP);
        }
        let now = self.start.clock.now();
        let mut next = self.agenda.next();
        if let Beat::Open(schedule) = &self.beat {
            let due = schedule.next();
            if due < self.start.timeline.end && self.may_begin() && self.finished == 0 {
                next = next.min(due);
            }
        }
        for border in [self.recorder.border(), self.start.timeline.end] {
            if border > now {
                next = next.min(border);
            }
        }
        next.saturating_sub(now).min(LOOK_UP)
    }

    /// Begins what has come due; true if there is more of it.
    fn begin_due(&mut self, now: u64) -> bool {
        if self.start.clock.until_origin() > 0 {
            return false;
        }
        let mut burst = 0;
        while burst < BURST {
            let Some((time, slot, what)) = self.agenda.due(now) else {
                break;
            };
            burst += 1;
            match what {
                Later::Begin => self.begin(slot, time),
                Later::Resend => self.outbox.push(slot),
            }
        }
        while burst < BURST && self.begin_scheduled(now) {
            burst += 1;
        }
        burst == BURST
    }

    /// Begins the open loop's next operation if it is due and a slot is free.
    fn begin_scheduled(&mut self, now: u64) -> bool {
        let may_begin = self.may_begin();
        let Beat::Open(schedule) = &mut self.beat else {
            return false;
        };
        let due = schedule.next();
        let late = due > now || due >= self.start.timeline.end || now >= self.start.timeline.end;
        if late || !may_begin || self.finished > 0 {
            return false;
        }
        schedule.pass();
        self.recorder.due(due);
        let slot = self.idle.pop().unwrap_or(self.flights.len());
        self.begin(slot, due);
        true
    }

    fn may_begin(&self) -> bool {
        !self.idle.is_empty() || self.flights.len() < self.start.slots
    }

    /// Begins the next operation of a slot, meant to be sent at `intended`.
    fn begin(&mut self, slot: usize, intended: u64) {
        while self.flights.len() <= slot {
            self.flights.push(Flight::default());
            self.requests
                .push(Request::new(Rc::clone(&self.start.templates), self.start.protocol));
        }
        let mut intended = intended;
        if let Beat::PerSlot(tick) = self.beat {
            if self.start.clock.now() >= self.start.timeline.end {
                self.finished += 1;
                return;
            }
            let (first, begun) = self.deadlines[slot];
            intended = first + (begun as f64 * tick) as u64;
        }
        self.requests[slot].begin(intended);
        match self.source.begin(slot, &mut self.requests[slot]) {
            Begin::Send { operation } => {
                if let Beat::PerSlot(_) = self.beat {
                    self.recorder.due(intended);
                    self.deadlines[slot].1 += 1;
                }
                let flight = &mut self.flights[slot];
                flight.operation = operation;
                flight.intended = intended;
                flight.begun = u64::MAX;
                flight.retries = 0;
                self.busy += 1;
                self.outbox.push(slot);
            }
            Begin::Finished => self.finished += 1,
            Begin::Wait { after } => {
                let later = self.start.clock.now() + after.as_nanos() as u64;
                self.agenda.at(later, slot, Later::Begin);
            }
        }
    }

    /// Sends the requests that have been written.
    fn dispatch(&mut self) {
        let mut outbox = std::mem::take(&mut self.outbox);
        for slots in outbox.chunks(BURST) {
            let now = self.start.clock.now();
            for &slot in slots {
                self.send(slot, now);
            }
            for route in self.routes.flush() {
                self.broke(route);
            }
        }
        outbox.clear();
        // What failed at once may have begun something else.
        outbox.append(&mut self.outbox);
        self.outbox = outbox;
        if !self.outbox.is_empty() {
            self.dispatch();
        }
    }

    fn send(&mut self, slot: usize, now: u64) {
        let request = self.requests[slot].inner();
        // What a source wrote is its own code's; a request that is none fails where it is seen.
        let complete = request.finish().is_ok();
        let flight = &mut self.flights[slot];
        if flight.begun == u64::MAX {
            flight.begun = now;
            match self.beat {
                // Nothing was scheduled: the operation was meant to be sent when it was.
                Beat::Closed => flight.intended = now,
                _ => self.recorder.sent(flight.intended, now),
            }
        }
        flight.sent = now;
        let queued = self.routes.choose(request.token()).and_then(|route| {
            let stream = self
                .routes
                .queue(route, request.opcode(), request.body(), slot as u32)?;
            Some((route, stream))
        });
        match queued.filter(|_| complete) {
            Some((route, stream)) => {
                flight.request = flight.request.wrapping_add(1);
                (flight.route, flight.stream, flight.waiting) = (route, Some(stream), true);
                let deadline = now + self.start.timeout;
                self.agenda.expect(deadline, slot, flight.request);
            }
            None => {
                let kind = match complete {
                    true => ErrorKind::Connection,
                    false => ErrorKind::Other,
                };
                self.settle(slot, now, Answer::Failed { kind, server: None }, NO_CONNECTION);
            }
        }
    }

    /// Reads what has arrived on a connection, and lets its operations go on.
    fn receive(&mut self, route: usize) {
        let Some(mut link) = self.routes.lend(route) else {
            return;
        };
        let read = link.read();
        let now = self.start.clock.now();
        let decoded = read.is_ok()
            && link
                .replies(|tag, reply| self.answered(tag, reply, route, now))
                .is_ok();
        let open = matches!(read, Ok(tare_cql::Received::Bytes(_) | tare_cql::Received::Drained));
        self.routes.give_back(route, link);
        if !decoded || !open {
            self.broke(route);
        } else if !self.forgotten.is_empty() {
            self.forgotten.clear();
            for prepare in &self.start.prepares {
                // Without a stream to spare, a later answer asks for it again.
                let _ = self.routes.queue(route, PREPARE, prepare, OWN);
            }
        }
    }

    fn answered(&mut self, tag: u32, reply: Reply<'_>, route: usize, now: u64) {
        let slot = tag as usize;
        if tag == OWN || !self.flights.get(slot).is_some_and(|flight| flight.waiting) {
            return;
        }
        let answer = match reply.kind() {
            Ok(ReplyKind::Rows(rows)) => Answer::Rows(rows),
            Ok(ReplyKind::Error(error)) => match error.decode() {
                Ok(error) if error.code == FORGOTTEN && self.prepare_again(slot, route, now) => {
                    return;
                }
                Ok(error) => Answer::Failed {
                    kind: ErrorKind::of(&error),
                    server: Some(error),
                },
                Err(_) => Answer::Failed {
                    kind: ErrorKind::Other,
                    server: None,
                },
            },
            Ok(_) => Answer::Void,
            Err(_) => Answer::Failed {
                kind: ErrorKind::Other,
                server: None,
            },
        };
        self.settle(slot, now, answer, 0);
    }

    /// Prepares everything again on a connection whose server has forgotten a statement, and has
    /// the request sent again; false if that was tried often enough.
    fn prepare_again(&mut self, slot: usize, route: usize, now: u64) -> bool {
        let flight = &mut self.flights[slot];
        if flight.retries >= MOST_UNPREPARED {
            return false;
        }
        flight.waiting = false;
        flight.retries += 1;
        self.recorder.retry(flight.operation, ErrorKind::Other);
        self.agenda.at(now + UNPREPARED, slot, Later::Resend);
        self.forgotten.push(route);
        true
    }

    /// Tells the source what came of a slot's request and does what follows. Failures are
    /// followed after a pause of `pause` nanoseconds.
    fn settle(&mut self, slot: usize, now: u64, answer: Answer<'_>, pause: u64) {
        let flight = &mut self.flights[slot];
        flight.waiting = false;
        let mut notes = Notes {
            recorder: &mut self.recorder,
            now,
            intended: flight.intended,
            begun: flight.begun,
            sent: flight.sent,
            retries: flight.retries,
        };
        let request = &mut self.requests[slot];
        match self.source.answer(slot, &answer, request, &mut notes) {
            Follow::Done(outcome) => self.done(slot, now, outcome, pause),
            Follow::Send => self.outbox.push(slot),
            Follow::Retry { kind, after } => {
                let flight = &mut self.flights[slot];
                flight.retries += 1;
                self.recorder.retry(flight.operation, kind);
                let after = (after.as_nanos() as u64).max(pause);
                self.agenda.at(now + after, slot, Later::Resend);
            }
        }
    }

    fn done(&mut self, slot: usize, now: u64, outcome: Outcome, pause: u64) {
        let flight = &self.flights[slot];
        let times = Times {
            intended: flight.intended,
            sent: flight.begun,
            done: now,
        };
        self.recorder.done(flight.operation, times, outcome);
        self.busy -= 1;
        match &self.beat {
            Beat::Open(_) => self.idle.push(slot),
            Beat::Closed if pause == 0 => self.begin(slot, now),
            Beat::Closed => self.agenda.at(now + pause, slot, Later::Begin),
            Beat::PerSlot(tick) => {
                let (first, begun) = self.deadlines[slot];
                let deadline = first + (begun as f64 * tick) as u64;
                let earliest = deadline.max(now + pause);
                self.agenda.at(earliest, slot, Later::Begin);
            }
        }
    }

    /// Fails what has been unanswered for too long.
    fn expire(&mut self, now: u64) {
        while let Some((slot, request)) = self.agenda.timed_out(now) {
            let flight = &self.flights[slot];
            if flight.waiting && flight.request == request {
                if let Some(stream) = flight.stream {
                    self.routes.abandon(flight.route, stream);
                }
                self.fail(slot, ErrorKind::Timeout, 0);
            }
        }
    }

    /// Fails everything that was in flight on a broken connection, and opens it again.
    fn broke(&mut self, route: usize) {
        self.routes.reopen(route);
        for slot in 0..self.flights.len() {
            if self.flights[slot].waiting && self.flights[slot].route == route {
                self.fail(slot, ErrorKind::Connection, NO_CONNECTION);
            }
        }
    }

    fn fail(&mut self, slot: usize, kind: ErrorKind, pause: u64) {
        let now = self.start.clock.now();
        self.settle(slot, now, Answer::Failed { kind, server: None }, pause);
    }

    /// Sends that fell due before the end but were never made.
    fn count_unsent(&mut self, now: u64) {
        let end = self.start.timeline.end.min(now);
        match &mut self.beat {
            Beat::Closed => {}
            Beat::Open(schedule) if self.finished == 0 => {
                while schedule.next() < end {
                    self.recorder.due(schedule.next());
                    schedule.pass();
                }
            }
            Beat::Open(_) => {}
            Beat::PerSlot(tick) => {
                for &(first, begun) in &self.deadlines {
                    let unsent = (begun..).map(|n| first + (n as f64 * *tick) as u64);
                    for due in unsent.take_while(|&due| due < end) {
                        if self.finished == 0 {
                            self.recorder.due(due);
                        }
                    }
                }
            }
        }
    }
}

fn beat(start: &Start) -> (Beat, Vec<(u64, u64)>) {
    match &start.pace {
        Pace::Closed { .. } => (Beat::Closed, Vec::new()),
        Pace::Open { rate, arrivals, .. } => {
            let rate = rate.clone();
            let schedule =
                Schedule::new(rate, *arrivals, start.seed, start.number, start.workers);
            (Beat::Open(schedule), Vec::new())
        }
        &Pace::PerSlot {
            slots,
            rate,
            stagger,
        } => {
            let tick = slots as f64 * 1e9 / rate;
            let first =
                schedule::stagger(start.slots, tick as u64, start.seed, start.number, stagger);
            let deadlines = first.into_iter().map(|first| (first, 0)).collect();
            (Beat::PerSlot(tick), deadlines)
        }
    }
}
