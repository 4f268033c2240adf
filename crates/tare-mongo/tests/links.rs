//! One connection against a scripted server: the handshake, the order of answers, what breaks.
#[path = "scripted/scram.rs"]
mod scram;
mod scripted;

use std::io::Write;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::time::Duration;

use bson::doc;
use rustix::event::{poll, PollFd, PollFlags};
use scripted::{refusal, serve, standalone};
use tare_mongo::document;
use tare_mongo::message::{self, flag};
use tare_mongo::{
    call, connect, Collection, Credentials, Error, Flush, Link, Options, Password, Received,
    Request, Template, TlsOptions,
};

/// Wait, read once, and return the answers' tags and counts.
fn receive(link: &mut Link) -> Result<Vec<(u32, i64)>, Error> {
    let mut waiting = [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
    poll(&mut waiting, None).unwrap();
    assert!(matches!(link.read().unwrap(), Received::Bytes(_)));
    let mut found = Vec::new();
    link.replies(|tag, reply| found.push((tag, reply.outcome().unwrap().count)))?;
    Ok(found)
}

fn lookup(key: &str) -> Request {
    let template = Template::find(&Collection::new("ycsb", "usertable"), None).unwrap();
    let mut request = Request::new([0; 16]);
    request.find(&template, key.as_bytes());
    request.finish().unwrap();
    request
}

fn with_password(password: &str) -> Options {
    Options {
        credentials: Some(Credentials {
            user: "ann".into(),
            password: Password(password.into()),
            source: "admin".into(),
            mechanism: None,
        }),
        ..Options::default()
    }
}

#[test]
fn a_connection_says_who_it_is_and_carries_one_request_at_a_time() {
    let (address, served) = serve(|mut peer| {
        let hello = peer.greet(&standalone());
        for count in 1..3 {
            let asked = peer.ask().unwrap();
            peer.answer(&asked, &doc! { "n": count, "ok": 1.0 });
        }
        hello
    });
    let mut link = connect(address, "localhost", &Options::default()).unwrap();
    assert_eq!((link.free(), link.in_flight()), (1, 0));
    for (tag, key) in [(10, "a"), (11, "b")] {
        assert!(link.queue(lookup(key).message(), tag).is_some());
        assert!(
            link.queue(lookup(key).message(), 99).is_none(),
            "it is taken"
        );
        assert_eq!(link.outstanding().collect::<Vec<_>>(), [tag]);
        assert_eq!(link.flush().unwrap(), Flush::Done);
        assert_eq!(receive(&mut link).unwrap(), [(tag, i64::from(tag) - 9)]);
    }
    let hello = served.join().unwrap().body;
    let client = hello.get_document("client").unwrap();
    assert_eq!(
        client
            .get_document("driver")
            .unwrap()
            .get_str("name")
            .unwrap(),
        "tare"
    );
    assert_eq!(
        client
            .get_document("application")
            .unwrap()
            .get_str("name")
            .unwrap(),
        "tare"
    );
}

#[test]
fn a_deeper_connection_is_answered_in_order() {
    let (address, served) = serve(|mut peer| {
        peer.greet(&standalone());
        let asked: Vec<_> = (0..3).map(|_| peer.ask().unwrap()).collect();
        for (count, asked) in asked.iter().enumerate() {
            peer.answer(asked, &doc! { "n": count as i32, "ok": 1.0 });
        }
    });
    let options = Options {
        depth: 3,
        ..Options::default()
    };
    let mut link = connect(address, "localhost", &options).unwrap();
    let mut tickets = Vec::new();
    for tag in 0..3 {
        tickets.push(link.queue(lookup("a").message(), tag).unwrap());
    }
    // Nobody waits for the second one any more; it is answered all the same.
    link.abandon(tickets[1]);
    assert_eq!((link.free(), link.in_flight()), (0, 2));
    link.flush().unwrap();
    let mut found = Vec::new();
    while found.len() < 2 {
        found.extend(receive(&mut link).unwrap());
    }
    assert_eq!(found, [(0, 0), (2, 2)]);
    assert_eq!(link.free(), 3);
    served.join().unwrap();
}

#[test]
fn a_password_is_proven_by_scram_and_never_sent() {
    for extra_step in [false, true] {
        let (address, served) = serve(move |mut peer| {
            let mut hello = standalone();
            hello.insert("saslSupportedMechs", vec!["SCRAM-SHA-1", "SCRAM-SHA-256"]);
            let asked = peer.greet(&hello);
            assert_eq!(
                asked.body.get_str("saslSupportedMechs").unwrap(),
                "admin.ann"
            );
            scram::check(&mut peer, "pencil", extra_step)
        });
        assert!(connect(address, "localhost", &with_password("pencil")).is_ok());
        assert!(served.join().unwrap());
    }
}

#[test]
fn a_wrong_password_is_an_error_that_names_the_server() {
    let (address, served) = serve(|mut peer| {
        let mut hello = standalone();
        hello.insert("saslSupportedMechs", vec!["SCRAM-SHA-256"]);
        peer.greet(&hello);
        scram::check(&mut peer, "pencil", false)
    });
    let error = connect(address, "localhost", &with_password("crayon")).unwrap_err();
    let wanted = format!("{address} refused the credentials: Authentication failed.");
    assert_eq!(error.to_string(), wanted);
    assert!(!served.join().unwrap());
}

#[test]
fn a_server_without_hello_is_asked_by_its_older_name() {
    let (address, served) = serve(|mut peer| {
        peer.greet(&refusal(59, "CommandNotFound", "no such command: 'hello'"));
        let asked = peer.ask().unwrap();
        peer.answer(
            &asked,
            &doc! { "ismaster": true, "maxWireVersion": 6, "ok": 1.0 },
        );
        asked.command().to_owned()
    });
    assert!(connect(address, "localhost", &Options::default()).is_ok());
    assert_eq!(served.join().unwrap(), "isMaster");
}

#[test]
fn a_server_that_is_too_old_is_refused() {
    let (address, _served) =
        serve(|mut peer| peer.greet(&doc! { "ismaster": true, "maxWireVersion": 5, "ok": 1.0 }));
    let error = connect(address, "localhost", &Options::default()).unwrap_err();
    assert!(
        error.to_string().contains("older than MongoDB 3.6"),
        "{error}"
    );
}

#[test]
fn checksums_are_sent_and_checked_where_they_are_asked_for() {
    let (address, served) = serve(|mut peer| {
        let hello = peer.greet(&standalone());
        let asked = peer.ask().unwrap();
        peer.answer(&asked, &doc! { "n": 4, "ok": 1.0 });
        (hello.flags, asked.flags)
    });
    let options = Options {
        checksums: true,
        ..Options::default()
    };
    let mut link = connect(address, "localhost", &options).unwrap();
    let collection = Collection {
        checksums: true,
        ..Collection::new("ycsb", "usertable")
    };
    let mut request = Request::new([0; 16]);
    request.find(&Template::find(&collection, None).unwrap(), b"a");
    request.finish().unwrap();
    link.queue(request.message(), 1).unwrap();
    link.flush().unwrap();
    assert_eq!(receive(&mut link).unwrap(), [(1, 4)]);
    assert_eq!(served.join().unwrap(), (flag::CHECKSUM, flag::CHECKSUM));
}

#[test]
fn an_answer_that_nobody_asked_for_ends_the_connection() {
    let cases: [(i32, u32, &str); 2] = [
        (1000, 0, "which was not asked"),
        (0, flag::MORE_TO_COME, "announces others"),
    ];
    for (more, flags, why) in cases {
        let (address, served) = serve(move |mut peer| {
            peer.greet(&standalone());
            let asked = peer.ask().unwrap();
            peer.answer_with(asked.id + more, flags, &doc! { "ok": 1.0 });
        });
        let mut link = connect(address, "localhost", &Options::default()).unwrap();
        link.queue(lookup("a").message(), 1).unwrap();
        link.flush().unwrap();
        let error = receive(&mut link).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        served.join().unwrap();
    }
}

#[test]
fn a_server_that_says_nothing_or_hangs_up_is_told_from_one_that_is_not_there() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let options = Options {
        connect_timeout: Duration::from_millis(200),
        ..Options::default()
    };
    let error = connect(silent.local_addr().unwrap(), "localhost", &options).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Net(tare_net::Error::TimedOut { what: "hello", .. })
        ),
        "{error}"
    );

    let (address, _served) = serve(drop);
    let error = connect(address, "localhost", &options).unwrap_err();
    assert!(
        error.to_string().contains("perhaps it expects TLS"),
        "{error}"
    );

    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = connect(gone, "localhost", &options).unwrap_err();
    assert!(
        matches!(error, Error::Net(tare_net::Error::Unreachable { .. })),
        "{error}"
    );
}

