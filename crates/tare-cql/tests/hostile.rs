//! Whatever a peer sends: round trips come back, damage is an error, nothing panics.
use std::io::Read;

use proptest::prelude::*;
use tare_cql::frame::{opcode, Decoder, Encoder};
use tare_cql::{Compression, Error, Protocol, Reply, ReplyKind, ServerError, Statement};

type Found = Vec<(i16, u8, Vec<u8>)>;

fn give(decoder: &mut Decoder, mut bytes: &[u8], found: &mut Found) -> Result<(), Error> {
    while !bytes.is_empty() {
        decoder.input.fill(|room| bytes.read(room)).unwrap();
        decoder.messages(|header, body| {
            found.push((header.stream, header.opcode, body.to_vec()));
            walk(&Reply {
                opcode: header.opcode,
                flags: 0,
                body,
            });
            Ok(())
        })?;
    }
    Ok(())
}

/// Decode all that a reply holds; errors are fine.
fn walk(reply: &Reply<'_>) {
    match reply.kind() {
        Ok(ReplyKind::Rows(rows)) => {
            let _ = rows.columns();
            let cells: usize = rows.iter().flatten().map(|row| row.cells().count()).sum();
            assert!(cells <= reply.body.len());
        }
        Ok(ReplyKind::Error(error)) => {
            let _ = error.decode();
        }
        _ => {}
    }
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop_oneof![Just(Protocol::V4), Just(Protocol::V5)]
}

fn compression() -> impl Strategy<Value = Compression> {
    prop_oneof![Just(Compression::None), Just(Compression::Lz4)]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => proptest::collection::vec(any::<u8>(), 0..200),
        4 => (any::<u8>(), 0_usize..5_000).prop_map(|(byte, count)| vec![byte; count]),
        1 => (any::<u8>(), 100_000_usize..300_000).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

fn messages() -> impl Strategy<Value = Found> {
    proptest::collection::vec((0..i16::MAX, 0_u8..0x11, body()), 0..20)
}

fn encode(protocol: Protocol, compression: Compression, messages: &Found) -> Vec<u8> {
    let mut server = Encoder::server(protocol, compression);
    server.agreed();
    for (stream, opcode, body) in messages {
        server.message(*stream, *opcode, body).unwrap();
    }
    server.output().bytes().to_vec()
}

fn client(protocol: Protocol, compression: Compression) -> Decoder {
    let mut client = Decoder::client(protocol, compression);
    client.agreed();
    client
}

proptest! {
    #[test]
    fn messages_come_back_as_they_were_sent(
        protocol in protocol(),
        compression in compression(),
        messages in messages(),
        piece in 1_usize..70_000,
    ) {
        let bytes = encode(protocol, compression, &messages);
        let mut decoder = client(protocol, compression);
        let mut found = Found::new();
        for piece in bytes.chunks(piece) {
            give(&mut decoder, piece, &mut found).unwrap();
        }
        prop_assert_eq!(found, messages);
        prop_assert_eq!(decoder.waiting(), 0);
    }

    #[test]
    fn what_is_cut_off_is_waited_for_and_nothing_else_changes(
        protocol in protocol(),
        compression in compression(),
        messages in messages(),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = encode(protocol, compression, &messages);
        let mut found = Found::new();
        let mut decoder = client(protocol, compression);
        give(&mut decoder, &bytes[..cut.index(bytes.len() + 1)], &mut found).unwrap();
        prop_assert_eq!(&found[..], &messages[..found.len()]);
    }

    #[test]
    fn garbage_never_panics(
        protocol in protocol(),
        compression in compression(),
        bytes in proptest::collection::vec(any::<u8>(), 0..2_000),
    ) {
        let _ = give(&mut client(protocol, compression), &bytes, &mut Found::new());
        let _ = give(&mut Decoder::server(protocol, compression), &bytes, &mut Found::new());
    }

    #[test]
    fn a_damaged_stream_never_panics(
        protocol in protocol(),
        compression in compression(),
        messages in messages(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = encode(protocol, compression, &messages);
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let _ = give(&mut client(protocol, compression), &bytes, &mut Found::new());
    }

    #[test]
    fn bodies_of_garbage_never_panic(
        kind in 0_u8..6,
        tail in proptest::collection::vec(prop_oneof![Just(0_u8), 0_u8..50, any::<u8>()], 0..300),
    ) {
        let mut body = vec![0, 0, 0, kind];
        body.extend(&tail);
        walk(&Reply { opcode: opcode::RESULT, flags: 0, body: &body });
        walk(&Reply { opcode: opcode::ERROR, flags: 0, body: &body });
        let _ = ServerError::decode(&tail);
        let _ = Statement::decode("", &tail, Protocol::V4);
        let _ = Statement::decode("", &tail, Protocol::V5);
    }
}

/// A type nested without end, in a result's metadata and in a prepared statement's.
#[test]
fn types_without_end_are_refused() {
    let list = [0x00, 0x20].repeat(100_000);
    let rows = [
        &[0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..],
        &list,
    ]
    .concat();
    let reply = Reply {
        opcode: opcode::RESULT,
        flags: 0,
        body: &rows,
    };
    assert!(matches!(reply.kind(), Err(Error::Protocol(_))));
    let prepared = [
        &[0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &list,
    ]
    .concat();
    assert!(matches!(
        Statement::decode("", &prepared, Protocol::V4),
        Err(Error::Protocol(_))
    ));
}
