//! What a MongoDB client sees: greetings, documents in batches, writes, errors, hostile bytes.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use bson::{doc, Bson, Document};
use tare_stub::{Fault, Script, Service, Stall};

use crate::mongo_client::*;

fn find(filter: Document) -> Document {
    doc! { "find": "usertable", "$db": "ycsb", "filter": filter }
}

#[test]
fn it_is_greeted_by_each_of_its_names_and_in_the_old_form() {
    let stub = stub(Script::default());
    let mut client = Client::connect(stub.address());
    let new = client.hello();
    assert_eq!(new.get_bool("isWritablePrimary").ok(), Some(true));
    assert!(new.get_i32("maxWireVersion").unwrap() >= 6 && !new.contains_key("setName"));
    let old = client.greet_of_old(&doc! { "ismaster": 1, "helloOk": true });
    assert_eq!(
        (old.get_bool("ismaster").ok(), old.get_bool("helloOk").ok()),
        (Some(true), Some(true))
    );
    assert_eq!(
        old.get_i32("connectionId").ok(),
        new.get_i32("connectionId").ok()
    );
    assert_eq!(
        client.ask(&doc! { "ping": 1, "$db": "admin" }),
        doc! { "ok": 1.0 }
    );
    let build = client.ask(&doc! { "buildInfo": 1, "$db": "admin" });
    assert!(
        build.contains_key("tareStub"),
        "nobody takes it for MongoDB: {build}"
    );
}

#[test]
fn a_look_up_finds_the_document_with_the_id_that_was_asked_for() {
    let stub = stub(Script {
        value_bytes: 3,
        ..Script::default()
    });
    let mut client = Client::connect(stub.address());
    for id in [
        Bson::from("user7"),
        Bson::from(7),
        Bson::from(bson::oid::ObjectId::from_bytes([7; 12])),
    ] {
        let (found, cursor) = batch(&client.ask(&find(doc! { "_id": id.clone() })));
        assert_eq!((found.len(), cursor), (1, 0));
        assert_eq!(found[0].get("_id"), Some(&id));
        assert_eq!(found[0].len(), 11);
        assert_eq!(found[0].get_binary_generic("field9").unwrap(), b"vvv");
    }
    let mut one = find(doc! { "_id": "user7" });
    one.insert("projection", doc! { "field1": 1, "field3": 1 });
    let (found, _) = batch(&client.ask(&one));
    assert_eq!(
        found[0].keys().collect::<Vec<_>>(),
        ["_id", "field1", "field3"]
    );
}

#[test]
fn what_does_not_fit_into_a_batch_is_fetched_with_get_more() {
    let stub = stub(Script {
        rows: 250,
        ..Script::default()
    });
    let mut client = Client::connect(stub.address());
    let mut scan = find(doc! { "_id": { "$gte": "user5" } });
    scan.insert("limit", 230);
    let (mut found, mut cursor) = batch(&client.ask(&scan));
    assert_eq!(found.len(), 101);
    let more = |cursor: i64| doc! { "getMore": cursor, "$db": "ycsb", "collection": "usertable", "batchSize": 100 };
    while cursor != 0 {
        let (next, rest) = batch(&client.ask(&more(cursor)));
        found.extend(next);
        cursor = rest;
    }
    let ids: Vec<&str> = found
        .iter()
        .map(|one| one.get_str("_id").unwrap())
        .collect();
    assert_eq!((ids.len(), ids[0]), (230, "user5"));
    assert!(
        ids.windows(2).all(|pair| pair[0] < pair[1]),
        "in order, none twice"
    );
    assert_eq!(code(&client.ask(&more(99))), 43);

    let (_, cursor) = batch(&client.ask(&scan));
    let end = doc! { "killCursors": "usertable", "cursors": [cursor], "$db": "ycsb" };
    client.ask(&end);
    assert_eq!(code(&client.ask(&more(cursor))), 43);
    scan.insert("singleBatch", true);
    assert_eq!(batch(&client.ask(&scan)).1, 0);
    // Three finds and two getMores were of the load; what is refused is not.
    assert_eq!(stub.stop().unwrap().requests, 3 + 2);
}

#[test]
fn writes_are_counted_in_the_body_and_beside_it() {
    let stub = stub(Script::default());
    let mut client = Client::connect(stub.address());
    let documents = [doc! { "_id": 1 }, doc! { "_id": 2 }];
    let insert = doc! { "insert": "t", "$db": "d", "ordered": true };
    assert_eq!(
        client.write(&insert, "documents", &documents),
        doc! { "n": 2, "ok": 1.0 }
    );
    let whole = doc! { "insert": "t", "$db": "d", "documents": [{ "_id": 1 }] };
    assert_eq!(client.ask(&whole), doc! { "n": 1, "ok": 1.0 });
    let change = [doc! { "q": { "_id": 1 }, "u": { "$set": { "a": 2 } } }];
    let update = doc! { "update": "t", "$db": "d" };
    assert_eq!(
        client.write(&update, "updates", &change),
        doc! { "n": 1, "nModified": 1, "ok": 1.0 }
    );
    let delete = doc! { "delete": "t", "$db": "d", "deletes": [{ "q": {}, "limit": 1 }] };
    assert_eq!(client.ask(&delete), doc! { "n": 1, "ok": 1.0 });
    assert_eq!(code(&client.ask(&insert)), 2, "nothing to insert");
    // A write that nobody waits for is not answered, nor is it load.
    client.send(MORE_TO_COME, &whole, None);
    assert_eq!(
        client.ask(&doc! { "ping": 1, "$db": "d" }),
        doc! { "ok": 1.0 }
    );
    assert_eq!(stub.stop().unwrap().requests, 4);
}

