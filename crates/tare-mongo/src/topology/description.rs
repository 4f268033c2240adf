//! What is known of a deployment, and what each answer changes in it: the state machine of the
//! discovery and monitoring specification, without any connection.
use std::net::SocketAddr;
use std::time::Duration;

use super::average;
use crate::error::ServerError;
use crate::hello::{Hello, Role, TopologyVersion};
use crate::topology::Host;
use crate::uri::Uri;

/// Members of one set at most (MongoDB has 50), so that no answer can keep the search busy.
const MOST_MEMBERS: usize = 64;
/// From this wire version on (MongoDB 6.0) the election decides between two primaries before the
/// version of the configuration does.
const ELECTION_FIRST: i32 = 17;
/// From this wire version on (MongoDB 4.2) a member that steps down keeps its connections.
const KEEPS_CONNECTIONS: i32 = 8;
/// The versions of the wire protocol that this client speaks: MongoDB 3.6, the first with OP_MSG, and
/// the latest known one.
pub(crate) const WIRE: std::ops::RangeInclusive<i32> = 6..=29;

/// What the members make up together, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Unknown,
    Single,
    SetWithoutPrimary,
    SetWithPrimary,
    Sharded,
}

/// What is known of one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub host: Host,
    pub role: Role,
    /// What it said last; none where nothing it said holds.
    pub hello: Option<Hello>,
    /// Which answers of it are outdated.
    pub state: Option<TopologyVersion>,
    /// Where it was reached.
    pub address: Option<SocketAddr>,
    /// The average of its round trips.
    pub round_trip: Option<Duration>,
    /// When it answered, in milliseconds of any clock that is one for all.
    pub seen: i64,
    /// Why it could not be reached, or is not believed.
    pub why: Option<String>,
    /// Connections of an older generation are of no use: what fails on them is no news.
    pub generation: u64,
}

impl Server {
    fn new(host: Host) -> Server {
        Server {
            host,
            role: Role::Unknown,
            hello: None,
            state: None,
            address: None,
            round_trip: None,
            seen: 0,
            why: None,
            generation: 0,
        }
    }

    /// Forget what it said.
    fn forget(&mut self, why: impl Into<String>) {
        self.role = Role::Unknown;
        self.hello = None;
        self.state = None;
        self.why = Some(why.into());
    }
}

/// An answer to `hello`, with what was seen around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub hello: Hello,
    pub address: Option<SocketAddr>,
    pub round_trip: Duration,
    /// When it came, as [`Server::seen`].
    pub at: i64,
}

/// Something that went wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure<'a> {
    pub what: What<'a>,
    /// Whether the connection had shaken hands, with authentication, before.
    pub shaken: bool,
    /// The generation of the connection; none for the present one.
    pub generation: Option<u64>,
    /// The highest wire version of the member.
    pub wire: i32,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<'a> {
    /// The connection broke.
    Network,
    /// No answer came in time.
    Timeout,
    /// The server answered that.
    Server(&'a ServerError),
}

/// What is known of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    pub kind: Kind,
    /// The name of the set, as it was asked for or as the first member told it.
    pub set: Option<String>,
    pub servers: Vec<Server>,
    /// The latest election and version of the configuration that a primary named.
    pub latest_election: Option<[u8; 12]>,
    pub latest_version: Option<i64>,
    /// Members that do not belong here, and why.
    pub strangers: Vec<(Host, String)>,
    /// Whether one host was given, which may then be a server of its own.
    alone: bool,
}

impl Description {
    /// What a connection string says.
    pub fn new(uri: &Uri) -> Description {
        let mut servers: Vec<Server> = Vec::new();
        for host in &uri.hosts {
            if servers.iter().all(|known| known.host != *host) {
                servers.push(Server::new(host.clone()));
            }
        }
        let kind = match (uri.direct, &uri.replica_set) {
            (true, _) => Kind::Single,
            (false, Some(_)) => Kind::SetWithoutPrimary,
            (false, None) => Kind::Unknown,
        };
        Description {
            kind,
            set: uri.replica_set.clone(),
            alone: servers.len() == 1,
            servers,
            latest_election: None,
            latest_version: None,
            strangers: Vec::new(),
        }
    }

    /// The member of this name, while it is one.
    pub fn server(&self, host: &Host) -> Option<&Server> {
        self.servers.iter().find(|server| server.host == *host)
    }

    fn position(&self, host: &Host) -> Option<usize> {
        self.servers.iter().position(|server| server.host == *host)
    }

