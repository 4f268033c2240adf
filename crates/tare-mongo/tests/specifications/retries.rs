//! retryable-reads and retryable-writes, in the unified test format, against the server of `server.rs`.
//!
//! The runner writes the commands, as most of them are none of this client's. Who serves them, the
//! connections, the answers, and what is sent again are the client's.
use std::collections::HashMap;
use std::sync::Arc;

use bson::Document;
use serde_json::{json, Value};

use crate::client::Client;
use crate::concerns::write_concern;
use crate::json::bson_document;
use crate::matching::{event, judge, written};
use crate::operations::perform;
use crate::server::{Nature, Server, NATURES};
use crate::{cases, refusals, Tally, Verdict};

/// Versions of servers that cases are run for, newest first, with their wire versions.
const VERSIONS: [([u32; 3], i32); 6] = [
    ([8, 0, 0], 25),
    ([6, 0, 0], 17),
    ([4, 4, 0], 9),
    ([4, 2, 0], 8),
    ([4, 0, 0], 7),
    ([3, 6, 0], 6),
];

pub fn file(place: &str, file: &Value, tally: &mut Tally) {
    for (name, case) in cases(place, &file["tests"]) {
        tally.case(&name, || everywhere(file, case));
    }
}

/// A case counts once, and runs on each kind of deployment that it is for, with its newest server.
fn everywhere(file: &Value, case: &Value) -> Verdict {
    let mut ran = false;
    for (name, nature) in NATURES {
        let both = |(version, _): &&([u32; 3], i32)| {
            fits(&file["runOnRequirements"], name, *version)
                && fits(&case["runOnRequirements"], name, *version)
        };
        let Some((_, wire)) = VERSIONS.iter().find(both) else {
            continue;
        };
        ran = true;
        match run(file, case, nature, *wire) {
            Ok(()) => {}
            Err(Stop::Refused(verdict)) => return verdict,
            Err(Stop::Wrong(why)) => return Verdict::Failed(format!("on {name}: {why}")),
        }
    }
    match ran {
        true => Verdict::Passed,
        false => Verdict::Failed("no server that the runner can be fits it".into()),
    }
}

/// Whether one of the requirements is met, where there are any.
fn fits(requirements: &Value, nature: &str, version: [u32; 3]) -> bool {
    let Some(requirements) = requirements.as_array() else {
        return true;
    };
    let parsed = |text: &Value| -> Option<[u32; 3]> {
        let mut parts = text
            .as_str()?
            .split('.')
            .map(|part| part.parse().unwrap_or(0));
        Some([0; 3].map(|_: u32| parts.next().unwrap_or(0)))
    };
    requirements.iter().any(|one| {
        let topologies = one["topologies"].as_array();
        topologies.is_none_or(|all| all.iter().any(|it| it.as_str() == Some(nature)))
            && parsed(&one["minServerVersion"]).is_none_or(|least| version >= least)
            && parsed(&one["maxServerVersion"]).is_none_or(|most| version <= most)
            && one["auth"] != json!(false)
    })
}

/// Why a case does not go on.
pub enum Stop {
    Refused(Verdict),
    Wrong(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Wrong(why)
    }
}

/// Where an operation goes.
#[derive(Clone)]
pub struct Place {
    client: String,
    pub database: String,
    pub name: String,
    /// Whether it is the client alone, and so all its databases.
    pub everywhere: bool,
    pub concern: Document,
}

struct World {
    server: Arc<Server>,
    nature: Nature,
    clients: HashMap<String, Client>,
    databases: HashMap<String, (String, String)>,
    collections: HashMap<String, Place>,
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn run(file: &Value, case: &Value, nature: Nature, wire: i32) -> Result<(), Stop> {
    let server = Server::start(nature, wire);
    for data in file["initialData"].as_array().into_iter().flatten() {
        let documents = data["documents"].as_array().into_iter().flatten();
        server.fill(
            &text(&data["collectionName"]),
            documents.map(bson_document).collect(),
        );
    }
    let mut world = World {
        server,
        nature,
        clients: HashMap::new(),
        databases: HashMap::new(),
        collections: HashMap::new(),
    };
    world.create(&file["createEntities"])?;
    for operation in case["operations"].as_array().into_iter().flatten() {
        world.operation(operation)?;
    }
    for expected in case["expectEvents"].as_array().into_iter().flatten() {
        world.events(expected)?;
    }
    for outcome in case["outcome"].as_array().into_iter().flatten() {
        let wanted = outcome["documents"].as_array().into_iter().flatten();
        let wanted: Vec<Document> = wanted.map(bson_document).collect();
        let found = world.server.documents(&text(&outcome["collectionName"]));
        if found != wanted {
            return Err(format!("the collection holds {found:?}, not {wanted:?}").into());
        }
    }
    Ok(())
}

impl World {
    fn create(&mut self, entities: &Value) -> Result<(), Stop> {
        for entity in entities.as_array().into_iter().flatten() {
            for (kind, given) in entity.as_object().into_iter().flatten() {
                self.entity(kind, given)?;
            }
        }
        Ok(())
    }

