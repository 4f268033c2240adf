//! A replica set in which the first living member is primary, as clients are told it.

use std::time::{Duration, Instant};

use bson::{doc, Document};
use tare_stub::{Script, Set, Stub};

use crate::mongo_client::*;

const LONGEST: Duration = Duration::from_secs(5);

fn set() -> Vec<Stub> {
    Stub::start_set(3, &Script::default()).expect("a set")
}

fn hello(stub: &Stub) -> Document {
    Client::connect(stub.address()).hello()
}

fn topology_version(client: &mut Client) -> Document {
    let told = client.hello();
    told.get_document("topologyVersion").unwrap().clone()
}

/// What a member says once it is primary.
fn elected(stub: &Stub) -> Document {
    let begun = Instant::now();
    loop {
        let told = hello(stub);
        if told.get_bool("isWritablePrimary").ok() == Some(true) {
            return told;
        }
        assert!(begun.elapsed() < LONGEST, "{told}");
    }
}

fn insert() -> Document {
    doc! { "insert": "t", "$db": "d", "documents": [{ "_id": 1 }], "txnNumber": 1_i64 }
}

#[test]
fn all_members_name_the_set_its_members_and_the_first_one_as_primary() {
    let set = set();
    let hosts: Vec<String> = set.iter().map(|one| one.address().to_string()).collect();
    for (place, stub) in set.iter().enumerate() {
        let told = hello(stub);
        assert_eq!(
            (
                told.get_str("setName").ok(),
                told.get_i32("setVersion").ok()
            ),
            (Some("rs0"), Some(1))
        );
        let named = told.get_array("hosts").unwrap().iter();
        assert_eq!(
            named.map(|one| one.as_str().unwrap()).collect::<Vec<_>>(),
            hosts
        );
        assert_eq!(told.get_str("primary").ok(), Some(hosts[0].as_str()));
        assert_eq!(told.get_str("me").ok(), Some(hosts[place].as_str()));
        assert_eq!(told.get_bool("isWritablePrimary").ok(), Some(place == 0));
        assert_eq!(told.get_bool("secondary").ok(), Some(place != 0));
        assert_eq!(told.contains_key("electionId"), place == 0);
    }
}

#[test]
fn a_secondary_serves_only_reads_that_allow_it() {
    let set = set();
    let mut client = Client::connect(set[1].address());
    let refused = client.ask(&insert());
    assert_eq!(code(&refused), 10107);
    let labels = refused.get_array("errorLabels").unwrap();
    assert_eq!(labels[0].as_str(), Some("RetryableWriteError"));
    assert!(refused.contains_key("topologyVersion"));
    let mut find = doc! { "find": "t", "$db": "d", "filter": { "_id": 1 } };
    assert_eq!(code(&client.ask(&find)), 13435);
    find.insert("$readPreference", doc! { "mode": "primary" });
    assert_eq!(code(&client.ask(&find)), 13435);
    find.insert("$readPreference", doc! { "mode": "secondary" });
    assert_eq!(batch(&client.ask(&find)).0.len(), 1);
    assert_eq!(
        Client::connect(set[0].address()).ask(&insert()),
        doc! { "n": 1, "ok": 1.0 }
    );
}

#[test]
fn when_the_primary_is_killed_the_next_one_is_elected_later_than_it() {
    let mut set = set();
    let mut third = Client::connect(set[2].address());
    let known = topology_version(&mut third);
    let first = hello(&set[0]).get_object_id("electionId").unwrap();
    let waits = doc! { "hello": 1, "$db": "admin", "topologyVersion": known.clone(), "maxAwaitTimeMS": 60_000 };
    third.send(0, &waits, None);
    set.remove(0).stop().unwrap();
    let next = elected(&set[0]);
    assert!(next.get_object_id("electionId").unwrap() > first);
    assert_eq!(
        Client::connect(set[0].address()).ask(&insert()),
        doc! { "n": 1, "ok": 1.0 }
    );
    // Whoever waits for news is told at once.
    let told = third.receive().expect("news");
    assert_eq!(
        told.get_str("primary").ok(),
        Some(set[0].address().to_string().as_str())
    );
    let state = told.get_document("topologyVersion").unwrap();
    assert_eq!(
        state.get_object_id("processId").ok(),
        known.get_object_id("processId").ok()
    );
    assert!(state.get_i64("counter").unwrap() > known.get_i64("counter").unwrap());
    set.remove(0).stop().unwrap();
    elected(&set[0]);
}

#[test]
fn who_waits_for_news_is_answered_when_there_is_none_for_long_enough() {
    let set = set();
    let mut client = Client::connect(set[0].address());
    let known = topology_version(&mut client);
    let mut waits =
        doc! { "hello": 1, "$db": "admin", "topologyVersion": known, "maxAwaitTimeMS": 100 };
    let begun = Instant::now();
    client.ask(&waits);
    assert!(begun.elapsed() >= Duration::from_millis(100));
    waits.insert(
        "topologyVersion",
        doc! { "processId": bson::oid::ObjectId::new(), "counter": 0_i64 },
    );
    waits.insert("maxAwaitTimeMS", 60_000);
    client.ask(&waits); // it knows another state
}

