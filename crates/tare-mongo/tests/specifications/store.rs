//! The server's documents: which of them fit a query, what changes them, and what is answered then.
use std::cmp::Ordering;
use std::collections::HashMap;

use bson::{doc, Bson, Document};

use crate::scripted::refusal;

/// Documents by the name of their collection; databases are all alike.
pub type Collections = HashMap<String, Vec<Document>>;

pub fn yes(document: &Document, name: &str) -> bool {
    document.get_bool(name).unwrap_or(false)
}

pub fn number(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    }
}

fn part(of: &Document, name: &str) -> Document {
    of.get_document(name).cloned().unwrap_or_default()
}

fn list(of: &Document, name: &str) -> Vec<Document> {
    let items = of.get_array(name).into_iter().flatten();
    items.filter_map(Bson::as_document).cloned().collect()
}

/// Does what a command asks for; its answer.
pub fn perform(collections: &mut Collections, command: &Document) -> Document {
    let name = command.keys().next().map_or("", String::as_str);
    let collection = command.get_str(name).unwrap_or_default();
    let documents = collections.entry(collection.to_owned()).or_default();
    let database = command.get_str("$db").unwrap_or_default();
    let cursor = |found: Vec<Document>| {
        let space = format!("{database}.{collection}");
        doc! { "cursor": { "id": 0_i64, "ns": space, "firstBatch": found }, "ok": 1.0 }
    };
    match name {
        "find" => cursor(find(documents, command)),
        "aggregate" => cursor(aggregate(documents, &list(command, "pipeline"))),
        "listCollections" | "listIndexes" => cursor(documents.clone()),
        "insert" => {
            let new = list(command, "documents");
            let count = new.len() as i32;
            documents.extend(new);
            doc! { "n": count, "ok": 1.0 }
        }
        "update" => update(documents, &list(command, "updates")),
        "delete" => {
            let each = |it: &Document| {
                let many = it.get("limit").and_then(number) == Some(0);
                delete(documents, &part(it, "q"), many)
            };
            let count: i32 = list(command, "deletes").iter().map(each).sum();
            doc! { "n": count, "ok": 1.0 }
        }
        "findAndModify" => find_and_modify(documents, command),
        "bulkWrite" => bulk_write(collections, &list(command, "ops"), &list(command, "nsInfo")),
        "count" => {
            let query = part(command, "query");
            let found = documents.iter().filter(|it| matches(it, &query));
            doc! { "n": found.count() as i32, "ok": 1.0 }
        }
        "distinct" => distinct(documents, command),
        // It runs no JavaScript but does what that of the cases says: the sum of `x + 1`.
        "mapReduce" => {
            let numbers = documents.iter().filter_map(|it| number(it.get("x")?));
            let sum: i64 = numbers.map(|x| x + 1).sum();
            doc! { "results": [{ "_id": 0, "value": sum }], "ok": 1.0 }
        }
        "listDatabases" => doc! { "databases": [], "totalSize": 0, "ok": 1.0 },
        "create" => doc! { "ok": 1.0 },
        "drop" => {
            documents.clear();
            doc! { "ok": 1.0 }
        }
        other => refusal(59, "CommandNotFound", &format!("no such command: {other}")),
    }
}

fn aggregate(documents: &[Document], stages: &[Document]) -> Vec<Document> {
    let mut found = documents.to_vec();
    for stage in stages {
        if let Ok(query) = stage.get_document("$match") {
            found.retain(|document| matches(document, query));
        }
        // The one that counts documents.
        if stage.contains_key("$group") {
            found = vec![doc! { "_id": 1, "n": found.len() as i32 }];
        }
    }
    found
}

fn find_and_modify(documents: &mut Vec<Document>, command: &Document) -> Document {
    let query = part(command, "query");
    let found = documents.iter().position(|it| matches(it, &query));
    let value = found.map(|at| documents[at].clone());
    match found {
        Some(at) if yes(command, "remove") => {
            documents.remove(at);
        }
        Some(at) => change(&mut documents[at], &part(command, "update")),
        None => {}
    }
    doc! { "value": value, "ok": 1.0 }
}

fn distinct(documents: &[Document], command: &Document) -> Document {
    let query = part(command, "query");
    let key = command.get_str("key").unwrap_or_default();
    let mut values: Vec<Bson> = Vec::new();
    for document in documents.iter().filter(|it| matches(it, &query)) {
        let new = document.get(key).filter(|value| !values.contains(value));
        values.extend(new.cloned());
    }
    doc! { "values": values, "ok": 1.0 }
}

/// What a value is compared and sorted by: numbers come before texts; what is neither is all alike.
fn place(value: Option<&Bson>) -> (Option<&str>, Option<i64>) {
    (value.and_then(Bson::as_str), value.and_then(number))
}

/// What a `find` finds, in its order, with the fields that it names.
fn find(documents: &[Document], asked: &Document) -> Vec<Document> {
    let count = |key: &str| asked.get(key).and_then(number).unwrap_or(0) as usize;
    let [query, sort, fields] = ["filter", "sort", "projection"].map(|it| part(asked, it));
    let fitting = documents.iter().filter(|it| matches(it, &query));
    let mut found: Vec<Document> = fitting.cloned().collect();
    found.sort_by(|one, other| {
        let by = |(name, way): (&String, &Bson)| {
            let order = place(one.get(name)).cmp(&place(other.get(name)));
            match number(way) {
                Some(-1) => order.reverse(),
                _ => order,
            }
        };
        let mut orders = sort.iter().map(by);
        orders.find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
    });
    let most = match count("limit") {
        0 => usize::MAX,
        limit => limit,
    };
    let found = found.into_iter().skip(count("skip")).take(most);
    found.map(|it| with_fields(it, &fields)).collect()
}

