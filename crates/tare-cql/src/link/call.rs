//! One request and its answer, blocking: for handshakes and the control plane.
use std::io;
use std::time::{Duration, Instant};

use tare_net::wait;

use super::{Flush, Link, Received};
use crate::error::{Error, ServerError};
use crate::frame::opcode;

/// An answer with a body of its own, from [`Link::call`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub opcode: u8,
    pub body: Vec<u8>,
}

impl Link {
    /// Send one request and block until its answer comes; answers to anything else are dropped, so
    /// this is for a link with nothing else in flight. An ERROR answer is [`Error::Server`].
    ///
    /// # Errors
    /// The node does not answer in time, closes, or answers with an error.
    pub fn call(
        &mut self,
        opcode: u8,
        body: &[u8],
        what: &'static str,
        timeout: Duration,
    ) -> Result<Message, Error> {
        const MINE: u32 = u32::MAX;
        let address = self.address;
        let broken = |error: io::Error| Error::Broken {
            address,
            why: error.to_string(),
        };
        let deadline = Instant::now() + timeout;
        let Some(stream) = self.queue(opcode, body, MINE) else {
            return Err(Error::TooLong { bytes: body.len() });
        };
        loop {
            let flush = self.flush().map_err(broken)?;
            let mut answer = None;
            self.replies(|tag, reply| {
                if tag == MINE {
                    answer = Some(Message {
                        opcode: reply.opcode,
                        body: reply.body.to_vec(),
                    });
                }
            })?;
            match answer {
                Some(message) if message.opcode == opcode::ERROR => {
                    return Err(Error::Server(ServerError::decode(&message.body)?))
                }
                Some(message) => return Ok(message),
                None => {}
            }
            let writable = flush == Flush::Blocked;
            if !wait(self.transport.fd(), writable, deadline).map_err(broken)? {
                self.abandon(stream);
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
