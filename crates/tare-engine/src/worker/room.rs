//! Requests that wait in the client until their node takes more, node by node.

use std::collections::VecDeque;

/// First come, first served, per node: a node that does not read delays no other node's
/// requests.
#[derive(Debug)]
pub struct Room {
    /// Slots and the numbers of their requests.
    queues: Vec<VecDeque<(usize, u32)>>,
    waiting: usize,
}

impl Room {
    pub fn new(nodes: usize) -> Room {
        Room {
            queues: vec![VecDeque::new(); nodes],
            waiting: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether a request waits for this node.
    pub fn is_waited_for(&self, node: usize) -> bool {
        self.waiting > 0 && !self.queues[node].is_empty()
    }

    pub fn push(&mut self, node: usize, slot: usize, request: u32) {
        self.queues[node].push_back((slot, request));
        self.waiting += 1;
    }

    /// The longest-waiting request for this node: its slot and its number.
    pub fn first(&self, node: usize) -> Option<(usize, u32)> {
        self.queues[node].front().copied()
    }

    pub fn pop(&mut self, node: usize) {
        if self.queues[node].pop_front().is_some() {
            self.waiting -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_waited_for_apart_and_in_order() {
        let mut room = Room::new(2);
        assert!(room.is_empty());
        room.push(1, 10, 1);
        room.push(1, 11, 5);
        assert!(room.is_waited_for(1) && !room.is_waited_for(0));
        assert_eq!((room.first(0), room.first(1)), (None, Some((10, 1))));
        room.pop(1);
        assert_eq!(room.first(1), Some((11, 5)));
        room.pop(0);
        room.pop(1);
        assert!(room.is_empty() && !room.is_waited_for(1));
    }
}
