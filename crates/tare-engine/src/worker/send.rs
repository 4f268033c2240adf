//! Sends requests: to a connection, or to a queue until a connection takes more.

use crate::errors::ErrorKind;
use crate::wire::Wire;
use crate::workload::{Answer, Source};

use super::routes::Choice;
use super::{Beat, Worker, BURST, NO_CONNECTION};

impl<W: Wire, S: Source<W>> Worker<W, S> {
    /// Sends the requests that have been written.
    pub(super) fn dispatch(&mut self) {
        // Waiting requests go first.
        self.let_in();
        let mut outbox = std::mem::take(&mut self.outbox);
        for slots in outbox.chunks(BURST) {
            let now = self.start.clock.now();
            for &slot in slots {
                self.send(slot, now);
            }
            self.flush();
        }
        outbox.clear();
        self.let_in();
        // What failed at once may have begun something else.
        outbox.append(&mut self.outbox);
        self.outbox = outbox;
        if !self.outbox.is_empty() {
            self.dispatch();
        }
    }

    fn flush(&mut self) {
        for route in self.routes.flush() {
            self.broke(route);
        }
    }

    fn send(&mut self, slot: usize, now: u64) {
        let flight = &mut self.flights[slot];
        if flight.begun == u64::MAX {
            flight.begun = now;
            match self.beat {
                // Without a schedule, the intended send time is the actual one.
                Beat::Closed => flight.intended = now,
                _ => self.recorder.sent(flight.intended, flight.free, now),
            }
        }
        flight.sent = now;
        flight.request = flight.request.wrapping_add(1);
        if !self.requests[slot].complete() {
            return self.unsent(slot, now, ErrorKind::Other);
        }
        // Also for waiting requests: they were to be sent now.
        let deadline = now + self.start.timeout;
        self.agenda.expect(deadline, slot, flight.request);
        self.place(slot, true);
    }

    /// Hands a request to a connection of its node, or has it wait there.
    fn place(&mut self, slot: usize, first: bool) {
        let choice = match self.choose(slot) {
            // Waiting requests go first.
            Choice::Route(route) if self.room.is_waited_for(self.routes.node_of(route)) => {
                Choice::Full(self.routes.node_of(route))
            }
            choice => choice,
        };
        match choice {
            Choice::Route(route) if self.renewed(route) && self.queue(slot, route) => {}
            Choice::Full(node) => {
                let flight = &mut self.flights[slot];
                (flight.ticket, flight.waiting) = (None, true);
                if first && self.routes.is_unread(node) {
                    self.recorder.blocked(flight.intended);
                }
                self.room.push(node, slot, flight.request);
            }
            _ => {
                W::lost(&self.start.recovery);
                let now = self.start.clock.now();
                self.unsent(slot, now, ErrorKind::Connection);
            }
        }
    }

    /// Opens a connection anew where each operation has its own; false if that failed.
    fn renewed(&mut self, route: usize) -> bool {
        self.start.connections_per_slice.is_none() || self.routes.renew(route)
    }

    /// Hands a request to a connection; false if that takes no more or is closed.
    fn queue(&mut self, slot: usize, route: usize) -> bool {
        let draft = self.requests[slot].draft();
        let ticket = self.routes.queue(route, draft, slot as u32);
        let flight = &mut self.flights[slot];
        if ticket.is_some() {
            (flight.route, flight.ticket, flight.waiting) = (route, ticket, true);
        }
        ticket.is_some()
    }

    /// Where a slot's request goes.
    fn choose(&mut self, slot: usize) -> Choice {
        let draft = self.requests[slot].draft();
        if W::stays(draft) {
            let node = self.routes.node_of(self.flights[slot].route);
            return self.routes.on(node);
        }
        let key = W::key(draft);
        self.routes.choose(&key)
    }

    fn unsent(&mut self, slot: usize, now: u64, kind: ErrorKind) {
        let answer = Answer::Failed { kind, server: None };
        self.settle(slot, now, answer, NO_CONNECTION);
    }

    /// Hands requests that wait for a node to its free connections, first come, first served.
    fn let_in(&mut self) {
        if self.room.is_empty() {
            return;
        }
        for node in 0..self.routes.nodes() {
            while let Some((slot, number)) = self.room.first(node) {
                let flight = &self.flights[slot];
                // It may have timed out meanwhile, and its slot have gone on.
                let waits = flight.waiting && flight.ticket.is_none() && flight.request == number;
                match self.routes.on(node) {
                    _ if !waits => {}
                    Choice::Full(_) => break,
                    Choice::Route(route) if self.queue(slot, route) => self.flush(),
                    Choice::Route(_) => {
                        let now = self.start.clock.now();
                        self.unsent(slot, now, ErrorKind::Connection);
                    }
                    // The node has no connection any more: the others stand in for it.
                    Choice::None => self.place(slot, false),
                }
                self.room.pop(node);
            }
        }
    }
}
