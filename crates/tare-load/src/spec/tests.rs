//! Tests of the specification, and a valid one for the tests of other modules.

use serde_json::Value;
use tare_draw::Share;

use super::*;

const MINIMAL: &str = r#"{"name": "t", "client": "c1", "targets": ["127.0.0.1:9042"],
    "keyspace": "ycsb", "table": "usertable", "phase": "run", "records": 1000, "threads": 32,
    "workload": {"kind": "ycsb", "read": 0.5, "update": 0.5}}"#;

/// The minimal specification as JSON, with some fields set to other JSON values.
pub fn json(changes: &[(&str, &str)]) -> String {
    let mut value: Value = serde_json::from_str(MINIMAL).unwrap();
    for (field, change) in changes {
        value[field] = serde_json::from_str(change).unwrap();
    }
    value.to_string()
}

/// A valid specification with some fields changed.
pub fn spec(changes: &[(&str, &str)]) -> Spec {
    Spec::parse(&json(changes)).unwrap()
}

fn refused(changes: &[(&str, &str)]) -> (String, String) {
    let fatal = Spec::parse(&json(changes)).unwrap_err();
    assert_eq!((fatal.kind, fatal.exit_code()), ("spec", 2));
    (fatal.place, fatal.why)
}

#[test]
fn what_is_left_out_has_its_default() {
    let spec = spec(&[]);
    assert_eq!(
        (spec.warmup_s, spec.measure_s, spec.timeout_s),
        (0.0, 10.0, 5.0)
    );
    assert_eq!((spec.rate, spec.start_at, spec.hlog), (None, None, None));
    assert_eq!(spec.consistency.read, Level::Quorum);
    match spec.workload {
        Workload::Ycsb(ycsb) => assert_eq!((ycsb.fields, ycsb.field_length), (10, 100)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_can_be_set() {
    let spec = spec(&[
        ("rate", "5000"),
        ("arrivals", "\"fixed\""),
        ("consistency", r#"{"read": "ONE", "write": "LOCAL_QUORUM"}"#),
        (
            "workload",
            r#"{"kind": "stress", "read": 1, "write": 3, "columns": 2}"#,
        ),
        ("start_at", "1795264583.5"),
        ("hlog", "\"/tmp/latency-c1.hlog\""),
    ]);
    assert_eq!((spec.rate, spec.arrivals), (Some(5000.0), Arrivals::Fixed));
    assert_eq!(spec.consistency.write, Level::LocalQuorum);
    assert_eq!(spec.workload.weights()[0], ("read", 1.0));
}

#[test]
fn members_of_a_set_are_reached_at_addresses_with_ports() {
    let url = ("mongodb", r#""mongodb://a:1/?replicaSet=rs0""#);
    let there = ("reached", r#"{"a:1": "127.0.0.1:2"}"#);
    assert_eq!(spec(&[url, there]).reached["a:1"], "127.0.0.1:2");
    let (place, why) = refused(&[url, ("reached", r#"{"a:1": "127.0.0.1"}"#)]);
    assert_eq!(place, "reached");
    assert!(why.contains("\"127.0.0.1\""), "{why}");
    assert_eq!(
        refused(&[there]).0,
        "reached",
        "CQL clusters say where they are"
    );
}

#[test]
fn a_client_is_named_or_one_of_several() {
    let alone = spec(&[]).client;
    assert_eq!((alone.name.as_str(), alone.share), ("c1", Share::WHOLE));
    let second = spec(&[("client", r#"{"index": 1, "of": 2}"#)]).client;
    assert_eq!((second.name.as_str(), second.share.of()), ("c2", 2));
    let named = spec(&[("client", r#"{"name": "left", "index": 0, "of": 2}"#)]);
    assert_eq!(named.client.name, "left");
}

#[test]
fn no_two_clients_draw_the_same_numbers() {
    let clients = [
        r#""c1""#,
        r#""c2""#,
        r#"{"index": 0, "of": 2}"#,
        r#"{"index": 1, "of": 2}"#,
        r#"{"name": "c1", "index": 1, "of": 2}"#,
    ];
    let streams: std::collections::BTreeSet<u64> = clients
        .map(|client| spec(&[("client", client)]).stream())
        .into();
    assert_eq!(streams.len(), clients.len());
}

#[test]
fn who_cannot_be_one_of_the_clients_is_refused() {
    for (client, reason) in [
        (r#"{"index": 2, "of": 2}"#, "index must be 0 to 1"),
        (r#"{"index": 0, "of": 0}"#, "of must be 1"),
        (r#"{"index": -1, "of": 2}"#, "invalid value"),
        (r#"{"index": 0}"#, "missing field `of`"),
        (r#"{"index": 0, "off": 2}"#, "unknown field `off`"),
        ("7", "expected a name"),
        (r#"{"index": 0, "of": 1001}"#, "cannot share 1000 records"),
    ] {
        let (place, why) = refused(&[("client", client)]);
        assert_eq!(place, "client");
        assert!(why.contains(reason), "{client}: {why}");
    }
}

#[test]
fn a_schedule_takes_the_place_of_a_rate() {
    let ramp = r#"[{"at_s": 0, "rate": 10}, {"at_s": 5, "rate": 100}]"#;
    assert_eq!(spec(&[("schedule", ramp)]).schedule.len(), 2);
    assert_eq!(refused(&[("schedule", ramp), ("rate", "5")]).0, "rate");
    let back = r#"[{"at_s": 5, "rate": 10}, {"at_s": 0, "rate": 100}]"#;
    assert_eq!(refused(&[("schedule", back)]).0, "schedule");
}

#[test]
fn mixes_name_operations_that_exist() {
    let workload = r#"{"kind": "statements", "operations": [{"name": "READ", "cql": "SELECT 1",
        "weight": 1, "consistency": "ONE", "values": {}}]}"#;
    let mixes = r#"[{"at_s": 0, "weights": {"WRITE": 1}}]"#;
    let (field, why) = refused(&[("workload", workload), ("mixes", mixes)]);
    assert_eq!(field, "mixes.weights");
    assert!(why.contains("WRITE"), "{why}");
    let mixes = r#"[{"at_s": 0, "weights": {"READ": 2}}]"#;
    assert_eq!(
        spec(&[("workload", workload), ("mixes", mixes)])
            .mixes
            .len(),
        1
    );
}

#[test]
fn every_cql_level_is_known_by_its_name() {
    for name in [
        "ANY",
        "ONE",
        "TWO",
        "THREE",
        "QUORUM",
        "ALL",
        "LOCAL_QUORUM",
        "EACH_QUORUM",
        "LOCAL_ONE",
    ] {
        let levels = format!(r#"{{"read": "{name}", "write": "{name}"}}"#);
        let spec = spec(&[("consistency", &levels)]);
        assert_eq!(spec.consistency.read, spec.consistency.write);
    }
}

#[test]
fn a_refusal_names_the_field() {
    let ycsb = |rest: &str| format!(r#"{{"kind": "ycsb", "read": 1, "update": 0, {rest}}}"#);
    let cases = [
        ("targets", "[]".to_owned(), "targets"),
        ("targets", r#"["127.0.0.1"]"#.to_owned(), "targets"),
        ("targets", r#"["127.0.0.1:0"]"#.to_owned(), "targets"),
        ("keyspace", r#""a; DROP""#.to_owned(), "keyspace"),
        ("table", r#""a\"b""#.to_owned(), "table"),
        ("records", "0".to_owned(), "records"),
        ("records", "-5".to_owned(), "records"),
        ("threads", "0".to_owned(), "threads"),
        ("threads", r#""many""#.to_owned(), "threads"),
        ("rate", "0".to_owned(), "rate"),
        ("measure_s", "0".to_owned(), "measure_s"),
        ("warmup_s", "-1".to_owned(), "warmup_s"),
        ("interval_s", "0".to_owned(), "interval_s"),
        ("timeout_s", "0".to_owned(), "timeout_s"),
        ("start_at", "-1".to_owned(), "start_at"),
        (
            "consistency",
            r#"{"read": "SOME", "write": "ONE"}"#.to_owned(),
            "consistency.read",
        ),
        ("workload", ycsb(r#""fields": 0"#), "workload.fields"),
        (
            "workload",
            ycsb(r#""field_length": 0"#),
            "workload.field_length",
        ),
        ("wokload", "1".to_owned(), "wokload"),
    ];
    for (field, value, expected) in cases {
        let (what, why) = refused(&[(field, &value)]);
        assert_eq!(what, expected, "{field} = {value}: {why}");
    }
}

#[test]
fn a_refusal_within_the_workload_names_the_inner_field() {
    let cases = [
        (r#"{"kind": "ycsb", "read": "x", "update": 1}"#, "read: "),
        (
            r#"{"kind": "ycsb", "read": 1, "update": 1, "colums": 1}"#,
            "`colums`",
        ),
        (r#"{"kind": "stress", "read": 1}"#, "`write`"),
        (r#"{"kind": "tpcc"}"#, "kind: "),
        (r#"{"read": 1, "update": 1}"#, "kind: "),
    ];
    for (workload, expected) in cases {
        let (what, why) = refused(&[("workload", workload)]);
        assert_eq!(what, "workload");
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn a_connection_for_each_operation_needs_slices_and_one_thread() {
    let slices = r#"{"length_s": 0.1, "drain_s": 0.03, "warmup": 1, "begins_s": [0, 0.2]}"#;
    let alone = [("threads", "1"), ("slices", slices)];
    let with = |most: &'static str| [&alone[..], &[("connections_per_slice", most)]].concat();
    assert_eq!(spec(&with("64")).connections_per_slice, Some(64));
    for changes in [
        with("0"),
        with("64")[1..].to_vec(),
        [&with("64")[..], &[("rate", "5")]].concat(),
        vec![("threads", "1"), ("connections_per_slice", "64")],
    ] {
        assert_eq!(refused(&changes).0, "connections_per_slice");
    }
}

#[test]
fn a_mix_without_weight_is_refused() {
    let (what, _) = refused(&[("workload", r#"{"kind": "ycsb", "read": 0, "update": 0}"#)]);
    assert_eq!(what, "workload.read");
}

#[test]
fn what_is_not_one_json_object_is_refused() {
    for text in ["", "[]", "{", &format!("{MINIMAL} {MINIMAL}")] {
        assert_eq!(Spec::parse(text).unwrap_err().exit_code(), 2, "{text:?}");
    }
}

#[test]
fn mongodb_knows_the_workloads_of_ycsb_only() {
    let url = ("mongodb", "\"mongodb://127.0.0.1/?replicaSet=rs0\"");
    assert!(spec(&[url]).mongodb.is_some());
    let (place, why) = refused(&[url, ("tls", r#"{"authorities": "ca.pem"}"#)]);
    assert_eq!(place, "tls");
    assert!(why.contains("connection string"), "{why}");
    let stress = r#"{"kind": "stress", "read": 1, "write": 3, "columns": 2}"#;
    let (place, why) = refused(&[url, ("workload", stress)]);
    assert_eq!(place, "mongodb");
    assert_eq!(why, "MongoDB knows the workloads of YCSB only");
}

#[test]
fn slices_are_read_and_those_that_overlap_are_refused() {
    let slices = |begins: &str| {
        format!(r#"{{"length_s": 0.25, "drain_s": 0.03, "warmup": 1, "begins_s": {begins}}}"#)
    };
    let good = spec(&[("slices", &slices("[0, 0.6, 1.2]"))]);
    assert_eq!(good.slices.unwrap().slices().unwrap().count(), 3);
    for begins in [
        "[]",
        "[0]",
        "[0, 0.28]",
        "[0.1, 0.6]",
        "[0, -1]",
        "[0, 1e300]",
    ] {
        let (field, why) = refused(&[("slices", &slices(begins))]);
        assert_eq!(field, "slices", "{begins}");
        assert!(why.contains("must begin at 0"), "{why}");
    }
    let (field, _) = refused(&[("slices", &slices("[0, 0.6]")), ("phase", "\"populate\"")]);
    assert_eq!(field, "slices");
}