#[test]
fn a_primary_that_comes_back_takes_over_and_the_other_steps_down() {
    let mut set = set();
    let address = set[0].address();
    let members: Vec<String> = set.iter().map(|one| one.address().to_string()).collect();
    set.remove(0).stop().unwrap();
    elected(&set[0]);
    let mut writer = Client::connect(set[0].address());
    assert_eq!(writer.ask(&insert()), doc! { "n": 1, "ok": 1.0 });
    let again = Script {
        protocol: tare_stub::Protocol::Mongodb,
        set: Some(Set {
            name: "rs0".into(),
            members,
            me: 0,
        }),
        ..Script::default()
    };
    let _first = Stub::start_at(address, again).expect("its port is free again");
    let begun = Instant::now();
    while writer.hello().get_bool("isWritablePrimary").ok() == Some(true) {
        assert!(begun.elapsed() < LONGEST);
    }
    assert_eq!(
        code(&writer.ask(&insert())),
        10107,
        "on the connection that it had"
    );
}

/// Members that wait to be told their set, and their addresses.
fn waiting() -> (Vec<Stub>, Vec<String>) {
    let one = || {
        stub(Script {
            set_later: true,
            ..Script::default()
        })
    };
    let members: Vec<Stub> = (0..3).map(|_| one()).collect();
    let hosts = members.iter().map(|it| it.address().to_string()).collect();
    (members, hosts)
}

fn initiation(hosts: &[String]) -> Document {
    let members = hosts.iter().enumerate();
    let members: Vec<Document> = members
        .map(|(id, host)| doc! { "_id": id as i32, "host": host })
        .collect();
    doc! { "replSetInitiate": { "_id": "named", "members": members }, "$db": "admin" }
}

/// Waits until a member sees all in these states, with their health.
fn await_states(stub: &Stub, wanted: &[(&str, f64)]) {
    let begun = Instant::now();
    loop {
        let status = doc! { "replSetGetStatus": 1, "$db": "admin" };
        let told = Client::connect(stub.address()).ask(&status);
        let members = told.get_array("members").cloned().unwrap_or_default();
        let members = members.iter().filter_map(|it| it.as_document());
        let state = |it: &Document| {
            let name = it.get_str("stateStr").unwrap().to_owned();
            (name, it.get_f64("health").unwrap())
        };
        let found: Vec<(String, f64)> = members.map(state).collect();
        let found: Vec<(&str, f64)> = found.iter().map(|(name, it)| (&**name, *it)).collect();
        if found == wanted {
            return;
        }
        assert!(begun.elapsed() < LONGEST, "{told}");
    }
}

#[test]
fn a_set_may_be_named_while_its_members_run() {
    let (mut set, hosts) = waiting();
    let told = hello(&set[1]);
    assert_eq!(told.get_bool("isreplicaset").ok(), Some(true));
    assert_eq!(told.get_bool("isWritablePrimary").ok(), Some(false));
    let mut first = Client::connect(set[0].address());
    assert_eq!(code(&first.ask(&insert())), 10107);
    assert_eq!(first.ask(&initiation(&hosts)), doc! { "ok": 1.0 });
    let all = [("PRIMARY", 1.0), ("SECONDARY", 1.0), ("SECONDARY", 1.0)];
    for stub in &set {
        await_states(stub, &all);
    }
    assert_eq!(code(&first.ask(&initiation(&hosts))), 23);
    for (place, stub) in set.iter().enumerate() {
        let told = hello(stub);
        assert_eq!(told.get_str("setName").ok(), Some("named"));
        assert_eq!(told.get_str("me").ok(), Some(hosts[place].as_str()));
        assert_eq!(told.get_str("primary").ok(), Some(hosts[0].as_str()));
    }
    assert_eq!(first.ask(&insert()), doc! { "n": 1, "ok": 1.0 });
    set.remove(2).stop().unwrap();
    await_states(&set[0], &[all[0], all[1], ("(not reachable/healthy)", 0.0)]);
    set.remove(0).stop().unwrap();
    elected(&set[0]);
}

#[test]
fn a_set_is_named_only_to_members_that_wait_for_it_and_by_its_hosts() {
    let alone = stub(Script::default());
    let (waiting, _) = waiting();
    let hosts = [alone.address().to_string()];
    for command in [
        initiation(&hosts),
        doc! { "replSetGetStatus": 1, "$db": "admin" },
        doc! { "tareStubJoin": 0, "setName": "named", "hosts": &hosts[..], "$db": "admin" },
    ] {
        assert_eq!(code(&Client::connect(alone.address()).ask(&command)), 94);
    }
    for command in [
        initiation(&[]),
        doc! { "replSetInitiate": 1, "$db": "admin" },
        doc! { "tareStubJoin": 1, "setName": "named", "hosts": &hosts[..], "$db": "admin" },
    ] {
        assert_eq!(
            code(&Client::connect(waiting[0].address()).ask(&command)),
            2
        );
    }
}
