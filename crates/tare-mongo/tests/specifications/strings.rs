//! connection-string, uri-options, auth, read-write-concern: what a connection string comes to.
use std::time::Duration;

use serde_json::{json, Value};
use tare_mongo::{Uri, WriteAck, WriteConcern};

use crate::{cases, refusals, Tally, Verdict};

/// The port of a host that names none.
const PORT: u64 = 27017;
/// What a pool without a limit is limited to.
const MOST_LINKS: u64 = 10_000;

pub fn file(place: &str, file: &Value, tally: &mut Tally) {
    for (name, case) in cases(place, &file["tests"]) {
        tally.case(&name, || string(case));
    }
}

fn string(case: &Value) -> Verdict {
    let valid = case["valid"].as_bool() != Some(false);
    let uri = match Uri::parse(case["uri"].as_str().unwrap_or_default()) {
        Err(error) if error.refused => return refusals::verdict(&error),
        Err(_) if !valid => return Verdict::Passed,
        Err(error) => return Verdict::Failed(format!("refused: {error}")),
        Ok(uri) if !valid => {
            // Two files contradict each other on `wtimeoutMS` below zero: refused (read-write-concern),
            // or left out with a warning (uri-options, as of every such value). The first says nothing
            // of a warning, and it is the warning that counts then.
            let said = uri
                .remarks
                .iter()
                .any(|it| it.starts_with("option wtimeoutMS is left out"));
            return match case.get("warning") {
                Some(Value::Null) if said => Verdict::Passed,
                _ => Verdict::Failed("it was taken".into()),
            };
        }
        Ok(uri) => uri,
    };
    let mut wrong = Vec::new();
    let mut expect = |what: &str, found: Value, wanted: &Value| {
        if found != *wanted {
            wrong.push(format!("{what} is {found}, not {wanted}"));
        }
    };
    if let Some(warning) = case["warning"].as_bool() {
        expect("a warning", json!(!uri.remarks.is_empty()), &json!(warning));
    }
    if let Some(hosts) = case["hosts"].as_array() {
        let wanted: Vec<Value> = hosts
            .iter()
            .map(|host| {
                let name = host["host"].as_str().unwrap_or_default().to_lowercase();
                json!([name, host["port"].as_u64().unwrap_or(PORT)])
            })
            .collect();
        let found: Vec<Value> = uri
            .hosts
            .iter()
            .map(|it| json!([it.name, it.port]))
            .collect();
        expect("hosts", json!(found), &json!(wanted));
    }
    let credentials = uri.options.credentials.as_ref();
    if let Some(auth) = case["auth"].as_object() {
        expect(
            "the user",
            json!(credentials.map(|it| &it.user)),
            &auth["username"],
        );
        let password = auth["password"].as_str().unwrap_or_default();
        let found = credentials.map_or("", |it| &it.password.0);
        expect("the password", json!(found), &json!(password));
        expect("the database", json!(uri.database), &auth["db"]);
    }
    if case.get("credential").is_some() {
        let wanted = &case["credential"];
        let found = credentials.map(|it| {
            let mechanism = it.mechanism.map(|mechanism| mechanism.name());
            // No password and an empty one are the same here.
            let password = Some(&it.password.0).filter(|it| !it.is_empty());
            json!({
                "username": it.user, "password": password, "source": it.source,
                "mechanism": mechanism, "mechanism_properties": null,
            })
        });
        let mut wanted = wanted.clone();
        if wanted["password"] == json!("") {
            wanted["password"] = Value::Null;
        }
        expect("the credential", json!(found), &wanted);
    } else if case["uri"].as_str().is_some_and(|uri| !uri.contains('@')) {
        expect(
            "the credential",
            json!(credentials.is_some()),
            &json!(false),
        );
    }
    if let Some(wanted) = case["readConcern"].as_object() {
        expect(
            "the read concern",
            json!(uri.read_concern),
            &json!(wanted.get("level")),
        );
    }
    if let Some(wanted) = case["writeConcern"].as_object() {
        expect("the write concern", concern(&uri.write), &json!(wanted));
    }
    for (name, wanted) in case["options"].as_object().into_iter().flatten() {
        let found = option(&uri, &name.to_ascii_lowercase(), wanted);
        expect(name, found, wanted);
    }
    match wrong.is_empty() {
        true => Verdict::Passed,
        false => Verdict::Failed(wrong.join("; ")),
    }
}