#[test]
fn what_it_does_not_know_is_an_error_and_the_connection_goes_on() {
    let stub = stub(Script::default());
    let mut client = Client::connect(stub.address());
    assert_eq!(
        code(&client.ask(&doc! { "mapReduce": "t", "$db": "d" })),
        59
    );
    let numbered = doc! { "insert": "t", "$db": "d", "documents": [{}], "txnNumber": 1_i64 };
    assert_eq!(
        code(&client.ask(&numbered)),
        20,
        "alone, it keeps no numbers"
    );
    client.hello();
}

#[test]
fn the_script_is_kept_as_it_is_for_cql() {
    let stub = stub(Script {
        service: Service::Constant(2e6),
        stalls: vec![Stall {
            at: Duration::ZERO,
            length: Duration::from_millis(40),
        }],
        errors: vec![(Fault::Unavailable, 0.5)],
        ..Script::default()
    });
    let mut client = Client::connect(stub.address());
    let begun = Instant::now();
    let answers: Vec<Document> = (0..4)
        .map(|_| client.ask(&find(doc! { "_id": 1 })))
        .collect();
    assert!(begun.elapsed() >= Duration::from_millis(46));
    assert_eq!(code(&answers[0]), 133);
    assert_eq!(answers[1].get_f64("ok").ok(), Some(1.0));
    let report = stub.stop().unwrap();
    assert_eq!(
        (
            report.requests,
            report.answers,
            report.errors["unavailable"]
        ),
        (4, 4, 2)
    );
    assert_eq!(report.mean_service_us, 2000.0);
}

#[test]
fn one_user_is_let_in_and_nobody_else() {
    let stub = stub(Script {
        user: Some(("ann".into(), "secret".into())),
        ..Script::default()
    });
    let mut client = Client::connect(stub.address());
    let asked = doc! { "hello": 1, "$db": "admin", "saslSupportedMechs": "admin.ann" };
    let told = client.ask(&asked);
    let known = told.get_array("saslSupportedMechs").unwrap();
    assert_eq!(known.len(), 2);
    assert_eq!(code(&client.ask(&find(doc! {}))), 13);
    for payload in ["n,,n=bob,r=abc", "nonsense", ""] {
        let payload = bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: payload.as_bytes().to_vec(),
        };
        let start = doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": payload, "$db": "admin" };
        assert_eq!(code(&client.ask(&start)), 18);
    }
    let go_on = doc! { "saslContinue": 1, "conversationId": 1, "payload": "", "$db": "admin" };
    assert_eq!(code(&client.ask(&go_on)), 18);
    assert_eq!(code(&client.ask(&find(doc! {}))), 13);
}

/// A message of these bytes behind a header that tells its true length.
fn message(opcode: i32, rest: &[u8]) -> Vec<u8> {
    let head = [rest.len() as i32 + 16, 1, 0, opcode];
    let mut message: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    message.extend(rest);
    message
}

/// Sends bytes and ends; whether the stub lives on and serves somebody else.
fn survives(stub: &tare_stub::Stub, bytes: &[u8]) -> bool {
    let mut client = Client::connect(stub.address());
    let timeout = Some(Duration::from_secs(5));
    client.socket.set_read_timeout(timeout).unwrap();
    let _ = client.socket.write_all(bytes);
    let _ = client.socket.shutdown(std::net::Shutdown::Write);
    let _ = client.socket.read_to_end(&mut Vec::new());
    let mut other = Client::connect(stub.address());
    other.hello().get_f64("ok").ok() == Some(1.0)
}

#[test]
fn a_document_nested_ten_thousand_deep_is_read_without_a_stack() {
    let stub = stub(Script::default());
    let mut nested = vec![5, 0, 0, 0, 0];
    for _ in 0..10_000 {
        let mut outer = ((nested.len() + 8) as u32).to_le_bytes().to_vec();
        outer.extend(b"\x03a\0");
        outer.extend(&nested);
        outer.push(0);
        nested = outer;
    }
    for name in [&b"\x03find\0"[..], b"\x03hello\0", b"\x03insert\0"] {
        let mut body = ((nested.len() + name.len() + 5) as u32)
            .to_le_bytes()
            .to_vec();
        body.extend(name);
        body.extend(&nested);
        body.push(0);
        let mut rest = vec![0; 5];
        rest.extend(&body);
        assert!(survives(&stub, &message(2013, &rest)));
        let mut query = vec![0; 4];
        query.extend(b"admin.$cmd\0\0\0\0\0\0\0\0\0");
        query.extend(&body);
        assert!(survives(&stub, &message(2004, &query)));
    }
}

#[test]
fn a_length_that_no_message_has_ends_the_connection() {
    let stub = stub(Script::default());
    for length in [0, 15, -1, i32::MIN, i32::MAX, 48_000_001] {
        let mut client = Client::connect(stub.address());
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend([0; 28]);
        client.socket.write_all(&bytes).unwrap();
        assert_eq!(client.receive(), None, "{length}");
    }
    assert!(
        survives(&stub, &message(2012, &[0; 9])),
        "compressed messages are not read"
    );
}
