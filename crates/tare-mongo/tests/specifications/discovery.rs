//! server-discovery-and-monitoring: what is known of a deployment after each answer and each error.
use std::time::Duration;

use serde_json::{json, Value};
use tare_mongo::document::Document;
use tare_mongo::{
    Answer, Description, Error, Failure, Hello, Host, Reply, Role, Server, TopologyKind,
    TopologyVersion, Uri, What,
};

use crate::json::{bson_document, hexadecimal};
use crate::{refusals, Tally, Verdict};

pub fn file(place: &str, file: &Value, tally: &mut Tally) {
    let name = file["description"].as_str().unwrap_or("without a name");
    tally.case(&format!("{place}: {name}"), || case(file));
}

fn case(file: &Value) -> Verdict {
    let uri = match Uri::parse(file["uri"].as_str().unwrap_or_default()) {
        Err(error) if error.refused => return refusals::verdict(&error),
        Err(error) => return Verdict::Failed(error.to_string()),
        Ok(uri) => uri,
    };
    let mut known = Description::new(&uri);
    for (number, phase) in file["phases"].as_array().into_iter().flatten().enumerate() {
        let taken = take(&mut known, phase).and_then(|()| compare(&known, &phase["outcome"]));
        if let Err(why) = taken {
            return Verdict::Failed(format!("phase {}: {why}", number + 1));
        }
    }
    Verdict::Passed
}

fn host(value: &Value) -> Result<Host, String> {
    Host::parse(value.as_str().unwrap_or_default(), 27017)
}

fn take(known: &mut Description, phase: &Value) -> Result<(), String> {
    for response in phase["responses"].as_array().into_iter().flatten() {
        let host = host(&response[0])?;
        if response[1]
            .as_object()
            .is_none_or(serde_json::Map::is_empty)
        {
            known.unreachable(&host, "the connection broke");
            continue;
        }
        let bytes = bytes(&response[1])?;
        let document = Document::whole(&bytes).map_err(|error| error.to_string())?;
        let hello = Hello::read(document).map_err(|error| error.to_string())?;
        known.answer(
            &host,
            Answer {
                hello,
                address: None,
                round_trip: Duration::from_millis(1),
                at: 0,
            },
        );
    }
    for error in phase["applicationErrors"].as_array().into_iter().flatten() {
        application_error(known, error)?;
    }
    Ok(())
}

fn bytes(document: &Value) -> Result<Vec<u8>, String> {
    bson_document(document)
        .to_vec()
        .map_err(|error| error.to_string())
}

fn application_error(known: &mut Description, error: &Value) -> Result<(), String> {
    let host = host(&error["address"])?;
    let bytes = bytes(&error["response"])?;
    let outcome = Reply::of(&bytes).and_then(|reply| reply.outcome());
    let what = match (error["type"].as_str(), &outcome) {
        (Some("network"), _) => What::Network,
        (Some("timeout"), _) => What::Timeout,
        (Some("command"), Err(Error::Server(error))) => What::Server(error),
        // An answer that says yes is no error to this client, and is not told.
        (Some("command"), Ok(_)) => return Ok(()),
        (other, _) => return Err(format!("an error of type {other:?}")),
    };
    let failure = Failure {
        what,
        shaken: error["when"] == json!("afterHandshakeCompletes"),
        generation: error["generation"].as_u64(),
        wire: error["maxWireVersion"].as_i64().unwrap_or(0) as i32,
    };
    known.failed(&host, &failure);
    Ok(())
}

fn kind(kind: TopologyKind) -> &'static str {
    match kind {
        TopologyKind::Unknown => "Unknown",
        TopologyKind::Single => "Single",
        TopologyKind::SetWithoutPrimary => "ReplicaSetNoPrimary",
        TopologyKind::SetWithPrimary => "ReplicaSetWithPrimary",
        TopologyKind::Sharded => "Sharded",
    }
}

