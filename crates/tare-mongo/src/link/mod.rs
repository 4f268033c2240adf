//! What makes a link one of MongoDB: messages, their order, and how it is opened.
mod authorities;
mod order;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tare_net::{Input, Output, TlsOptions, Transport};

use crate::error::{Error, Peer};
use crate::handshake;
use crate::hello::{Hello, Role};
use crate::message::{self, flag, Decoder, HEADER, MAX_MESSAGE};
use crate::options::Options;
use crate::reply::Reply;
use order::InOrder;

pub use order::Ticket;

/// A connection to one member.
pub type Link = tare_net::Link<Codec>;

/// Connect, shake hands (TLS, hello, authentication); blocks for the connect timeout at most.
/// `name` is what the member's certificate must carry under TLS.
///
/// # Errors
/// What stands in the way, with the address.
pub fn connect(address: SocketAddr, name: &str, options: &Options) -> Result<Link, Error> {
    let deadline = Instant::now() + options.connect_timeout;
    let tls = options.tls.as_ref().map(|tls| TlsOptions {
        server_name: tls.server_name.clone().or_else(|| Some(name.to_owned())),
        authorities: tls.authorities.clone().or_else(authorities::of_machine),
        ..tls.clone()
    });
    let transport = Transport::open(address, tls.as_ref(), deadline)?;
    let codec = Codec {
        hello: None,
        peer: Peer::default(),
        checksums: options.checksums,
        output: Output::default(),
        decoder: Decoder::new(),
    };
    let mut link = Link::new(address, transport, codec, InOrder::of_depth(options.depth));
    let hello = handshake::shake(&mut link, options, deadline)?;
    link.codec.peer = Peer {
        wire: hello.wire,
        router: hello.role == Role::Router,
    };
    link.codec.hello = Some(hello);
    Ok(link)
}

/// Send one command (a document with its `$db`) and block until its answer comes, which is returned
/// as it is. For a link with nothing else in flight, as [`Link::call`](tare_net::Link::call) is.
///
/// # Errors
/// The server does not answer in time, closes, or answers with an error.
pub fn call(
    link: &mut Link,
    command: &[u8],
    what: &'static str,
    timeout: Duration,
) -> Result<Vec<u8>, Error> {
    let mut message = Vec::with_capacity(command.len() + 32);
    let flags = if link.codec.checksums {
        flag::CHECKSUM
    } else {
        0
    };
    let at = message::begin(&mut message, 0, 0, flags);
    message.extend_from_slice(command);
    message::end(&mut message, at);
    link.call(&message, what, timeout)
}

/// A client's side of OP_MSG.
#[derive(Debug)]
pub struct Codec {
    hello: Option<Hello>,
    peer: Peer,
    checksums: bool,
    output: Output,
    decoder: Decoder,
}

impl Codec {
    /// What the member said when the connection was opened.
    pub fn hello(&self) -> Option<&Hello> {
        self.hello.as_ref()
    }
}

impl tare_net::Codec for Codec {
    /// A whole message; it is given a number of this connection's own.
    type Request<'a> = &'a [u8];
    type Reply<'a> = Reply<'a>;
    /// The answer's document.
    type Message = Vec<u8>;
    type InFlight = InOrder;
    type Error = Error;

    #[inline]
    fn encode(&mut self, ticket: Ticket, message: &[u8]) -> bool {
        let fits = (HEADER..=MAX_MESSAGE).contains(&message.len());
        if fits {
            let out = self.output.append();
            let at = out.len();
            out.extend_from_slice(message);
            message::number(&mut out[at..], ticket.0);
        }
        fits
    }

    #[inline]
    fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.output.bytes().len()
    }

    #[inline]
    fn input(&mut self) -> &mut Input {
        &mut self.decoder.input
    }

    #[inline]
    fn decode(
        &mut self,
        mut each: impl FnMut(Ticket, Reply<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let peer = self.peer;
        self.decoder.messages(|message| {
            if message.flags & flag::MORE_TO_COME != 0 {
                let why = "an answer announces others that were not asked for";
                return Err(Error::Protocol(why.into()));
            }
            let body = message.body;
            each(Ticket(message.response_to), Reply { body, peer })
        })?;
        Ok(())
    }

    fn unasked(ticket: Ticket) -> Error {
        Error::Protocol(format!("an answer to {}, which was not asked", ticket.0))
    }

    /// An answer that says no is [`Error::Server`].
    fn message(reply: Reply<'_>) -> Result<Vec<u8>, Error> {
        reply.body.check()?;
        reply.outcome()?;
        Ok(reply.body.to_bytes())
    }
}
