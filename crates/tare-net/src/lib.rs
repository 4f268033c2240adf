//! Non-blocking TCP of Tare, bare or under TLS: what every wire protocol of the load generator
//! stands on. No protocol, no policy, no clock but for the deadlines of what blocks.
#![deny(unsafe_code)]

mod certificate;
mod error;
mod identity;
mod tls;
mod transport;

pub use error::Error;
pub use identity::Identity;
pub use tls::{TlsOptions, TlsStream};
pub use transport::{remaining, wait, Transport};
