//! A cluster that has been found, and on which every statement has been prepared.

use std::net::SocketAddr;
use std::sync::Arc;

use tare_cql::{Parameters, Ring, Statement, Template};

use crate::errors::Fatal;
use crate::order::Order;
use crate::worker::Preparation;
use crate::workload::StatementText;

/// A prepared cluster, as the workers need it.
pub struct Prepared {
    /// In the order of the ring; none where a node cannot be reached.
    pub nodes: Vec<Option<SocketAddr>>,
    pub ring: Option<Ring>,
    pub statements: Vec<Statement>,
    pub templates: Vec<Template>,
    pub preparation: Arc<Preparation>,
    pub unreachable: Vec<String>,
}

/// Connects the control plane, prepares everything, and lets go of it.
pub fn prepare(order: &Order, texts: Vec<StatementText>) -> Result<Prepared, Fatal> {
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
        ring,
        statements,
        preparation: Arc::new(Preparation::new(
            texts.into_iter().map(|text| text.cql).collect(),
            order.keyspace.clone(),
        )),
        unreachable: cluster
            .nodes
            .iter()
            .filter(|node| !node.is_reachable())
            .map(|node| node.address.to_string())
            .collect(),
    })
}

pub fn protocol(order: &Order) -> String {
    let options = &order.cluster.options;
    let mut text = format!("v{}", options.protocol.number());
    if options.compression == tare_cql::Compression::Lz4 {
        text.push_str(", lz4");
    }
    if options.tls.is_some() {
        text.push_str(", TLS");
    }
    text
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
