//! Connections of Tare, bare or under TLS: the base of every wire protocol of the load generator.
//!
//! A [`Link`] is one non-blocking connection with its buffers and its requests in flight; a protocol
//! is a [`Codec`] and an [`InFlight`], for which the link is compiled. No policy, no clock but for the
//! deadlines of what blocks.
#![deny(unsafe_code)]

mod buffers;
mod certificate;
mod codec;
mod error;
mod identity;
mod link;
mod password;
mod tls;
mod transport;

pub use buffers::{Input, Output};
pub use codec::{Codec, InFlight, Owner, Ticket};
pub use error::Error;
pub use identity::Identity;
pub use link::{Flush, Link, Received};
pub use password::Password;
pub use tls::{TlsOptions, TlsStream};
pub use transport::{addresses, remaining, wait, Transport};