/// A document with the fields that are named, or without those that are named with 0; its `_id` stays
/// unless that is.
fn with_fields(document: Document, fields: &Document) -> Document {
    let refused = |name: &str| match fields.get(name) {
        Some(Bson::Boolean(wanted)) => !wanted,
        other => other.and_then(number) == Some(0),
    };
    let names_wanted = fields.keys().any(|name| !refused(name));
    let stays = |name: &str| match names_wanted && name != "_id" {
        true => fields.contains_key(name),
        false => !refused(name),
    };
    let kept = document.into_iter().filter(|(name, _)| stays(name));
    kept.collect()
}

fn matches(document: &Document, query: &Document) -> bool {
    query.iter().all(|(name, wanted)| {
        let own = document.get(name);
        match wanted {
            Bson::Document(compared) => compared.iter().all(|(how, than)| {
                if how == "$eq" {
                    return own == Some(than);
                }
                let (own, than) = (place(own), place(Some(than)));
                // Only numbers, and only texts, are more or less than each other.
                let kind = |it: &(Option<&str>, Option<i64>)| (it.0.is_some(), it.1.is_some());
                let alike = kind(&own) == kind(&than);
                match how.as_str() {
                    "$gt" => alike && own > than,
                    "$gte" => alike && own >= than,
                    "$lt" => alike && own < than,
                    "$lte" => alike && own <= than,
                    "$ne" => own != than,
                    _ => false,
                }
            }),
            wanted => own == Some(wanted),
        }
    })
}

fn change(document: &mut Document, how: &Document) {
    if how.keys().all(|key| !key.starts_with('$')) {
        let id = document.get("_id").cloned();
        *document = how.clone();
        if let Some(id) = id {
            let mut whole = doc! { "_id": id };
            whole.extend(how.clone());
            *document = whole;
        }
    }
    for (name, by) in how.get_document("$inc").into_iter().flatten() {
        let before = document.get(name).and_then(number).unwrap_or(0);
        document.insert(name, (before + number(by).unwrap_or(0)) as i32);
    }
    for (name, value) in how.get_document("$set").into_iter().flatten() {
        document.insert(name, value.clone());
    }
}

fn update(documents: &mut Vec<Document>, updates: &[Document]) -> Document {
    let (mut count, mut changed, mut upserted) = (0, 0, Vec::new());
    for (index, update) in updates.iter().enumerate() {
        let (query, how) = (part(update, "q"), part(update, "u"));
        let many = yes(update, "multi");
        let mut found = 0;
        for document in documents.iter_mut().filter(|it| matches(it, &query)) {
            if found == 1 && !many {
                break;
            }
            change(document, &how);
            found += 1;
        }
        if found == 0 && yes(update, "upsert") {
            let mut new = query.clone();
            change(&mut new, &how);
            upserted.push(doc! { "index": index as i32, "_id": new.get("_id").cloned() });
            documents.push(new);
            count += 1;
        }
        (count, changed) = (count + found, changed + found);
    }
    let mut answer = doc! { "n": count, "nModified": changed, "ok": 1.0 };
    if !upserted.is_empty() {
        answer.insert("upserted", upserted);
    }
    answer
}

/// Delete the first document that fits, or all; how many it were.
fn delete(documents: &mut Vec<Document>, query: &Document, many: bool) -> i32 {
    let mut count = 0;
    documents.retain(|document| {
        let goes = (many || count == 0) && matches(document, query);
        count += i32::from(goes);
        !goes
    });
    count
}

/// Writes to several collections, with an answer to each.
fn bulk_write(
    collections: &mut Collections,
    operations: &[Document],
    spaces: &[Document],
) -> Document {
    let (mut inserted, mut matched, mut modified, mut deleted) = (0, 0, 0, 0);
    let mut single = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let Some((kind, at)) = operation.iter().next() else {
            continue;
        };
        let space = number(at).and_then(|at| spaces.get(usize::try_from(at).ok()?));
        let space = space
            .and_then(|it| it.get_str("ns").ok())
            .unwrap_or_default();
        let name = space.split_once('.').map_or(space, |(_, name)| name);
        let documents = collections.entry(name.to_owned()).or_default();
        let part = |key: &str| part(operation, key);
        let many = yes(operation, "multi");
        let mut answer = doc! { "ok": 1.0, "idx": index as i32 };
        match kind.as_str() {
            "insert" => {
                documents.push(part("document"));
                inserted += 1;
                answer.insert("n", 1);
            }
            "update" => {
                let change = doc! { "q": part("filter"), "u": part("updateMods"), "multi": many };
                let done = update(documents, &[change]);
                matched += done.get_i32("n").unwrap_or(0);
                modified += done.get_i32("nModified").unwrap_or(0);
                answer.extend(done);
            }
            _ => {
                let count = delete(documents, &part("filter"), many);
                deleted += count;
                answer.insert("n", count);
            }
        }
        single.push(answer);
    }
    doc! {
        "nErrors": 0, "nInserted": inserted, "nMatched": matched, "nModified": modified,
        "nUpserted": 0, "nDeleted": deleted, "ok": 1.0,
        "cursor": { "id": 0_i64, "ns": "admin.$cmd.bulkWrite", "firstBatch": single },
    }
}
