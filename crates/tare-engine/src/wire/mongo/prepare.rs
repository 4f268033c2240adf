//! From a connection string to members with connections to be opened and commands to be sent.

use std::thread;
use std::time::{Duration, Instant};

use tare_mongo::{
    Collection, Discovery, Member, Operation, ReadMode, ReadPreference, Role, Shape, Topology, Uri,
};

use crate::errors::Fatal;
use crate::prepared::Prepared;

use super::watch::Watch;
use super::{Deployment, Mongo, MongoNode, MongoText, Servers};

/// Pause before a set is asked again who its primary is.
pub(super) const ASK_AGAIN: Duration = Duration::from_millis(200);

/// Finds the members, waits until there are some for what is to be done, encodes the commands.
pub(super) fn prepare(cluster: &Deployment, texts: &[MongoText]) -> Result<Prepared<Mongo>, Fatal> {
    let (discovery, topology) = serving(&cluster.uri, texts)?;
    let stand_in = stand_in(cluster, &topology)?;
    let templates = texts
        .iter()
        .map(|text| {
            text.template(&collection(cluster, &topology, text.table()))
                .map_err(|e| Fatal::schema(text.table(), e))
        })
        .collect::<Result<_, _>>()?;
    let unreachable = topology
        .members
        .iter()
        .filter(|member| member.unreachable.is_some())
        .map(|member| member.host.to_string())
        .collect();
    let hosts = topology.members.iter().map(|member| member.host.clone());
    let hosts = hosts.collect();
    Ok(Prepared {
        nodes: topology.members.iter().map(node).collect(),
        map: servers(&topology, &cluster.uri),
        statements: texts.iter().map(|_| ()).collect(),
        templates,
        recovery: Watch::start(cluster.uri.clone(), discovery, hosts),
        unreachable,
        stand_in,
    })
}

/// The program that answers in MongoDB's stead. The user must have asked for it: its numbers
/// would pass for MongoDB's.
fn stand_in(cluster: &Deployment, topology: &Topology) -> Result<Option<String>, Fatal> {
    let place = || cluster.uri.place();
    let found = topology
        .stand_in(&cluster.uri.options)
        .map_err(|e| Fatal::unreachable(place(), e))?;
    match found {
        Some(name) if !cluster.stand_in => Err(Fatal::stand_in(place(), &name)),
        found => Ok(found),
    }
}

/// The deployment, once it has members for the reads and the writes that are to come: an election
/// may be under way.
fn serving(uri: &Uri, texts: &[MongoText]) -> Result<(Discovery, Topology), Fatal> {
    let place = uri.place();
    let deadline = Instant::now() + uri.selection_timeout;
    let mut discovery = Discovery::new(uri);
    loop {
        let topology = discovery
            .look()
            .map_err(|e| Fatal::unreachable(&place, e))?;
        topology
            .suitable(Operation::Read(&uri.read), &[])
            .map_err(|why| Fatal::unreachable(&place, why))?;
        let servers = servers(&topology, uri);
        let (writes, reads) = (
            texts.iter().any(MongoText::writes),
            texts.iter().any(|text| !text.writes()),
        );
        let missing = match (
            writes && servers.writers.is_empty(),
            reads && servers.readers.is_empty(),
        ) {
            (true, _) => "a primary",
            (_, true) => uri.read.mode.name(),
            _ => return Ok((discovery, topology)),
        };
        if Instant::now() + ASK_AGAIN > deadline {
            let seconds = uri.selection_timeout.as_secs_f64();
            let why = format!(
                "it has no member for {missing}, for {seconds} s; rs.status() on a member says why"
            );
            return Err(Fatal::unreachable(place, why));
        }
        thread::sleep(ASK_AGAIN);
    }
}

fn collection(cluster: &Deployment, topology: &Topology, table: &str) -> Collection {
    let uri = &cluster.uri;
    let set = !matches!(topology.shape, Shape::Single);
    let mode = match topology.must_allow_secondaries() {
        true if uri.read.mode == ReadMode::Primary => ReadMode::PrimaryPreferred,
        _ => uri.read.mode,
    };
    Collection {
        read: ReadPreference {
            mode,
            ..uri.read.clone()
        },
        read_concern: uri.read_concern.clone(),
        write_concern: uri.write.clone(),
        sessions: uri.retry_writes && topology.sessions && set,
        checksums: uri.options.checksums,
        ..Collection::new(&cluster.database, table)
    }
}

fn node(member: &Member) -> Option<MongoNode> {
    let serves = matches!(
        member.role,
        Role::Standalone | Role::Router | Role::Primary | Role::Secondary
    );
    let address = member.address.filter(|_| serves)?;
    Some(MongoNode {
        address,
        name: member.host.name.clone(),
    })
}

pub(super) fn servers(topology: &Topology, uri: &Uri) -> Servers {
    let position = |position: usize| u16::try_from(position).ok();
    let writers = match topology.shape {
        // Any router takes writes.
        Shape::Sharded => topology.readable(&uri.read),
        _ => topology.writable().into_iter().collect(),
    };
    Servers {
        writers: writers.into_iter().filter_map(position).collect(),
        readers: topology
            .readable(&uri.read)
            .into_iter()
            .filter_map(position)
            .collect(),
    }
}
