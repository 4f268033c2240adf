//! What a request and an answer cost without a network: `cargo run --release --example cost`.
//!
//! Prints nanoseconds for each: a request written from its template, routed, framed and gathered;
//! and an answer found, checked and told apart. The best of several passes, in memory only.
//! Under `valgrind --tool=callgrind` give a small number of rounds, such as 2.
use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

use tare_cql::frame::{opcode, Decoder, Encoder};
use tare_cql::{
    wire, Column, ColumnType, Compression, Consistency, Parameters, Protocol, Reply, ReplyKind,
    Request, Statement, Template,
};

const BATCH: usize = 64;
const PASSES: usize = 200;

fn main() -> Result<(), tare_cql::Error> {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(500);
    for protocol in [Protocol::V4, Protocol::V5] {
        for compression in [Compression::None, Compression::Lz4] {
            let write = best(|| requests(protocol, compression, rounds))?;
            let void = best(|| answers(protocol, compression, &void(), rounds))?;
            let rows = best(|| answers(protocol, compression, &rows(1_000), rounds))?;
            println!(
                "{protocol:?} {compression:?}: request {write:.1} ns, void {void:.1} ns, \
                 row of 1,000 bytes {rows:.1} ns"
            );
        }
    }
    Ok(())
}

/// The least of several passes, in nanoseconds an operation.
fn best(mut pass: impl FnMut() -> Result<f64, tare_cql::Error>) -> Result<f64, tare_cql::Error> {
    let mut least = f64::INFINITY;
    for _ in 0..PASSES {
        least = least.min(pass()?);
    }
    Ok(least)
}

fn per_operation(begun: Instant, rounds: usize) -> f64 {
    begun.elapsed().as_nanos() as f64 / (rounds * BATCH) as f64
}

fn statement() -> Statement {
    Statement {
        cql: String::new(),
        id: vec![7; 16],
        result_id: Some(vec![8; 16]),
        keyspace: String::new(),
        table: String::new(),
        columns: vec![Column {
            name: "key".into(),
            kind: ColumnType::Text,
        }],
        partition_key: vec![0],
        result: Vec::new(),
    }
}

#[inline(never)]
fn requests(
    protocol: Protocol,
    compression: Compression,
    rounds: usize,
) -> Result<f64, tare_cql::Error> {
    let parameters = Parameters {
        skip_metadata: true,
        ..Parameters::at(Consistency::One)
    };
    let template = Template::new(&statement(), &parameters, protocol)?;
    let mut encoder = Encoder::client(protocol, compression);
    encoder.agreed();
    let mut request = Request::new();
    let begun = Instant::now();
    for round in 0..rounds {
        for stream in 0..BATCH {
            request.execute(&template);
            request.value(black_box(b"user6284781860667377211"));
            request.finish()?;
            black_box(request.token());
            encoder.message(stream as i16, request.opcode(), request.body())?;
        }
        let size = black_box(encoder.output().bytes()).len();
        encoder.output().sent(size);
        black_box(round);
    }
    Ok(per_operation(begun, rounds))
}

fn void() -> Vec<u8> {
    let mut body = Vec::new();
    wire::put_int(&mut body, 1);
    body
}

/// One row of ten equal columns without metadata.
fn rows(bytes: usize) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [2, 4, 10, 1] {
        wire::put_int(&mut body, number);
    }
    for _ in 0..10 {
        wire::put_int(&mut body, (bytes / 10) as i32);
        body.extend(std::iter::repeat_n(b'x', bytes / 10));
    }
    body
}

#[inline(never)]
fn answers(
    protocol: Protocol,
    compression: Compression,
    body: &[u8],
    rounds: usize,
) -> Result<f64, tare_cql::Error> {
    let mut server = Encoder::server(protocol, compression);
    server.agreed();
    for stream in 0..BATCH {
        server.message(stream as i16, opcode::RESULT, body)?;
    }
    let bytes = server.output().bytes().to_vec();
    let mut decoder = Decoder::client(protocol, compression);
    decoder.agreed();
    let begun = Instant::now();
    for _ in 0..rounds {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            // Reading from memory does not fail.
            let _ = decoder.input.fill(|room| rest.read(room));
            decoder.messages(|header, body| {
                let reply = Reply {
                    opcode: header.opcode,
                    flags: header.flags,
                    body,
                };
                match reply.kind()? {
                    ReplyKind::Rows(rows) => black_box(rows.len()),
                    _ => black_box(0),
                };
                Ok(())
            })?;
        }
    }
    Ok(per_operation(begun, rounds))
}
