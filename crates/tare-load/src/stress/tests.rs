//! Tests of the rows: they are the tool's, bit for bit.

use super::*;
use crate::spec::tests::spec;

fn rows(workload: &str) -> StressRows {
    let spec = spec(&[("workload", workload), ("table", "\"standard1\"")]);
    match &spec.workload {
        crate::spec::Workload::Stress(stress) => StressRows::new(stress, &spec).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn only_seat() -> Seat {
    Seat {
        worker: 0,
        workers: 1,
        slots: 0..1,
    }
}

const MIXED: &str = r#"{"kind": "stress", "read": 1, "write": 1}"#;

#[test]
fn rows_are_the_tools_bit_for_bit() {
    let mut cells = rows(MIXED).cells;
    let mut key = Vec::new();
    for (row, expected, begins) in [
        (0, b"0P37709P21", [0x85, 0x18, 0x2f, 0xdf]),
        (1, b"O8LK79LO61", [0xb8, 0xe0, 0x53, 0x20]),
        (2, b"OP001L5930", [0x5f, 0xf0, 0x84, 0x59]),
    ] {
        cells.write_key(row, &mut key);
        assert_eq!(&key, expected);
        cells.seed_columns(&key);
        let mut value = Vec::new();
        cells.columns[0].write(&mut value);
        assert_eq!((value.len(), &value[..4]), (34, &begins[..]));
    }
}

#[test]
fn statements_are_the_tools() {
    let workload = r#"{"kind": "stress", "read": 1, "write": 1, "columns": 2}"#;
    let cql: Vec<String> = rows(workload)
        .statements()
        .into_iter()
        .map(|s| s.cql)
        .collect();
    let table = r#""ycsb"."standard1""#;
    assert_eq!(
        cql[0],
        format!(r#"SELECT "C0","C1" FROM {table} WHERE KEY=?"#)
    );
    assert_eq!(
        cql[1],
        format!(r#"UPDATE {table} SET "C0" = ?,"C1" = ? WHERE KEY=?"#)
    );
}

#[test]
fn counters_are_raised() {
    let workload = r#"{"kind": "stress", "read": 1, "write": 1, "columns": 1, "counter": true}"#;
    let rows = rows(workload);
    assert!(rows.statements()[1]
        .cql
        .contains(r#"SET "C0"="C0"+? WHERE"#));
    assert_eq!(rows.operations(), ["COUNTER_READ", "COUNTER_WRITE"]);
}

#[test]
fn draws_stay_among_the_rows() {
    for distribution in ["gaussian", "uniform", "sequence"] {
        let workload = format!(
            r#"{{"kind": "stress", "read": 1, "write": 1, "distribution": "{distribution}"}}"#
        );
        let mut source = rows(&workload).source(only_seat(), &[]);
        let drawn: Vec<u64> = (0..5000).map(|_| source.row()).collect();
        assert!(drawn.iter().all(|&row| row < 1000), "{distribution}");
        assert!(drawn.iter().any(|&row| row < 500) && drawn.iter().any(|&row| row > 500));
    }
}

#[test]
fn clients_that_go_through_the_rows_in_turn_never_ask_for_the_same() {
    let workload = r#"{"kind": "stress", "read": 1, "write": 1, "distribution": "sequence"}"#;
    let drawn = |client: &str| {
        let spec = spec(&[("workload", workload), ("records", "5"), ("client", client)]);
        let crate::spec::Workload::Stress(stress) = &spec.workload else {
            panic!("{:?}", spec.workload);
        };
        let rows = StressRows::new(stress, &spec).unwrap();
        let mut source = rows.source(only_seat(), &[]);
        (0..4).map(|_| source.row()).collect::<Vec<_>>()
    };
    assert_eq!(drawn(r#"{"index": 0, "of": 2}"#), [0, 2, 4, 0]);
    assert_eq!(drawn(r#"{"index": 1, "of": 2}"#), [1, 3, 1, 3]);
}
