//! What makes a link one of CQL: the two halves of its frames, and how it is opened.
mod streams;

use std::net::SocketAddr;
use std::time::Instant;

use tare_net::{Input, Output, Transport};

use crate::error::{Error, ServerError};
use crate::frame::{opcode, Decoder, Encoder};
use crate::handshake;
use crate::options::{Options, Protocol};
use crate::reply::Reply;
use streams::Streams;

pub use streams::StreamId;

/// A connection to one node.
pub type Link = tare_net::Link<Codec>;

/// Connect, shake hands (TLS, STARTUP, authentication); blocks for the connect timeout at most.
///
/// # Errors
/// What stands in the way, with the address.
pub fn connect(address: SocketAddr, options: &Options) -> Result<Link, Error> {
    let deadline = Instant::now() + options.connect_timeout;
    let transport = Transport::open(address, options.tls.as_ref(), deadline)?;
    let codec = Codec {
        protocol: options.protocol,
        encoder: Encoder::client(options.protocol, options.compression),
        decoder: Decoder::client(options.protocol, options.compression),
    };
    let mut link = Link::new(address, transport, codec, Streams::default());
    handshake::shake(&mut link, options, deadline)?;
    Ok(link)
}

/// An answer with a body of its own, from [`Link::call`](tare_net::Link::call).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub opcode: u8,
    pub body: Vec<u8>,
}

impl Message {
    /// The answer that it is.
    pub fn reply(&self) -> Reply<'_> {
        Reply {
            opcode: self.opcode,
            flags: 0,
            body: &self.body,
        }
    }
}

/// A client's side of the native protocol.
#[derive(Debug)]
pub struct Codec {
    protocol: Protocol,
    encoder: Encoder,
    decoder: Decoder,
}

impl Codec {
    /// The protocol that is spoken.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// From here on, compression (v4) or segments (v5).
    pub(crate) fn agreed(&mut self) {
        self.encoder.agreed();
        self.decoder.agreed();
    }
}

impl tare_net::Codec for Codec {
    /// Opcode and body.
    type Request<'a> = (u8, &'a [u8]);
    type Reply<'a> = Reply<'a>;
    type Message = Message;
    type InFlight = Streams;
    type Error = Error;

    /// False for a body longer than 256 MiB.
    #[inline]
    fn encode(&mut self, stream: StreamId, (opcode, body): (u8, &[u8])) -> bool {
        self.encoder.message(stream.0, opcode, body).is_ok()
    }

    #[inline]
    fn output(&mut self) -> &mut Output {
        self.encoder.output()
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.encoder.waiting()
    }

    #[inline]
    fn input(&mut self) -> &mut Input {
        &mut self.decoder.input
    }

    /// Events are dropped.
    #[inline]
    fn decode(
        &mut self,
        mut each: impl FnMut(StreamId, Reply<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.decoder.messages(|header, body| {
            if header.stream < 0 {
                return Ok(());
            }
            let reply = Reply::new(header.opcode, header.flags, body)?;
            each(StreamId(header.stream), reply)
        })?;
        Ok(())
    }

    fn unasked(stream: StreamId) -> Error {
        let stream = stream.0;
        Error::Protocol(format!(
            "an answer on stream {stream}, on which nothing was asked"
        ))
    }

    /// An ERROR answer is [`Error::Server`].
    fn message(reply: Reply<'_>) -> Result<Message, Error> {
        if reply.opcode == opcode::ERROR {
            return Err(Error::Server(ServerError::decode(reply.body)?));
        }
        Ok(Message {
            opcode: reply.opcode,
            body: reply.body.to_vec(),
        })
    }
}
