//! The engine's order for a run.

use std::time::Duration;

use tare_cql::Cluster;
use tare_engine::order::{self, Arrivals, Order, Pace, Rate};

use crate::settings::command::Length;
use crate::settings::Settings;

/// The tool's driver waits so long for an answer.
const TIMEOUT: Duration = Duration::from_secs(12);

/// How connections are opened.
pub fn options(settings: &Settings) -> tare_cql::Options {
    tare_cql::Options {
        protocol: settings.mode.protocol,
        compression: settings.mode.compression,
        tls: settings.transport.tls.clone(),
        credentials: settings.mode.credentials.clone(),
        contact_points_only: settings.nodes.whitelist,
        ..tare_cql::Options::default()
    }
}

/// An order for `threads` threads; only what is measured is paced by the rate.
pub fn order(
    settings: &Settings,
    cluster: &Cluster,
    threads: usize,
    length: Length,
    measured: bool,
) -> Order {
    let pace = match settings.rate.per_second().filter(|_| measured) {
        Some(rate) => Pace::Open {
            rate: Rate::constant(rate as f64),
            arrivals: Arrivals::Fixed,
            most: threads,
        },
        None => Pace::Closed { slots: threads },
    };
    let measure = match length {
        Length::Duration(amount, unit) => Some(Duration::from_secs(amount * unit.seconds())),
        _ => None,
    };
    Order {
        keyspace: Some(settings.schema.keyspace.clone()),
        measure,
        interval: settings.log.interval,
        timeout: TIMEOUT,
        links: settings.mode.connections_given,
        ..Order::new(cluster_of(settings, cluster), pace)
    }
}

/// The nodes to send to: of one datacenter if it is named, and then without token routing.
fn cluster_of(settings: &Settings, cluster: &Cluster) -> order::Cluster {
    let mut options = options(settings);
    let named = settings.nodes.contact_points(settings.port.native);
    let contact_points = match &settings.nodes.datacenter {
        Some(datacenter) => {
            options.contact_points_only = true;
            let nodes = cluster.nodes.iter().filter(|node| {
                let listed = named.contains(&node.address.to_string());
                node.datacenter == *datacenter && (listed || !settings.nodes.whitelist)
            });
            nodes.map(|node| node.address.to_string()).collect()
        }
        None => named,
    };
    order::Cluster {
        contact_points,
        options,
    }
}
