//! A client as far as the retry specifications see one: it chooses a member, sends a command on a
//! connection, and sends it once more where the client's rules say so.
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bson::{doc, spec::BinarySubtype, Binary, Document};
use serde_json::Value;
use tare_mongo::{
    call, connect, session_id, Discovery, Error, Failure, Host, Link, Operation, ReadPreference,
    Shape, Topology, Uri, What, Work, NOTHING_WRITTEN, RETRYABLE_WRITE,
};

use crate::server::{Nature, Server};

/// Time to find a member, and to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause before members are asked again.
const AGAIN: Duration = Duration::from_millis(20);

/// What a test may look at.
pub enum Event {
    Started(Document),
    Succeeded(String),
    Failed(String),
}

/// Why an operation failed, with the labels that a program would see.
pub struct Failed {
    pub error: Box<Error>,
    pub labels: Vec<String>,
    /// Which of several writes were done before.
    pub done: Value,
}

pub struct Client {
    uri: Uri,
    discovery: Discovery,
    topology: Topology,
    links: HashMap<Host, Link>,
    session: [u8; 16],
    writes: i64,
    pub events: Vec<Event>,
    pub checkouts: usize,
}

impl Client {
    pub fn open(server: &Arc<Server>, nature: Nature, options: &Value) -> Result<Client, String> {
        let mut text = format!("mongodb://ann:{}@{}/?", server.password, server.address);
        text.push_str(match nature {
            Nature::Set => "replicaSet=rs0",
            Nature::Router => "directConnection=false",
            Nature::Single => "directConnection=true",
        });
        for (name, value) in options.as_object().into_iter().flatten() {
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            text.push_str(&format!("&{name}={value}"));
        }
        let uri = Uri::parse(&text).map_err(|error| error.to_string())?;
        let mut discovery = Discovery::new(&uri);
        let topology = discovery.look().map_err(|error| error.to_string())?;
        Ok(Client {
            uri,
            discovery,
            topology,
            links: HashMap::new(),
            session: session_id(),
            writes: 0,
            events: Vec::new(),
            checkouts: 0,
        })
    }

    /// Whether a piece of work is sent again at all.
    fn retries(&self, work: Option<Work>) -> bool {
        match work {
            Some(Work::Read) => self.uri.retry_reads,
            Some(Work::Write) => {
                let numbered = self.topology.sessions && self.topology.shape != Shape::Single;
                self.uri.retry_writes && numbered
            }
            None => false,
        }
    }

    pub fn perform(
        &mut self,
        work: Option<Work>,
        mut command: Document,
    ) -> Result<Document, Failed> {
        // A member that serves this says whether the deployment keeps sessions.
        if let Err(error) = self.choose(work, None) {
            return Err(labelled(error.into(), work, false));
        }
        let retries = self.retries(work);
        if work == Some(Work::Write) && retries {
            self.writes += 1;
            let id = Binary {
                subtype: BinarySubtype::Uuid,
                bytes: self.session.to_vec(),
            };
            command.insert("lsid", doc! { "id": id });
            command.insert("txnNumber", self.writes);
        }
        let first = match self.attempt(work, &command, None) {
            Ok(answer) => return Ok(answer),
            Err((at, error)) => (at, labelled(error, work, retries)),
        };
        let (at, failed) = first;
        let again = work.is_some_and(|work| retries && failed.error.is_retryable(work));
        if !again {
            return Err(failed);
        }
        self.attempt(work, &command, at).map_err(|(_, error)| {
            let second = labelled(error, work, retries);
            match second.labels.iter().any(|label| label == NOTHING_WRITTEN) {
                true => failed,
                false => second,
            }
        })
    }

    /// Have a connection to the member that takes writes, as a command that changes the server would.
    pub fn connect(&mut self) -> Result<(), String> {
        let told = |error: Error| error.to_string();
        let host = self.choose(Some(Work::Write), None).map_err(told)?;
        self.checkouts += 1;
        if !self.links.contains_key(&host) {
            let link = self.link(&host).map_err(told)?;
            self.links.insert(host, link);
        }
        Ok(())
    }

