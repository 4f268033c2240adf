//! retryable-reads and retryable-writes, in the unified test format, against the server of `server.rs`.
//!
//! The runner writes the commands, as most of them are none of this client's. Who serves them, the
//! connections, the answers, and what is sent again are the client's.
use std::collections::HashMap;
use std::sync::Arc;

use bson::{doc, Bson, Document};
use serde_json::{json, Map, Value};
use tare_mongo::{Work, WriteAck, WriteConcern};

use crate::client::{Client, Event, Failed};
use crate::json::{bson_document, relaxed};
use crate::server::{Nature, Server};
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
const NATURES: [(&str, Nature); 3] = [
    ("replicaset", Nature::Set),
    ("sharded", Nature::Router),
    ("single", Nature::Single),
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
enum Stop {
    Refused(Verdict),
    Wrong(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Wrong(why)
    }
}

/// A collection, by its client.
#[derive(Clone)]
struct Place {
    client: String,
    database: String,
    name: String,
    concern: Document,
}

struct World {
    server: Arc<Server>,
    nature: Nature,
    clients: HashMap<String, Client>,
    databases: HashMap<String, (String, String)>,
    collections: HashMap<String, Place>,
}

fn text(value: &Value) -> String {
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
        let result = match name.as_str() {
            "bulkWrite" => bulk(client, &place, arguments)?,
            name => perform(client, &place, name, arguments)?,
        };
        judge(result, operation)
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
    let acknowledged = match &given["w"] {
        Value::Null => None,
        Value::String(name) => Some(WriteAck::parse(name)),
        number => Some(WriteAck::parse(&number.to_string())),
    };
    match WriteConcern::of(
        acknowledged,
        given["journal"].as_bool(),
        given["wtimeoutMS"].as_i64(),
    ) {
        Ok(_) => Ok(bson_document(&json!(fields))),
        Err(error) => Err(Stop::Refused(refusals::verdict(&error))),
    }
}

fn written(event: &Event) -> Value {
    match event {
        Event::Started(command) => {
            let name = command.keys().next().cloned().unwrap_or_default();
            let database = command.get_str("$db").unwrap_or_default();
            json!({ "commandStartedEvent": {
                "command": relaxed(&Bson::Document(command.clone())),
                "commandName": name, "databaseName": database,
            } })
        }
        Event::Succeeded(name) => json!({ "commandSucceededEvent": { "commandName": name } }),
        Event::Failed(name) => json!({ "commandFailedEvent": { "commandName": name } }),
    }
}

fn event(found: &Value, wanted: &Value) -> bool {
    let inner = |value: &Value| -> Option<(String, Map<String, Value>)> {
        let (kind, fields) = value.as_object()?.iter().next()?;
        Some((kind.clone(), fields.as_object()?.clone()))
    };
    let (Some((kind, found)), Some((wanted_kind, wanted))) = (inner(found), inner(wanted)) else {
        return false;
    };
    kind == wanted_kind
        && wanted
            .iter()
            .all(|(name, wanted)| matching(found.get(name), wanted, true))
}

/// The unified test format's comparison; at the root a document may have more than is wanted.
fn matching(found: Option<&Value>, wanted: &Value, root: bool) -> bool {
    let found_or_null = found.unwrap_or(&Value::Null);
    match wanted {
        Value::Object(fields) => {
            if let Some(inner) = fields.get("$$unsetOrMatches") {
                return found.is_none_or(Value::is_null) || matching(found, inner, root);
            }
            if let Some(exists) = fields.get("$$exists") {
                return json!(found.is_some()) == *exists;
            }
            if fields.contains_key("$$type") {
                return found.is_some();
            }
            let Some(own) = found_or_null.as_object() else {
                return false;
            };
            let optional =
                |it: &Value| it.get("$$unsetOrMatches").is_some() || it.get("$$exists").is_some();
            (root || own.keys().all(|name| fields.contains_key(name)))
                && fields.iter().all(|(name, wanted)| {
                    let found = own.get(name);
                    (found.is_some() || optional(wanted)) && matching(found, wanted, false)
                })
        }
        Value::Array(items) => found_or_null.as_array().is_some_and(|own| {
            let pairs = own.iter().zip(items);
            own.len() == items.len() && pairs.clone().all(|(own, it)| matching(Some(own), it, root))
        }),
        wanted => found_or_null == wanted,
    }
}

fn judge(result: Result<Value, Failed>, operation: &Value) -> Result<(), Stop> {
    let name = &operation["name"];
    let failed = match (result, operation.get("expectError")) {
        (Ok(found), None) => {
            let wanted = operation.get("expectResult");
            return match wanted.is_none_or(|wanted| matching(Some(&found), wanted, true)) {
                true => Ok(()),
                false => Err(format!("{name} gives {found}, not {}", json!(wanted)).into()),
            };
        }
        (Ok(found), Some(_)) => return Err(format!("{name} gives {found}, and no error").into()),
        (Err(failed), None) => return Err(format!("{name} fails: {}", failed.error).into()),
        (Err(failed), Some(wanted)) => (failed, wanted),
    };
    let (failed, wanted) = failed;
    for (key, has) in [("errorLabelsContain", true), ("errorLabelsOmit", false)] {
        for label in wanted[key].as_array().into_iter().flatten() {
            if failed.labels.iter().any(|own| json!(own) == *label) != has {
                return Err(
                    format!("{name}'s labels are {:?}: {key} {label}", failed.labels).into(),
                );
            }
        }
    }
    for key in wanted.as_object().into_iter().flatten().map(|(key, _)| key) {
        if !["isError", "errorLabelsContain", "errorLabelsOmit"].contains(&key.as_str()) {
            return Err(format!("the runner knows no {key}").into());
        }
    }
    Ok(())
}

type Outcome = Result<Value, Failed>;

/// Send what the operation asks for, and read what it gives.
fn perform(
    client: &mut Client,
    place: &Place,
    name: &str,
    arguments: &Value,
) -> Result<Outcome, Stop> {
    let given = |key: &str| bson_document(&arguments[key]);
    let list = |key: &str| -> Vec<Document> {
        let items = arguments[key].as_array().into_iter().flatten();
        items.map(bson_document).collect()
    };
    let on = place.name.as_str();
    let query = given("filter");
    let mut command = match name {
        "find" => doc! { "find": on, "filter": query },
        "findOne" => doc! { "find": on, "filter": query, "limit": 1, "singleBatch": true },
        "insertOne" => doc! { "insert": on, "documents": [given("document")], "ordered": true },
        "insertMany" => {
            let ordered = arguments["ordered"] != json!(false);
            doc! { "insert": on, "documents": list("documents"), "ordered": ordered }
        }
        "updateOne" | "replaceOne" => {
            let change = given(if name == "updateOne" {
                "update"
            } else {
                "replacement"
            });
            let mut update = doc! { "q": query, "u": change };
            if arguments["upsert"] == json!(true) {
                update.insert("upsert", true);
            }
            doc! { "update": on, "updates": [update], "ordered": true }
        }
        "deleteOne" => {
            doc! { "delete": on, "deletes": [{ "q": query, "limit": 1 }], "ordered": true }
        }
        "findOneAndDelete" => doc! { "findAndModify": on, "query": query, "remove": true },
        "findOneAndUpdate" => {
            doc! { "findAndModify": on, "query": query, "update": given("update") }
        }
        "findOneAndReplace" => {
            doc! { "findAndModify": on, "query": query, "update": given("replacement") }
        }
        "aggregate" | "createChangeStream" | "countDocuments" => {
            let mut stages = list("pipeline");
            match name {
                "createChangeStream" => stages.insert(0, doc! { "$changeStream": {} }),
                "countDocuments" => stages.push(doc! { "$match": query }),
                _ => {}
            }
            let on = match on {
                "" => Bson::Int32(1),
                on => Bson::from(on),
            };
            doc! { "aggregate": on, "pipeline": stages, "cursor": {} }
        }
        "estimatedDocumentCount" => doc! { "count": on },
        "distinct" => {
            doc! { "distinct": on, "key": text(&arguments["fieldName"]), "query": query }
        }
        "listDatabases" => doc! { "listDatabases": 1 },
        "listDatabaseNames" => doc! { "listDatabases": 1, "nameOnly": true },
        "listCollections" => doc! { "listCollections": 1, "cursor": {} },
        "listCollectionNames" => doc! { "listCollections": 1, "nameOnly": true, "cursor": {} },
        "listIndexes" | "listIndexNames" => doc! { "listIndexes": on, "cursor": {} },
        "clientBulkWrite" => doc! { "bulkWrite": 1, "ops": list("models") },
        "runCommand" => given("command"),
        other => return Err(format!("the runner knows no operation {other}").into()),
    };
    for key in ["sort", "limit", "batchSize"] {
        if let Some(value) = arguments.get(key) {
            command.insert(key, crate::json::bson(value));
        }
    }
    let work = match name {
        "runCommand" => None,
        "insertOne" | "insertMany" | "updateOne" | "replaceOne" | "deleteOne"
        | "clientBulkWrite" => Some(Work::Write),
        name if name.starts_with("findOneAnd") => Some(Work::Write),
        _ => Some(Work::Read),
    };
    if work == Some(Work::Write) && !place.concern.is_empty() {
        command.insert("writeConcern", place.concern.clone());
    }
    command.insert("$db", place.database.clone());
    let answer = client.perform(work, command);
    Ok(answer.map(|answer| result(name, &answer)))
}

/// Several writes in turn; inserts that follow each other are one command.
fn bulk(client: &mut Client, place: &Place, arguments: &Value) -> Result<Outcome, Stop> {
    let mut steps: Vec<(String, Value)> = Vec::new();
    for request in arguments["requests"].as_array().into_iter().flatten() {
        for (name, given) in request.as_object().into_iter().flatten() {
            match (name.as_str(), steps.last_mut()) {
                ("insertOne", Some((last, many))) if last == "insertMany" => {
                    if let Some(documents) = many["documents"].as_array_mut() {
                        documents.push(given["document"].clone());
                    }
                }
                ("insertOne", _) => {
                    let ordered = arguments["ordered"] != json!(false);
                    let documents = json!([given["document"]]);
                    let many = json!({ "documents": documents, "ordered": ordered });
                    steps.push(("insertMany".into(), many));
                }
                (name, _) => steps.push((name.to_owned(), given.clone())),
            }
        }
    }
    for (name, given) in steps {
        if let Err(failed) = perform(client, place, &name, &given)? {
            return Ok(Err(failed));
        }
    }
    Ok(Ok(Value::Null))
}

/// What an operation gives, as the files write it.
fn result(name: &str, answer: &Document) -> Value {
    let batch = || {
        let cursor = answer.get_document("cursor");
        let batch = cursor.and_then(|cursor| cursor.get_array("firstBatch"));
        relaxed(&Bson::Array(batch.cloned().unwrap_or_default()))
    };
    let count = |key: &str| relaxed(answer.get(key).unwrap_or(&Bson::Int32(0)));
    match name {
        "find" | "aggregate" => batch(),
        "findOne" => batch()[0].clone(),
        "countDocuments" => json!(batch().as_array().map_or(0, Vec::len)),
        "estimatedDocumentCount" => count("n"),
        "distinct" => count("values"),
        "deleteOne" => json!({ "deletedCount": count("n") }),
        "updateOne" | "replaceOne" => {
            let upserted = answer.get_array("upserted").cloned().unwrap_or_default();
            let matched = count("n").as_u64().unwrap_or(0) - upserted.len() as u64;
            let mut found = json!({
                "matchedCount": matched, "modifiedCount": count("nModified"),
                "upsertedCount": upserted.len(),
            });
            if let Some(first) = upserted.first().and_then(Bson::as_document) {
                found["upsertedId"] = relaxed(first.get("_id").unwrap_or(&Bson::Null));
            }
            found
        }
        name if name.starts_with("findOneAnd") => count("value"),
        // Drivers need not tell the ids that they were given.
        _ => Value::Null,
    }
}
