//! From the hosts of a connection string to the members of the deployment.
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Answer, Description, Failure, Host, Kind, Member, Server, Shape, Topology};
use crate::document::Writer;
use crate::error::Error;
use crate::hello::{Hello, Role};
use crate::link::{call, connect};
use crate::options::Options;
use crate::uri::Uri;

/// Members that one look asks at most, so that no answer can keep it busy.
const MOST_ASKED: usize = 128;
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

/// A deployment that is polled again and again. It keeps what it learnt, so that a former
/// primary that answers late is not taken for the primary again.
#[derive(Debug, Clone)]
pub struct Discovery {
    description: Description,
    uri: Uri,
}

impl Discovery {
    /// One that knows what the connection string says.
    pub fn new(uri: &Uri) -> Discovery {
        let mut uri = uri.clone();
        // Members are asked who they are without proving anything, as drivers do.
        uri.options.credentials = None;
        Discovery {
            description: Description::new(&uri),
            uri,
        }
    }

    /// Ask all members that are known, and those that they name, who they are.
    ///
    /// # Errors
    /// No member can be used, or they are of another set than they should be.
    pub fn look(&mut self) -> Result<Topology, Error> {
        self.description.strangers.clear();
        if self.description.servers.is_empty() {
            // Nobody belonged to the deployment last time: begin anew.
            self.description = Description::new(&self.uri);
        }
        let mut asked: Vec<Host> = Vec::new();
        let mut failed = Vec::new();
        loop {
            let servers = self.description.servers.iter().map(|it| it.host.clone());
            let next: Vec<Host> = servers.filter(|host| !asked.contains(host)).collect();
            if next.is_empty() || asked.len() >= MOST_ASKED {
                break;
            }
            asked.extend(next.iter().cloned());
            for Visit { host, outcome } in visit(&next, &self.uri.options) {
                match outcome {
                    Ok(found) => self.description.answer(&host, found.answer()),
                    Err(error) => {
                        self.description.unreachable(&host, error.to_string());
                        failed.push(error);
                    }
                }
            }
        }
        let known = |server: &Server| server.role != Role::Unknown;
        if !self.description.servers.iter().any(known) {
            return Err(self.no_member(failed));
        }
        Ok(self.topology())
    }

    /// A request to a member failed: until the next look it may not be what it was.
    pub fn failed(&mut self, host: &Host, failure: &Failure<'_>) {
        self.description.failed(host, failure);
    }

    /// What is known now.
    pub fn topology(&self) -> Topology {
        let known = &self.description;
        let shape = match known.kind {
            Kind::Unknown => Shape::Unknown,
            Kind::Single => Shape::Single,
            Kind::Sharded => Shape::Sharded,
            Kind::SetWithPrimary | Kind::SetWithoutPrimary => {
                Shape::Set(known.set.clone().unwrap_or_default())
            }
        };
        Topology {
            shape,
            members: known.servers.iter().map(member).collect(),
            sessions: known.sessions().is_some(),
            heartbeat: self.uri.heartbeat,
        }
    }

    /// The error when no member can be used: a refused password says more than "unreachable", and a
    /// member of another set says more than one that is down.
    fn no_member(&self, failed: Vec<Error>) -> Error {
        let mut first = None;
        for error in failed {
            match error {
                Error::Net(error) if error.is_refusal() => return error.into(),
                error => first = first.or(Some(error.to_string())),
            }
        }
        let stranger = self.description.strangers.first();
        let stranger = stranger.map(|(host, why)| format!("{host}: {why}"));
        let single = self
            .description
            .servers
            .iter()
            .find_map(|it| it.why.clone());
        let why: Vec<String> = match stranger.or(single) {
            Some(why) => [Some(why), first].into_iter().flatten().collect(),
            None => first.into_iter().collect(),
        };
        Error::NoMember {
            why: match why.is_empty() {
                true => "no host was given".into(),
                false => why.join("; "),
            },
        }
    }
}

impl Found {
    fn answer(self) -> Answer {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |time| time.as_millis());
        Answer {
            hello: self.hello,
            address: Some(self.address),
            round_trip: self.round_trip,
            at: i64::try_from(now).unwrap_or(i64::MAX),
        }
    }
}

fn member(server: &Server) -> Member {
    let hello = server.hello.as_ref();
    Member {
        host: server.host.clone(),
        address: server.address,
        role: server.role,
        round_trip: server.round_trip.unwrap_or_default(),
        tags: hello.map(|hello| hello.tags.clone()).unwrap_or_default(),
        last_write: hello.and_then(|hello| hello.last_write).unwrap_or(0),
        seen: server.seen,
        unreachable: match server.address {
            None => server.why.clone(),
            Some(_) => None,
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
    for address in options.reached.get(host).unwrap_or(host).resolve()? {
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
    let mut link = connect(address, &host.name, options)?;
    let mut question = Vec::new();
    Writer::write(&mut question, |out| {
        out.int("hello", 1).text("$db", "admin");
    });
    let mut round_trip = Duration::MAX;
    for _ in 0..TRIPS {
        let begin = Instant::now();
        match call(&mut link, &question, "hello", options.connect_timeout) {
            // The answer that the command is unknown took as long.
            Ok(_) | Err(Error::Server(_)) => {}
            Err(error) => return Err(error),
        }
        round_trip = round_trip.min(begin.elapsed());
    }
    let hello = link.codec.hello().cloned();
    let hello = hello.ok_or_else(|| Error::Protocol("a connection without a hello".into()))?;
    Ok(Found {
        address,
        hello,
        round_trip,
    })
}
