//! Who waits for the next answers of a connection: a server answers in the order it was asked.
use std::collections::VecDeque;

use tare_net::{InFlight, Owner};

/// The number of a request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub(crate) i32);

/// The requests in flight, oldest first.
#[derive(Debug)]
pub struct InOrder {
    depth: usize,
    waiting: VecDeque<(Ticket, Option<u32>)>,
    next: i32,
}

impl InOrder {
    /// None yet, and so many at a time at most.
    pub fn of_depth(depth: usize) -> InOrder {
        InOrder {
            depth: depth.max(1),
            waiting: VecDeque::new(),
            next: 0,
        }
    }
}

impl InFlight for InOrder {
    type Ticket = Ticket;

    #[inline]
    fn free(&self) -> usize {
        self.depth.saturating_sub(self.waiting.len())
    }

    #[inline]
    fn wanted(&self) -> usize {
        self.tags().count()
    }

    #[inline]
    fn take(&mut self, tag: u32) -> Option<Ticket> {
        if self.free() == 0 {
            return None;
        }
        self.next = self.next.wrapping_add(1);
        let ticket = Ticket(self.next);
        self.waiting.push_back((ticket, Some(tag)));
        Some(ticket)
    }

    fn give_back(&mut self, _ticket: Ticket) {
        self.waiting.pop_back();
    }

    #[inline]
    fn release(&mut self, answered: Ticket) -> Owner {
        match self.waiting.front() {
            Some((ticket, owner)) if *ticket == answered => {
                let owner = owner.map_or(Owner::Abandoned, Owner::Tag);
                self.waiting.pop_front();
                owner
            }
            _ => Owner::Nobody,
        }
    }

    fn abandon(&mut self, ticket: Ticket) {
        for (waiting, owner) in &mut self.waiting {
            if *waiting == ticket {
                *owner = None;
            }
        }
    }

    fn tags(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().filter_map(|(_, owner)| *owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_requests() {
        let mut order = InOrder::of_depth(2);
        let (first, second) = (order.take(7).unwrap(), order.take(8).unwrap());
        assert_eq!(order.release(second), Owner::Nobody);
        assert_eq!(order.release(first), Owner::Tag(7));
        assert_eq!(order.release(first), Owner::Nobody);
        assert_eq!(order.tags().collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn an_abandoned_request_keeps_its_place_until_it_is_answered() {
        let mut order = InOrder::of_depth(1);
        let ticket = order.take(7).unwrap();
        order.abandon(ticket);
        assert_eq!((order.free(), order.wanted()), (0, 0));
        assert_eq!(order.take(8), None);
        assert_eq!(order.release(ticket), Owner::Abandoned);
        assert_eq!(order.free(), 1);
    }

    #[test]
    fn numbers_go_round() {
        let mut order = InOrder {
            next: i32::MAX,
            ..InOrder::of_depth(1)
        };
        let ticket = order.take(1).unwrap();
        assert_eq!(order.release(ticket), Owner::Tag(1));
    }
}
