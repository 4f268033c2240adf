//! Requests that carry their text: QUERY and PREPARE.
use super::template::{put_flags, Parameters};
use super::{Request, Tail, NO_TAIL};
use crate::error::Error;
use crate::frame::opcode;
use crate::options::Protocol;
use crate::wire::{put_bytes, put_int, put_short, put_short_bytes};

impl Request {
    /// A QUERY without values: schema statements and the like. Complete after
    /// [`Request::finish`].
    ///
    /// # Errors
    /// A text of more than 2 GiB.
    pub fn query(
        &mut self,
        cql: &str,
        parameters: &Parameters,
        protocol: Protocol,
    ) -> Result<(), Error> {
        self.begin(opcode::QUERY, NO_TAIL);
        put_bytes(&mut self.body, cql.as_bytes())?;
        put_short(&mut self.body, parameters.consistency as u16);
        self.tail = Tail {
            flags_at: Some(put_flags(&mut self.body, parameters.flags(), protocol)),
            page_size: parameters.page_size,
            serial: parameters.serial,
            timestamp: parameters.timestamp,
            batch: None,
        };
        Ok(())
    }

    /// A PREPARE: also to be queued on a link whose node answered "unprepared". Complete at once.
    ///
    /// # Errors
    /// A text of more than 2 GiB.
    pub fn prepare(
        &mut self,
        cql: &str,
        keyspace: Option<&str>,
        protocol: Protocol,
    ) -> Result<(), Error> {
        self.begin(opcode::PREPARE, NO_TAIL);
        put_bytes(&mut self.body, cql.as_bytes())?;
        if protocol == Protocol::V5 {
            // v5 section 4.1.5: flags, of which 0x01 says that a keyspace follows.
            put_int(&mut self.body, i32::from(keyspace.is_some()));
            if let Some(keyspace) = keyspace {
                put_short_bytes(&mut self.body, keyspace.as_bytes())?;
            }
        }
        Ok(())
    }
}