/// A write concern as the files write it.
pub fn concern(write: &WriteConcern) -> Value {
    let mut found = json!({});
    match &write.acknowledged {
        Some(WriteAck::Members(count)) => found["w"] = json!(count),
        Some(WriteAck::Majority) => found["w"] = json!("majority"),
        Some(WriteAck::Tag(name)) => found["w"] = json!(name),
        None => {}
    }
    if let Some(journal) = write.journal {
        found["journal"] = json!(journal);
    }
    if let Some(timeout) = write.timeout {
        found["wtimeoutMS"] = milliseconds(timeout);
    }
    found
}

fn milliseconds(time: Duration) -> Value {
    json!(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// An option as it took effect; one that changes nothing here as it was given.
fn option(uri: &Uri, name: &str, wanted: &Value) -> Value {
    let credentials = uri.options.credentials.as_ref();
    let tls = uri.options.tls.as_ref();
    match name {
        "replicaset" => json!(uri.replica_set),
        "w" => concern(&uri.write)["w"].clone(),
        "journal" => json!(uri.write.journal),
        "wtimeoutms" => uri.write.timeout.map_or(json!(0), milliseconds),
        "readconcernlevel" => json!(uri.read_concern),
        "readpreference" => json!(uri.read.mode.name()),
        "readpreferencetags" => {
            let object = |tags: &Vec<(String, String)>| -> Value {
                tags.iter()
                    .map(|(name, value)| (name.clone(), json!(value)))
                    .collect()
            };
            json!(uri.read.tags.iter().map(object).collect::<Vec<_>>())
        }
        "maxstalenessseconds" => uri
            .read
            .staleness
            .map_or(json!(-1), |it| json!(it.as_secs())),
        "localthresholdms" => milliseconds(uri.read.threshold),
        "connecttimeoutms" => milliseconds(uri.options.connect_timeout),
        "sockettimeoutms" => uri.socket_timeout.map_or(json!(0), milliseconds),
        "serverselectiontimeoutms" => milliseconds(uri.selection_timeout),
        "heartbeatfrequencyms" => milliseconds(uri.heartbeat),
        "maxpoolsize" => match uri.pool as u64 {
            MOST_LINKS if *wanted == json!(0) => json!(0),
            size => json!(size),
        },
        "directconnection" => json!(uri.direct),
        "retrywrites" => json!(uri.retry_writes),
        "retryreads" => json!(uri.retry_reads),
        "appname" => json!(uri.options.application),
        "authsource" => json!(credentials.map(|it| &it.source)),
        "authmechanism" => json!(credentials.and_then(|it| it.mechanism).map(|it| it.name())),
        "tls" | "ssl" => json!(tls.is_some()),
        "tlscafile" => json!(tls.and_then(|tls| tls.authorities.as_ref())),
        "tlscertificatekeyfile" => {
            json!(tls.and_then(|tls| tls.certificate.clone()).map(|it| it.0))
        }
        "tlsinsecure" | "tlsallowinvalidcertificates" if tls.is_some() => {
            json!(tls.is_some_and(|tls| !tls.verify))
        }
        name => {
            let given = uri
                .idle
                .iter()
                .find(|(idle, _)| idle.eq_ignore_ascii_case(name));
            let given = given.map(|(_, value)| value.as_str());
            match (given, wanted) {
                (Some(value), Value::String(_)) => json!(value),
                (Some(value), _) => serde_json::from_str(value).unwrap_or(json!(value)),
                (None, _) => Value::Null,
            }
        }
    }
}
