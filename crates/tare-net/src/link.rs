//! One established connection: requests are queued and flushed, replies read and handed back.
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use crate::codec::{Codec, InFlight, Owner, Ticket};
use crate::error::Error;
use crate::transport::{wait, Transport};

/// What a flush left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Everything is with the kernel.
    Done,
    /// The socket takes no more now: wait until it is writable, then flush again.
    Blocked,
}

/// What a read call brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// So many bytes. More may be waiting if the whole room was filled.
    Bytes(usize),
    /// Nothing: the socket is empty.
    Drained,
    /// The server closed the connection.
    Closed,
}

/// A connection to one server. Nothing blocks but [`Link::call`].
#[derive(Debug)]
pub struct Link<C: Codec> {
    address: SocketAddr,
    transport: Transport,
    in_flight: C::InFlight,
    /// The protocol's own side of the connection.
    pub codec: C,
}

impl<C: Codec> Link<C> {
    /// A link over a transport to `address`, on which nothing has been sent.
    pub fn new(
        address: SocketAddr,
        transport: Transport,
        codec: C,
        in_flight: C::InFlight,
    ) -> Link<C> {
        Link {
            address,
            transport,
            in_flight,
            codec,
        }
    }

    /// The address that was connected to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many more requests can be queued before replies come.
    #[inline]
    pub fn free(&self) -> usize {
        self.in_flight.free()
    }

    /// How many requests have no reply yet, without the abandoned ones.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight.wanted()
    }

    /// Whether something waits for [`Link::flush`].
    #[inline]
    pub fn has_output(&self) -> bool {
        self.waiting() > 0 || self.transport.holds()
    }

    /// Bytes that wait for the socket to take them.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.codec.waiting()
    }

    /// Append a request to the output; its reply will come with `tag`. `None` when the connection
    /// is full, or no server takes the request (a finished one of the protocol's crate is always
    /// taken).
    #[inline]
    pub fn queue(&mut self, request: C::Request<'_>, tag: u32) -> Option<Ticket<C>> {
        let ticket = self.in_flight.take(tag)?;
        if !self.codec.encode(ticket, request) {
            self.in_flight.give_back(ticket);
            return None;
        }
        Some(ticket)
    }

    /// The request's reply is not wanted any more. Its place stays taken until the reply comes, and
    /// the reply is dropped. Only for a request whose reply has not come.
    pub fn abandon(&mut self, ticket: Ticket<C>) {
        self.in_flight.abandon(ticket);
    }

    /// The tags of the requests without a reply: what a broken connection leaves open.
    pub fn outstanding(&self) -> impl Iterator<Item = u32> + '_ {
        self.in_flight.tags()
    }

    /// Hand the output to the kernel, in one write call where it takes all.
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub fn flush(&mut self) -> io::Result<Flush> {
        loop {
            let output = self.codec.output();
            let wanted = output.bytes().len();
            if wanted == 0 {
                return Ok(if self.transport.push()? {
                    Flush::Done
                } else {
                    Flush::Blocked
                });
            }
            match self.transport.write(output.bytes()) {
                Ok(written) => {
                    output.sent(written);
                    if written < wanted && self.transport.is_plain() {
                        return Ok(Flush::Blocked);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Flush::Blocked)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// One read call. The replies in what came are handed over by [`Link::replies`].
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub fn read(&mut self) -> io::Result<Received> {
        let (input, transport) = (self.codec.input(), &mut self.transport);
        let mut count = match input.fill(|room| transport.read(room)) {
            Ok(0) => return Ok(Received::Closed),
            Ok(count) => count,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                return Ok(Received::Drained)
            }
            Err(error) => return Err(error),
        };
        if !transport.is_plain() {
            // The socket will not wake anybody for what TLS holds already.
            loop {
                match input.fill(|room| transport.rest(room))? {
                    0 => break,
                    more => count += more,
                }
            }
        }
        Ok(Received::Bytes(count))
    }

    /// Hand over every whole reply that has come, with its tag; returns how many. Replies to
    /// abandoned requests are dropped.
    ///
    /// # Errors
    /// Bytes that break the protocol, or a reply that nobody asked for. The connection is then
    /// unusable.
    #[inline]
    pub fn replies(&mut self, mut each: impl FnMut(u32, C::Reply<'_>)) -> Result<usize, C::Error> {
        let in_flight = &mut self.in_flight;
        let mut count = 0;
        self.codec.decode(|ticket, reply| {
            match in_flight.release(ticket) {
                Owner::Tag(tag) => {
                    count += 1;
                    each(tag, reply);
                }
                Owner::Abandoned => {}
                Owner::Nobody => return Err(C::unasked(ticket)),
            }
            Ok(())
        })?;
        Ok(count)
    }

    /// Send one request and block until its reply comes, for handshakes and the control plane.
    /// Replies to anything else are dropped, so this is for a link with nothing else in flight.
    ///
    /// # Errors
    /// The server does not answer `what` in time, closes, or answers with an error.
    pub fn call(
        &mut self,
        request: C::Request<'_>,
        what: &'static str,
        timeout: Duration,
    ) -> Result<C::Message, C::Error> {
        const MINE: u32 = u32::MAX;
        let address = self.address;
        let broken = |error: io::Error| Error::Broken {
            address,
            why: error.to_string(),
        };
        let deadline = Instant::now() + timeout;
        let ticket = self
            .queue(request, MINE)
            .ok_or(Error::NotTaken { address, what })?;
        loop {
            let flush = self.flush().map_err(broken)?;
            let mut message = None;
            self.replies(|tag, reply| {
                if tag == MINE {
                    message = Some(C::message(reply));
                }
            })?;
            if let Some(message) = message {
                return message;
            }
            let writable = flush == Flush::Blocked;
            if !wait(self.transport.fd(), writable, deadline).map_err(broken)? {
                self.abandon(ticket);
                let seconds = timeout.as_secs_f64();
                return Err(Error::TimedOut {
                    address,
                    what,
                    seconds,
                }
                .into());
            }
            if self.read().map_err(broken)? == Received::Closed {
                return Err(Error::Closed { address }.into());
            }
        }
    }
}

impl<C: Codec> AsFd for Link<C> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.transport.fd()
    }
}