    /// A member answered. An answer changes nothing if it is older than what is known, or if its
    /// sender is no longer a member.
    pub fn answer(&mut self, host: &Host, answer: Answer) {
        let Some(at) = self.position(host) else {
            return;
        };
        let server = &mut self.servers[at];
        let hello = answer.hello;
        if let (Some(new), Some(known)) = (&hello.state, &server.state) {
            if new.is_before(known) {
                return;
            }
        }
        if hello.role == Role::Unknown {
            return self.unreachable(host, "it answered hello with an error");
        }
        server.role = hello.role;
        server.state = hello.state;
        server.address = answer.address;
        server.round_trip = Some(average(server.round_trip, answer.round_trip));
        server.seen = answer.at;
        server.why = None;
        server.hello = Some(hello.clone());
        self.follow(at, &hello);
    }

    /// A member did not answer `hello`, or not in time.
    pub fn unreachable(&mut self, host: &Host, why: impl Into<String>) {
        if let Some(at) = self.position(host) {
            let server = &mut self.servers[at];
            server.forget(why);
            server.address = None;
            server.round_trip = None;
            server.generation += 1;
            self.look_for_primary();
        }
    }

    /// A request to a member failed: what is no news changes nothing.
    pub fn failed(&mut self, host: &Host, failure: &Failure<'_>) {
        let Some(at) = self.position(host) else {
            return;
        };
        let server = &mut self.servers[at];
        if failure.generation.is_some_and(|it| it < server.generation) {
            return;
        }
        match failure.what {
            What::Network if failure.shaken => {
                server.forget("a connection to it broke");
                server.generation += 1;
            }
            What::Server(error) if error.is_state_change() => {
                // The member said so before what is known of it.
                if let (Some(then), Some(known)) = (&error.state, &server.state) {
                    if then.process == known.process && then.counter <= known.counter {
                        return;
                    }
                }
                server.forget(error.to_string());
                server.state = error.state;
                if error.is_shutdown() || failure.wire < KEEPS_CONNECTIONS {
                    server.generation += 1;
                }
            }
            // A slow answer, or an overloaded server, says nothing of what the member is.
            _ => return,
        }
        self.look_for_primary();
    }

    /// What a member's answer says of the others ("TopologyType" of the specification).
    fn follow(&mut self, at: usize, hello: &Hello) {
        use Kind::{SetWithPrimary, SetWithoutPrimary, Sharded, Single, Unknown};
        match (self.kind, hello.role) {
            (Single, _) => self.check_name(at, hello),
            (Unknown, Role::Standalone) if self.alone => self.kind = Single,
            (Unknown, Role::Router) => self.kind = Sharded,
            (Unknown | SetWithoutPrimary, Role::Ghost) | (Sharded, Role::Router) => {}
            (Unknown, Role::Standalone) => {
                let why = "several hosts are given, and they are neither of one replica set nor \
                           routers";
                self.remove(at, why);
            }
            (Sharded, _) => self.remove(at, "it is no router, and others are"),
            (_, Role::Standalone | Role::Router) => {
                let wanted = self.set.clone().unwrap_or_default();
                self.remove(
                    at,
                    format!("it is of no set, not of the replica set `{wanted}`"),
                );
            }
            (_, Role::Primary) => self.follow_primary(at, hello),
            (Unknown | SetWithoutPrimary, _) => self.follow_without_primary(at, hello),
            (SetWithPrimary, Role::Ghost) => {}
            (SetWithPrimary, _) => {
                if self.belongs(at, hello) {
                    self.is_itself(at, hello);
                }
            }
        }
        self.look_for_primary();
    }

    /// A server that is spoken to alone must be of the set that was named.
    fn check_name(&mut self, at: usize, hello: &Hello) {
        if self.set.is_some() && self.set != hello.set {
            let why = self.another_set(hello);
            self.servers[at].forget(why);
        }
    }

    fn another_set(&self, hello: &Hello) -> String {
        let wanted = self.set.clone().unwrap_or_default();
        match &hello.set {
            Some(set) => format!("it is of `{set}`, not of the replica set `{wanted}`"),
            None => format!("it is of no set, not of the replica set `{wanted}`"),
        }
    }

    /// Whether a member belongs to the set; it is removed otherwise. It names the set where no name
    /// is known.
    fn belongs(&mut self, at: usize, hello: &Hello) -> bool {
        if self.set.is_none() {
            self.set.clone_from(&hello.set);
        }
        let belongs = self.set == hello.set;
        if !belongs {
            let why = self.another_set(hello);
            self.remove(at, why);
        }
        belongs
    }

