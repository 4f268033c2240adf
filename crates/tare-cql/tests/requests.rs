//! Request bodies as the specifications draw them.
use tare_cql::frame::opcode;
use tare_cql::{
    token, BatchKind, Column, ColumnType, Consistency, Parameters, Protocol, Request, Statement,
    Template,
};

fn statement(markers: usize, partition_key: &[u16]) -> Statement {
    let column = |at| Column {
        name: format!("c{at}"),
        kind: ColumnType::Blob,
    };
    Statement {
        cql: "…".into(),
        id: b"ID".to_vec(),
        result_id: Some(b"META".to_vec()),
        keyspace: "k".into(),
        table: "t".into(),
        columns: (0..markers).map(column).collect(),
        partition_key: partition_key.to_vec(),
        result: Vec::new(),
    }
}

fn full() -> Parameters {
    Parameters {
        consistency: Consistency::LocalQuorum,
        serial: Some(Consistency::LocalSerial),
        page_size: Some(100),
        timestamp: Some(0x0102_0304_0506_0708),
        skip_metadata: true,
    }
}

fn execute(protocol: Protocol, parameters: &Parameters) -> Vec<u8> {
    let template = Template::new(&statement(4, &[0]), parameters, protocol).unwrap();
    let mut request = Request::new();
    request.execute(&template);
    request.value(b"key");
    request.null();
    request.unset();
    request.value_with(|out| out.extend([7, 8]));
    request.paging_state(b"STATE");
    request.finish().unwrap();
    assert_eq!(request.opcode(), opcode::EXECUTE);
    assert_eq!(request.token(), Some(token(b"key")));
    request.body().to_vec()
}

/// What stands behind the flags, the same in both versions: values, page size, paging state,
/// serial consistency, timestamp.
const TAIL: &[u8] = b"\x00\x04\x00\x00\x00\x03key\xff\xff\xff\xff\xff\xff\xff\xfe\x00\x00\x00\x02\
    \x07\x08\x00\x00\x00\x64\x00\x00\x00\x05STATE\x00\x09\x01\x02\x03\x04\x05\x06\x07\x08";

#[test]
fn a_v4_execute_has_its_flags_in_one_byte() {
    // Sections 4.1.4 and 4.1.6: id, consistency, flags 0x3F but for names.
    let wanted = [b"\x00\x02ID\x00\x06\x3f", TAIL].concat();
    assert_eq!(execute(Protocol::V4, &full()), wanted);
}

#[test]
fn a_v5_execute_has_the_result_metadata_id_and_four_bytes_of_flags() {
    let wanted = [b"\x00\x02ID\x00\x04META\x00\x06\x00\x00\x00\x3f", TAIL].concat();
    assert_eq!(execute(Protocol::V5, &full()), wanted);
}

#[test]
fn a_statement_without_markers_has_no_values() {
    let parameters = Parameters::at(Consistency::One);
    let template = Template::new(&statement(0, &[]), &parameters, Protocol::V4).unwrap();
    let mut request = Request::new();
    request.execute(&template);
    request.finish().unwrap();
    assert_eq!(request.body(), b"\x00\x02ID\x00\x01\x00");
    assert_eq!(request.token(), None);
}

#[test]
fn a_request_is_reused_without_a_trace_of_the_last_one() {
    let plain = Parameters::at(Consistency::One);
    let template = Template::new(&statement(1, &[0]), &plain, Protocol::V4).unwrap();
    let mut request = Request::new();
    for _ in 0..2 {
        request.execute(&template);
        request.value(b"x");
        request.finish().unwrap();
        assert_eq!(
            request.body(),
            b"\x00\x02ID\x00\x01\x01\x00\x01\x00\x00\x00\x01x"
        );
        request.execute(&template);
        request.value(b"y");
        request.timestamp(5);
        request.paging_state(b"p");
        request.finish().unwrap();
    }
}

#[test]
fn a_batch_counts_its_statements_and_is_routed_by_the_first() {
    for (protocol, flags) in [
        (Protocol::V4, &b"\x30"[..]),
        (Protocol::V5, b"\x00\x00\x00\x30"),
    ] {
        let parameters = full();
        let first = Template::new(&statement(2, &[1]), &parameters, protocol).unwrap();
        let second = Template::new(&statement(1, &[0]), &parameters, protocol).unwrap();
        let mut request = Request::new();
        request.batch(BatchKind::Unlogged, &parameters, protocol);
        request.statement(&first);
        request.value(b"a");
        request.value(b"key");
        request.statement(&second);
        request.value(b"other");
        request.finish().unwrap();
        // Section 4.1.7.
        let wanted = [
            &b"\x01\x00\x02\x01\x00\x02ID\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x03key"[..],
            b"\x01\x00\x02ID\x00\x01\x00\x00\x00\x05other\x00\x06",
            flags,
            b"\x00\x09\x01\x02\x03\x04\x05\x06\x07\x08",
        ]
        .concat();
        assert_eq!(
            (request.opcode(), request.body()),
            (opcode::BATCH, &wanted[..])
        );
        assert_eq!(request.token(), Some(token(b"key")));
    }
}

#[test]
fn a_wrong_number_of_values_is_refused() {
    let parameters = Parameters::at(Consistency::One);
    let template = Template::new(&statement(2, &[0]), &parameters, Protocol::V4).unwrap();
    let mut request = Request::new();
    request.execute(&template);
    request.value(b"only one");
    let error = request.finish().unwrap_err();
    assert!(error.to_string().contains("1 values for 2"), "{error}");
    request.batch(BatchKind::Logged, &parameters, Protocol::V4);
    request.statement(&template);
    request.statement(&template);
    request.value(b"1");
    request.value(b"2");
    assert!(request.finish().is_err());
}

#[test]
fn a_composite_key_is_gathered_in_the_keys_order() {
    let parameters = Parameters::at(Consistency::One);
    let template = Template::new(&statement(3, &[2, 0]), &parameters, Protocol::V4).unwrap();
    let mut request = Request::new();
    request.execute(&template);
    request.value(b"second");
    request.value(b"no key");
    request.value(b"first");
    let key = b"\x00\x05first\x00\x00\x06second\x00";
    assert_eq!(request.token(), Some(token(key)));
    // A null part of the key has no token; the server will say what is wrong.
    request.execute(&template);
    request.null();
    request.value(b"");
    request.value(b"first");
    assert_eq!(request.token(), None);
}

#[test]
fn prepare_and_query_bodies() {
    let mut request = Request::new();
    request.prepare("SELECT", Some("ks"), Protocol::V4).unwrap();
    assert_eq!(request.body(), b"\x00\x00\x00\x06SELECT");
    request.prepare("SELECT", Some("ks"), Protocol::V5).unwrap();
    assert_eq!(
        request.body(),
        b"\x00\x00\x00\x06SELECT\x00\x00\x00\x01\x00\x02ks"
    );
    request.prepare("SELECT", None, Protocol::V5).unwrap();
    assert_eq!(request.body(), b"\x00\x00\x00\x06SELECT\x00\x00\x00\x00");
    request
        .query("USE k", &Parameters::at(Consistency::One), Protocol::V4)
        .unwrap();
    request.finish().unwrap();
    assert_eq!(request.body(), b"\x00\x00\x00\x05USE k\x00\x01\x00");
}