/// The specification's name of a role.
pub fn role(role: Role) -> &'static str {
    match role {
        Role::Standalone => "Standalone",
        Role::Router => "Mongos",
        Role::Primary => "RSPrimary",
        Role::Secondary => "RSSecondary",
        Role::Arbiter => "RSArbiter",
        Role::Other => "RSOther",
        Role::Ghost => "RSGhost",
        Role::Unknown => "Unknown",
    }
}

fn election(id: Option<[u8; 12]>) -> Value {
    id.map_or(Value::Null, |id| json!({ "$oid": hexadecimal(&id) }))
}

fn compare(known: &Description, outcome: &Value) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut expect = |what: &str, found: Value, wanted: Option<&Value>| {
        if wanted.is_some_and(|wanted| *wanted != found) {
            wrong.push(format!(
                "{what} is {found}, not {}",
                wanted.unwrap_or(&Value::Null)
            ));
        }
    };
    expect(
        "the type",
        json!(kind(known.kind)),
        outcome.get("topologyType"),
    );
    // A set's name is known only where there is one.
    expect("the set", json!(known.set), outcome.get("setName"));
    let minutes = known.sessions().map(|time| time.as_secs() / 60);
    let sessions = "logicalSessionTimeoutMinutes";
    expect(sessions, json!(minutes), outcome.get(sessions));
    let version = outcome.get("maxSetVersion");
    expect("maxSetVersion", json!(known.latest_version), version);
    let latest = election(known.latest_election);
    expect("maxElectionId", latest, outcome.get("maxElectionId"));
    let compatible = outcome.get("compatible").cloned().unwrap_or(json!(true));
    expect(
        "compatible",
        json!(known.compatible().is_ok()),
        Some(&compatible),
    );
    let wanted = outcome["servers"].as_object().cloned().unwrap_or_default();
    let mut names: Vec<String> = known.servers.iter().map(|it| it.host.to_string()).collect();
    names.sort();
    let mut expected: Vec<&String> = wanted.keys().collect();
    expected.sort();
    expect("the servers", json!(names), Some(&json!(expected)));
    for (name, wanted) in &wanted {
        let Some(server) = known.server(&Host::parse(name, 27017)?) else {
            continue;
        };
        for (field, wanted) in wanted.as_object().into_iter().flatten() {
            let found = field_of(server, field, wanted);
            expect(&format!("{name}'s {field}"), found, Some(wanted));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("; ")),
    }
}

fn field_of(server: &Server, field: &str, wanted: &Value) -> Value {
    let hello = server.hello.as_ref();
    match field {
        // That it may be primary is for drivers that ask one server at a time.
        "type" if *wanted == json!("PossiblePrimary") && server.role == Role::Unknown => {
            json!("PossiblePrimary")
        }
        "type" => json!(role(server.role)),
        "setName" => json!(hello.and_then(|hello| hello.set.as_ref())),
        "setVersion" => json!(hello.and_then(|hello| hello.version)),
        "electionId" => election(hello.and_then(|hello| hello.election)),
        "logicalSessionTimeoutMinutes" => {
            json!(hello
                .and_then(|hello| hello.sessions)
                .map(|time| time.as_secs() / 60))
        }
        "minWireVersion" => json!(hello.map_or(0, |hello| hello.least_wire)),
        "maxWireVersion" => json!(hello.map_or(0, |hello| hello.wire)),
        "topologyVersion" => {
            let written = |it: TopologyVersion| {
                let counter = json!({ "$numberLong": it.counter.to_string() });
                json!({ "processId": { "$oid": hexadecimal(&it.process) }, "counter": counter })
            };
            json!(server.state.map(written))
        }
        "pool" => json!({ "generation": server.generation }),
        "error" => {
            let why = server.why.clone().unwrap_or_default();
            match wanted.as_str() {
                Some(wanted) if why.contains(wanted) => json!(wanted),
                _ => json!(why),
            }
        }
        other => json!(format!("the runner knows no field {other}")),
    }
}