#[test]
fn tls_is_not_spoken_to_a_server_that_does_not_know_it() {
    let (address, _served) = serve(|mut peer| {
        let _ = peer
            .socket
            .write_all(b"this is no TLS, whatever else it is");
        peer.socket
    });
    let options = Options {
        tls: Some(TlsOptions {
            verify: false,
            ..TlsOptions::default()
        }),
        ..Options::default()
    };
    let error = connect(address, "localhost", &options).unwrap_err();
    assert!(
        matches!(error, Error::Net(tare_net::Error::Tls(_))),
        "{error}"
    );
}

#[test]
fn a_message_that_no_server_takes_is_not_queued() {
    let (address, served) = serve(|mut peer| drop(peer.greet(&standalone())));
    let mut link = connect(address, "localhost", &Options::default()).unwrap();
    assert!(link.queue(&[0; 3], 1).is_none());
    assert_eq!(link.free(), 1);
    served.join().unwrap();
}

/// Documents inside each other, so many.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = vec![5, 0, 0, 0, 0];
    for _ in 0..depth {
        let mut outer = Vec::with_capacity(bytes.len() + 8);
        let at = document::open(&mut outer);
        document::put_key(&mut outer, document::kind::DOCUMENT, "a").unwrap();
        outer.extend(&bytes);
        document::close(&mut outer, at);
        bytes = outer;
    }
    bytes
}

