//! OP_MSG, MongoDB's protocol: a replica set whose primary may change while it is under load.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tare_mongo::{
    Collection, Error, Field, Flush, Host, Outcome, Received, Reply, Role, ServerError,
    ServerErrorKind, Template, Ticket, Topology, Uri,
};

use crate::errors::{ErrorKind, Fatal};
use crate::order::Order;
use crate::prepared::Prepared;
use crate::request::Request;
use crate::workload::Answer;

use super::{Link, Owners, Reading, Wire};

/// Pause before a set is asked again who its primary is.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// The protocol of MongoDB.
#[derive(Debug, Clone, Copy)]
pub enum Mongo {}

/// Where a MongoDB deployment is, how it is spoken to, and the database that is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    pub uri: Uri,
    pub database: String,
}

/// One member, as a connection to it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MongoNode {
    pub address: SocketAddr,
    /// The name that its certificate carries.
    pub name: String,
}

/// Commands on a collection that a workload sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MongoText {
    /// A look-up by `_id` of these fields, or of all.
    Find {
        table: String,
        fields: Option<Vec<String>>,
    },
    /// So many documents from an `_id` on.
    Scan {
        table: String,
        fields: Option<Vec<String>>,
    },
    /// What else a scan has found.
    GetMore { table: String },
    /// New documents; `ordered` stops at the first that fails.
    Insert { table: String, ordered: bool },
    /// New values of fields.
    Update { table: String },
    /// Documents put in the place of others, or inserted.
    Replace { table: String },
}

/// Positions of the members that take writes and of those that serve reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Servers {
    writers: Vec<u16>,
    readers: Vec<u16>,
}

/// Who serves a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serve {
    Write,
    Read,
}

/// Keeps an eye on who is primary, when there is a reason to doubt it.
#[derive(Debug)]
pub struct Watch {
    uri: Uri,
    /// The members by their positions, which stay what they were at the start.
    hosts: Vec<Host>,
    servers: Mutex<Servers>,
    number: AtomicU64,
    under_way: AtomicBool,
}

impl Wire for Mongo {
    type Cluster = Deployment;
    type Node = MongoNode;
    type Text = MongoText;
    type Statement = ();
    type Template = Template;
    type Draft = tare_mongo::Request;
    type Link = tare_mongo::Link;
    type Ticket = Ticket;
    type Map = Servers;
    type Key = Serve;
    type Reply<'a> = Reply<'a>;
    type Found<'a> = Outcome<'a>;
    type Refusal = ServerError;
    type Care = Watch;

    // A server works one request of a connection off after the other.
    const IN_FLIGHT_PER_LINK: usize = 1;
    const MOST_LINKS: usize = 100;

    fn prepare(order: &Order<Deployment>, texts: Vec<MongoText>) -> Result<Prepared<Mongo>, Fatal> {
        prepare(&order.cluster, &texts)
    }

    fn protocol(cluster: &Deployment) -> String {
        match cluster.uri.options.tls {
            Some(_) => "OP_MSG, TLS".to_owned(),
            None => "OP_MSG".to_owned(),
        }
    }

    fn open(node: &MongoNode, cluster: &Deployment) -> Result<tare_mongo::Link, Fatal> {
        tare_mongo::Link::open(node.address, &node.name, &cluster.uri.options)
            .map_err(|e| Fatal::unreachable(node.address.to_string(), e))
    }

    fn draft(_cluster: &Deployment) -> tare_mongo::Request {
        tare_mongo::Request::new(tare_mongo::session_id())
    }

    #[inline]
    fn finish(draft: &mut tare_mongo::Request) -> bool {
        draft.finish().is_ok()
    }

    #[inline]
    fn key(draft: &mut tare_mongo::Request) -> Serve {
        if draft.writes() {
            Serve::Write
        } else {
            Serve::Read
        }
    }

    #[inline]
    fn stays(draft: &tare_mongo::Request) -> bool {
        draft.stays()
    }

