//! Frames as the specifications draw them, byte by byte, in both directions.
use std::io::Read;

use tare_cql::frame::{flag, opcode, segment, Decoder, Encoder, Header};
use tare_cql::{Compression, Error, Protocol};

/// Give `bytes` to a decoder in pieces of `size` and return what it finds.
fn decoded(
    decoder: &mut Decoder,
    bytes: &[u8],
    size: usize,
) -> Result<Vec<(i16, u8, Vec<u8>)>, Error> {
    let mut found = Vec::new();
    for piece in bytes.chunks(size) {
        let mut rest = piece;
        while !rest.is_empty() {
            decoder.input.fill(|room| rest.read(room)).unwrap();
        }
        decoder.messages(|header, body| {
            found.push((header.stream, header.opcode, body.to_vec()));
            Ok(())
        })?;
    }
    Ok(found)
}

#[test]
fn a_v4_request_is_a_header_of_nine_bytes_and_its_body() {
    // Section 2: version, flags, stream, opcode, length; big-endian.
    let mut client = Encoder::client(Protocol::V4, Compression::None);
    client.message(0x0102, opcode::EXECUTE, b"abc").unwrap();
    assert_eq!(
        client.output().bytes(),
        [0x04, 0, 0x01, 0x02, 0x0A, 0, 0, 0, 3, b'a', b'b', b'c']
    );
    client.output().sent(5);
    assert_eq!(client.output().bytes(), [0, 0, 0, 3, b'a', b'b', b'c']);
    client.output().sent(7);
    assert_eq!(client.waiting(), 0);
}

#[test]
fn a_v4_answer_has_the_direction_bit() {
    let mut server = Encoder::server(Protocol::V4, Compression::None);
    server.message(-1, opcode::EVENT, &[]).unwrap();
    assert_eq!(
        server.output().bytes(),
        [0x84, 0, 0xFF, 0xFF, 0x0C, 0, 0, 0, 0]
    );
    let header = Header::decode(server.output().bytes()).unwrap().unwrap();
    assert_eq!(
        (header.version, header.stream, header.length),
        (0x84, -1, 0)
    );
    assert_eq!(Header::decode(&server.output().bytes()[..8]).unwrap(), None);
}

