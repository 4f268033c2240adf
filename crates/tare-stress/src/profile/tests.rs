//! Tests of reading profiles.

use proptest::prelude::*;

use super::*;

const EXAMPLE: &str = "
keyspace: stresscql
keyspace_definition: |
  CREATE KEYSPACE stresscql WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
table: typestest
table_definition: |
  CREATE TABLE typestest (name text, choice boolean, date timestamp, value blob,
    PRIMARY KEY((name,choice), date))
columnspec:
  - name: name
    size: uniform(1..10)
    population: uniform(1..10)
  - name: date
    cluster: uniform(20..40)
insert:
  partitions: uniform(1..50)
  batchType: LOGGED
  select: uniform(1..10)/10
queries:
  Simple1:
    cql: select * from typestest where name = ? and choice = ? LIMIT 100
    fields: samerow
  range1:
    cql: select * from typestest where name = ? and choice = ? and date >= ? LIMIT 100
token_range_queries:
  all_columns:
    columns: '*'
";

#[test]
fn the_tools_own_example_is_read() {
    let profile = Profile::read("x.yaml", EXAMPLE).unwrap();
    assert_eq!(
        (&*profile.keyspace, &*profile.table),
        ("stresscql", "typestest")
    );
    assert_eq!(
        profile.operations(),
        ["simple1", "range1", "all_columns", "insert", "validate"]
    );
    assert_eq!(profile.queries[0].fields, Fields::SameRow);
    assert_eq!(profile.queries[1].fields, Fields::MultiRow);
    assert_eq!(profile.range_queries[0].page_size, 5000);
    assert_eq!(profile.insert.batch, Some(BatchKind::Logged));
    let name = &profile.columns["name"];
    assert_eq!(name.population.as_ref().unwrap().text, "uniform(1..10)");
    assert!(name.cluster.is_none());
}

#[test]
fn what_is_wrong_is_named() {
    for (profile, why) in [
        ("table: t", "keyspace name is required"),
        ("keyspace: k\ntable: t\nquerys: {}", "did you mean queries?"),
        ("keyspace: k\ntable: 't; drop'", "letters, digits and _"),
        (
            "keyspace: k\ntable: t\ncolumnspec: [{size: fixed(1)}]",
            "Missing name argument",
        ),
        (
            "keyspace: k\ntable: t\ncolumnspec: [{name: a, size: fix(1)}]",
            "columnspec of a: size",
        ),
        (
            "keyspace: k\ntable: t\nqueries: {q: {fields: samerow}}",
            "cql is missing",
        ),
        (
            "keyspace: k\ntable: t\nqueries: {q: {cql: x, fields: all}}",
            "samerow or multirow",
        ),
        (
            "keyspace: k\ntable: t\ninsert: {batchtype: FAST}",
            "must be LOGGED",
        ),
        (
            "keyspace: k\ntable: t\nqueries: {q: {cql: x}}\ntoken_range_queries: {q: {columns: x}}",
            "both queries and token_range_queries",
        ),
    ] {
        let error = Profile::read("x.yaml", profile).unwrap_err().0;
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn profiles_from_the_network_are_refused() {
    let error = Profile::load("http://10.0.0.1/x.yaml").unwrap_err().0;
    assert!(error.contains("fetch it first"), "{error}");
}

proptest! {
    #[test]
    fn no_change_of_a_profile_makes_it_panic(
        at in 0..EXAMPLE.len(), length in 0usize..40, put in "[ -~\n]{0,20}",
    ) {
        let end = (at + length).min(EXAMPLE.len());
        let text = format!("{}{put}{}", &EXAMPLE[..at], &EXAMPLE[end..]);
        let _ = Profile::read("x.yaml", &text);
    }
}
