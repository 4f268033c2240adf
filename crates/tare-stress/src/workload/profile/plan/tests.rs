//! Tests of what a profile's operations are on a table.

use super::*;
use crate::run::table::TableColumn;

fn table(columns: &[(&str, &str, Role)]) -> Table {
    let column = |(name, kind, role): &(&str, &str, Role)| TableColumn {
        name: (*name).to_owned(),
        kind: (*kind).to_owned(),
        role: *role,
    };
    Table {
        columns: columns.iter().map(column).collect(),
    }
}

fn wide() -> Table {
    table(&[
        ("id", "uuid", Role::Key),
        ("At", "timestamp", Role::Clustering),
        ("n", "counter", Role::Value),
        ("tags", "set<text>", Role::Value),
        ("v", "blob", Role::Value),
    ])
}

fn profile(more: &str) -> Profile {
    Profile::read("x.yaml", &format!("keyspace: k\ntable: wide\n{more}")).unwrap()
}

fn insert(words: &[&str]) -> Insert {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Insert::read(Some(&words)).unwrap()
}

fn plan(profile: &Profile, name: &str, insert: &Insert) -> Result<Operation, Usage> {
    let shape = shape(profile, &wide(), Contents::Arbitrary)?;
    let ratios = [(name.to_owned(), 1.0)];
    operations(&ratios, profile, &wide(), &shape, insert).map(|mut found| found.remove(0))
}

#[test]
fn an_insert_is_an_update_that_adds_to_collections_and_counters() {
    let operation = plan(&profile(""), "insert", &insert(&[])).unwrap();
    assert_eq!(
        operation.cql,
        "UPDATE \"wide\" SET \"n\" = \"n\" + ?,\"tags\" = \"tags\" + ?,\"v\" = ? WHERE \"id\" = ? \
         AND \"At\" = ?"
    );
}

#[test]
fn a_table_of_keys_alone_is_inserted_into() {
    let keys = table(&[("id", "uuid", Role::Key), ("c", "int", Role::Clustering)]);
    assert_eq!(
        insert_cql("t", &keys),
        "INSERT INTO \"t\" (\"id\", \"c\") values(?, ?)"
    );
}

#[test]
fn a_range_query_binds_its_tokens() {
    let profile = profile("token_range_queries: {sweep: {columns: '*', page_size: 7}}");
    let operation = plan(&profile, "sweep", &insert(&[])).unwrap();
    assert_eq!(
        operation.cql,
        "SELECT token(\"id\"), \"id\", \"At\", \"n\", \"tags\", \"v\" FROM \"wide\" WHERE \
         token(\"id\") > ? AND token(\"id\") <= ?"
    );
    assert!(matches!(operation.action, Action::Range { page_size: 7 }));
}

#[test]
fn the_command_line_goes_before_the_profile() {
    let profile = profile("insert: {partitions: fixed(3), batchtype: UNLOGGED}");
    let of = |words: &[&str]| match plan(&profile, "insert", &insert(words)).unwrap().action {
        Action::Insert {
            partitions, batch, ..
        } => (partitions.to_string(), batch),
        _ => panic!("not an insert"),
    };
    assert_eq!(of(&[]), ("fixed(3)".to_owned(), BatchKind::Unlogged));
    let given = of(&["partitions=fixed(5)", "batchtype=logged"]);
    assert_eq!(given, ("fixed(5)".to_owned(), BatchKind::Logged));
}

#[test]
fn what_would_not_fit_is_refused_before_anything_is_sent() {
    for (more, why) in [
        (
            "columnspec: [{name: At, cluster: fixed(100M)}]",
            "values are made at once",
        ),
        (
            "columnspec: [{name: At, cluster: fixed(70K)}]",
            "use batchtype: UNLOGGED",
        ),
        (
            "insert: {partitions: fixed(1B), batchtype: UNLOGGED}",
            "rows; at most 10000000",
        ),
    ] {
        let error = plan(&profile(more), "insert", &insert(&[])).unwrap_err().0;
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_type_that_cannot_be_made_is_named() {
    let maps = table(&[
        ("id", "uuid", Role::Key),
        ("m", "map<text, int>", Role::Value),
    ]);
    let error = shape(&profile(""), &maps, Contents::Arbitrary)
        .unwrap_err()
        .0;
    assert!(
        error.contains("column m of wide") && error.contains("map<text, int>"),
        "{error}"
    );
}

#[test]
fn a_bind_marker_that_is_no_column_is_named() {
    let profile = profile("queries: {q: {cql: 'select * from wide where id = ? limit ?'}}");
    let mut operation = plan(&profile, "q", &insert(&[])).unwrap();
    let shape = shape(&profile, &wide(), Contents::Arbitrary).unwrap();
    let column = |name: &str| tare_cql::Column {
        name: name.to_owned(),
        kind: tare_cql::ColumnType::Blob,
    };
    let statement = Statement {
        cql: String::new(),
        id: Vec::new(),
        result_id: None,
        keyspace: String::new(),
        table: String::new(),
        columns: vec![column("id"), column("[limit]")],
        partition_key: Vec::new(),
        result: Vec::new(),
    };
    let error = bind(&mut operation, &statement, &shape).unwrap_err().0;
    assert!(
        error.contains("the bind marker [limit] is no column"),
        "{error}"
    );
}