#[test]
fn a_compressed_v4_body_has_its_length_before_the_block() {
    // Section 5. The block by hand: one literal and a match of 15 + 4 + 80 at offset 1, then the
    // five last bytes as literals.
    let block = [0x1F, b'x', 1, 0, 76, 0x50, b'x', b'x', b'x', b'x', b'x'];
    let length = 1 + 15 + 4 + 76 + 5_u32;
    let mut bytes = vec![0x84, flag::COMPRESSED, 0, 9, opcode::RESULT];
    bytes.extend((4 + block.len() as u32).to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(block);
    let mut client = Decoder::client(Protocol::V4, Compression::Lz4);
    let found = decoded(&mut client, &bytes, usize::MAX).unwrap();
    assert_eq!(found, [(9, opcode::RESULT, vec![b'x'; length as usize])]);
    // It is refused where compression was not agreed.
    let mut plain = Decoder::client(Protocol::V4, Compression::None);
    assert!(decoded(&mut plain, &bytes, usize::MAX).is_err());
}

#[test]
fn a_v4_body_that_would_not_shrink_goes_as_it_is() {
    let mut client = Encoder::client(Protocol::V4, Compression::Lz4);
    client.agreed();
    client.message(1, opcode::QUERY, b"short").unwrap();
    assert_eq!(
        client.output().bytes(),
        b"\x04\x00\x00\x01\x07\x00\x00\x00\x05short"
    );
    let size = client.output().bytes().len();
    client.output().sent(size);
    client.message(1, opcode::QUERY, &[7; 1000]).unwrap();
    assert_eq!(client.output().bytes()[1], flag::COMPRESSED);
    assert!(client.output().bytes().len() < 50);
}

#[test]
fn segment_checksums_are_those_of_the_specification() {
    // v5 section 2.1: CRC24 with initial value 0x875060 and polynomial 0x1974F0B; CRC32 of the
    // bytes FA 2D 55 CA before the payload. The numbers are from a bitwise computation elsewhere.
    assert_eq!(segment::crc24(&[0x00, 0x00, 0x02]), 0x00C4_366A);
    assert_eq!(segment::crc24(&[0xFF, 0xFF, 0x01]), 0x00FE_9138);
    assert_eq!(segment::crc24(&[0x09, 0x00, 0x0A, 0x00, 0x04]), 0x0028_E624);
    assert_eq!(segment::crc32(b""), 0x4477_7ED3);
    assert_eq!(segment::crc32(b"123456789"), 0xE2A2_61A7);
}

#[test]
fn a_plain_segment_has_its_length_and_flag_in_three_bytes() {
    // v5 section 2.1: 17 bits of length, the self-contained bit, little-endian.
    assert_eq!(
        segment::plain_header(5, true),
        [0x05, 0x00, 0x02, 0x19, 0x99, 0x9A]
    );
    assert_eq!(
        segment::plain_header(131_071, false)[..3],
        [0xFF, 0xFF, 0x01]
    );
    // v5 section 2.2: two lengths of 17 bits and the flag in five bytes.
    assert_eq!(
        segment::lz4_header(9, Some(5), true)[..5],
        [0x09, 0x00, 0x0A, 0x00, 0x04]
    );
    assert_eq!(
        segment::lz4_header(9, None, true)[..5],
        [0x09, 0x00, 0x00, 0x00, 0x04]
    );
}

#[test]
fn v5_messages_share_a_segment_until_they_are_taken() {
    let mut client = Encoder::client(Protocol::V5, Compression::None);
    client.message(0, opcode::STARTUP, b"s").unwrap();
    assert_eq!(
        client.output().bytes(),
        b"\x05\x00\x00\x00\x01\x00\x00\x00\x01s"
    );
    client.output().sent(10);
    client.agreed();
    client.message(1, opcode::EXECUTE, b"a").unwrap();
    client.message(2, opcode::EXECUTE, b"b").unwrap();
    let payload = b"\x05\x00\x00\x01\x0A\x00\x00\x00\x01a\x05\x00\x00\x02\x0A\x00\x00\x00\x01b";
    let mut wanted = segment::plain_header(payload.len(), true).to_vec();
    wanted.extend(payload);
    wanted.extend(segment::crc32(payload).to_le_bytes());
    assert_eq!(client.output().bytes(), wanted);
    // What comes after a partial write is a segment of its own.
    client.output().sent(3);
    client.message(3, opcode::EXECUTE, b"c").unwrap();
    let mut server = Decoder::server(Protocol::V5, Compression::None);
    server.agreed();
    wanted.splice(3.., client.output().bytes().iter().copied());
    let found = decoded(&mut server, &wanted, 7).unwrap();
    assert_eq!(
        found.iter().map(|(stream, ..)| *stream).collect::<Vec<_>>(),
        [1, 2, 3]
    );
}

#[test]
fn a_large_v5_message_goes_in_several_segments() {
    for compression in [Compression::None, Compression::Lz4] {
        let body: Vec<u8> = (0..300_000_u32)
            .map(|n| (n.wrapping_mul(n) >> 7) as u8)
            .collect();
        let mut server = Encoder::server(Protocol::V5, compression);
        server.agreed();
        server.message(4, opcode::RESULT, b"before").unwrap();
        server.message(5, opcode::RESULT, &body).unwrap();
        server.message(6, opcode::RESULT, b"after").unwrap();
        for size in [usize::MAX, 1000, 131_073] {
            let mut client = Decoder::client(Protocol::V5, compression);
            client.agreed();
            let found = decoded(&mut client, server.output().bytes(), size).unwrap();
            let sizes: Vec<_> = found.iter().map(|(s, _, body)| (*s, body.len())).collect();
            assert_eq!(sizes, [(4, 6), (5, 300_000), (6, 5)]);
            assert_eq!(found[1].2, body);
            assert_eq!(client.waiting(), 0);
        }
    }
}

#[test]
fn a_damaged_segment_is_refused() {
    for compression in [Compression::None, Compression::Lz4] {
        let mut server = Encoder::server(Protocol::V5, compression);
        server.agreed();
        server.message(1, opcode::RESULT, &[5; 100]).unwrap();
        let whole = server.output().bytes().to_vec();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            let mut client = Decoder::client(Protocol::V5, compression);
            client.agreed();
            let found = decoded(&mut client, &damaged, usize::MAX);
            assert!(found.is_err(), "byte {at} of {compression:?}");
        }
    }
}

#[test]
fn lengths_that_no_message_has_are_refused_before_anything_is_allocated() {
    let mut client = Decoder::client(Protocol::V4, Compression::Lz4);
    let huge = [0x84, 0, 0, 1, opcode::RESULT, 0x10, 0, 0, 1];
    assert!(decoded(&mut client, &huge, usize::MAX).is_err());
    // 256 MiB claimed by an lz4 body of four bytes.
    let mut client = Decoder::client(Protocol::V4, Compression::Lz4);
    let bomb = [
        0x84,
        1,
        0,
        1,
        opcode::RESULT,
        0,
        0,
        0,
        8,
        0x10,
        0,
        0,
        0,
        0x1F,
        0,
        1,
        0,
    ];
    assert!(decoded(&mut client, &bomb, usize::MAX).is_err());
    // 256 MiB claimed and not sent: the buffer stays as small as it was.
    let mut client = Decoder::client(Protocol::V4, Compression::None);
    let slow = [0x84, 0, 0, 1, opcode::RESULT, 0x10, 0, 0, 0, 1, 2, 3];
    assert!(decoded(&mut client, &slow, usize::MAX).unwrap().is_empty());
    let room = client.input.fill(|room| Ok(room.len())).unwrap();
    assert!(room <= 256 << 10);
}

#[test]
fn a_frame_of_another_version_is_refused_unless_it_is_an_error() {
    let answer = |opcode| [0x83, 0, 0, 0, opcode, 0, 0, 0, 0];
    let mut client = Decoder::client(Protocol::V4, Compression::None);
    assert!(decoded(&mut client, &answer(opcode::READY), usize::MAX).is_err());
    let mut client = Decoder::client(Protocol::V4, Compression::None);
    assert_eq!(
        decoded(&mut client, &answer(opcode::ERROR), usize::MAX)
            .unwrap()
            .len(),
        1
    );
}