    fn entity(&mut self, kind: &str, given: &Value) -> Result<(), Stop> {
        let id = text(&given["id"]);
        match kind {
            "client" => {
                let client = Client::open(&self.server, self.nature, &given["uriOptions"])?;
                self.clients.insert(id, client);
            }
            "bucket" => {
                let database = text(&given["database"]);
                let of = self.databases.get(&database).cloned().unwrap_or_default();
                self.databases.insert(id, of);
            }
            "database" => {
                let name = text(&given["databaseName"]);
                self.databases.insert(id, (text(&given["client"]), name));
            }
            "collection" => {
                let database = text(&given["database"]);
                let (client, database) = self.databases.get(&database).cloned().unwrap_or_default();
                let concern = concern(&given["collectionOptions"]["writeConcern"])?;
                let name = text(&given["collectionName"]);
                let place = Place {
                    client,
                    database,
                    name,
                    everywhere: false,
                    concern,
                };
                self.collections.insert(id, place);
            }
            other => return Err(format!("the runner makes no {other}").into()),
        }
        Ok(())
    }

    fn operation(&mut self, operation: &Value) -> Result<(), Stop> {
        let arguments = &operation["arguments"];
        let name = text(&operation["name"]);
        match name.as_str() {
            "failPoint" => {
                // A command of its own, on a connection of the client's.
                if let Some(client) = self.clients.get_mut(&text(&arguments["client"])) {
                    client.connect()?;
                }
                self.server.fail(&bson_document(&arguments["failPoint"]));
                return Ok(());
            }
            "createEntities" => return self.create(&arguments["entities"]),
            _ => {}
        }
        let on = text(&operation["object"]);
        let place = self.place(&on);
        let client = self.clients.get_mut(&place.client);
        let client = client.ok_or_else(|| format!("no client behind {on}"))?;
        judge(perform(client, &place, &name, arguments)?, operation)
    }

    /// Where an operation goes: a collection, a database without one, or a client alone.
    fn place(&self, on: &str) -> Place {
        if let Some(place) = self.collections.get(on) {
            return place.clone();
        }
        let of_client = (on.to_owned(), "admin".to_owned());
        let (client, database) = self.databases.get(on).cloned().unwrap_or(of_client);
        Place {
            client,
            database,
            name: String::new(),
            everywhere: !self.databases.contains_key(on),
            concern: Document::new(),
        }
    }

    fn events(&self, expected: &Value) -> Result<(), Stop> {
        let id = text(&expected["client"]);
        let client = self
            .clients
            .get(&id)
            .ok_or_else(|| format!("no client {id}"))?;
        let wanted = expected["events"].as_array().cloned().unwrap_or_default();
        if expected["eventType"] == json!("cmap") {
            let count = wanted
                .iter()
                .filter(|it| it.get("connectionCheckOutStartedEvent").is_some());
            let count = count.count();
            return match client.checkouts == count && count == wanted.len() {
                true => Ok(()),
                false => Err(format!("{} checkouts, not {count}", client.checkouts).into()),
            };
        }
        let kinds = [
            "commandStartedEvent",
            "commandSucceededEvent",
            "commandFailedEvent",
        ];
        let started_only = !wanted
            .iter()
            .any(|it| it.get(kinds[1]).is_some() || it.get(kinds[2]).is_some());
        let found: Vec<Value> = client.events.iter().map(written).collect();
        let found: Vec<Value> = found
            .into_iter()
            .filter(|it| !started_only || it.get(kinds[0]).is_some())
            .collect();
        let same = found.len() == wanted.len()
            && found
                .iter()
                .zip(&wanted)
                .all(|(found, wanted)| event(found, wanted));
        match same {
            true => Ok(()),
            false => Err(format!("the events are {}, not {}", json!(found), json!(wanted)).into()),
        }
    }
}

/// What a client says when it must write without acknowledgement decides the case.
fn concern(given: &Value) -> Result<Document, Stop> {
    let Some(fields) = given.as_object() else {
        return Ok(Document::new());
    };
    match write_concern(given) {
        Ok(_) => Ok(bson_document(&json!(fields))),
        Err(error) => Err(Stop::Refused(refusals::verdict(&error))),
    }
}
