//! Operations in flight: the state of each slot, and what waits for its time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How long timeouts wait for each other, nanoseconds.
const TOGETHER: u64 = 1_000_000;

/// State of one slot.
#[derive(Debug, Clone, Copy)]
pub struct Flight<T> {
    /// Position in `Workload::operations`.
    pub operation: usize,
    /// When the operation was meant to be sent, and when its first and its last request were sent;
    /// nanoseconds of the run.
    pub intended: u64,
    pub begun: u64,
    pub sent: u64,
    /// When its slot was free for it: the earliest time at which it could be sent.
    pub free: u64,
    pub retries: u32,
    /// Requests sent again because the server had forgotten the statement.
    pub forgotten: u32,
    /// An operation has begun and is not over.
    pub active: bool,
    /// Connection of the last request, and its place there while it is unanswered.
    pub route: usize,
    pub ticket: Option<T>,
    /// Counts the slot's requests, so that an outdated timeout is recognised.
    pub request: u32,
    pub waiting: bool,
}

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Flight {
            operation: 0,
            intended: 0,
            begun: 0,
            sent: 0,
            free: 0,
            retries: 0,
            forgotten: 0,
            active: false,
            route: 0,
            ticket: None,
            request: 0,
            waiting: false,
        }
    }
}

/// What happens in a slot at a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Later {
    /// Its next operation begins.
    Begin,
    /// Its request is sent again.
    Resend,
}

/// Everything that waits for its time.
#[derive(Debug, Default)]
pub struct Agenda {
    later: BinaryHeap<Reverse<(u64, usize, Later)>>,
    /// Timeouts are all equally long, so that they end in the order in which they began.
    timeouts: VecDeque<(u64, usize, u32)>,
}

impl Agenda {
    pub fn at(&mut self, time: u64, slot: usize, what: Later) {
        self.later.push(Reverse((time, slot, what)));
    }

    /// What has come due, earliest first: (when, slot, what).
    pub fn due(&mut self, now: u64) -> Option<(u64, usize, Later)> {
        let &Reverse((time, slot, what)) = self.later.peek()?;
        (time <= now).then(|| {
            self.later.pop();
            (time, slot, what)
        })
    }

    pub fn expect(&mut self, deadline: u64, slot: usize, request: u32) {
        self.timeouts.push_back((deadline, slot, request));
    }

    /// Drops the earliest timeouts whose requests are answered, as `over` says. Left in place,
    /// they would wake the worker every millisecond once the first has come due.
    pub fn forget(&mut self, over: impl Fn(usize, u32) -> bool) {
        while let Some(&(_, slot, request)) = self.timeouts.front() {
            if !over(slot, request) {
                break;
            }
            self.timeouts.pop_front();
        }
    }

    /// A slot whose request of this number has been out for too long, if it still is.
    pub fn timed_out(&mut self, now: u64) -> Option<(usize, u32)> {
        let &(deadline, slot, request) = self.timeouts.front()?;
        (deadline <= now).then(|| {
            self.timeouts.pop_front();
            (slot, request)
        })
    }

    /// When something comes due next. Timeouts are looked at together, a little late.
    pub fn next(&self) -> u64 {
        let later = self.later.peek().map_or(u64::MAX, |entry| entry.0 .0);
        let timeout = self.timeouts.front().map_or(u64::MAX, |entry| entry.0);
        later.min(timeout.saturating_add(TOGETHER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_nothing_before_its_time() {
        let mut agenda = Agenda::default();
        agenda.at(30, 1, Later::Resend);
        agenda.at(10, 2, Later::Begin);
        agenda.expect(20, 3, 7);
        assert_eq!(agenda.next(), 10);
        assert_eq!(agenda.due(9), None);
        assert_eq!(agenda.due(25), Some((10, 2, Later::Begin)));
        assert_eq!(agenda.due(25), None);
        assert_eq!(agenda.next(), 30);
        assert_eq!(agenda.timed_out(19), None);
        assert_eq!(agenda.timed_out(20), Some((3, 7)));
        assert_eq!(agenda.due(30), Some((30, 1, Later::Resend)));
        assert_eq!(agenda.next(), u64::MAX);
    }

    #[test]
    fn nothing_is_waited_for_on_account_of_requests_that_were_answered() {
        let mut agenda = Agenda::default();
        for (deadline, request) in [(20, 7), (21, 8), (5_000_000_000, 9)] {
            agenda.expect(deadline, 3, request);
        }
        agenda.forget(|_, request| request < 9);
        assert_eq!(agenda.next(), 5_000_000_000 + TOGETHER);
        agenda.forget(|_, request| request < 9);
        assert_eq!(agenda.timed_out(5_000_000_000), Some((3, 9)));
    }
}
