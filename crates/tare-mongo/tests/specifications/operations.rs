//! The operations of the unified test format as commands, and what their answers come to.
use bson::{doc, Bson, Document};
use serde_json::{json, Map, Value};
use tare_mongo::Work;

use crate::client::{Client, Failed};
use crate::json::{bson, bson_document, hexadecimal, relaxed};
use crate::retries::{text, Place, Stop};

pub type Outcome = Result<Value, Failed>;

/// Send what the operation asks for, and read what it gives.
pub fn perform(
    client: &mut Client,
    place: &Place,
    name: &str,
    arguments: &Value,
) -> Result<Outcome, Stop> {
    match name {
        "bulkWrite" => return bulk(client, place, arguments),
        "clientBulkWrite" => return Ok(client_bulk(client, place, arguments)),
        "download" | "downloadByName" => return Ok(download(client, place, arguments)),
        _ => {}
    }
    let mut command = command(place, name, arguments)?;
    for key in ["sort", "limit", "batchSize"] {
        if let Some(value) = arguments.get(key) {
            command.insert(key, bson(value));
        }
    }
    let work = work(name, &command);
    let writes = work == Some(Work::Write) || ["updateMany", "deleteMany"].contains(&name);
    if writes && !place.concern.is_empty() {
        command.insert("writeConcern", place.concern.clone());
    }
    command.insert("$db", place.database.clone());
    let answer = client.perform(work, command);
    Ok(answer.map(|answer| result(name, &answer)))
}

/// The command of an operation.
fn command(place: &Place, name: &str, arguments: &Value) -> Result<Document, Stop> {
    let given = |key: &str| bson_document(&arguments[key]);
    let on = place.name.as_str();
    let query = given("filter");
    Ok(match name {
        "find" => doc! { "find": on, "filter": query },
        "findOne" => doc! { "find": on, "filter": query, "limit": 1, "singleBatch": true },
        "insertOne" => doc! { "insert": on, "documents": [given("document")], "ordered": true },
        "insertMany" => {
            let ordered = arguments["ordered"] != json!(false);
            doc! { "insert": on, "documents": list(arguments, "documents"), "ordered": ordered }
        }
        "updateOne" | "updateMany" | "replaceOne" => {
            let change = given(match name {
                "replaceOne" => "replacement",
                _ => "update",
            });
            let mut update = doc! { "q": query, "u": change };
            for (key, set) in [
                ("upsert", arguments["upsert"] == json!(true)),
                ("multi", name == "updateMany"),
            ] {
                if set {
                    update.insert(key, true);
                }
            }
            doc! { "update": on, "updates": [update], "ordered": true }
        }
        "deleteOne" | "deleteMany" => {
            let limit = i32::from(name == "deleteOne");
            doc! { "delete": on, "deletes": [{ "q": query, "limit": limit }], "ordered": true }
        }
        "findOneAndDelete" => doc! { "findAndModify": on, "query": query, "remove": true },
        "findOneAndUpdate" => {
            doc! { "findAndModify": on, "query": query, "update": given("update") }
        }
        "findOneAndReplace" => {
            doc! { "findAndModify": on, "query": query, "update": given("replacement") }
        }
        "aggregate" | "createChangeStream" | "countDocuments" => {
            let mut stages = list(arguments, "pipeline");
            match name {
                "createChangeStream" => {
                    let mut what = Document::new();
                    if place.everywhere {
                        what.insert("allChangesForCluster", true);
                    }
                    stages.insert(0, doc! { "$changeStream": what });
                }
                "countDocuments" => stages.extend([
                    doc! { "$match": query },
                    doc! { "$group": { "_id": 1, "n": { "$sum": 1 } } },
                ]),
                _ => {}
            }
            let on = match on {
                "" => Bson::Int32(1),
                on => Bson::from(on),
            };
            doc! { "aggregate": on, "pipeline": stages, "cursor": {} }
        }
        "mapReduce" => {
            let part = |key: &str| bson(&arguments[key]);
            doc! { "mapReduce": on, "map": part("map"), "reduce": part("reduce"), "out": part("out") }
        }
        "estimatedDocumentCount" => doc! { "count": on },
        "count" => doc! { "count": on, "query": query },
        "distinct" => {
            doc! { "distinct": on, "key": text(&arguments["fieldName"]), "query": query }
        }
        "listDatabases" | "listDatabaseObjects" => doc! { "listDatabases": 1 },
        "listDatabaseNames" => doc! { "listDatabases": 1, "nameOnly": true },
        "listCollections" | "listCollectionObjects" => doc! { "listCollections": 1, "cursor": {} },
        "listCollectionNames" => doc! { "listCollections": 1, "nameOnly": true, "cursor": {} },
        "listIndexes" | "listIndexNames" => doc! { "listIndexes": on, "cursor": {} },
        "runCommand" => given("command"),
        other => return Err(format!("the runner knows no operation {other}").into()),
    })
}

