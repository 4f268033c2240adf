//! What is the same in every execution of a statement: its parameters and its template.
use crate::error::Error;
use crate::options::{Consistency, Protocol};
use crate::statement::Statement;
use crate::wire::{put_short, put_short_bytes};

pub(super) const VALUES: u8 = 0x01;
pub(super) const SKIP_METADATA: u8 = 0x02;
pub(super) const PAGE_SIZE: u8 = 0x04;
pub(super) const PAGING_STATE: u8 = 0x08;
pub(super) const SERIAL: u8 = 0x10;
pub(super) const TIMESTAMP: u8 = 0x20;

/// How a statement is executed (v4 section 4.1.4, `<query_parameters>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    pub consistency: Consistency,
    /// Of the serial phase of a conditional update: SERIAL or LOCAL_SERIAL.
    pub serial: Option<Consistency>,
    /// Rows of one page; `None` asks for all at once.
    pub page_size: Option<i32>,
    /// Write time in microseconds since 1970; `None` leaves it to the server. One request's can
    /// be given by [`crate::Request::timestamp`].
    pub timestamp: Option<i64>,
    /// Ask for rows without their columns' names and types.
    pub skip_metadata: bool,
}

impl Parameters {
    /// These at a consistency level, with everything else left to the server.
    pub fn at(consistency: Consistency) -> Parameters {
        Parameters {
            consistency,
            serial: None,
            page_size: None,
            timestamp: None,
            skip_metadata: false,
        }
    }

    pub(super) fn flags(&self) -> u8 {
        (if self.skip_metadata { SKIP_METADATA } else { 0 })
            | (if self.page_size.is_some() {
                PAGE_SIZE
            } else {
                0
            })
    }
}

/// The kind of a batch (v4 section 4.1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BatchKind {
    Logged = 0,
    Unlogged = 1,
    Counter = 2,
}

/// What is the same in every execution of a statement, made once.
#[derive(Debug, Clone)]
pub struct Template {
    /// Everything before the first value of an EXECUTE.
    pub(super) prefix: Vec<u8>,
    pub(super) flags_at: usize,
    /// The statement's part of a BATCH before its first value.
    pub(super) batched: Vec<u8>,
    pub(super) markers: usize,
    pub(super) partition_key: Vec<u16>,
    pub(super) parameters: Parameters,
}

impl Template {
    /// The template of a statement with its parameters.
    ///
    /// # Errors
    /// An id longer than the protocol allows (no server gives one).
    pub fn new(
        statement: &Statement,
        parameters: &Parameters,
        protocol: Protocol,
    ) -> Result<Template, Error> {
        let markers = statement.columns.len();
        let count = u16::try_from(markers).map_err(|_| Error::TooLong { bytes: markers })?;
        let mut prefix = Vec::new();
        put_short_bytes(&mut prefix, &statement.id)?;
        if protocol == Protocol::V5 {
            put_short_bytes(&mut prefix, statement.result_id.as_deref().unwrap_or(&[]))?;
        }
        put_short(&mut prefix, parameters.consistency as u16);
        let flags = parameters.flags() | if markers > 0 { VALUES } else { 0 };
        let flags_at = put_flags(&mut prefix, flags, protocol);
        if markers > 0 {
            put_short(&mut prefix, count);
        }
        let mut batched = vec![1];
        put_short_bytes(&mut batched, &statement.id)?;
        put_short(&mut batched, count);
        Ok(Template {
            prefix,
            flags_at,
            batched,
            markers,
            partition_key: statement.partition_key.clone(),
            parameters: *parameters,
        })
    }

    /// How many values an execution must be given.
    pub fn markers(&self) -> usize {
        self.markers
    }
}

/// Append the flags, one byte in v4 and four in v5; returns where their lowest byte is.
pub(super) fn put_flags(out: &mut Vec<u8>, flags: u8, protocol: Protocol) -> usize {
    if protocol == Protocol::V5 {
        out.extend_from_slice(&[0, 0, 0]);
    }
    out.push(flags);
    out.len() - 1
}
