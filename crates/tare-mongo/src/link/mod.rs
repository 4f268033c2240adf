//! One established connection: requests are queued and flushed, answers read and handed back.
mod call;
mod order;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::PathBuf;
use std::time::Instant;

use tare_net::{TlsOptions, Transport};

use crate::error::{Error, Peer};
use crate::handshake;
use crate::hello::{Hello, Role};
use crate::message::{self, flag, Decoder, HEADER, MAX_MESSAGE};
use crate::options::Options;
use crate::reply::Reply;
use order::{InOrder, Owner};

pub use order::Ticket;

/// Where systems keep the authorities that they trust (Debian, Red Hat, Alpine and others).
const AUTHORITIES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// The PEM file of the authorities that this machine trusts, as OpenSSL would find it.
fn machines_authorities() -> Option<PathBuf> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = AUTHORITIES.iter().map(PathBuf::from);
    named.into_iter().chain(usual).find(|path| path.is_file())
}

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

/// A connection to one member. After [`Link::open`] nothing blocks but [`Link::call`].
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    transport: Transport,
    hello: Option<Hello>,
    peer: Peer,
    checksums: bool,
    depth: usize,
    /// What goes out; what stands before `sent` has gone.
    out: Vec<u8>,
    sent: usize,
    decoder: Decoder,
    in_flight: InOrder,
}

impl Link {
    /// Connect, shake hands (TLS, hello, authentication); blocks for the connect timeout at most.
    /// `name` is what the member's certificate must carry under TLS.
    ///
    /// # Errors
    /// What stands in the way, with the address.
    pub fn open(address: SocketAddr, name: &str, options: &Options) -> Result<Link, Error> {
        let deadline = Instant::now() + options.connect_timeout;
        let tls = options.tls.as_ref().map(|tls| TlsOptions {
            server_name: tls.server_name.clone().or_else(|| Some(name.to_owned())),
            authorities: tls.authorities.clone().or_else(machines_authorities),
            ..tls.clone()
        });
        let mut link = Link {
            address,
            transport: Transport::open(address, tls.as_ref(), deadline)?,
            hello: None,
            peer: Peer::default(),
            checksums: options.checksums,
            depth: options.depth.max(1),
            out: Vec::new(),
            sent: 0,
            decoder: Decoder::new(),
            in_flight: InOrder::default(),
        };
        let hello = handshake::shake(&mut link, options, deadline)?;
        link.peer = Peer {
            wire: hello.wire,
            router: hello.role == Role::Router,
        };
        link.hello = Some(hello);
        Ok(link)
    }

    /// The address that was connected to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the member said when the connection was opened.
    pub fn hello(&self) -> Option<&Hello> {
        self.hello.as_ref()
    }

    /// The socket, to wait on.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.transport.fd()
    }

    /// How many more requests can be queued before answers come.
    #[inline]
    pub fn free(&self) -> usize {
        self.depth.saturating_sub(self.in_flight.len())
    }

    /// How many requests have no answer yet, without the abandoned ones.
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
        self.out.len() - self.sent
    }

    /// Append a whole message to the output, under a number of this connection's own; its answer
    /// will come with `tag`. `None` when the connection is taken, or the message is none that a
    /// server takes (a finished [`crate::Request`] always is).
    #[inline]
    pub fn queue(&mut self, message: &[u8], tag: u32) -> Option<Ticket> {
        if self.free() == 0 || !(HEADER..=MAX_MESSAGE).contains(&message.len()) {
            return None;
        }
        let ticket = self.in_flight.take(tag);
        let at = self.out.len();
        self.out.extend_from_slice(message);
        message::number(&mut self.out[at..], ticket.0);
        Some(ticket)
    }

    /// The request's answer is not wanted any more. The connection stays taken until it comes, and
    /// it is dropped: the server works it off all the same.
    pub fn abandon(&mut self, ticket: Ticket) {
        self.in_flight.abandon(ticket);
    }

    /// The tags of the requests without an answer: what a broken connection leaves open.
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
            let bytes = &self.out[self.sent..];
            if bytes.is_empty() {
                self.out.clear();
                self.sent = 0;
                return Ok(if self.transport.push()? {
                    Flush::Done
                } else {
                    Flush::Blocked
                });
            }
            let wanted = bytes.len();
            match self.transport.write(bytes) {
                Ok(written) => {
                    self.sent += written;
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
    /// abandoned requests are dropped.
    ///
    /// # Errors
    /// What came is not the protocol, or nobody asked for it. The connection is of no use after
    /// that.
    #[inline]
    pub fn replies(&mut self, mut each: impl FnMut(u32, Reply<'_>)) -> Result<usize, Error> {
        let (in_flight, peer) = (&mut self.in_flight, self.peer);
        let mut count = 0;
        self.decoder.messages(|message| {
            if message.flags & flag::MORE_TO_COME != 0 {
                let why = "an answer announces others that were not asked for";
                return Err(Error::Protocol(why.into()));
            }
            match in_flight.release(message.response_to) {
                Owner::Tag(tag) => {
                    count += 1;
                    let body = message.body;
                    each(tag, Reply { body, peer });
                    Ok(())
                }
                Owner::Abandoned => Ok(()),
                Owner::Nobody => Err(Error::Protocol(format!(
                    "an answer to {}, which was not asked",
                    message.response_to
                ))),
            }
        })?;
        Ok(count)
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