fn list(arguments: &Value, key: &str) -> Vec<Document> {
    let items = arguments[key].as_array().into_iter().flatten();
    items.map(bson_document).collect()
}

/// The kind of an operation in the rules for resending; none if it is never resent: any command as
/// it was given, writes to many documents, and queries that write what they find.
fn work(name: &str, command: &Document) -> Option<Work> {
    let last = command.get_array("pipeline").ok().and_then(|it| it.last());
    let last = last
        .and_then(Bson::as_document)
        .and_then(|it| it.keys().next());
    match name {
        "runCommand" | "mapReduce" | "updateMany" | "deleteMany" => None,
        "aggregate" if last.is_some_and(|it| it == "$out" || it == "$merge") => None,
        "insertOne" | "insertMany" | "updateOne" | "replaceOne" | "deleteOne" => Some(Work::Write),
        name if name.starts_with("findOneAnd") => Some(Work::Write),
        _ => Some(Work::Read),
    }
}

/// Several writes in turn; inserts that follow each other are one command.
fn bulk(client: &mut Client, place: &Place, arguments: &Value) -> Result<Outcome, Stop> {
    // With the position of each among the requests.
    let mut steps: Vec<(usize, String, Value)> = Vec::new();
    let requests = arguments["requests"].as_array().into_iter().flatten();
    for (at, request) in requests.enumerate() {
        for (name, given) in request.as_object().into_iter().flatten() {
            match (name.as_str(), steps.last_mut()) {
                ("insertOne", Some((_, last, many))) if last == "insertMany" => {
                    if let Some(documents) = many["documents"].as_array_mut() {
                        documents.push(given["document"].clone());
                    }
                }
                ("insertOne", _) => {
                    let ordered = arguments["ordered"] != json!(false);
                    let documents = json!([given["document"]]);
                    let many = json!({ "documents": documents, "ordered": ordered });
                    steps.push((at, "insertMany".into(), many));
                }
                (name, _) => steps.push((at, name.to_owned(), given.clone())),
            }
        }
    }
    let mut done = json!({
        "deletedCount": 0, "insertedCount": 0, "matchedCount": 0, "modifiedCount": 0,
        "upsertedCount": 0, "upsertedIds": {},
    });
    for (at, name, given) in steps {
        let found = match perform(client, place, &name, &given)? {
            Ok(found) => found,
            Err(failed) => return Ok(Err(Failed { done, ..failed })),
        };
        if name == "insertMany" {
            let count = given["documents"].as_array().map_or(0, Vec::len);
            done["insertedCount"] =
                json!(done["insertedCount"].as_u64().unwrap_or(0) + count as u64);
        }
        for (field, count) in found.as_object().into_iter().flatten() {
            match (field.as_str(), count.as_u64()) {
                ("upsertedId", _) => done["upsertedIds"][at.to_string()] = count.clone(),
                (field, Some(count)) => {
                    done[field] = json!(done[field].as_u64().unwrap_or(0) + count);
                }
                _ => {}
            }
        }
    }
    Ok(Ok(done))
}