    #[inline]
    fn owners<'m>(map: &'m Servers, key: &Serve) -> Owners<'m> {
        let nodes = match key {
            Serve::Write => &map.writers,
            Serve::Read => &map.readers,
        };
        Owners { nodes, only: true }
    }

    #[inline]
    fn reading<'a>(reply: Self::Reply<'a>) -> Reading<'a, Mongo> {
        let error = match reply.outcome() {
            Ok(outcome) => return Reading::Answer(Answer::Rows(outcome)),
            Err(Error::Server(error)) => error,
            Err(_) => {
                return Reading::Answer(Answer::Failed {
                    kind: ErrorKind::Other,
                    server: None,
                })
            }
        };
        let kind = error.kind();
        let answer = Answer::Failed {
            kind: sorted(kind),
            server: Some(error),
        };
        match kind {
            ServerErrorKind::NotPrimary => Reading::Moved(answer),
            _ => Reading::Answer(answer),
        }
    }

    fn mend(care: &Arc<Watch>, _node: &MongoNode, _cluster: &Deployment) {
        care.look();
    }

    fn lost(care: &Arc<Watch>) {
        care.look();
    }

    #[inline]
    fn renewed(care: &Watch, number: &mut u64) -> Option<Servers> {
        let newest = care.number.load(Ordering::Acquire);
        if newest == *number {
            return None;
        }
        *number = newest;
        let servers = care.servers.lock().unwrap_or_else(PoisonError::into_inner);
        Some(servers.clone())
    }
}

/// A server's error among those of all clusters.
fn sorted(kind: ServerErrorKind) -> ErrorKind {
    match kind {
        ServerErrorKind::Timeout => ErrorKind::Timeout,
        ServerErrorKind::NotPrimary | ServerErrorKind::Unavailable => ErrorKind::Unavailable,
        ServerErrorKind::Overloaded => ErrorKind::Overloaded,
        ServerErrorKind::Network => ErrorKind::Connection,
        _ => ErrorKind::Other,
    }
}

impl Link<Mongo> for tare_mongo::Link {
    fn fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }

    #[inline]
    fn free(&self) -> usize {
        self.free()
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.waiting()
    }

    #[inline]
    fn queue(&mut self, draft: &tare_mongo::Request, tag: u32) -> Option<Ticket> {
        self.queue(draft.message(), tag)
    }

    fn abandon(&mut self, ticket: Ticket) {
        self.abandon(ticket);
    }

    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        Ok(self.flush()? == Flush::Blocked)
    }

    #[inline]
    fn read(&mut self) -> io::Result<bool> {
        Ok(self.read()? != Received::Closed)
    }

    #[inline]
    fn replies(&mut self, each: impl FnMut(u32, Reply<'_>)) -> bool {
        self.replies(each).is_ok()
    }
}

/// A source begins a request with one of these; a write goes on with `document` and its fields.
impl Request<Mongo> {
    /// Looks one document up.
    pub fn find(&mut self, statement: usize, id: &[u8]) {
        let (draft, templates) = self.anew();
        draft.find(&templates[statement], id);
    }

    /// Looks up to `limit` documents up, from this one on.
    pub fn scan(&mut self, statement: usize, from: &[u8], limit: i32) {
        let (draft, templates) = self.anew();
        draft.scan(&templates[statement], from, limit);
    }

    /// Asks for what else this cursor has.
    pub fn get_more(&mut self, statement: usize, cursor: i64) {
        let (draft, templates) = self.anew();
        draft.get_more(&templates[statement], cursor);
    }

    /// Begins a write.
    pub fn write(&mut self, statement: usize) {
        let (draft, templates) = self.anew();
        draft.write(&templates[statement]);
    }

    /// The next document of a write.
    pub fn document(&mut self, id: &[u8]) {
        self.draft().document(id);
    }

    /// The next field of the document; what `write` appends is its value.
    pub fn field_with(&mut self, field: &Field, write: impl FnOnce(&mut Vec<u8>)) {
        self.draft().field_with(field, write);
    }

    /// Documents of the write that is being made.
    pub fn documents(&mut self) -> usize {
        self.draft().documents()
    }
}

impl MongoText {
    fn writes(&self) -> bool {
        matches!(
            self,
            MongoText::Insert { .. } | MongoText::Update { .. } | MongoText::Replace { .. }
        )
    }

    fn table(&self) -> &str {
        match self {
            MongoText::Find { table, .. }
            | MongoText::Scan { table, .. }
            | MongoText::GetMore { table }
            | MongoText::Insert { table, .. }
            | MongoText::Update { table }
            | MongoText::Replace { table } => table,
        }
    }

