//! What a link needs of a protocol: bytes of requests, replies in bytes, and which belong together.
use std::fmt;

use crate::buffers::{Input, Output};
use crate::error::Error;

/// The frames of a protocol, on one connection. Everything is resolved when a link is compiled for it.
pub trait Codec: fmt::Debug + Send + 'static {
    /// One whole request.
    type Request<'a>;
    /// One whole reply; it borrows from what came in.
    type Reply<'a>;
    /// A reply with memory of its own.
    type Message;
    type InFlight: InFlight;
    type Error: From<Error>;

    /// Appends a request under the number of its ticket; false if it is none that a server takes.
    fn encode(&mut self, ticket: Ticket<Self>, request: Self::Request<'_>) -> bool;

    /// The bytes to send now.
    fn output(&mut self) -> &mut Output;

    /// Bytes that wait to go out.
    fn waiting(&self) -> usize;

    /// Where received bytes go.
    fn input(&mut self) -> &mut Input;

    /// Hands over every whole reply that has come.
    ///
    /// # Errors
    /// Bytes that break the protocol, and what `each` returns.
    fn decode(
        &mut self,
        each: impl FnMut(Ticket<Self>, Self::Reply<'_>) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error>;

    /// The error of a reply that nobody asked for.
    fn unasked(ticket: Ticket<Self>) -> Self::Error;

    /// A copy of a reply, for a caller that blocks until it has come.
    ///
    /// # Errors
    /// The error that the reply is.
    fn message(reply: Self::Reply<'_>) -> Result<Self::Message, Self::Error>;
}

/// How a codec identifies a request in flight.
pub type Ticket<C> = <<C as Codec>::InFlight as InFlight>::Ticket;

/// The requests of one connection that have no reply yet, and who waits for it.
pub trait InFlight: fmt::Debug + Send + 'static {
    type Ticket: Copy + fmt::Debug;

    /// How many more there can be.
    fn free(&self) -> usize;

    /// How many there are, without the abandoned ones.
    fn wanted(&self) -> usize;

    /// Adds a request, whose reply is for `tag`; none if there can be no more.
    fn take(&mut self, tag: u32) -> Option<Self::Ticket>;

    /// The request that was added last is not sent.
    fn give_back(&mut self, ticket: Self::Ticket);

    /// Its reply has come.
    fn release(&mut self, ticket: Self::Ticket) -> Owner;

    /// Nobody waits for its reply any more, but it is still to come.
    fn abandon(&mut self, ticket: Self::Ticket);

    /// Who waits.
    fn tags(&self) -> impl Iterator<Item = u32>;
}

/// Whose reply came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Tag(u32),
    Abandoned,
    Nobody,
}
