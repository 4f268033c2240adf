//! OP_MSG: bytes after the wire protocol's documentation, checksums, and what is hostile.
use std::io::Read;

use proptest::prelude::*;
use tare_mongo::document::{Document, Writer};
use tare_mongo::message::{self, flag, Decoder, HEADER, MAX_MESSAGE};
use tare_mongo::Error;

/// `{ping: 1, $db: "admin"}`, request 7, as the documentation lays a message out: length, request
/// id, response to, opcode 2013, flags, a section of kind 0.
const PING: &[u8] = b"\x33\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00\
\x00\x00\x00\x00\x00\x1e\x00\x00\x00\x10ping\x00\x01\x00\x00\x00\x02$db\x00\x06\x00\x00\x00admin\x00\x00";

fn ping(flags: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let at = message::begin(&mut out, 7, 0, flags);
    Writer::write(&mut out, |out| {
        out.int("ping", 1).text("$db", "admin");
    });
    message::end(&mut out, at);
    out
}

/// The same with a document sequence beside the body.
fn with_sequence() -> Vec<u8> {
    let mut out = ping(0);
    let mut sequence = b"documents\0".to_vec();
    for number in 0..3 {
        Writer::write(&mut sequence, |out| {
            out.int("n", number);
        });
    }
    out.push(message::section::SEQUENCE);
    out.extend((sequence.len() as u32 + 4).to_le_bytes());
    out.extend(sequence);
    message::end(&mut out, 0);
    out
}

#[test]
fn a_message_is_written_as_it_is_documented() {
    assert_eq!(ping(0), PING);
}

#[test]
fn a_message_is_read_when_it_has_come_wholly() {
    for length in 0..PING.len() {
        assert!(message::decode(&PING[..length]).unwrap().is_none());
    }
    let (message, size) = message::decode(PING).unwrap().unwrap();
    assert_eq!(
        (message.request_id, message.response_to, size),
        (7, 0, PING.len())
    );
    assert_eq!(message.body.get("ping").unwrap().unwrap().number(), Some(1));
    assert_eq!(message.sequences().count(), 0);
}

#[test]
fn documents_beside_the_body_are_found() {
    let bytes = with_sequence();
    let (message, _) = message::decode(&bytes).unwrap().unwrap();
    let sequences: Vec<_> = message.sequences().collect();
    assert_eq!(sequences.len(), 1);
    assert_eq!(sequences[0].name, b"documents");
    let number = |document: Result<Document<'_>, Error>| {
        document
            .unwrap()
            .get("n")
            .unwrap()
            .unwrap()
            .number()
            .unwrap()
    };
    assert_eq!(
        sequences[0].documents().map(number).collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[test]
fn a_checksum_is_that_of_the_whole_message() {
    // The check value of CRC-32C (RFC 3720 and others).
    assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
    let mut bytes = ping(flag::CHECKSUM);
    assert_eq!(bytes.len(), PING.len() + 4);
    assert!(message::decode(&bytes).unwrap().is_some());
    message::number(&mut bytes, 99);
    assert_eq!(message::decode(&bytes).unwrap().unwrap().0.request_id, 99);
    for at in (4..bytes.len()).filter(|at| !(12..20).contains(at)) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        assert!(message::decode(&wrong).is_err(), "byte {at}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let with = |at: usize, byte: u8| {
        let mut bytes = PING.to_vec();
        bytes[at] = byte;
        message::decode(&bytes).map(drop)
    };
    // A required flag, an opcode, a kind of section, lengths.
    for (at, byte) in [
        (16, 4),
        (17, 1),
        (12, 1),
        (20, 2),
        (0, 19),
        (3, 0x7F),
        (3, 0xFF),
    ] {
        assert!(with(at, byte).is_err(), "byte {at} as {byte}");
    }
    // Bits above the sixteenth need not be understood.
    assert!(with(18, 1).is_ok());
}

#[test]
fn a_message_has_exactly_one_body() {
    let mut two = ping(0);
    let body = two[20..].to_vec();
    two.extend(body);
    message::end(&mut two, 0);
    assert!(matches!(message::decode(&two), Err(Error::Protocol(why)) if why.contains("two")));
    let mut none = PING[..20].to_vec();
    message::end(&mut none, 0);
    assert!(message::decode(&none).is_err());
}

#[test]
fn a_claimed_length_reserves_nothing() {
    let mut header = PING[..HEADER].to_vec();
    header[..4].copy_from_slice(&(MAX_MESSAGE as u32).to_le_bytes());
    let mut decoder = Decoder::new();
    decoder.input.fill(|room| (&header[..]).read(room)).unwrap();
    assert_eq!(decoder.messages(|_| Ok(())).unwrap(), 0);
    let room = decoder.input.fill(|room| Ok(room.len())).unwrap();
    assert!(room < 1 << 20);
}

/// Everything that one feeding of bytes brings, in pieces of a size.
fn fed(bytes: &[u8], piece: usize) -> Result<Vec<i32>, Error> {
    let mut decoder = Decoder::new();
    let mut ids = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        let mut rest = piece;
        while !rest.is_empty() {
            decoder.input.fill(|room| rest.read(room)).unwrap();
            decoder.messages(|message| {
                ids.push(message.request_id);
                Ok(())
            })?;
        }
    }
    Ok(ids)
}

proptest! {
    #[test]
    fn messages_are_found_however_they_are_cut(count in 1..20usize, piece in 1..200usize) {
        let mut bytes = Vec::new();
        for number in 0..count {
            let mut one = if number % 2 == 0 { with_sequence() } else { ping(flag::CHECKSUM) };
            message::number(&mut one, number as i32);
            bytes.extend(one);
        }
        let wanted: Vec<i32> = (0..count as i32).collect();
        prop_assert_eq!(fed(&bytes, piece).unwrap(), wanted);
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece in 1..50usize) {
        let _ = fed(&bytes, piece);
    }

    #[test]
    fn bytes_that_changed_are_no_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        piece in 1..50usize,
    ) {
        let mut bytes = with_sequence();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(Some((message, _))) = message::decode(&bytes) {
            for sequence in message.sequences() {
                sequence.documents().for_each(drop);
            }
        }
        let _ = fed(&bytes, piece);
    }
}
