//! CQL, Cassandra's protocol.

use std::net::SocketAddr;
use std::sync::Arc;

use tare_cql::{Parameters, Protocol, ReplyKind, Ring, Rows, ServerError, Statement, Template};

use crate::errors::{ErrorKind, Fatal};
use crate::order::{Cluster, Order};
use crate::prepared::Prepared;
use crate::workload::{Answer, StatementText};

use super::preparation::Preparation;
use super::{Link, Outgoing, Owners, Reading, Reply, Wire};

/// Server error UNPREPARED (native protocol v4, section 9).
const FORGOTTEN: i32 = 0x2500;

/// The native protocol of Cassandra.
#[derive(Debug, Clone, Copy)]
pub enum Cql {}

/// A request in the making, and the protocol that it is made for.
pub struct Draft {
    pub(crate) request: tare_cql::Request,
    pub(crate) protocol: Protocol,
}

impl Wire for Cql {
    type Cluster = Cluster;
    type Node = SocketAddr;
    type Text = StatementText;
    type Statement = Statement;
    type Template = Template;
    type Draft = Draft;
    type Codec = tare_cql::Codec;
    type Map = Option<Ring>;
    type Key = Option<i64>;
    type Found<'a> = Rows<'a>;
    type Refusal = ServerError;
    type Recovery = Preparation;

    const IN_FLIGHT_PER_LINK: usize = 64;
    const MOST_LINKS: usize = 8;

    fn prepare(order: &Order, texts: Vec<StatementText>) -> Result<Prepared<Cql>, Fatal> {
        prepare(order, texts)
    }

    fn protocol(cluster: &Cluster) -> String {
        let options = &cluster.options;
        let mut text = format!("v{}", options.protocol.number());
        if options.compression == tare_cql::Compression::Lz4 {
            text.push_str(", lz4");
        }
        if options.tls.is_some() {
            text.push_str(", TLS");
        }
        text
    }

    fn open(node: &SocketAddr, cluster: &Cluster) -> Result<Link<Self>, Fatal> {
        tare_cql::connect(*node, &cluster.options)
            .map_err(|e| Fatal::unreachable(node.to_string(), e))
    }

    fn draft(cluster: &Cluster) -> Draft {
        Draft {
            request: tare_cql::Request::new(),
            protocol: cluster.options.protocol,
        }
    }

    #[inline]
    fn finish(draft: &mut Draft) -> bool {
        draft.request.finish().is_ok()
    }

    #[inline]
    fn request(draft: &Draft) -> Outgoing<'_, Cql> {
        (draft.request.opcode(), draft.request.body())
    }

    /// The token of the request's partition.
    #[inline]
    fn key(draft: &mut Draft) -> Option<i64> {
        draft.request.token()
    }

    #[inline]
    fn stays(_draft: &Draft) -> bool {
        false
    }

    /// The token's replicas; any other node would coordinate it, too.
    #[inline]
    fn owners<'m>(map: &'m Option<Ring>, key: &Option<i64>) -> Owners<'m> {
        let nodes = match (map, key) {
            (Some(ring), Some(token)) => ring.owners(*token),
            _ => &[],
        };
        Owners { nodes, only: false }
    }

    #[inline]
    fn reading<'a>(reply: Reply<'a, Cql>) -> Reading<'a, Cql> {
        let failed = |kind, server| Answer::Failed { kind, server };
        Reading::Answer(match reply.kind() {
            Ok(ReplyKind::Rows(rows)) => Answer::Rows(rows),
            Ok(ReplyKind::Error(error)) => match error.decode() {
                Ok(error) if error.code == FORGOTTEN => {
                    return Reading::Forgotten(failed(ErrorKind::of(&error), Some(error)));
                }
                Ok(error) => failed(ErrorKind::of(&error), Some(error)),
                Err(_) => failed(ErrorKind::Other, None),
            },
            Ok(_) => Answer::Void,
            Err(_) => failed(ErrorKind::Other, None),
        })
    }

    fn recover(recovery: &Arc<Preparation>, node: &SocketAddr, cluster: &Cluster) {
        recovery.begin(*node, &cluster.options);
    }

    fn lost(_care: &Arc<Preparation>) {}

    /// The ring stays what it was at the start.
    #[inline]
    fn renewed(_care: &Preparation, _number: &mut u64) -> Option<Option<Ring>> {
        None
    }
}

/// Connects the control plane, prepares everything, and lets go of it.
fn prepare(order: &Order, texts: Vec<StatementText>) -> Result<Prepared<Cql>, Fatal> {
    let contact_points = &order.cluster.contact_points;
    let places = contact_points.join(", ");
    let mut cluster = tare_cql::Cluster::discover(contact_points, &order.cluster.options)
        .map_err(|e| Fatal::unreachable(&places, e))?;
    let mut statements = Vec::new();
    for text in &texts {
        let statement = cluster
            .prepare(&text.cql, order.keyspace.as_deref())
            .map_err(|e| Fatal::schema(&text.cql, e))?;
        statements.push(statement);
    }
    let keyspace = statements
        .first()
        .map(|statement| statement.keyspace.clone());
    let ring = match keyspace.or_else(|| order.keyspace.clone()) {
        Some(keyspace) if cluster.nodes.len() > 1 => cluster.ring(&keyspace).ok(),
        _ => None,
    };
    let parts = statements.iter().zip(&texts);
    let templates = parts
        .map(|(statement, text)| template(statement, text, &order.cluster.options))
        .collect::<Result<_, _>>()?;
    Ok(Prepared {
        templates,
        nodes: cluster
            .nodes
            .iter()
            .map(|node| node.is_reachable().then_some(node.address))
            .collect(),
        map: ring,
        statements,
        recovery: Arc::new(Preparation::new(
            texts.into_iter().map(|text| text.cql).collect(),
            order.keyspace.clone(),
        )),
        unreachable: cluster
            .nodes
            .iter()
            .filter(|node| !node.is_reachable())
            .map(|node| node.address.to_string())
            .collect(),
        stand_in: None,
    })
}

fn template(
    statement: &Statement,
    text: &StatementText,
    options: &tare_cql::Options,
) -> Result<Template, Fatal> {
    let parameters = Parameters {
        serial: text.serial,
        page_size: text.page_size,
        // The columns are known since the statement was prepared.
        skip_metadata: true,
        ..Parameters::at(text.consistency)
    };
    Template::new(statement, &parameters, options.protocol).map_err(|e| Fatal::schema(&text.cql, e))
}
