//! Answers as the server's manual shows them, and what they come to.
use bson::{doc, Document};
use proptest::prelude::*;
use tare_mongo::{Error, Origin, Reply, ServerError, ServerErrorKind};

fn error(body: &Document) -> ServerError {
    let bytes = body.to_vec().unwrap();
    match Reply::of(&bytes).unwrap().outcome() {
        Err(Error::Server(error)) => error,
        other => panic!("not a server's error: {other:?}"),
    }
}

#[test]
fn a_found_document_stands_in_the_first_batch() {
    let bytes = doc! {
        "cursor": { "firstBatch": [{ "_id": "user1" }, { "_id": "user2" }], "id": 77_i64, "ns": "a.b" },
        "ok": 1.0,
        "$clusterTime": { "clusterTime": bson::Timestamp { time: 1, increment: 1 } },
    }.to_vec()
    .unwrap();
    let outcome = Reply::of(&bytes).unwrap().outcome().unwrap();
    let cursor = outcome.cursor.unwrap();
    assert_eq!((cursor.id, cursor.batch.is_empty()), (77, false));
    let keys: Vec<_> = cursor
        .batch
        .documents()
        .map(|document| {
            document
                .unwrap()
                .get("_id")
                .unwrap()
                .unwrap()
                .text()
                .unwrap()
        })
        .collect();
    assert_eq!(keys, ["user1", "user2"]);
}

#[test]
fn nothing_found_is_an_empty_batch() {
    let bytes = doc! {
        "cursor": { "nextBatch": [], "id": 0_i64, "ns": "a.b" }, "ok": 1.0,
    }
    .to_vec()
    .unwrap();
    let outcome = Reply::of(&bytes).unwrap().outcome().unwrap();
    assert!(outcome.cursor.unwrap().batch.is_empty());
}

#[test]
fn a_write_says_how_much_it_did() {
    let bytes = doc! { "n": 3, "nModified": 2, "ok": 1 }.to_vec().unwrap();
    let outcome = Reply::of(&bytes).unwrap().outcome().unwrap();
    assert_eq!(
        (outcome.count, outcome.modified, outcome.upserted),
        (3, 2, 0)
    );
    let bytes = doc! {
        "n": 1, "nModified": 0, "upserted": [{ "index": 0, "_id": "user1" }], "ok": 1.0,
    }
    .to_vec()
    .unwrap();
    assert_eq!(Reply::of(&bytes).unwrap().outcome().unwrap().upserted, 1);
}

#[test]
fn a_command_that_failed_names_its_code() {
    let error = error(&doc! {
        "topologyVersion": {}, "ok": 0.0, "errmsg": "not primary", "code": 10107,
        "codeName": "NotWritablePrimary",
    });
    assert_eq!(error.origin, Origin::Command);
    assert_eq!(error.kind(), ServerErrorKind::NotPrimary);
    assert_eq!(
        error.to_string(),
        "not primary (code 10107, NotWritablePrimary)"
    );
}

#[test]
fn a_write_that_failed_is_graver_than_its_acknowledgement() {
    let concern = doc! {
        "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting for replication timed out",
    };
    let body = doc! { "n": 1, "writeConcernError": concern.clone(), "ok": 1.0 };
    let late = error(&body);
    assert_eq!(
        (late.origin, late.kind()),
        (Origin::WriteConcern, ServerErrorKind::Timeout)
    );
    let both = error(&doc! {
        "n": 0, "writeConcernError": concern, "ok": 1.0,
        "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "E11000 duplicate key error" }],
    });
    assert_eq!(
        (both.origin, both.kind()),
        (Origin::Write, ServerErrorKind::DuplicateKey)
    );
}

#[test]
fn an_answer_without_ok_is_no_success() {
    assert_eq!(error(&doc! { "n": 1 }).code, 0);
}

proptest! {
    #[test]
    fn bytes_that_changed_are_no_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = doc! {
            "cursor": { "firstBatch": [{ "_id": "user1", "field0": "x" }], "id": 0_i64 },
            "writeErrors": [{ "code": 1 }], "n": 1, "ok": 1.0,
        }.to_vec().unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(outcome) = Reply::of(&bytes).and_then(|reply| reply.outcome()) {
            if let Some(cursor) = outcome.cursor {
                cursor.batch.documents().for_each(drop);
            }
        }
    }
}
