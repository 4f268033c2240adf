//! What a client sees: the set-up of a connection, statements, rows, errors, hostile bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use crate::client::*;
use proptest::prelude::*;
use tare_stub::{Script, Stub};

fn stub() -> Stub {
    Stub::start(Script {
        value_bytes: 3,
        ..Script::default()
    })
    .expect("a stub")
}

#[test]
fn a_connection_is_set_up_as_drivers_do() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    let (stream, opcode, body) = client.ask(OPTIONS, b"");
    assert_eq!((stream, opcode), (7, SUPPORTED));
    assert!(body.windows(4).any(|part| part == b"4/v4"));
    let (_, opcode, body) = client.ask(
        QUERY,
        &query("SELECT * FROM system.local WHERE key='local'"),
    );
    assert_eq!(opcode, RESULT);
    assert!(String::from_utf8_lossy(&body).contains("Murmur3Partitioner"));
}

#[test]
fn a_read_gives_a_row_of_the_table_with_the_key_that_was_asked_for() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    let id = client.prepare("SELECT \"C0\", key FROM keyspace1.standard1 WHERE key = ?");
    let (_, opcode, body) = client.ask(EXECUTE, &execute(&id, &[b"mine"]));
    // Rows; no metadata; two columns; one row; its two cells.
    let expected = b"\0\0\0\x02\0\0\0\x04\0\0\0\x02\0\0\0\x01\0\0\0\x03vvv\0\0\0\x04mine";
    assert_eq!((opcode, &body[..]), (RESULT, &expected[..]));
}

#[test]
fn a_further_table_has_values_of_its_own_length() {
    let stub = Stub::start(Script {
        value_bytes: 3,
        ycsb_tables: vec![("ycsb.large".into(), 5)],
        ..Script::default()
    })
    .expect("a stub");
    let mut client = Client::connect(stub.address());
    let mut length = |table: &str| {
        let cql = format!("SELECT field0, field1 FROM ycsb.{table} WHERE y_id = ?");
        let id = client.prepare(&cql);
        client.ask(EXECUTE, &execute(&id, &[b"k"])).2.len()
    };
    assert_eq!(length("large") - length("usertable"), 2 * (5 - 3));
    assert!(Stub::start(Script {
        ycsb_tables: vec![("no name".into(), 5)],
        ..Script::default()
    })
    .is_err());
}

#[test]
fn writes_and_batches_are_void() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    let id = client.prepare("UPDATE keyspace1.standard1 SET \"C0\" = ? WHERE key = ?");
    assert_eq!(client.ask(EXECUTE, &execute(&id, &[b"a", b"b"])).2, VOID);
    assert_eq!(client.ask(BATCH, &[0, 0, 0, 0, 1, 0]).2, VOID);
}

#[test]
fn the_same_text_has_the_same_id_on_every_stub() {
    let cql = "SELECT * FROM ycsb.usertable WHERE y_id = ?";
    let (one, other) = (stub(), stub());
    let mut client = Client::connect(other.address());
    client.prepare("SELECT key FROM keyspace1.standard1");
    assert_eq!(
        Client::connect(one.address()).prepare(cql),
        client.prepare(cql)
    );
}

#[test]
fn tables_that_a_client_creates_are_there() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    for cql in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TABLE IF NOT EXISTS t (id bigint PRIMARY KEY, data blob)",
    ] {
        assert_eq!(client.ask(QUERY, &query(cql)).1, RESULT, "{cql}");
    }
    client.prepare("INSERT INTO k.t (id, data) VALUES (?, ?)");
    client.prepare("SELECT data FROM t WHERE id = ?");
}

#[test]
fn what_is_wrong_is_told_by_the_codes_of_the_specification() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    let (_, opcode, body) = client.ask(EXECUTE, &execute(b"nonsense", &[]));
    assert_eq!((opcode, code(&body)), (ERROR, 0x2500));
    assert!(body.ends_with(b"\0\x08nonsense"));
    let (_, opcode, body) = client.ask(PREPARE, &long_string("SELECT * FROM k.missing"));
    assert_eq!((opcode, code(&body)), (ERROR, 0x2200));
}

#[test]
fn another_version_is_refused_in_the_words_that_drivers_look_for() {
    let stub = stub();
    let mut client = Client(TcpStream::connect(stub.address()).expect("the stub listens"));
    client
        .0
        .write_all(&[5, 0, 0, 1, STARTUP, 0, 0, 0, 0])
        .expect("open");
    let (stream, opcode, body) = client.receive().expect("an answer");
    assert_eq!((stream, opcode, code(&body)), (1, ERROR, 0x000A));
    assert!(String::from_utf8_lossy(&body).contains("unsupported protocol version (5)"));
    assert_eq!(client.receive(), None);
}

#[test]
fn a_frame_may_come_in_pieces_and_many_at_once() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    client.0.set_nodelay(true).expect("a socket");
    let request = frame(3, OPTIONS, b"");
    for byte in &request {
        client.0.write_all(&[*byte]).expect("open");
    }
    client.0.write_all(&request.repeat(1000)).expect("open");
    for _ in 0..1001 {
        let (stream, opcode, _) = client.receive().expect("an answer");
        assert_eq!((stream, opcode), (3, SUPPORTED));
    }
}

#[test]
fn a_large_request_is_taken_whole() {
    let stub = stub();
    let mut client = Client::connect(stub.address());
    let id = client.prepare("INSERT INTO keyspace1.standard1 (key, \"C0\") VALUES (?, ?)");
    let value = vec![b'v'; 3_000_000];
    assert_eq!(
        client.ask(EXECUTE, &execute(&id, &[b"key", &value])).2,
        VOID
    );
}

/// `make fuzz INPUTS` says how many: the variable goes before the number that is written below.
#[test]
fn as_many_hostile_inputs_are_sent_as_are_asked_for() {
    let itself = std::env::current_exe().expect("a program");
    let done = Command::new(itself)
        .args(["--exact", "protocol::hostile_bytes_harm_nobody_else"])
        .arg("--nocapture")
        .envs([("PROPTEST_CASES", "3"), ("PROPTEST_VERBOSE", "2")])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said.matches("Next test input").count(), 3, "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever one client sends, the next one is served.
    #[test]
    fn hostile_bytes_harm_nobody_else(
        opcode: u8,
        body: Vec<u8>,
        length in prop_oneof![0_u32..200, Just(u32::MAX), Just(0x7FFF_FFFF), Just(256 << 20)],
    ) {
        let stub = stub();
        let mut hostile = TcpStream::connect(stub.address()).expect("the stub listens");
        let bytes = [&[4, 0, 0, 1, opcode][..], &length.to_be_bytes(), &body].concat();
        hostile.write_all(&bytes).expect("open");
        hostile.shutdown(std::net::Shutdown::Write).expect("open");
        // To its end: the stub has dealt with it.
        let _ = hostile.read_to_end(&mut Vec::new());
        prop_assert_eq!(Client::connect(stub.address()).ask(OPTIONS, b"").1, SUPPORTED);
        prop_assert!(stub.stop().is_ok());
    }
}
