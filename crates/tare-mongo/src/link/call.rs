//! One command and its answer, blocking: for handshakes and the control plane.
use std::io;
use std::time::{Duration, Instant};

use tare_net::wait;

use super::{Flush, Link, Received};
use crate::error::Error;
use crate::message::{self, flag};
use crate::reply::Reply;

impl Link {
    /// Send one command (a document with its `$db`) and block until its answer comes, which is
    /// returned as it is; answers to anything else are dropped, so this is for a link with nothing
    /// else in flight. An answer that says no is [`Error::Server`].
    ///
    /// # Errors
    /// The server does not answer in time, closes, or answers with an error.
    pub fn call(
        &mut self,
        command: &[u8],
        what: &'static str,
        timeout: Duration,
    ) -> Result<Vec<u8>, Error> {
        const MINE: u32 = u32::MAX;
        let address = self.address;
        let broken = |error: io::Error| Error::Broken {
            address,
            why: error.to_string(),
        };
        let deadline = Instant::now() + timeout;
        let mut message = Vec::with_capacity(command.len() + 32);
        let flags = if self.checksums { flag::CHECKSUM } else { 0 };
        let at = message::begin(&mut message, 0, 0, flags);
        message.extend_from_slice(command);
        message::end(&mut message, at);
        let bytes = message.len();
        let ticket = self.queue(&message, MINE).ok_or(Error::TooLong { bytes })?;
        loop {
            let flush = self.flush().map_err(broken)?;
            let mut answer = None;
            self.replies(|tag, reply| {
                if tag == MINE {
                    answer = Some(owned(&reply));
                }
            })?;
            if let Some(answer) = answer {
                return answer;
            }
            let writable = flush == Flush::Blocked;
            if !wait(self.transport.fd(), writable, deadline).map_err(broken)? {
                self.abandon(ticket);
                let seconds = timeout.as_secs_f64();
                return Err(Error::TimedOut {
                    address,
                    what,
                    seconds,
                });
            }
            if self.read().map_err(broken)? == Received::Closed {
                return Err(Error::Closed { address });
            }
        }
    }
}

/// An answer's document as its bytes, or the error in it.
fn owned(reply: &Reply<'_>) -> Result<Vec<u8>, Error> {
    reply.body.check()?;
    reply.outcome()?;
    Ok(reply.body.to_bytes())
}
