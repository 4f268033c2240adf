//! Commands as a server reads them: what the templates and the values between them make together.
use bson::{doc, spec::BinarySubtype, Binary, Bson};
use proptest::prelude::*;
use tare_mongo::message::{self, flag};
use tare_mongo::{
    Collection, Error, Field, ReadMode, ReadPreference, Request, Template, WriteAck, WriteConcern,
};

const SESSION: [u8; 16] = [0xAB; 16];

/// The body of a finished request, and the documents beside it.
fn read(request: &mut Request) -> (bson::Document, Vec<bson::Document>) {
    request.finish().unwrap();
    let (message, size) = message::decode(request.message()).unwrap().unwrap();
    assert_eq!(size, request.message().len());
    let owned = |bytes: Vec<u8>| bson::Document::from_reader(&bytes[..]).unwrap();
    let sequences = message.sequences();
    let beside = sequences.flat_map(|sequence| sequence.documents().collect::<Vec<_>>());
    let beside = beside
        .map(|document| owned(document.unwrap().to_bytes()))
        .collect();
    (owned(message.body.to_bytes()), beside)
}

fn usertable() -> Collection {
    Collection::new("ycsb", "usertable")
}

fn binary(bytes: &[u8]) -> Binary {
    Binary {
        subtype: BinarySubtype::Generic,
        bytes: bytes.to_vec(),
    }
}

#[test]
fn a_lookup_is_a_find_of_one_in_one_batch() {
    let template = Template::find(&usertable(), None).unwrap();
    let mut request = Request::new(SESSION);
    request.find(&template, b"user1");
    let (body, beside) = read(&mut request);
    let wanted = doc! {
        "find": "usertable", "$db": "ycsb", "limit": 1, "singleBatch": true,
        "filter": { "_id": "user1" },
    };
    assert_eq!((body, beside.len()), (wanted, 0));
    assert!(!request.writes() && !request.stays());
}

#[test]
fn a_projection_names_its_fields() {
    let fields = ["field3".to_owned()];
    let template = Template::find(&usertable(), Some(&fields)).unwrap();
    let mut request = Request::new(SESSION);
    request.find(&template, b"user1");
    assert_eq!(
        read(&mut request).0.get_document("projection").unwrap(),
        &doc! { "field3": 1 }
    );
}

#[test]
fn a_scan_goes_up_from_a_key_so_far() {
    let template = Template::scan(&usertable(), None).unwrap();
    let mut request = Request::new(SESSION);
    request.scan(&template, b"user7", 42);
    let wanted = doc! {
        "find": "usertable", "$db": "ycsb", "sort": { "_id": 1 },
        "filter": { "_id": { "$gte": "user7" } }, "limit": 42,
    };
    assert_eq!(read(&mut request).0, wanted);
}

#[test]
fn more_of_a_scan_is_fetched_by_its_cursor() {
    let collection = Collection {
        sessions: true,
        ..usertable()
    };
    let template = Template::get_more(&collection).unwrap();
    let mut request = Request::new(SESSION);
    request.get_more(&template, 1 << 50);
    let (body, _) = read(&mut request);
    assert_eq!(body.get_i64("getMore").unwrap(), 1 << 50);
    assert_eq!(body.get_str("collection").unwrap(), "usertable");
    assert!(body.contains_key("lsid"));
    assert!(request.stays());
}

#[test]
fn an_insert_has_its_documents_beside_it() {
    let template = Template::insert(&usertable(), false).unwrap();
    let field = Field::new("field0").unwrap();
    let mut request = Request::new(SESSION);
    request.write(&template);
    for key in ["user1", "user2"] {
        request.document(key.as_bytes());
        request.field(&field, key.to_uppercase().as_bytes());
    }
    let (body, beside) = read(&mut request);
    assert_eq!(
        body,
        doc! { "insert": "usertable", "$db": "ycsb", "ordered": false }
    );
    let wanted = [
        doc! { "_id": "user1", "field0": binary(b"USER1") },
        doc! { "_id": "user2", "field0": binary(b"USER2") },
    ];
    assert_eq!(beside, wanted);
    assert_eq!(request.documents(), 2);
    assert!(request.writes());
}

#[test]
fn an_update_sets_fields_and_a_replacement_puts_documents() {
    let field = Field::new("field1").unwrap();
    let mut request = Request::new(SESSION);
    request.write(&Template::update(&usertable()).unwrap());
    request.document(b"user1");
    request.field(&field, b"new");
    let (body, beside) = read(&mut request);
    assert_eq!(
        body,
        doc! { "update": "usertable", "$db": "ycsb", "ordered": true }
    );
    let set = doc! { "q": { "_id": "user1" }, "u": { "$set": { "field1": binary(b"new") } } };
    assert_eq!(beside, [set]);

    request.write(&Template::replace(&usertable()).unwrap());
    request.document(b"user1");
    request.field(&field, b"new");
    let put = doc! {
        "q": { "_id": "user1" }, "u": { "_id": "user1", "field1": binary(b"new") }, "upsert": true,
    };
    assert_eq!(read(&mut request).1, [put]);
}

