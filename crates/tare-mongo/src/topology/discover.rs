//! From the hosts of a connection string to the members of the deployment.
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use super::{later, Host, Member, Shape, Topology};
use crate::document::Writer;
use crate::error::Error;
use crate::hello::{Hello, Role};
use crate::link::Link;
use crate::options::Options;
use crate::uri::Uri;

/// Members of one set at most (MongoDB has 50), so that no answer can keep the search busy.
const MOST_MEMBERS: usize = 64;
/// How often a member is asked for its round trip, of which the shortest counts.
const TRIPS: usize = 3;

/// A member that was asked.
struct Visit {
    host: Host,
    outcome: Result<Found, Error>,
}

struct Found {
    address: SocketAddr,
    hello: Hello,
    round_trip: Duration,
}

pub(super) fn discover(uri: &Uri) -> Result<Topology, Error> {
    let mut visits = visit(&uri.hosts, &uri.options);
    if !uri.direct {
        follow(&mut visits, &uri.options);
    }
    if !visits.iter().any(|visit| visit.outcome.is_ok()) {
        return Err(no_member(visits));
    }
    let shape = shape(&visits, uri)?;
    let sessions = visits
        .iter()
        .filter_map(|visit| visit.outcome.as_ref().ok())
        .all(|found| found.hello.sessions.is_some() || found.hello.role == Role::Arbiter);
    let primary = elected(&visits);
    if let Some(wanted) = strangers(&visits, primary, &shape) {
        visits.retain(|visit| wanted.contains(&visit.host));
    }
    let primary = elected(&visits);
    let members = visits
        .into_iter()
        .enumerate()
        .map(|(position, visit)| member(visit, primary.is_none_or(|at| at == position)))
        .collect();
    Ok(Topology {
        shape,
        members,
        sessions,
    })
}

/// Ask the members that the known ones name, until all have been asked.
fn follow(visits: &mut Vec<Visit>, options: &Options) {
    let mut asked = 0;
    while asked < visits.len() {
        let mut unknown: Vec<Host> = Vec::new();
        for visit in &visits[asked..] {
            let Ok(found) = &visit.outcome else {
                continue;
            };
            for host in found.hello.hosts.iter().chain(&found.hello.primary) {
                let known = visits.iter().any(|visit| visit.host == *host);
                if !known && !unknown.contains(host) && visits.len() + unknown.len() < MOST_MEMBERS
                {
                    unknown.push(host.clone());
                }
            }
        }
        asked = visits.len();
        visits.extend(visit(&unknown, options));
    }
}

/// The position of the primary that was elected last.
fn elected(visits: &[Visit]) -> Option<usize> {
    let mut best: Option<(usize, &Hello)> = None;
    for (position, visit) in visits.iter().enumerate() {
        let Ok(Found { hello, .. }) = &visit.outcome else {
            continue;
        };
        let primary = hello.role == Role::Primary;
        if primary && best.is_none_or(|(_, known)| later(hello, known)) {
            best = Some((position, hello));
        }
    }
    best.map(|(position, _)| position)
}

/// The hosts that the set consists of, where names were used to find it that are not its own: a
/// member that is reached under two names would count twice.
fn strangers(visits: &[Visit], primary: Option<usize>, shape: &Shape) -> Option<Vec<Host>> {
    let Shape::Set(_) = shape else {
        return None;
    };
    let told = primary.into_iter().chain(0..visits.len());
    let mut hellos = told.filter_map(|at| visits[at].outcome.as_ref().ok());
    let own = hellos
        .find(|found| !found.hello.hosts.is_empty())?
        .hello
        .hosts
        .clone();
    // Names that nobody here can reach are of no use, where those given can be.
    let reached = |host: &Host| {
        let visit = visits.iter().find(|visit| visit.host == *host);
        visit.is_some_and(|visit| visit.outcome.is_ok())
    };
    own.iter().any(reached).then_some(own)
}

