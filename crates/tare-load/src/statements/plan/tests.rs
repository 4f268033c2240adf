//! Tests of binding: every marker needs a generator that fits it.

use std::sync::Arc;

use tare_cql::ColumnType;

use super::*;

fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.to_owned(),
        kind,
    }
}

fn statement(columns: Vec<Column>) -> Statement {
    Statement {
        cql: String::new(),
        id: Vec::new(),
        result_id: None,
        keyspace: "app".to_owned(),
        table: "messages".to_owned(),
        columns,
        partition_key: Vec::new(),
        result: Vec::new(),
    }
}

fn operation(name: &str, values: &str) -> Operation {
    let json = format!(
        r#"{{"name": "{name}", "cql": "...", "weight": 1, "consistency": "ONE", "values": {values}}}"#
    );
    serde_json::from_str(&json).unwrap()
}

fn refused(values: &str, columns: Vec<Column>) -> (String, String) {
    Plan::new(
        &[operation("READ", values)],
        &[statement(columns)],
        Share::WHOLE,
    )
    .unwrap_err()
}

#[test]
fn a_marker_without_a_generator_is_named() {
    let (place, why) = refused("{}", vec![column("user", ColumnType::Text)]);
    assert_eq!(place, "READ.values.user");
    assert!(why.contains("no generator"), "{why}");
}

#[test]
fn a_generator_without_a_marker_is_named_with_the_markers_there_are() {
    let values = r#"{"usr": {"kind": "now"}}"#;
    let (place, why) = refused(values, vec![column("user", ColumnType::Text)]);
    assert_eq!(place, "READ.values.usr");
    assert!(why.ends_with("user"), "{why}");
}

#[test]
fn a_generator_must_fit_the_type_of_its_marker() {
    for (values, kind) in [
        (r#"{"v": {"kind": "now"}}"#, ColumnType::Text),
        (
            r#"{"v": {"kind": "text", "shortest": 5, "longest": 4}}"#,
            ColumnType::Text,
        ),
        (
            r#"{"v": {"kind": "blob", "shortest": 1, "longest": 4}}"#,
            ColumnType::Text,
        ),
        (
            r#"{"v": {"kind": "boolean", "share": 0.5}}"#,
            ColumnType::Int,
        ),
        (
            r#"{"v": {"kind": "constant", "value": "x"}}"#,
            ColumnType::Int,
        ),
        (r#"{"v": {"kind": "like", "marker": "w"}}"#, ColumnType::Int),
    ] {
        let (place, _) = refused(values, vec![column("v", kind)]);
        assert_eq!(place, "READ.values.v", "{values}");
    }
}

#[test]
fn what_is_like_another_marker_has_its_number() {
    let values = r#"{
        "id": {"kind": "number", "distribution": "sequence", "first": 40},
        "name": {"kind": "like", "marker": "id", "format": "n%d"}}"#;
    let columns = vec![
        column("name", ColumnType::Text),
        column("id", ColumnType::Int),
    ];
    let mut plan = Plan::new(
        &[operation("INSERT", values)],
        &[statement(columns)],
        Share::WHOLE,
    )
    .unwrap();
    let Marker::Number(sampler, _) = &mut plan.operations[0].markers[1] else {
        panic!("the second marker is the number");
    };
    assert_eq!(sampler.next(&mut Xoshiro::new(1), None), 40);
    assert!(matches!(plan.operations[0].markers[0], Marker::Like(1, _)));
}

#[test]
fn the_latest_look_at_the_counter_of_what_they_grow_by() {
    let insert = operation(
        "INSERT",
        r#"{"id": {"kind": "number", "distribution": "sequence", "first": 100}}"#,
    );
    let read = operation(
        "READ",
        r#"{"id": {"kind": "number", "distribution": "latest", "first": 0, "last": 99,
            "grown_by": "INSERT"}}"#,
    );
    let id = || statement(vec![column("id", ColumnType::Bigint)]);
    let plan = Plan::new(&[read, insert], &[id(), id()], Share::WHOLE).unwrap();
    let Marker::Number(
        NumberSampler::Latest {
            grown: Some(grown), ..
        },
        _,
    ) = &plan.operations[0].markers[0]
    else {
        panic!("the read follows the insert");
    };
    let sequence = plan.operations[1].sequence().unwrap();
    assert!(Arc::ptr_eq(&grown.counter, &sequence.counter));
}

#[test]
fn who_grows_by_nothing_is_refused() {
    let values = r#"{"id": {"kind": "number", "distribution": "latest", "first": 0, "last": 99,
        "grown_by": "INSERT"}}"#;
    let (_, why) = refused(values, vec![column("id", ColumnType::Bigint)]);
    assert!(why.contains("INSERT"), "{why}");
}
