//! Bytes received and not consumed, and bytes to send.
use std::io;

/// A rest of so many bytes is moved to the front before each read call, so that the same few pages
/// stay in the cache.
const SMALL: usize = 2 << 10;

/// Bytes received. Memory grows only as bytes really come, never by what a length claims.
#[derive(Debug)]
pub struct Input {
    /// Received and not consumed: `buffer[start..end]`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    room: usize,
    most: usize,
}

impl Input {
    /// Begins with room for `first` bytes, gives each read call at least `room`, and never grows
    /// beyond `most`: one largest message and what surrounds it.
    pub fn new(first: usize, room: usize, most: usize) -> Input {
        Input {
            buffer: vec![0; first],
            start: 0,
            end: 0,
            room,
            most,
        }
    }

    /// Lets `read` fill the free room; returns how many bytes `read` says it took.
    ///
    /// # Errors
    /// What `read` returns.
    #[inline]
    pub fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let waiting = self.end - self.start;
        if waiting <= SMALL || self.buffer.len() - self.end < self.room {
            self.buffer.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = waiting;
            if self.buffer.len() - self.end < self.room {
                let size = (self.buffer.len() * 2).min(self.most);
                self.buffer.resize(size, 0);
            }
        }
        let count = read(&mut self.buffer[self.end..])?;
        self.end = (self.end + count).min(self.buffer.len());
        Ok(count)
    }

    /// Bytes received and not consumed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Consumes so many of [`Input::bytes`], at most all.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
    }
}

/// Bytes to send, in order.
#[derive(Debug, Default)]
pub struct Output {
    /// The bytes before `sent` have gone.
    buffer: Vec<u8>,
    sent: usize,
}

impl Output {
    /// To append to: what is there already stays, and keeps its place until the next [`Output::sent`].
    #[inline]
    pub fn append(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// The bytes that have not gone.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.sent..]
    }

    /// So many of [`Output::bytes`] have gone.
    #[inline]
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.buffer.len() {
            self.buffer.clear();
            self.sent = 0;
        } else if self.sent > self.buffer.len() / 2 {
            self.buffer.drain(..self.sent);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_not_consumed_stays_and_is_added_to() {
        let mut input = Input::new(8 << 10, 4 << 10, 64 << 10);
        for round in 0..100_u8 {
            let mut bytes: &[u8] = &[round; 3000];
            assert_eq!(input.fill(|room| bytes.read(room)).unwrap(), 3000);
            assert_eq!(input.bytes()[..100], [round.saturating_sub(1); 100]);
            let rest = if round == 0 { 0 } else { 100 };
            assert_eq!(input.bytes()[rest..], [round; 3000]);
            input.consume(2900 + rest);
        }
    }

    #[test]
    fn the_room_grows_by_what_comes_and_not_beyond_the_most() {
        let mut input = Input::new(1 << 10, 1 << 10, 5 << 10);
        let mut came = 0;
        let mut fill = || input.fill(|room| Ok(room.len())).unwrap();
        loop {
            match fill() {
                0 => break,
                count => came += count,
            }
        }
        assert_eq!(came, 5 << 10);
    }

    #[test]
    fn what_has_gone_is_not_sent_again() {
        let mut output = Output::default();
        output.append().extend_from_slice(b"abcdefgh");
        output.sent(3);
        output.append().extend_from_slice(b"ij");
        assert_eq!(output.bytes(), b"defghij");
        output.sent(5);
        assert_eq!(output.bytes(), b"ij");
        output.sent(2);
        assert_eq!(output.bytes(), b"");
    }
}
