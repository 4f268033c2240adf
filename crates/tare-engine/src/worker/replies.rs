//! What becomes of requests: answers, timeouts, broken connections, and what follows them.

use tare_net::Received;

use crate::errors::ErrorKind;
use crate::record::{Notes, Times};
use crate::wire::{Reading, Reply, Wire};
use crate::workload::{Answer, Follow, Outcome, Source};

use super::flight::Later;
use super::{Beat, Worker, NO_CONNECTION};

/// Pause before resending a request whose statement the server had forgotten.
const UNPREPARED: u64 = 20_000_000;
/// Most tries for a statement that the server keeps forgetting.
const MOST_UNPREPARED: u32 = 200;

impl<W: Wire, S: Source<W>> Worker<W, S> {
    /// Reads what has arrived on a connection, and lets its operations go on.
    pub(super) fn receive(&mut self, route: usize) {
        let Some(mut link) = self.routes.lend(route) else {
            return;
        };
        let read = link.read();
        let now = self.start.clock.now();
        let answered = |tag, reply: Reply<'_, W>| self.answered(tag, reply, now);
        let decoded = read.is_ok() && link.replies(answered).is_ok();
        let open = matches!(read, Ok(Received::Bytes(_) | Received::Drained));
        self.routes.give_back(route, link);
        if !decoded || !open {
            self.broke(route);
        } else if std::mem::take(&mut self.ailing) {
            self.routes.recover(route, &self.start.recovery);
        }
    }

    pub(super) fn answered(&mut self, tag: u32, reply: Reply<'_, W>, now: u64) {
        let slot = tag as usize;
        if !self.flights.get(slot).is_some_and(|flight| flight.waiting) {
            return;
        }
        let answer = match W::reading(reply) {
            Reading::Answer(answer) => answer,
            Reading::Forgotten(_) if self.prepare_again(slot, now) => return,
            Reading::Forgotten(answer) => answer,
            Reading::Moved(answer) => {
                self.ailing = true;
                answer
            }
        };
        self.settle(slot, now, answer, 0);
    }

    /// Resends a request whose statement the server has forgotten, while the statement is prepared
    /// again; false if that was tried often enough.
    pub(super) fn prepare_again(&mut self, slot: usize, now: u64) -> bool {
        let flight = &mut self.flights[slot];
        if flight.forgotten >= MOST_UNPREPARED {
            return false;
        }
        flight.waiting = false;
        flight.forgotten += 1;
        self.recorder.retry(flight.operation, ErrorKind::Other);
        self.agenda.at(now + UNPREPARED, slot, Later::Resend);
        self.ailing = true;
        true
    }

    /// Gives the source the outcome of a slot's request and does what follows; after a failure,
    /// only when `pause` nanoseconds have passed.
    pub(super) fn settle(&mut self, slot: usize, now: u64, answer: Answer<'_, W>, pause: u64) {
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

    pub(super) fn done(&mut self, slot: usize, now: u64, outcome: Outcome, pause: u64) {
        let flight = &mut self.flights[slot];
        flight.active = false;
        let times = Times {
            intended: flight.intended,
            sent: flight.begun,
            done: now,
        };
        self.recorder.done(flight.operation, times, outcome);
        self.busy -= 1;
        match &self.beat {
            Beat::Open(_) => {
                if !self.may_begin() {
                    self.full_until = now;
                }
                self.idle.push(slot);
            }
            // Nothing is begun that could not be part of the run.
            Beat::Closed if now >= self.start.timeline.end => {}
            Beat::Closed => match (pause, self.reopens(now)) {
                (0, None) => self.begin(slot, now, now),
                (_, again) => {
                    let at = (now + pause).max(again.unwrap_or(0));
                    self.agenda.at(at, slot, Later::Begin);
                }
            },
            Beat::PerSlot(tick) => {
                let (first, begun) = self.deadlines[slot];
                let deadline = first + (begun as f64 * tick) as u64;
                let earliest = deadline.max(now + pause);
                self.agenda.at(earliest, slot, Later::Begin);
            }
        }
    }

    /// Counts operations without an answer when the worker ends. With a schedule, the worker waited
    /// until the last one had timed out. Otherwise an operation has timed out if its request has
    /// been out for too long; if not, its latency is its age.
    pub(super) fn give_up(&mut self, now: u64) {
        let end = self.start.timeline.end;
        let waited = now >= end && self.waits_for_answers();
        for flight in self.flights.iter_mut().filter(|flight| flight.active) {
            flight.active = false;
            let expired = flight.sent.saturating_add(self.start.timeout);
            let timed_out = flight.waiting && expired < end.min(now);
            let times = Times {
                intended: flight.intended,
                sent: flight.begun.min(now),
                done: if timed_out { expired } else { now },
            };
            if waited || timed_out {
                let outcome = Err(ErrorKind::Timeout);
                self.recorder.done(flight.operation, times, outcome);
            } else {
                self.recorder.under_way(flight.operation, times);
            }
        }
    }

    /// Fails requests that have been unanswered for too long.
    pub(super) fn expire(&mut self, now: u64) {
        let flights = &self.flights;
        let waits =
            |slot: usize, request| flights[slot].waiting && flights[slot].request == request;
        self.agenda.forget(|slot, request| !waits(slot, request));
        while let Some((slot, request)) = self.agenda.timed_out(now) {
            let flight = &self.flights[slot];
            if flight.waiting && flight.request == request {
                if let Some(ticket) = flight.ticket {
                    self.routes.abandon(flight.route, ticket);
                }
                self.fail(slot, ErrorKind::Timeout, 0);
            }
        }
    }

    /// Fails everything that was in flight on a broken connection, and opens it again.
    pub(super) fn broke(&mut self, route: usize) {
        self.routes.reopen(route);
        W::lost(&self.start.recovery);
        for slot in 0..self.flights.len() {
            let flight = &self.flights[slot];
            if flight.waiting && flight.ticket.is_some() && flight.route == route {
                self.fail(slot, ErrorKind::Connection, NO_CONNECTION);
            }
        }
    }

    pub(super) fn fail(&mut self, slot: usize, kind: ErrorKind, pause: u64) {
        let now = self.start.clock.now();
        self.settle(slot, now, Answer::Failed { kind, server: None }, pause);
    }
}
