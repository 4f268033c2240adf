//! One established connection: requests are queued and flushed, answers read and handed back.
mod call;
mod streams;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Instant;

use tare_net::Transport;

use crate::error::Error;
use crate::frame::{Decoder, Encoder};
use crate::handshake;
use crate::options::{Options, Protocol};
use crate::reply::Reply;
use streams::{Owner, Streams};

pub use call::Message;
pub use streams::StreamId;

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
    /// The node closed the connection.
    Closed,
}

/// A connection to one node. After [`Link::open`] nothing blocks but [`Link::call`].
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    protocol: Protocol,
    transport: Transport,
    encoder: Encoder,
    decoder: Decoder,
    streams: Streams,
}

impl Link {
    /// Connect, shake hands (TLS, STARTUP, authentication); blocks for the connect timeout at most.
    ///
    /// # Errors
    /// What stands in the way, with the address.
    pub fn open(address: SocketAddr, options: &Options) -> Result<Link, Error> {
        let deadline = Instant::now() + options.connect_timeout;
        let transport = Transport::open(address, options.tls.as_ref(), deadline)?;
        let mut link = Link {
            address,
            protocol: options.protocol,
            transport,
            encoder: Encoder::client(options.protocol, options.compression),
            decoder: Decoder::client(options.protocol, options.compression),
            streams: Streams::default(),
        };
        handshake::shake(&mut link, options, deadline)?;
        Ok(link)
    }

    /// The address that was connected to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The protocol that is spoken.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The socket, to wait on.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.transport.fd()
    }

    /// How many more requests can be queued before answers come.
    #[inline]
    pub fn free(&self) -> usize {
        self.streams.free()
    }

    /// How many requests have no answer yet, without the abandoned ones.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.streams.in_flight()
    }

    /// Whether something waits for [`Link::flush`].
    #[inline]
    pub fn has_output(&self) -> bool {
        !self.encoder.is_empty() || self.transport.holds()
    }

    /// Bytes that wait for the socket to take them.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.encoder.waiting()
    }

    /// Append a request to the output; its answer will come with `tag`. `None` when all 32,768
    /// streams are taken, or the body is longer than 256 MiB (a finished [`crate::Request`] never
    /// is).
    #[inline]
    pub fn queue(&mut self, opcode: u8, body: &[u8], tag: u32) -> Option<StreamId> {
        let stream = self.streams.take(tag)?;
        if self.encoder.message(stream.0, opcode, body).is_err() {
            self.streams.release(stream.0);
            return None;
        }
        Some(stream)
    }

    /// The request's answer is not wanted any more. Its stream stays taken until the answer comes,
    /// and the answer is dropped. Only for a stream whose answer has not come.
    pub fn abandon(&mut self, stream: StreamId) {
        self.streams.abandon(stream);
    }

    /// The tags of the requests without an answer: what a broken connection leaves open.
    pub fn outstanding(&self) -> impl Iterator<Item = u32> + '_ {
        self.streams.tags()
    }

    /// Hand the output to the kernel, in one write call where it takes all.
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub fn flush(&mut self) -> io::Result<Flush> {
        loop {
            let bytes = self.encoder.bytes();
            if bytes.is_empty() {
                return Ok(if self.transport.push()? {
                    Flush::Done
                } else {
                    Flush::Blocked
                });
            }
            let wanted = bytes.len();
            match self.transport.write(bytes) {
                Ok(written) => {
                    self.encoder.sent(written);
                    if written == wanted {
                        continue;
                    }
                    if self.transport.is_plain() {
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

    /// One read call. The answers in what came are handed over by [`Link::replies`].
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub fn read(&mut self) -> io::Result<Received> {
        let mut count = match self.transport.read(self.decoder.space()) {
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
        self.decoder.came(count);
        if !self.transport.is_plain() {
            // The socket will not wake anybody for what TLS holds already.
            loop {
                let more = self.transport.rest(self.decoder.space())?;
                if more == 0 {
                    break;
                }
                self.decoder.came(more);
                count += more;
            }
        }
        Ok(Received::Bytes(count))
    }

    /// Hand over every whole answer that has come, with its tag; returns how many. Answers to
    /// abandoned requests and events are dropped.
    ///
    /// # Errors
    /// What came is not the protocol. The connection is of no use after that.
    #[inline]
    pub fn replies(&mut self, mut each: impl FnMut(u32, Reply<'_>)) -> Result<usize, Error> {
        let streams = &mut self.streams;
        let mut count = 0;
        self.decoder.messages(|header, body| {
            if header.stream < 0 {
                return Ok(());
            }
            match streams.release(header.stream) {
                Owner::Tag(tag) => {
                    count += 1;
                    each(tag, Reply::new(header.opcode, header.flags, body)?);
                    Ok(())
                }
                Owner::Abandoned => Ok(()),
                Owner::Nobody => Err(Error::Protocol(format!(
                    "an answer on stream {}, on which nothing was asked",
                    header.stream
                ))),
            }
        })?;
        Ok(count)
    }

    /// From here on, compression (v4) or segments (v5).
    pub(crate) fn agreed(&mut self) {
        self.encoder.agreed();
        self.decoder.agreed();
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.fd().as_raw_fd()
    }
}
