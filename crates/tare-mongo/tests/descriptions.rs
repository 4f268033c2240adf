//! What is known of a deployment: which answers and errors count, and which come too late.
use std::time::Duration;

use bson::{doc, oid::ObjectId, Document};
use proptest::prelude::*;
use tare_mongo::document;
use tare_mongo::{
    Answer, Description, Error, Failure, Hello, Host, Reply, Role, TopologyKind, Uri, What,
};

const NAMES: [&str; 3] = ["a:27017", "b:27017", "c:27017"];

fn host(at: usize) -> Host {
    Host::parse(NAMES[at], 27017).unwrap()
}

fn set() -> Description {
    Description::new(&Uri::parse("mongodb://a,b,c/?replicaSet=rs").unwrap())
}

/// What a member of the set says; the first byte of its election, where it is primary.
fn says(primary: Option<u8>) -> Document {
    let mut hello = doc! {
        "setName": "rs", "hosts": NAMES.to_vec(), "maxWireVersion": 21, "setVersion": 1,
        "isWritablePrimary": primary.is_some(), "secondary": primary.is_none(), "ok": 1.0,
    };
    if let Some(election) = primary {
        hello.insert("electionId", ObjectId::from_bytes([election; 12]));
    }
    hello
}

fn versioned(mut body: Document, process: u8, counter: i64) -> Document {
    let process = ObjectId::from_bytes([process; 12]);
    body.insert(
        "topologyVersion",
        doc! { "processId": process, "counter": counter },
    );
    body
}

fn told(known: &mut Description, at: usize, body: &Document) {
    let bytes = body.to_vec().unwrap();
    let (document, _) = document::Document::take(&bytes).unwrap();
    let answer = Answer {
        hello: Hello::read(document).unwrap(),
        address: None,
        round_trip: Duration::from_millis(1),
        at: 0,
    };
    known.answer(&host(at), answer);
}

fn failed(known: &mut Description, at: usize, body: &Document, generation: Option<u64>) {
    let bytes = body.to_vec().unwrap();
    let Err(Error::Server(error)) = Reply::of(&bytes).and_then(|reply| reply.outcome()) else {
        panic!("no error of a server: {body}");
    };
    let failure = Failure {
        what: What::Server(&error),
        shaken: true,
        generation,
        wire: 21,
    };
    known.failed(&host(at), &failure);
}

fn roles(known: &Description) -> Vec<Role> {
    known.servers.iter().map(|server| server.role).collect()
}

fn not_primary() -> Document {
    doc! { "ok": 0.0, "code": 10107, "errmsg": "not primary" }
}

#[test]
fn a_primary_that_was_succeeded_and_answers_late_is_no_primary() {
    let mut known = set();
    told(&mut known, 0, &says(Some(1)));
    told(&mut known, 1, &says(Some(2)));
    assert_eq!(roles(&known), [Role::Unknown, Role::Primary, Role::Unknown]);
    told(&mut known, 0, &says(Some(1)));
    assert_eq!(roles(&known), [Role::Unknown, Role::Primary, Role::Unknown]);
    // The new one being gone makes the old one no primary either.
    known.unreachable(&host(1), "gone");
    told(&mut known, 0, &says(Some(1)));
    assert_eq!(known.kind, TopologyKind::SetWithoutPrimary);
}

#[test]
fn an_answer_that_is_older_than_what_is_known_changes_nothing() {
    let mut known = set();
    told(&mut known, 0, &versioned(says(None), 1, 5));
    told(&mut known, 0, &versioned(says(Some(1)), 1, 4));
    assert_eq!(roles(&known)[0], Role::Secondary);
    // A process that was started anew counts anew.
    told(&mut known, 0, &versioned(says(Some(1)), 2, 0));
    assert_eq!(roles(&known)[0], Role::Primary);
}

#[test]
fn an_error_that_was_said_before_the_election_is_no_news() {
    let mut known = set();
    told(&mut known, 0, &versioned(says(Some(1)), 1, 5));
    failed(&mut known, 0, &versioned(not_primary(), 1, 5), None);
    assert_eq!(roles(&known)[0], Role::Primary);
    failed(&mut known, 0, &versioned(not_primary(), 1, 6), None);
    assert_eq!(known.kind, TopologyKind::SetWithoutPrimary);
}

#[test]
fn a_member_that_stops_takes_its_connections_with_it() {
    let mut known = set();
    told(&mut known, 0, &says(Some(1)));
    failed(&mut known, 0, &not_primary(), None);
    assert_eq!(known.servers[0].generation, 0);
    told(&mut known, 0, &says(Some(1)));
    let stops = doc! { "ok": 0.0, "code": 91, "errmsg": "stopping" };
    failed(&mut known, 0, &stops, None);
    assert_eq!(known.servers[0].generation, 1);
    // A failure on an earlier connection says nothing of the member as it is now.
    told(&mut known, 0, &says(Some(1)));
    failed(&mut known, 0, &stops, Some(0));
    assert_eq!(roles(&known)[0], Role::Primary);
}

#[test]
fn a_member_of_another_set_is_not_believed() {
    let mut known = set();
    let mut other = says(Some(9));
    other.insert("setName", "other");
    told(&mut known, 1, &other);
    let why = &known.strangers[0].1;
    assert_eq!(why, "it is of `other`, not of the replica set `rs`");
    assert!(known.server(&host(1)).is_none());
}

#[test]
fn a_server_that_speaks_another_protocol_is_named() {
    let mut known = set();
    let mut old = says(None);
    old.insert("maxWireVersion", 5);
    told(&mut known, 2, &old);
    let why = known.compatible().unwrap_err();
    assert_eq!(why, "c:27017: OP_MSG: it is older than MongoDB 3.6");
}

proptest! {
    #[test]
    fn members_that_lie_leave_one_primary_at_most(
        answers in proptest::collection::vec(
            (0..3usize, proptest::option::of(0..4u8), 0..20i64, any::<bool>(), 0..5i32), 1..40,
        ),
    ) {
        let mut known = set();
        let mut latest = None;
        for (at, primary, counter, foreign, version) in answers {
            let mut body = versioned(says(primary), 1, counter);
            if foreign {
                body.insert("hosts", vec![format!("x{counter}:1"), NAMES[at].to_owned()]);
            }
            body.insert("setVersion", version);
            told(&mut known, at, &body);
            let primaries = known.servers.iter().filter(|it| it.role == Role::Primary).count();
            prop_assert!(primaries <= 1);
            prop_assert_eq!(primaries == 1, known.kind == TopologyKind::SetWithPrimary);
            // Elections never go back.
            prop_assert!(known.latest_election >= latest);
            latest = known.latest_election;
        }
    }
}
