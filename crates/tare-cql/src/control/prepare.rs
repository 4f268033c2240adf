//! Preparing a statement on every node that can be reached.
use super::Cluster;
use crate::error::Error;
use crate::frame::opcode;
use crate::link::Link;
use crate::options::{Consistency, Protocol};
use crate::reply::ReplyKind;
use crate::request::{Parameters, Request};
use crate::statement::Statement;

impl Cluster {
    /// Prepare a statement on every reachable node and check that all gave it the same id. Names
    /// without a keyspace are of `keyspace`.
    ///
    /// # Errors
    /// A node refuses the statement, cannot be reached any more, or disagrees about the id.
    pub fn prepare(&mut self, cql: &str, keyspace: Option<&str>) -> Result<Statement, Error> {
        let mut agreed: Option<Statement> = None;
        for position in 0..self.nodes.len() {
            let node = &self.nodes[position];
            if !node.is_reachable() {
                continue;
            }
            let address = node.address;
            let failed = |error: Error| Error::Prepare {
                cql: cql.to_owned(),
                address,
                why: error.to_string(),
            };
            let statement = self.prepare_on(position, cql, keyspace).map_err(failed)?;
            match &agreed {
                None => agreed = Some(statement),
                Some(first) if first.id == statement.id => {}
                Some(_) => {
                    let why = "it gives the statement another id than the nodes before; \
                               check that all nodes have the same version and schema";
                    return Err(failed(Error::Schema(why.to_owned())));
                }
            }
        }
        agreed.ok_or_else(|| Error::NoContact {
            why: "no node is reachable".to_owned(),
        })
    }

    fn prepare_on(
        &mut self,
        position: usize,
        cql: &str,
        keyspace: Option<&str>,
    ) -> Result<Statement, Error> {
        let mut link = self.link_to(position)?;
        let timeout = self.patience();
        if let (Some(keyspace), Protocol::V4) = (keyspace, link.codec.protocol()) {
            // v4 has no keyspace in PREPARE: it is the connection's.
            use_keyspace(&mut link, &mut self.request, keyspace, timeout)?;
        }
        self.request.prepare(cql, keyspace, link.codec.protocol())?;
        let message = link.call((opcode::PREPARE, self.request.body()), "PREPARE", timeout)?;
        let ReplyKind::Prepared(body) = message.reply().kind()? else {
            return Err(Error::Protocol(
                "PREPARE was not answered by a prepared result".into(),
            ));
        };
        let statement = Statement::decode(cql, body, link.codec.protocol())?;
        self.links[position] = Some(link);
        Ok(statement)
    }
}

fn use_keyspace(
    link: &mut Link,
    request: &mut Request,
    keyspace: &str,
    timeout: std::time::Duration,
) -> Result<(), Error> {
    let cql = format!("USE \"{}\"", keyspace.replace('"', "\"\""));
    request.query(
        &cql,
        &Parameters::at(Consistency::One),
        link.codec.protocol(),
    )?;
    request.finish()?;
    link.call((opcode::QUERY, request.body()), "USE", timeout)
        .map(|_| ())
}
