//! Who waits for the next answers of a connection: a server answers in the order it was asked.
use std::collections::VecDeque;

/// The number of a request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub(crate) i32);

/// Whose answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Tag(u32),
    Abandoned,
    Nobody,
}

/// The requests in flight, oldest first.
#[derive(Debug, Default)]
pub struct InOrder {
    waiting: VecDeque<(Ticket, Option<u32>)>,
    next: i32,
}

impl InOrder {
    #[inline]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Those whose answer is wanted.
    #[inline]
    pub fn wanted(&self) -> usize {
        self.tags().count()
    }

    #[inline]
    pub fn take(&mut self, tag: u32) -> Ticket {
        self.next = self.next.wrapping_add(1);
        let ticket = Ticket(self.next);
        self.waiting.push_back((ticket, Some(tag)));
        ticket
    }

    /// The answer to this number came.
    #[inline]
    pub fn release(&mut self, number: i32) -> Owner {
        match self.waiting.front() {
            Some((ticket, owner)) if ticket.0 == number => {
                let owner = owner.map_or(Owner::Abandoned, Owner::Tag);
                self.waiting.pop_front();
                owner
            }
            _ => Owner::Nobody,
        }
    }

    pub fn abandon(&mut self, ticket: Ticket) {
        for (waiting, owner) in &mut self.waiting {
            if *waiting == ticket {
                *owner = None;
            }
        }
    }

    pub fn tags(&self) -> impl Iterator<Item = u32> + '_ {
        self.waiting.iter().filter_map(|(_, owner)| *owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_requests() {
        let mut order = InOrder::default();
        let (first, second) = (order.take(7), order.take(8));
        assert_eq!(order.release(second.0), Owner::Nobody);
        assert_eq!(order.release(first.0), Owner::Tag(7));
        assert_eq!(order.release(first.0), Owner::Nobody);
        assert_eq!(order.tags().collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn an_abandoned_request_keeps_its_place_until_it_is_answered() {
        let mut order = InOrder::default();
        let ticket = order.take(7);
        order.abandon(ticket);
        assert_eq!((order.len(), order.wanted()), (1, 0));
        assert_eq!(order.release(ticket.0), Owner::Abandoned);
        assert_eq!(order.len(), 0);
    }

    #[test]
    fn numbers_go_round() {
        let mut order = InOrder {
            next: i32::MAX,
            ..InOrder::default()
        };
        let ticket = order.take(1);
        assert_eq!(order.release(ticket.0), Owner::Tag(1));
    }
}
