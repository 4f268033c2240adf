//! server-selection, its round trips, and max-staleness: who may serve an operation.
use std::time::Duration;

use serde_json::{json, Value};
use tare_mongo::{
    average, Host, Member, Operation, ReadMode, ReadPreference, Role, Shape, Topology, Uri,
};

use crate::{refusals, Tally, Verdict};

pub fn file(place: &str, file: &Value, tally: &mut Tally) {
    tally.case(place, || match file.get("avg_rtt_ms") {
        Some(known) => round_trip(known, file),
        None => choice(file).unwrap_or_else(Verdict::Failed),
    });
}

/// A thousandth of a millisecond is as near as the specification wants it.
const NEAR: f64 = 0.001;

fn round_trip(known: &Value, file: &Value) -> Verdict {
    let time = |value: &Value| {
        value
            .as_f64()
            .map(|it| Duration::from_secs_f64(it / 1000.0))
    };
    let newest = time(&file["new_rtt_ms"]).unwrap_or_default();
    let found = average(time(known), newest).as_secs_f64() * 1000.0;
    let wanted = file["new_avg_rtt"].as_f64().unwrap_or(f64::NAN);
    match (found - wanted).abs() <= NEAR {
        true => Verdict::Passed,
        false => Verdict::Failed(format!("the average is {found}, not {wanted}")),
    }
}

fn choice(file: &Value) -> Result<Verdict, String> {
    let described = &file["topology_description"];
    if described["type"] == json!("LoadBalanced") {
        // The client never comes so far: such a deployment is refused with its string.
        let place = described["servers"][0]["address"].as_str().unwrap_or("a");
        return Ok(
            match Uri::parse(&format!("mongodb://{place}/?loadBalanced=true")) {
                Err(error) => refusals::verdict(&error),
                Ok(_) => Verdict::Failed("loadBalanced=true is not refused".into()),
            },
        );
    }
    let topology = topology(file)?;
    let preference = preference(&file["read_preference"])?;
    let operation = match file["operation"].as_str() {
        Some("write") => Operation::Write,
        _ => Operation::Read(&preference),
    };
    let position = |server: &Value| {
        let name = server["address"].as_str().unwrap_or_default();
        topology
            .members
            .iter()
            .position(|member| member.host.to_string() == name)
    };
    let positions = |list: &Value| -> Vec<usize> {
        let servers = list.as_array().into_iter().flatten();
        let mut found: Vec<usize> = servers.filter_map(position).collect();
        found.sort_unstable();
        found
    };
    let avoided = positions(&file["deprioritized_servers"]);
    let suitable = topology.suitable(operation, &avoided);
    if file["error"] == json!(true) {
        return Ok(match suitable {
            Err(_) => Verdict::Passed,
            Ok(_) => Verdict::Failed("it is no error".into()),
        });
    }
    let mut suitable = suitable?;
    suitable.sort_unstable();
    let near = topology.near(suitable.clone(), preference.threshold);
    let (wanted, wanted_near) = (
        positions(&file["suitable_servers"]),
        positions(&file["in_latency_window"]),
    );
    Ok(match (suitable == wanted, near == wanted_near) {
        (true, true) => Verdict::Passed,
        _ => Verdict::Failed(format!(
            "suitable are {suitable:?}, not {wanted:?}; near {near:?}, not {wanted_near:?}"
        )),
    })
}

fn topology(file: &Value) -> Result<Topology, String> {
    let described = &file["topology_description"];
    let shape = match described["type"].as_str() {
        Some("Unknown") => Shape::Unknown,
        Some("Single") => Shape::Single,
        Some("Sharded") => Shape::Sharded,
        Some("ReplicaSetNoPrimary" | "ReplicaSetWithPrimary") => Shape::Set("rs".into()),
        other => return Err(format!("a topology of type {other:?}")),
    };
    let servers = described["servers"].as_array().into_iter().flatten();
    Ok(Topology {
        shape,
        members: servers.map(member).collect::<Result<_, _>>()?,
        sessions: true,
        heartbeat: Duration::from_millis(file["heartbeatFrequencyMS"].as_u64().unwrap_or(10_000)),
    })
}

fn member(server: &Value) -> Result<Member, String> {
    let role = match server["type"].as_str() {
        Some("RSPrimary") => Role::Primary,
        Some("RSSecondary") => Role::Secondary,
        Some("RSArbiter") => Role::Arbiter,
        Some("RSOther") => Role::Other,
        Some("RSGhost") => Role::Ghost,
        Some("Mongos") => Role::Router,
        Some("Standalone") => Role::Standalone,
        // That it may be primary is for drivers that ask one server at a time.
        Some("Unknown" | "PossiblePrimary") => Role::Unknown,
        other => return Err(format!("a server of type {other:?}")),
    };
    let date = server["lastWrite"]["lastWriteDate"]["$numberLong"].as_str();
    let time = server["avg_rtt_ms"].as_f64().unwrap_or(0.0);
    Ok(Member {
        host: Host::parse(server["address"].as_str().unwrap_or_default(), 27017)?,
        address: None,
        role,
        round_trip: Duration::from_secs_f64(time / 1000.0),
        tags: tags(&server["tags"]),
        last_write: date.and_then(|date| date.parse().ok()).unwrap_or(0),
        seen: server["lastUpdateTime"].as_i64().unwrap_or(0),
        unreachable: None,
    })
}

fn tags(value: &Value) -> Vec<(String, String)> {
    let pairs = value.as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    pairs
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

fn preference(value: &Value) -> Result<ReadPreference, String> {
    let mode = value["mode"].as_str().unwrap_or("primary");
    let sets = value["tag_sets"].as_array().into_iter().flatten();
    Ok(ReadPreference {
        mode: ReadMode::parse(mode).ok_or_else(|| format!("the mode {mode:?}"))?,
        tags: sets.map(tags).collect(),
        staleness: value["maxStalenessSeconds"]
            .as_u64()
            .map(Duration::from_secs),
        ..ReadPreference::default()
    })
}