fn shape(visits: &[Visit], uri: &Uri) -> Result<Shape, Error> {
    let found = |visit: &Visit| visit.outcome.as_ref().ok().map(|found| found.hello.clone());
    let hellos: Vec<Hello> = visits.iter().filter_map(found).collect();
    let set = hellos.iter().find_map(|hello| hello.set.clone());
    if let Some(wanted) = &uri.replica_set {
        if set.as_ref() != Some(wanted) {
            let found = set.map_or("of no set".to_owned(), |set| format!("of `{set}`"));
            let why = format!("the hosts are {found}, not of the replica set `{wanted}`");
            return Err(Error::NoMember { why });
        }
    }
    if uri.direct {
        return Ok(Shape::Single);
    }
    if let Some(set) = set {
        if let Some(other) = hellos
            .iter()
            .filter_map(|hello| hello.set.as_ref())
            .find(|name| **name != set)
        {
            let why = format!("the hosts are of two replica sets, `{set}` and `{other}`");
            return Err(Error::NoMember { why });
        }
        return Ok(Shape::Set(set));
    }
    match hellos.iter().all(|hello| hello.role == Role::Router) {
        true => Ok(Shape::Sharded),
        false if uri.hosts.len() == 1 => Ok(Shape::Single),
        false => Err(Error::NoMember {
            why: "several hosts are given, and they are neither of one replica set nor routers"
                .into(),
        }),
    }
}

/// What is wrong when nobody answers: a refused password says more than "unreachable".
fn no_member(visits: Vec<Visit>) -> Error {
    let mut first = None;
    for visit in visits {
        match visit.outcome {
            Err(
                error @ (Error::Authentication { .. } | Error::Tls(_) | Error::Unsupported { .. }),
            ) => return error,
            Err(error) => first = first.or(Some(error)),
            Ok(_) => {}
        }
    }
    Error::NoMember {
        why: first.map_or("no host was given".into(), |error| error.to_string()),
    }
}

/// `lawful` is false for a primary that another one was elected after.
fn member(visit: Visit, lawful: bool) -> Member {
    match visit.outcome {
        Ok(found) => Member {
            host: visit.host,
            address: Some(found.address),
            role: match found.hello.role {
                Role::Primary if !lawful => Role::Other,
                role => role,
            },
            round_trip: found.round_trip,
            unreachable: None,
        },
        Err(error) => Member {
            host: visit.host,
            address: None,
            role: Role::Unknown,
            round_trip: Duration::ZERO,
            unreachable: Some(error.to_string()),
        },
    }
}

/// Ask all of them who they are, each on a thread of its own.
fn visit(hosts: &[Host], options: &Options) -> Vec<Visit> {
    thread::scope(|scope| {
        let mut visits: VecDeque<_> = hosts
            .iter()
            .map(|host| scope.spawn(move || introduce(host, options)))
            .collect();
        let mut found = Vec::new();
        for host in hosts {
            let Some(thread) = visits.pop_front() else {
                break;
            };
            let outcome = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            found.push(Visit {
                host: host.clone(),
                outcome,
            });
        }
        found
    })
}

/// The first of a host's addresses that answers is the one that is used.
fn introduce(host: &Host, options: &Options) -> Result<Found, Error> {
    let mut failed = None;
    for address in host.resolve()? {
        match ask(address, host, options) {
            Ok(found) => return Ok(found),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(|| Error::Host {
        given: host.to_string(),
        why: "the name has no address".into(),
    }))
}

fn ask(address: SocketAddr, host: &Host, options: &Options) -> Result<Found, Error> {
    let mut link = Link::open(address, &host.name, options)?;
    let mut ping = Vec::new();
    Writer::write(&mut ping, |out| {
        out.int("ping", 1).text("$db", "admin");
    });
    let mut round_trip = Duration::MAX;
    for _ in 0..TRIPS {
        let begin = Instant::now();
        link.call(&ping, "a ping", options.connect_timeout)?;
        round_trip = round_trip.min(begin.elapsed());
    }
    let hello = link.hello().cloned();
    let hello = hello.ok_or_else(|| Error::Protocol("a connection without a hello".into()))?;
    Ok(Found {
        address,
        hello,
        round_trip,
    })
}
