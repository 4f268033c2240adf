//! OP_QUERY and OP_REPLY: bytes after the wire protocol's documentation, and what is hostile.
use proptest::prelude::*;
use tare_mongo::{legacy, message};

/// `{ismaster: 1}` for `admin.$cmd`, request 7: length, request id, response to, opcode 2004, flags,
/// the collection's name, documents to pass over, documents wanted (-1).
const GREETING: &[u8] = b"\x3a\0\0\0\x07\0\0\0\0\0\0\0\xd4\x07\0\0\0\0\0\0admin.$cmd\0\0\0\0\0\
\xff\xff\xff\xff\x13\0\0\0\x10ismaster\0\x01\0\0\0\0";
/// `{ok: 1}` to request 7: length, request id, response to, opcode 1, flags, cursor, starting from,
/// documents returned.
const REPLY: &[u8] = b"\x31\0\0\0\x07\0\0\0\x07\0\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
\x01\0\0\0\x0d\0\0\0\x10ok\0\x01\0\0\0\0";

fn greeting_with(at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = GREETING.to_vec();
    bytes[at] = byte;
    bytes
}

#[test]
fn a_greeting_is_read_when_it_has_come_wholly() {
    for length in 0..GREETING.len() {
        assert!(legacy::decode(&GREETING[..length]).unwrap().is_none());
    }
    let both = [GREETING, GREETING].concat();
    let (query, size) = legacy::decode(&both).unwrap().unwrap();
    assert_eq!((query.request_id, size), (7, GREETING.len()));
    let value = query.command.get("ismaster").unwrap();
    assert_eq!(value.and_then(|it| it.number()), Some(1));
}

#[test]
fn it_is_known_by_its_opcode_once_its_header_has_come() {
    assert!(legacy::is_query(GREETING));
    assert!(!legacy::is_query(&GREETING[..message::HEADER - 1]));
    assert!(!legacy::is_query(&greeting_with(12, 0xDD)), "OP_MSG");
}

#[test]
fn what_is_no_command_is_refused() {
    // Lengths, a collection of documents, a document that is longer than the message.
    for (at, byte) in [(0, 15), (3, 0x7F), (3, 0xFF), (26, b'x'), (39, 0x14)] {
        let bytes = greeting_with(at, byte);
        assert!(legacy::decode(&bytes).is_err(), "byte {at} as {byte}");
    }
    for length in message::HEADER..GREETING.len() {
        let mut cut = GREETING[..length].to_vec();
        cut[0] = length as u8;
        assert!(legacy::decode(&cut).is_err(), "cut to {length}");
    }
}

#[test]
fn a_reply_is_written_as_it_is_documented() {
    let mut out = Vec::new();
    legacy::put(&mut out, 7, |out| {
        out.int("ok", 1);
    });
    assert_eq!(out, REPLY);
}

proptest! {
    #[test]
    fn no_bytes_are_a_panic(
        wild in proptest::collection::vec(any::<u8>(), 0..100),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        legacy::is_query(&wild);
        let _ = legacy::decode(&wild);
        let _ = legacy::decode(&greeting_with(at.index(GREETING.len()), byte));
    }
}