    /// A member that the set knows by another name would count twice.
    fn is_itself(&mut self, at: usize, hello: &Hello) {
        if let Some(me) = &hello.me {
            if *me != self.servers[at].host {
                let why = format!("the set calls it {me}, which cannot be reached from here");
                self.remove(at, why);
            }
        }
    }

    /// "updateRSWithoutPrimary".
    fn follow_without_primary(&mut self, at: usize, hello: &Hello) {
        self.kind = Kind::SetWithoutPrimary;
        if self.belongs(at, hello) {
            self.add(&hello.hosts);
            self.is_itself(at, hello);
        }
    }

    /// "updateRSFromPrimary".
    fn follow_primary(&mut self, at: usize, hello: &Hello) {
        self.kind = Kind::SetWithPrimary;
        if !self.belongs(at, hello) {
            return;
        }
        if !self.is_latest(hello) {
            self.servers[at].forget("primary marked stale due to electionId/setVersion mismatch");
            return;
        }
        let own = self.servers[at].host.clone();
        for other in &mut self.servers {
            if other.host != own && other.role == Role::Primary {
                other.forget("primary marked stale due to discovery of newer primary");
            }
        }
        self.add(&hello.hosts);
        let names: Vec<String> = hello.hosts.iter().map(ToString::to_string).collect();
        let why = format!("the set consists of {}", names.join(", "));
        let (members, others): (Vec<Server>, Vec<Server>) = std::mem::take(&mut self.servers)
            .into_iter()
            .partition(|server| hello.hosts.contains(&server.host));
        self.servers = members;
        for other in others {
            self.strangers.push((other.host, why.clone()));
        }
    }

    /// Whether this primary's election is the latest known; if so, it is recorded.
    fn is_latest(&mut self, hello: &Hello) -> bool {
        let (election, version) = (hello.election, hello.version);
        if hello.wire >= ELECTION_FIRST {
            let latest = (election, version) >= (self.latest_election, self.latest_version);
            if latest {
                (self.latest_election, self.latest_version) = (election, version);
            }
            return latest;
        }
        if let (Some(_), Some(_)) = (election, version) {
            let known = (self.latest_version, self.latest_election);
            if known.0.is_some() && known.1.is_some() && known > (version, election) {
                return false;
            }
            self.latest_election = election;
        }
        self.latest_version = self.latest_version.max(version);
        true
    }

    fn add(&mut self, hosts: &[Host]) {
        for host in hosts {
            if self.position(host).is_none() && self.servers.len() < MOST_MEMBERS {
                self.servers.push(Server::new(host.clone()));
            }
        }
    }

    fn remove(&mut self, at: usize, why: impl Into<String>) {
        let server = self.servers.remove(at);
        self.strangers.push((server.host, why.into()));
    }

    /// "checkIfHasPrimary".
    fn look_for_primary(&mut self) {
        if matches!(self.kind, Kind::SetWithPrimary | Kind::SetWithoutPrimary) {
            let primary = self.servers.iter().any(|it| it.role == Role::Primary);
            self.kind = match primary {
                true => Kind::SetWithPrimary,
                false => Kind::SetWithoutPrimary,
            };
        }
    }

    /// How long the servers that hold data keep a session that nobody uses; none where one of them
    /// knows no sessions.
    pub fn sessions(&self) -> Option<Duration> {
        let holds = |role| {
            use Role::{Primary, Router, Secondary, Standalone};
            matches!(role, Primary | Secondary | Router | Standalone)
        };
        let data = self.servers.iter().filter(|server| holds(server.role));
        let times: Option<Vec<Duration>> = data
            .map(|server| server.hello.as_ref().and_then(|hello| hello.sessions))
            .collect();
        times?.into_iter().min()
    }

    /// Whether every member that answered speaks the protocol as this client does.
    ///
    /// # Errors
    /// The first that does not.
    pub fn compatible(&self) -> Result<(), String> {
        for server in &self.servers {
            if let Some(hello) = &server.hello {
                speaks(hello).map_err(|why| format!("{}: {why}", server.host))?;
            }
        }
        Ok(())
    }
}

/// Whether a server speaks the wire protocol in a version that this client does.
pub(crate) fn speaks(hello: &Hello) -> Result<(), String> {
    if hello.wire < *WIRE.start() {
        return Err("OP_MSG: it is older than MongoDB 3.6".into());
    }
    if hello.least_wire > *WIRE.end() {
        return Err(format!(
            "wire version {} or lower, which is the latest that this client knows",
            WIRE.end()
        ));
    }
    Ok(())
}
