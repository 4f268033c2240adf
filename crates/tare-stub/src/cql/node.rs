//! One node as clients see it: answers what sets a connection up, and tells the load from the rest.

use std::net::SocketAddr;

use crate::cql::catalogue::Catalogue;
use crate::cql::prepared::{Prepared, Rows, Statements};
use crate::cql::rows::{
    put_error, put_fault, put_prepared, put_schema_change, put_set_keyspace, put_void, INVALID,
    PROTOCOL_ERROR, UNPREPARED,
};
use crate::cql::statement::{Statement, Verb};
use crate::cql::system::System;
use crate::cql::wire::{
    after_payload, answer, opcode, put_string, Header, Parameters, Reader, HEADER, LARGEST_BODY,
    VERSION,
};
use crate::script::{Fault, Script};
use crate::speech::{self, Outcome, Speech};

/// What a node knows.
#[derive(Debug)]
pub struct Node {
    system: System,
    catalogue: Catalogue,
    statements: Statements,
    rows: Rows,
}

/// A request of the load.
pub struct Load<'a> {
    stream: i16,
    /// None: a batch.
    prepared: Option<&'a Prepared>,
    parameters: Option<Parameters<'a>>,
    consistency: u16,
}

impl speech::Load for Load<'_> {
    fn put(&self, out: &mut Vec<u8>, fault: Option<Fault>) {
        if let Some(fault) = fault {
            let read = self.prepared.is_some_and(Prepared::read);
            return answer(out, self.stream, opcode::ERROR, |out| {
                put_fault(out, fault, self.consistency, read)
            });
        }
        answer(out, self.stream, opcode::RESULT, |out| {
            match (self.prepared, &self.parameters) {
                (Some(prepared), Some(parameters)) => prepared.put_answer(out, parameters),
                _ => put_void(out),
            }
        });
    }
}

impl Speech for Node {
    /// The current keyspace.
    type Talk = Option<String>;
    type Load<'a> = Load<'a>;
    const LONGEST: usize = HEADER + LARGEST_BODY;

    fn length(bytes: &[u8]) -> Option<usize> {
        Header::read(bytes).map(|header| HEADER.saturating_add(header.length))
    }

    fn ask<'a>(
        &'a mut self,
        keyspace: &'a mut Option<String>,
        request: &'a [u8],
        _may_wait: bool,
        out: &mut Vec<u8>,
    ) -> Outcome<Load<'a>> {
        match (Header::read(request), request.get(HEADER..)) {
            (Some(header), Some(body)) => self.answer(keyspace, header, body, out),
            _ => Outcome::Over,
        }
    }
}

impl Node {
    /// A node at this address.
    ///
    /// # Errors
    /// A statement of the script's schema that is not understood.
    pub fn new(address: SocketAddr, script: &Script) -> Result<Node, String> {
        let mut catalogue = Catalogue::default();
        for cql in &script.schema {
            catalogue.create(cql, None)?;
        }
        for (name, value_bytes) in &script.ycsb_tables {
            catalogue.add_ycsb_table(name, *value_bytes)?;
        }
        Ok(Node {
            system: System::new(address, &script.peers),
            catalogue,
            statements: Statements::default(),
            rows: Rows {
                count: script.rows,
                value_bytes: script.value_bytes,
            },
        })
    }

