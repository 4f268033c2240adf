//! Against a real server: `TARE_TEST_MONGODB=mongodb://HOST:PORT/ cargo test -p tare-mongo --test
//! server -- --ignored`. FerretDB will do.
use std::os::fd::AsFd;
use std::time::Duration;

use bson::Document;
use rustix::event::{poll, PollFd, PollFlags};
use tare_mongo::document::Writer;
use tare_mongo::{
    call, connect, session_id, Collection, Field, Link, Received, Request, Role, Template,
    Topology, Uri,
};

fn uri() -> Uri {
    let text = std::env::var("TARE_TEST_MONGODB").expect("TARE_TEST_MONGODB is set");
    Uri::parse(&text).unwrap()
}

/// A connection to the member that takes writes.
fn link(uri: &Uri) -> Link {
    let topology = Topology::discover(uri).unwrap();
    let member = &topology.members[topology.writable().unwrap()];
    connect(member.address.unwrap(), &member.host.name, &uri.options).unwrap()
}

fn drop_collection(link: &mut Link, collection: &Collection) {
    let mut command = Vec::new();
    Writer::write(&mut command, |out| {
        out.text("drop", &collection.name);
        out.text("$db", &collection.database);
    });
    // There may be none.
    let _ = call(link, &command, "drop", Duration::from_secs(10));
}

/// What a request is answered with: documents written or matched, those found, the cursor.
fn ask(link: &mut Link, request: &mut Request) -> (i64, Vec<Document>, i64) {
    request.finish().unwrap();
    link.queue(request.message(), 7).unwrap();
    link.flush().unwrap();
    let mut told = None;
    while told.is_none() {
        let mut waiting = [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
        poll(&mut waiting, None).unwrap();
        assert!(matches!(link.read().unwrap(), Received::Bytes(_)));
        link.replies(|tag, reply| {
            assert_eq!(tag, 7);
            let outcome = reply.outcome().unwrap();
            let owned = |bytes: Vec<u8>| Document::from_reader(&bytes[..]).unwrap();
            let (found, cursor) = match outcome.cursor {
                Some(cursor) => {
                    let documents = cursor.batch.documents();
                    let owned = documents.map(|document| owned(document.unwrap().to_bytes()));
                    (owned.collect(), cursor.id)
                }
                None => (Vec::new(), 0),
            };
            told = Some((outcome.count, found, cursor));
        })
        .unwrap();
    }
    told.unwrap()
}

#[test]
#[ignore = "needs a server: TARE_TEST_MONGODB=mongodb://HOST:PORT/ cargo test -p tare-mongo --test server -- --ignored"]
fn documents_that_were_written_are_found_changed_and_scanned() {
    let uri = uri();
    let mut link = link(&uri);
    let collection = Collection::new("tare_test", "usertable");
    drop_collection(&mut link, &collection);
    let field = Field::new("field0").unwrap();
    let key = |number: usize| format!("user{number:04}");
    let mut request = Request::new(session_id());

    request.write(&Template::insert(&collection, true).unwrap());
    for number in 0..250 {
        request.document(key(number).as_bytes());
        request.field(&field, &[number as u8; 100]);
    }
    assert_eq!(ask(&mut link, &mut request).0, 250);

    let find = Template::find(&collection, None).unwrap();
    request.find(&find, key(7).as_bytes());
    let (_, found, _) = ask(&mut link, &mut request);
    assert_eq!(
        found[0].get_binary_generic("field0").unwrap(),
        &vec![7; 100]
    );

    request.write(&Template::update(&collection).unwrap());
    request.document(key(7).as_bytes());
    request.field(&field, b"new");
    assert_eq!(ask(&mut link, &mut request).0, 1);
    request.find(&find, key(7).as_bytes());
    let (_, found, _) = ask(&mut link, &mut request);
    assert_eq!(found[0].get_binary_generic("field0").unwrap(), b"new");

    request.write(&Template::replace(&collection).unwrap());
    request.document(b"user9999");
    request.field(&field, b"upserted");
    assert_eq!(ask(&mut link, &mut request).0, 1);

    request.scan(
        &Template::scan(&collection, None).unwrap(),
        key(20).as_bytes(),
        200,
    );
    let (_, mut found, mut cursor) = ask(&mut link, &mut request);
    let more = Template::get_more(&collection).unwrap();
    while cursor != 0 {
        request.get_more(&more, cursor);
        let (_, next, rest) = ask(&mut link, &mut request);
        found.extend(next);
        cursor = rest;
    }
    let keys: Vec<&str> = found
        .iter()
        .map(|document| document.get_str("_id").unwrap())
        .collect();
    let wanted: Vec<String> = (20..220).map(key).collect();
    assert_eq!(keys, wanted);
    drop_collection(&mut link, &collection);
}

#[test]
#[ignore = "needs a server: TARE_TEST_MONGODB=mongodb://HOST:PORT/ cargo test -p tare-mongo --test server -- --ignored"]
fn a_server_says_what_it_is() {
    let topology = Topology::discover(&uri()).unwrap();
    let roles: Vec<Role> = topology.members.iter().map(|member| member.role).collect();
    assert!(topology.writable().is_some(), "{roles:?}");
}
