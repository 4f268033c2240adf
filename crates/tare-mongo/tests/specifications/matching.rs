//! What a case expects, held against what came: events, results, errors.
use bson::Bson;
use serde_json::{json, Map, Value};
use tare_mongo::{Error, Origin};

use crate::client::{Event, Failed};
use crate::json::relaxed;
use crate::retries::Stop;

pub fn written(event: &Event) -> Value {
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

pub fn event(found: &Value, wanted: &Value) -> bool {
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
            if let Some(digits) = fields.get("$$matchesHexBytes") {
                return found_or_null == digits;
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

/// Whether an operation gave what it should, or failed as it should.
pub fn judge(result: Result<Value, Failed>, operation: &Value) -> Result<(), Stop> {
    let name = &operation["name"];
    let (failed, wanted) = match (result, operation.get("expectError")) {
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
    for (key, wanted) in wanted.as_object().into_iter().flatten() {
        if !failed_so(&failed, key, wanted)? {
            let Failed { error, labels, .. } = failed;
            return Err(format!("{name} fails: {error}, labels {labels:?}; {key} {wanted}").into());
        }
    }
    Ok(())
}

/// Whether an error is of this kind.
fn failed_so(failed: &Failed, key: &str, wanted: &Value) -> Result<bool, Stop> {
    let server = match &*failed.error {
        Error::Server(error) => Some(error),
        _ => None,
    };
    let all_labels = |has: bool| {
        let labels = wanted.as_array().into_iter().flatten();
        labels
            .map(|label| failed.labels.iter().any(|own| json!(own) == *label))
            .all(|found| found == has)
    };
    Ok(match key {
        "isError" => *wanted == json!(true),
        "isClientError" => json!(server.is_none()) == *wanted,
        "errorCode" => server.is_some_and(|error| json!(error.code) == *wanted),
        "errorLabelsContain" => all_labels(true),
        "errorLabelsOmit" => all_labels(false),
        "expectResult" => matching(Some(&failed.done), wanted, true),
        "writeConcernErrors" => {
            let own = server.filter(|error| error.origin == Origin::WriteConcern);
            let own = own.map(|error| json!({ "code": error.code, "message": error.message }));
            matching(Some(&json!(Vec::from_iter(own))), wanted, true)
        }
        key => return Err(format!("the runner knows no {key}").into()),
    })
}