/// A message to request 2, the first after hello, whose body is this.
fn message_of(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let at = message::begin(&mut bytes, 1, 2, 0);
    bytes.extend(body);
    message::end(&mut bytes, at);
    bytes
}

#[test]
fn what_no_server_may_say_ends_a_call_with_its_reason() {
    let yes = doc! { "ok": 1.0 }.to_vec().unwrap();
    let with = |at: usize, word: i32| {
        let mut bytes = message_of(&yes);
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bytes
    };
    let whole = message_of(&yes);
    let cases: [(Vec<u8>, &str); 8] = [
        (with(0, 48_000_001), "a message of 48000001 bytes"),
        (with(0, -1), "a message of -1 bytes"),
        (with(0, 10), "a message of 10 bytes"),
        (with(8, 7), "an answer to 7, which was not asked"),
        (with(12, 1), "a message of opcode 1"),
        (with(21, 3), "a document of 3 bytes"),
        (whole[..whole.len() - 3].to_vec(), "closed the connection"),
        (
            message_of(&nested(10_000)),
            "more than 200 documents inside each other",
        ),
    ];
    for (bytes, why) in cases {
        let (address, served) = serve(move |mut peer| {
            peer.greet(&standalone());
            let asked = peer.ask().unwrap();
            assert_eq!((asked.id, asked.command()), (2, "ping"));
            let _ = peer.socket.write_all(&bytes);
        });
        let mut link = connect(address, "localhost", &Options::default()).unwrap();
        let ping = doc! { "ping": 1, "$db": "admin" }.to_vec().unwrap();
        let error = call(&mut link, &ping, "a ping", Duration::from_secs(5));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(why), "{error}, not {why}");
        served.join().unwrap();
    }
}