#[test]
fn concerns_and_preferences_are_said_where_they_are_asked_for() {
    let collection = Collection {
        read: ReadPreference {
            mode: ReadMode::SecondaryPreferred,
            ..ReadPreference::default()
        },
        read_concern: Some("majority".into()),
        write_concern: WriteConcern {
            acknowledged: Some(WriteAck::Majority),
            journal: Some(true),
            timeout: Some(std::time::Duration::from_millis(250)),
        },
        ..usertable()
    };
    let mut request = Request::new(SESSION);
    request.find(&Template::find(&collection, None).unwrap(), b"user1");
    let (body, _) = read(&mut request);
    assert_eq!(
        body.get_document("$readPreference").unwrap(),
        &doc! { "mode": "secondaryPreferred" }
    );
    assert_eq!(
        body.get_document("readConcern").unwrap(),
        &doc! { "level": "majority" }
    );
    request.write(&Template::update(&collection).unwrap());
    request.document(b"user1");
    let (body, _) = read(&mut request);
    let wanted = doc! { "w": "majority", "j": true, "wtimeout": 250_i64 };
    assert_eq!(body.get_document("writeConcern").unwrap(), &wanted);
}

#[test]
fn writes_of_a_session_are_numbered_and_reads_are_not() {
    let collection = Collection {
        sessions: true,
        ..usertable()
    };
    let update = Template::update(&collection).unwrap();
    let find = Template::find(&collection, None).unwrap();
    let mut request = Request::new(SESSION);
    let mut numbers = Vec::new();
    for _ in 0..2 {
        request.write(&update);
        request.document(b"user1");
        let (body, _) = read(&mut request);
        let id = body
            .get_document("lsid")
            .unwrap()
            .get("id")
            .unwrap()
            .clone();
        let wanted = Binary {
            subtype: BinarySubtype::Uuid,
            bytes: SESSION.to_vec(),
        };
        assert_eq!(id, Bson::Binary(wanted));
        numbers.push(body.get_i64("txnNumber").unwrap());
        request.find(&find, b"user1");
        let (body, _) = read(&mut request);
        assert!(body.contains_key("lsid") && !body.contains_key("txnNumber"));
    }
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn a_checksum_covers_what_was_written() {
    let collection = Collection {
        checksums: true,
        ..usertable()
    };
    let mut request = Request::new(SESSION);
    request.find(&Template::find(&collection, None).unwrap(), b"user1");
    request.finish().unwrap();
    let (message, _) = message::decode(request.message()).unwrap().unwrap();
    assert_eq!(message.flags, flag::CHECKSUM);
}

#[test]
fn what_is_no_command_is_not_finished() {
    let mut request = Request::new(SESSION);
    assert!(matches!(request.finish(), Err(Error::Protocol(_))));
    request.write(&Template::insert(&usertable(), true).unwrap());
    assert!(matches!(request.finish(), Err(Error::Protocol(_))));
    assert!(matches!(Field::new("a\0b"), Err(Error::Name(_))));
    let odd = Collection::new("ycsb", "a\0b");
    assert!(matches!(Template::find(&odd, None), Err(Error::Name(_))));
}

proptest! {
    #[test]
    fn lengths_fit_whatever_the_values(
        key in "\\PC{0,40}", values in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..300), 0..12,
        ), sessions: bool, checksums: bool,
    ) {
        let collection = Collection { sessions, checksums, ..usertable() };
        let update = Template::update(&collection).unwrap();
        let insert = Template::insert(&collection, true).unwrap();
        let mut request = Request::new(SESSION);
        for template in [&update, &insert] {
            request.write(template);
            request.document(key.as_bytes());
            for (number, value) in values.iter().enumerate() {
                request.field(&Field::new(&format!("field{number}")).unwrap(), value);
            }
            let (_, beside) = read(&mut request);
            prop_assert_eq!(beside.len(), 1);
            let document = match beside[0].get_document("u") {
                Ok(change) => change.get_document("$set").unwrap(),
                Err(_) => {
                    prop_assert_eq!(beside[0].get_str("_id").unwrap(), key.as_str());
                    &beside[0]
                }
            };
            for (number, value) in values.iter().enumerate() {
                let found = document.get(format!("field{number}")).unwrap();
                prop_assert_eq!(found, &Bson::Binary(binary(value)));
            }
        }
    }
}
