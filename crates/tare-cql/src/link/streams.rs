//! The 32,768 stream ids of a connection and who waits on each (v4 section 2.3).

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

/// Whose answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Tag(u32),
    Abandoned,
    Nobody,
}

/// Hands out stream ids, last returned first, so that few are ever touched.
#[derive(Debug, Default)]
pub struct Streams {
    /// Of every id that was ever handed out.
    slots: Vec<Slot>,
    returned: Vec<i16>,
    abandoned: usize,
}

impl Streams {
    pub fn free(&self) -> usize {
        MOST - self.slots.len() + self.returned.len()
    }

    pub fn in_flight(&self) -> usize {
        self.slots.len() - self.returned.len() - self.abandoned
    }

    #[inline]
    pub fn take(&mut self, tag: u32) -> Option<StreamId> {
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

    /// The answer on `stream` came: the id is free again.
    #[inline]
    pub fn release(&mut self, stream: i16) -> Owner {
        let Some(slot) = usize::try_from(stream)
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
        self.returned.push(stream);
        owner
    }

    /// Nobody waits on `stream` any more, but it stays taken.
    pub fn abandon(&mut self, stream: StreamId) {
        let slot = &mut self.slots[stream.0 as usize];
        if let Slot::Taken(_) = slot {
            *slot = Slot::Abandoned;
            self.abandoned += 1;
        }
    }

    pub fn tags(&self) -> impl Iterator<Item = u32> + '_ {
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
        assert_eq!((streams.free(), streams.in_flight()), (0, MOST));
        assert_eq!(streams.take(1), None);
        assert_eq!(streams.release(taken[77].0), Owner::Tag(77));
        assert_eq!(streams.take(99), Some(taken[77]));
    }

    #[test]
    fn an_abandoned_id_stays_taken_until_its_answer_comes() {
        let mut streams = Streams::default();
        let (first, second) = (streams.take(5).unwrap(), streams.take(6).unwrap());
        streams.abandon(first);
        assert_eq!((streams.free(), streams.in_flight()), (MOST - 2, 1));
        assert_eq!(streams.tags().collect::<Vec<_>>(), [6]);
        assert_ne!(streams.take(7), Some(first));
        assert_eq!(streams.release(first.0), Owner::Abandoned);
        assert_eq!(streams.release(first.0), Owner::Nobody);
        assert_eq!(streams.release(second.0), Owner::Tag(6));
    }

    #[test]
    fn an_answer_that_nobody_asked_for_has_no_owner() {
        let mut streams = Streams::default();
        assert_eq!(streams.release(0), Owner::Nobody);
        assert_eq!(streams.release(-7), Owner::Nobody);
        assert_eq!(streams.release(i16::MAX), Owner::Nobody);
    }
}