    fn answer<'a>(
        &'a mut self,
        keyspace: &mut Option<String>,
        header: Header,
        body: &'a [u8],
        out: &mut Vec<u8>,
    ) -> Outcome<Load<'a>> {
        let stream = header.stream;
        if header.version != VERSION {
            let version = header.version & 0x7F;
            let message = format!("Invalid or unsupported protocol version ({version}); supported versions are (4/v4)");
            answer(out, stream, opcode::ERROR, |out| {
                put_error(out, PROTOCOL_ERROR, &message)
            });
            return Outcome::Over;
        }
        let Some(body) = after_payload(header.flags, body) else {
            return malformed(stream, out);
        };
        let mut reader = Reader(body);
        match header.opcode {
            opcode::STARTUP | opcode::REGISTER => answer(out, stream, opcode::READY, |_| ()),
            opcode::OPTIONS => answer(out, stream, opcode::SUPPORTED, put_supported),
            opcode::PREPARE => match reader.long_string() {
                Some(cql) => self.prepare(keyspace.as_deref(), cql, stream, out),
                None => return malformed(stream, out),
            },
            opcode::QUERY => match (reader.long_string(), Parameters::read(&mut reader)) {
                (Some(cql), Some(parameters)) => {
                    return self.query(keyspace, cql, parameters, stream, out)
                }
                _ => return malformed(stream, out),
            },
            opcode::EXECUTE => match (reader.short_bytes(), Parameters::read(&mut reader)) {
                (Some(id), Some(parameters)) => return self.execute(id, parameters, stream, out),
                _ => return malformed(stream, out),
            },
            opcode::BATCH => {
                return Outcome::Load(Load {
                    stream,
                    prepared: None,
                    parameters: None,
                    consistency: 1,
                });
            }
            _ => return malformed(stream, out),
        }
        Outcome::Answered
    }

    fn prepare(&mut self, keyspace: Option<&str>, cql: &str, stream: i16, out: &mut Vec<u8>) {
        match self
            .statements
            .prepare(cql, keyspace, &self.system, &self.catalogue, self.rows)
        {
            Ok(known) => answer(out, stream, opcode::RESULT, |out| {
                put_prepared(out, &known.id, &known.table, &known.markers, &known.shape);
            }),
            Err(why) => answer(out, stream, opcode::ERROR, |out| {
                put_error(out, INVALID, &why)
            }),
        }
    }

    fn execute<'a>(
        &'a self,
        id: &[u8],
        parameters: Parameters<'a>,
        stream: i16,
        out: &mut Vec<u8>,
    ) -> Outcome<Load<'a>> {
        match self.statements.get(id) {
            None => answer(out, stream, opcode::ERROR, |out| {
                put_error(
                    out,
                    UNPREPARED,
                    "no statement with this id was prepared here",
                );
                out.extend((id.len() as u16).to_be_bytes());
                out.extend(id);
            }),
            Some(prepared) if prepared.system => self.select(prepared, parameters, stream, out),
            Some(prepared) => {
                let consistency = parameters.consistency;
                return Outcome::Load(Load {
                    stream,
                    prepared: Some(prepared),
                    parameters: Some(parameters),
                    consistency,
                });
            }
        }
        Outcome::Answered
    }

    fn select(
        &self,
        prepared: &Prepared,
        parameters: Parameters<'_>,
        stream: i16,
        out: &mut Vec<u8>,
    ) {
        let bound: Vec<Option<Vec<u8>>> = parameters
            .values()
            .map(|value| value.map(<[u8]>::to_vec))
            .collect();
        answer(out, stream, opcode::RESULT, |out| {
            self.system.select(
                out,
                &prepared.table,
                &prepared.statement,
                &bound,
                &self.catalogue,
            );
        });
    }

    fn query<'a>(
        &'a mut self,
        keyspace: &mut Option<String>,
        cql: &str,
        parameters: Parameters<'a>,
        stream: i16,
        out: &mut Vec<u8>,
    ) -> Outcome<Load<'a>> {
        let statement = Statement::parse(cql);
        let done = match statement.verb {
            Verb::Select | Verb::Write => {
                let current = keyspace.as_deref();
                let known =
                    self.statements
                        .prepare(cql, current, &self.system, &self.catalogue, self.rows);
                match known {
                    Ok(known) => return self.execute(&known.id, parameters, stream, out),
                    Err(why) => Err(why),
                }
            }
            Verb::Use
                if System::owns(&statement.table)
                    || self.catalogue.has_keyspace(&statement.table) =>
            {
                answer(out, stream, opcode::RESULT, |out| {
                    put_set_keyspace(out, &statement.table)
                });
                *keyspace = Some(statement.table);
                Ok(())
            }
            Verb::Use => Err(format!("keyspace {} does not exist", statement.table)),
            Verb::Create => self
                .catalogue
                .create(cql, keyspace.as_deref())
                .map(|created| {
                    answer(out, stream, opcode::RESULT, |out| {
                        put_schema_change(out, &created)
                    });
                }),
            Verb::Other => {
                answer(out, stream, opcode::RESULT, put_void);
                Ok(())
            }
        };
        if let Err(why) = done {
            answer(out, stream, opcode::ERROR, |out| {
                put_error(out, INVALID, &why)
            });
        }
        Outcome::Answered
    }
}

fn put_supported(out: &mut Vec<u8>) {
    let options: [(&str, &[&str]); 3] = [
        ("CQL_VERSION", &["3.4.4"]),
        ("COMPRESSION", &[]),
        ("PROTOCOL_VERSIONS", &["4/v4"]),
    ];
    out.extend((options.len() as u16).to_be_bytes());
    for (name, values) in options {
        put_string(out, name);
        out.extend((values.len() as u16).to_be_bytes());
        for value in values {
            put_string(out, value);
        }
    }
}

fn malformed(stream: i16, out: &mut Vec<u8>) -> Outcome<Load<'static>> {
    let message = "the request is not one of native protocol version 4, or it is cut short";
    answer(out, stream, opcode::ERROR, |out| {
        put_error(out, PROTOCOL_ERROR, message)
    });
    Outcome::Over
}