    fn template(&self, collection: &Collection) -> Result<Template, Error> {
        match self {
            MongoText::Find { fields, .. } => Template::find(collection, fields.as_deref()),
            MongoText::Scan { fields, .. } => Template::scan(collection, fields.as_deref()),
            MongoText::GetMore { .. } => Template::get_more(collection),
            MongoText::Insert { ordered, .. } => Template::insert(collection, *ordered),
            MongoText::Update { .. } => Template::update(collection),
            MongoText::Replace { .. } => Template::replace(collection),
        }
    }
}

/// Finds the members, waits until there are some for what is to be done, encodes the commands.
fn prepare(cluster: &Deployment, texts: &[MongoText]) -> Result<Prepared<Mongo>, Fatal> {
    let topology = serving(&cluster.uri, texts)?;
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
    Ok(Prepared {
        nodes: topology.members.iter().map(node).collect(),
        map: servers(&topology, &cluster.uri),
        statements: texts.iter().map(|_| ()).collect(),
        templates,
        care: Arc::new(Watch {
            uri: cluster.uri.clone(),
            hosts: topology
                .members
                .into_iter()
                .map(|member| member.host)
                .collect(),
            servers: Mutex::default(),
            number: AtomicU64::new(0),
            under_way: AtomicBool::new(false),
        }),
        unreachable,
    })
}

/// The deployment, once it has members for the reads and the writes that are to come: an election
/// may be under way.
fn serving(uri: &Uri, texts: &[MongoText]) -> Result<Topology, Fatal> {
    let hosts: Vec<String> = uri.hosts.iter().map(Host::to_string).collect();
    let place = hosts.join(", ");
    let deadline = Instant::now() + uri.selection_timeout;
    loop {
        let topology = Topology::discover(uri).map_err(|e| Fatal::unreachable(&place, e))?;
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
            _ => return Ok(topology),
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
    let set = !matches!(topology.shape, tare_mongo::Shape::Single);
    Collection {
        read_mode: match topology.must_allow_secondaries() {
            true if uri.read.mode == tare_mongo::ReadMode::Primary => {
                tare_mongo::ReadMode::PrimaryPreferred
            }
            _ => uri.read.mode,
        },
        read_concern: uri.read_concern.clone(),
        write_concern: uri.write.clone(),
        sessions: uri.retry_writes && topology.sessions && set,
        checksums: uri.options.checksums,
        ..Collection::new(&cluster.database, table)
    }
}

fn node(member: &tare_mongo::Member) -> Option<MongoNode> {
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

fn servers(topology: &Topology, uri: &Uri) -> Servers {
    let position = |position: usize| u16::try_from(position).ok();
    let writers = match topology.shape {
        // Any router takes writes.
        tare_mongo::Shape::Sharded => topology.readable(&uri.read),
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

impl Watch {
    /// Asks the members who is primary until one is, on a thread of its own; nothing where that is
    /// under way.
    fn look(self: &Arc<Self>) {
        if self.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("discover".into())
            .spawn(move || {
                shared.ask();
                shared.under_way.store(false, Ordering::Release);
            });
        if spawned.is_err() {
            self.under_way.store(false, Ordering::Release);
        }
    }

    fn ask(&self) {
        let deadline = Instant::now() + self.uri.selection_timeout;
        while Instant::now() < deadline {
            if let Ok(topology) = Topology::discover(&self.uri) {
                let found = self.known(&servers(&topology, &self.uri), &topology);
                let settled = !found.writers.is_empty();
                self.tell(found);
                if settled {
                    return;
                }
            }
            thread::sleep(ASK_AGAIN);
        }
    }

    /// The same members by the positions that they had at the start; new ones have none.
    fn known(&self, found: &Servers, topology: &Topology) -> Servers {
        let translated = |positions: &[u16]| {
            let hosts = positions
                .iter()
                .map(|at| &topology.members[usize::from(*at)].host);
            let known = hosts.filter_map(|host| self.hosts.iter().position(|known| known == host));
            known
                .filter_map(|position| u16::try_from(position).ok())
                .collect()
        };
        Servers {
            writers: translated(&found.writers),
            readers: translated(&found.readers),
        }
    }

    fn tell(&self, servers: Servers) {
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = servers;
        self.number.fetch_add(1, Ordering::Release);
    }
}