    fn link(&mut self, host: &Host) -> Result<Link, Error> {
        match self.links.remove(host) {
            Some(link) => Ok(link),
            None => connect(host.resolve()?[0], &host.name, &self.uri.options),
        }
    }

    /// Send it once; with an error, to whom it was sent.
    fn attempt(
        &mut self,
        work: Option<Work>,
        command: &Document,
        avoided: Option<Host>,
    ) -> Result<Document, (Option<Host>, Box<Error>)> {
        let host = self
            .choose(work, avoided.as_ref())
            .map_err(|error| (None, error.into()))?;
        self.checkouts += 1;
        let (wire, outcome) = self.send(&host, command);
        outcome.map_err(|(shaken, error)| {
            let what = match &error {
                Error::Server(error) => What::Server(error),
                Error::Net(tare_net::Error::TimedOut { .. }) => What::Timeout,
                _ => What::Network,
            };
            let failure = Failure {
                what,
                shaken,
                generation: None,
                wire,
            };
            self.discovery.failed(&host, &failure);
            self.topology = self.discovery.topology();
            (Some(host), error.into())
        })
    }

    /// The member that serves this, once there is one.
    fn choose(&mut self, work: Option<Work>, avoided: Option<&Host>) -> Result<Host, Error> {
        let preference = ReadPreference::default();
        let operation = match work {
            Some(Work::Write) => Operation::Write,
            _ => Operation::Read(&preference),
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            let members = &self.topology.members;
            let avoided: Vec<usize> = (0..members.len())
                .filter(|at| Some(&members[*at].host) == avoided)
                .collect();
            let found = self
                .topology
                .suitable(operation, &avoided)
                .unwrap_or_default();
            if let Some(at) = found.first() {
                return Ok(self.topology.members[*at].host.clone());
            }
            let looked = self.discovery.look();
            if Instant::now() > deadline {
                let why = "no member serves it".to_owned();
                return Err(looked.err().unwrap_or(Error::NoMember { why }));
            }
            match looked {
                Ok(topology) => self.topology = topology,
                Err(_) => thread::sleep(AGAIN),
            }
        }
    }

    /// The member's wire version; with an error, whether the connection had shaken hands.
    fn send(&mut self, host: &Host, command: &Document) -> (i32, Result<Document, (bool, Error)>) {
        let mut link = match self.link(host) {
            Ok(link) => link,
            Err(error) => return (0, Err((false, error))),
        };
        let wire = link.codec.hello().map_or(0, |hello| hello.wire);
        let name = command.keys().next().cloned().unwrap_or_default();
        self.events.push(Event::Started(command.clone()));
        let bytes = command.to_vec().unwrap_or_default();
        let answer = call(&mut link, &bytes, "the command", PATIENCE);
        let kept = !matches!(&answer, Err(error) if error.is_of_network());
        if kept {
            self.links.insert(host.clone(), link);
        }
        match answer {
            Ok(answer) => {
                self.events.push(Event::Succeeded(name));
                (
                    wire,
                    Ok(Document::from_reader(&answer[..]).unwrap_or_default()),
                )
            }
            Err(error) => {
                self.events.push(Event::Failed(name));
                (wire, Err((true, error)))
            }
        }
    }
}

/// An error with the labels that the server gave it, or that a broken connection has.
fn labelled(error: Box<Error>, work: Option<Work>, retries: bool) -> Failed {
    let labels = match &*error {
        Error::Server(error) => error.labels.clone(),
        error if error.is_of_network() && work == Some(Work::Write) && retries => {
            vec![RETRYABLE_WRITE.to_owned()]
        }
        _ => Vec::new(),
    };
    Failed {
        error,
        labels,
        done: Value::Null,
    }
}