/// Writes to several collections in one command.
fn client_bulk(client: &mut Client, place: &Place, arguments: &Value) -> Outcome {
    let (mut operations, mut spaces) = (Vec::new(), Vec::<String>::new());
    let (mut kinds, mut once) = (Vec::new(), true);
    for model in arguments["models"].as_array().into_iter().flatten() {
        for (name, given) in model.as_object().into_iter().flatten() {
            let space = text(&given["namespace"]);
            let at = spaces.iter().position(|known| *known == space);
            let at = at.unwrap_or_else(|| {
                spaces.push(space);
                spaces.len() - 1
            }) as i32;
            let part = |key: &str| bson_document(&given[key]);
            let many = name.ends_with("Many");
            once &= !many;
            operations.push(match name.as_str() {
                "insertOne" => doc! { "insert": at, "document": part("document") },
                "deleteOne" | "deleteMany" => {
                    doc! { "delete": at, "filter": part("filter"), "multi": many }
                }
                name => {
                    let change = part(match name {
                        "replaceOne" => "replacement",
                        _ => "update",
                    });
                    doc! { "update": at, "filter": part("filter"), "updateMods": change, "multi": many }
                }
            });
            kinds.push((name.clone(), given["document"]["_id"].clone()));
        }
    }
    let verbose = arguments["verboseResults"] == json!(true);
    let spaces: Vec<Document> = spaces.into_iter().map(|it| doc! { "ns": it }).collect();
    let command = doc! {
        "bulkWrite": 1, "errorsOnly": !verbose, "ordered": arguments["ordered"] != json!(false),
        "ops": operations, "nsInfo": spaces, "$db": place.database.clone(),
    };
    let answer = client.perform(once.then_some(Work::Write), command)?;
    let count = |key: &str| relaxed(answer.get(key).unwrap_or(&Bson::Int32(0)));
    let mut found = json!({
        "insertedCount": count("nInserted"), "upsertedCount": count("nUpserted"),
        "matchedCount": count("nMatched"), "modifiedCount": count("nModified"),
        "deletedCount": count("nDeleted"),
    });
    if verbose {
        let (mut inserts, mut updates, mut deletes) = (Map::new(), Map::new(), Map::new());
        let single = batch(&answer);
        for ((at, (kind, id)), single) in kinds
            .iter()
            .enumerate()
            .zip(single.as_array().into_iter().flatten())
        {
            let at = at.to_string();
            match kind.as_str() {
                "insertOne" => inserts.insert(at, json!({ "insertedId": id })),
                "deleteOne" | "deleteMany" => {
                    deletes.insert(at, json!({ "deletedCount": single["n"] }))
                }
                _ => updates.insert(
                    at,
                    json!({ "matchedCount": single["n"], "modifiedCount": single["nModified"] }),
                ),
            };
        }
        found["insertResults"] = json!(inserts);
        found["updateResults"] = json!(updates);
        found["deleteResults"] = json!(deletes);
    }
    Ok(found)
}

/// A file of a bucket: its description, then its pieces; in hexadecimal digits.
fn download(client: &mut Client, place: &Place, arguments: &Value) -> Outcome {
    let filter = match arguments.get("filename") {
        Some(name) => doc! { "filename": text(name) },
        None => doc! { "_id": { "$eq": bson(&arguments["id"]) } },
    };
    let mut find = |collection: &str, filter: Document, rest: Document| {
        let mut command = doc! { "find": collection, "filter": filter };
        command.extend(rest);
        command.insert("$db", place.database.clone());
        client.perform(Some(Work::Read), command)
    };
    let described = find("fs.files", filter, doc! { "limit": 1, "singleBatch": true })?;
    let id = first_batch(&described)
        .first()
        .and_then(|it| it.get("_id").cloned());
    let pieces = find(
        "fs.chunks",
        doc! { "files_id": id },
        doc! { "sort": { "n": 1 } },
    )?;
    let bytes = first_batch(&pieces).into_iter().map(|piece| {
        piece
            .get_binary_generic("data")
            .map_or(String::new(), |data| hexadecimal(data))
    });
    Ok(json!(bytes.collect::<String>()))
}

fn first_batch(answer: &Document) -> Vec<Document> {
    let cursor = answer.get_document("cursor");
    let batch = cursor.and_then(|cursor| cursor.get_array("firstBatch"));
    let items = batch.cloned().unwrap_or_default().into_iter();
    items
        .filter_map(|item| item.as_document().cloned())
        .collect()
}

fn batch(answer: &Document) -> Value {
    let items = first_batch(answer).into_iter().map(Bson::Document);
    relaxed(&Bson::Array(items.collect()))
}

/// What an operation gives, as the files write it.
fn result(name: &str, answer: &Document) -> Value {
    let count = |key: &str| relaxed(answer.get(key).unwrap_or(&Bson::Int32(0)));
    match name {
        "find" | "aggregate" => batch(answer),
        "findOne" => batch(answer)[0].clone(),
        "countDocuments" => json!(batch(answer)[0]["n"].as_u64().unwrap_or(0)),
        "count" | "estimatedDocumentCount" => count("n"),
        "distinct" => count("values"),
        "mapReduce" => count("results"),
        "deleteOne" | "deleteMany" => json!({ "deletedCount": count("n") }),
        "updateOne" | "updateMany" | "replaceOne" => {
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
