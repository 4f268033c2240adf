//! Input that no client should send: whatever comes, the stub answers or hangs up.

use std::os::unix::net::UnixStream;

use bson::doc;
use proptest::prelude::*;

use super::member::{Member, Talk};
use crate::script::{Script, Set};
use crate::speech::{Load, Outcome, Speech};

/// A connection's response to these bytes: its answers, and whether it goes on.
fn answered(member: &mut Member, bytes: &[u8]) -> (Vec<u8>, bool) {
    let (mut talk, mut out, mut used) = (Talk::default(), Vec::new(), 0);
    while let Some(length) = Member::length(&bytes[used..]) {
        let Some(request) = bytes.get(used..used.saturating_add(length)) else {
            return (out, length <= Member::LONGEST);
        };
        used += length;
        for may_wait in [true, false] {
            match member.ask(&mut talk, request, may_wait, &mut out) {
                Outcome::Later(_) if may_wait => continue,
                Outcome::Load(load) => load.put(&mut out, None),
                Outcome::Answered => {}
                Outcome::Over | Outcome::Later(_) => return (out, false),
            }
            break;
        }
    }
    (out, true)
}

fn member(script: Script) -> Member {
    let (wake, _) = UnixStream::pair().expect("a pair");
    Member::new(&script, wake).expect("a server")
}

/// A message of these bytes behind a header that tells its true length.
fn message(opcode: i32, rest: &[u8]) -> Vec<u8> {
    let head = [rest.len() as i32 + 16, 1, 0, opcode];
    let mut message: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    message.extend(rest);
    message
}

/// Commands of which some bytes were changed, and that may be cut short.
fn broken() -> impl Strategy<Value = Vec<u8>> {
    let commands = [
        doc! { "find": "t", "filter": { "_id": { "$gte": "user1" } }, "$db": "d", "limit": 3,
        "projection": { "field1": 1 }, "$readPreference": { "mode": "nearest" } },
        doc! { "find": "t", "filter": { "_id": 1 }, "$db": "d", "batchSize": 0 },
        doc! { "hello": 1, "$db": "admin", "topologyVersion": { "processId": 1, "counter": 2_i64 },
        "maxAwaitTimeMS": 9, "saslSupportedMechs": "a.b", "speculativeAuthenticate": { "payload": "" } },
        doc! { "getMore": 1_i64, "collection": "c", "$db": "d", "batchSize": 1 },
        doc! { "killCursors": "c", "cursors": [1_i64, 2_i64], "$db": "d" },
        doc! { "insert": "t", "$db": "d", "documents": [{ "a": 1 }, { "b": [1, { "c": 2 }] }] },
        doc! { "replSetInitiate": { "_id": "r", "members": [{ "_id": 0, "host": "a:1" }] }, "$db": "admin" },
        doc! { "tareStubJoin": 0, "setName": "r", "hosts": ["a:1"], "$db": "admin" },
        doc! { "replSetGetStatus": 1, "$db": "admin" },
        doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-1", "payload": "n,,n=ann,r=b", "$db": "admin" },
        doc! { "saslContinue": 1, "payload": "c=biws,r=b,p=b", "$db": "admin" },
    ];
    let whole = commands.map(|command| command.to_vec().expect("BSON"));
    let changes = any::<[(u16, u8); 3]>();
    (0..whole.len(), changes, any::<u16>(), any::<bool>()).prop_map(
        move |(which, changes, cut, is_old)| {
            let mut body = whole[which].clone();
            for (at, byte) in changes {
                let at = usize::from(at) % (2 * body.len());
                if let Some(place) = body.get_mut(at) {
                    *place = byte;
                }
            }
            body.truncate(body.len().min(4 + usize::from(cut)));
            let (opcode, mut rest) = match is_old {
                false => (2013, vec![0; 5]),
                true => (2004, b"\0\0\0\0admin.$cmd\0\0\0\0\0\0\0\0\0".to_vec()),
            };
            rest.extend(body);
            message(opcode, &rest)
        },
    )
}

fn scripts() -> impl Strategy<Value = Script> {
    (0..300_usize, 0..50_usize, any::<bool>(), any::<bool>()).prop_map(
        |(rows, value_bytes, has_user, is_member)| Script {
            rows,
            value_bytes,
            user: has_user.then(|| ("ann".to_owned(), "secret".to_owned())),
            set: is_member.then(|| Set {
                name: "rs0".to_owned(),
                members: vec!["127.0.0.1:1".to_owned()],
                me: 0,
            }),
            ..Script::default()
        },
    )
}

proptest! {
    #[test]
    fn no_bytes_stop_the_stub(
        script in scripts(),
        wild in proptest::collection::vec(any::<u8>(), 0..300),
        broken in proptest::collection::vec(broken(), 1..20),
    ) {
        let mut member = member(script);
        answered(&mut member, &wild);
        answered(&mut member, &message(2013, &wild));
        answered(&mut member, &message(2004, &wild));
        answered(&mut member, &broken.concat());
        for one in &broken {
            answered(&mut member, one);
        }
        // Other clients are still served.
        let hello = doc! { "hello": 1, "$db": "admin" }.to_vec().expect("BSON");
        let (out, goes_on) = answered(&mut member, &message(2013, &[&[0; 5][..], &hello].concat()));
        prop_assert!(goes_on);
        prop_assert!(bson::Document::from_reader(&out[21..]).is_ok());
    }
}
