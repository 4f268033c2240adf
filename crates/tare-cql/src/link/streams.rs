//! The 32,768 stream ids of a connection and who waits on each (v4 section 2.3).
use tare_net::{InFlight, Owner};

/// Stream ids are not negative in requests.
const MOST: usize = 1 << 15;

/// The stream of a request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId(pub(crate) i16);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Free,
    Taken(u32),
    Abandoned,
}

/// Hands out stream ids, last returned first, so that few are ever touched.
#[derive(Debug, Default)]
pub struct Streams {
    /// Of every id that was ever handed out.
    slots: Vec<Slot>,
    returned: Vec<i16>,
    abandoned: usize,
}

impl InFlight for Streams {
    type Ticket = StreamId;

    #[inline]
    fn free(&self) -> usize {
        MOST - self.slots.len() + self.returned.len()
    }

    #[inline]
    fn wanted(&self) -> usize {
        self.slots.len() - self.returned.len() - self.abandoned
    }

    #[inline]
    fn take(&mut self, tag: u32) -> Option<StreamId> {
        if let Some(stream) = self.returned.pop() {
            self.slots[stream as usize] = Slot::Taken(tag);
            return Some(StreamId(stream));
        }
        if self.slots.len() == MOST {
            return None;
        }
        let stream = self.slots.len() as i16;
        self.slots.push(Slot::Taken(tag));
        Some(StreamId(stream))
    }

    fn give_back(&mut self, stream: StreamId) {
        self.release(stream);
    }

    #[inline]
    fn release(&mut self, stream: StreamId) -> Owner {
        let Some(slot) = usize::try_from(stream.0)
            .ok()
            .and_then(|at| self.slots.get_mut(at))
        else {
            return Owner::Nobody;
        };
        let owner = match *slot {
            Slot::Free => return Owner::Nobody,
            Slot::Taken(tag) => Owner::Tag(tag),
            Slot::Abandoned => {
                self.abandoned -= 1;
                Owner::Abandoned
            }
        };
        *slot = Slot::Free;
        self.returned.push(stream.0);
        owner
    }

    fn abandon(&mut self, stream: StreamId) {
        let slot = &mut self.slots[stream.0 as usize];
        if let Slot::Taken(_) = slot {
            *slot = Slot::Abandoned;
            self.abandoned += 1;
        }
    }

    fn tags(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Taken(tag) => Some(*tag),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_again_when_its_answer_came() {
        let mut streams = Streams::default();
        let taken: Vec<_> = (0..MOST as u32)
            .map(|tag| streams.take(tag).unwrap())
            .collect();
        assert_eq!((streams.free(), streams.wanted()), (0, MOST));
        assert_eq!(streams.take(1), None);
        assert_eq!(streams.release(taken[77]), Owner::Tag(77));
        assert_eq!(streams.take(99), Some(taken[77]));
    }

    #[test]
    fn an_abandoned_id_stays_taken_until_its_answer_comes() {
        let mut streams = Streams::default();
        let (first, second) = (streams.take(5).unwrap(), streams.take(6).unwrap());
        streams.abandon(first);
        assert_eq!((streams.free(), streams.wanted()), (MOST - 2, 1));
        assert_eq!(streams.tags().collect::<Vec<_>>(), [6]);
        assert_ne!(streams.take(7), Some(first));
        assert_eq!(streams.release(first), Owner::Abandoned);
        assert_eq!(streams.release(first), Owner::Nobody);
        assert_eq!(streams.release(second), Owner::Tag(6));
    }

    #[test]
    fn an_answer_that_nobody_asked_for_has_no_owner() {
        let mut streams = Streams::default();
        assert_eq!(streams.release(StreamId(0)), Owner::Nobody);
        assert_eq!(streams.release(StreamId(-7)), Owner::Nobody);
        assert_eq!(streams.release(StreamId(i16::MAX)), Owner::Nobody);
    }
}
