//! cassandra-stress' columns and partitions against its own classes: the same seeds give the same rows.

mod lines;

use lines::{hex, lines, number, pair};
use tare_draw::stress::{
    salt, Column, ColumnSpec, Contents, Distribution, Kind, Partition, Position, Seed, Shape,
    Visit, PREDEFINED, PROFILE,
};
use tare_draw::Xoshiro;

const COLUMNS: &str = include_str!("golden/stress-columns.txt");
const PARTITIONS: &str = include_str!("golden/stress-partitions.txt");

/// A column of a profile: type, name, cluster, size and population, empty for the default.
fn column([kind, name, cluster, size, population]: [&str; 5]) -> Column {
    let distribution =
        |text: &str| (!text.is_empty()).then(|| Distribution::parse(text).expect(text));
    let spec = ColumnSpec {
        size: distribution(size),
        population: distribution(population),
        cluster: distribution(cluster),
    };
    let kind = Kind::parse(kind).expect(kind);
    Column::new(name, kind, salt(PROFILE, name), &spec).expect(name)
}

#[test]
fn values_of_every_type_are_those_of_the_tool() {
    for fields in lines(COLUMNS, "column") {
        let mut column = column([fields[0], fields[1], fields[2], fields[3], fields[4]]);
        column.set_seed(number(fields[5]));
        assert_eq!(column.cluster_count(), number(fields[6]), "{fields:?}");
        for field in &fields[7..] {
            let (wire, folded) = pair(field);
            let mut value = Vec::new();
            column.write(&mut value);
            assert_eq!(hex(&value), wire, "{:?}", &fields[..6]);
            assert_eq!(
                column.fold(&value, 17),
                number(folded),
                "{:?}",
                &fields[..6]
            );
        }
    }
}

#[test]
fn rows_of_the_predefined_commands_are_those_of_the_tool() {
    for fields in lines(PARTITIONS, "predefined") {
        let mut partition = Partition::new(predefined(fields[0]));
        let seed = Seed::new(number(fields[1]), -1);
        let mut rng = Xoshiro::new(1);
        assert!(partition.begin(&seed, Visit::Read { rows: 1 }, 1.0, &mut rng));
        assert_eq!(hex(&partition.key()[0]), fields[2]);
        let row = partition.next_row(&mut rng).expect("a row");
        for (at, field) in fields[4..].iter().enumerate() {
            let value = row.get(Position::Cell(at)).expect("a value");
            assert_eq!(hex(value), *field, "C{at} of seed {}", fields[1]);
        }
        assert!(partition.next_row(&mut rng).is_none());
    }
}

#[test]
fn the_first_keys_are_the_published_ones() {
    let mut partition = Partition::new(predefined("fixed(34)"));
    let mut rng = Xoshiro::new(1);
    for (seed, key) in [(1, "0P37709P21"), (2, "O8LK79LO61"), (3, "OP001L5930")] {
        partition.begin(&Seed::new(seed, -1), Visit::Read { rows: 1 }, 1.0, &mut rng);
        assert_eq!(partition.key()[0], key.as_bytes());
    }
}

/// The table standard1.
fn predefined(size: &str) -> Shape {
    let made = |name: &str, kind: Kind, size: &str| {
        let spec = ColumnSpec {
            size: Some(Distribution::parse(size).expect(size)),
            ..ColumnSpec::default()
        };
        Column::new(name, kind, salt(PREDEFINED, name), &spec).expect(name)
    };
    let values = (0..5)
        .map(|at| made(&format!("C{at}"), Kind::Blob, size))
        .collect();
    let key = vec![made("key", Kind::HexBlob, "fixed(10)")];
    Shape::new(key, vec![], values, Contents::Arbitrary)
}

#[test]
fn rows_of_partitions_with_clustering_are_those_of_the_tool() {
    let golden = lines(PARTITIONS, "rows");
    let mut visits = None;
    for fields in golden {
        let [name, order, kind, number_of_seed, visit, ..] = fields[..] else {
            panic!("{fields:?}");
        };
        let expected = fields[5..].join("\t");
        let number = number(number_of_seed);
        let mut rng = Xoshiro::new(1);
        let whole = (Visit::Write { chance: 1.0 }, 1.0);
        let found = match kind {
            "read" => rows(
                table(name, order),
                &Seed::new(number, -1),
                Visit::Read { rows: 1_000_000 },
                1.0,
            ),
            "write" => rows(table(name, order), &Seed::new(number, 1), whole.0, 0.5),
            "none" => rows(
                table(name, order),
                &Seed::new(number, 1),
                Visit::Write { chance: 0.0 },
                1.0,
            ),
            _ => {
                // One visit after the other to the same partition.
                if visit == "0" {
                    visits = Some((Partition::new(table(name, order)), Seed::new(number, 3)));
                }
                let (partition, seed) = visits.as_mut().expect("a first visit");
                assert!(partition.begin(seed, whole.0, whole.1, &mut rng));
                drawn(partition, &mut rng)
            }
        };
        assert_eq!(found, expected, "{:?}", &fields[..5]);
    }
}

/// The rows of one visit, written as the golden file has them.
fn rows(shape: Shape, seed: &Seed, visit: Visit, row_share: f64) -> String {
    let mut partition = Partition::new(shape);
    let mut rng = Xoshiro::new(1);
    assert!(partition.begin(seed, visit, row_share, &mut rng));
    drawn(&mut partition, &mut rng)
}

fn drawn(partition: &mut Partition, rng: &mut Xoshiro) -> String {
    let key: Vec<String> = partition.key().iter().map(|value| hex(value)).collect();
    let mut text = key.join(",");
    let cells = (0..9)
        .take_while(|at| {
            (b'a'..=b'z').any(|letter| {
                let name = (letter as char).to_string();
                partition.shape().position(&name) == Some(Position::Cell(*at))
            })
        })
        .count();
    while let Some(row) = partition.next_row(rng) {
        let values: Vec<String> = (0..cells)
            .map(|at| row.get(Position::Cell(at)).map_or("null".to_owned(), hex))
            .collect();
        text.push('\t');
        text.push_str(&values.join(","));
    }
    text
}

/// The tables of the Java program.
fn table(name: &str, order: &str) -> Shape {
    let contents = match order {
        "SORTED" => Contents::Sorted,
        _ => Contents::Arbitrary,
    };
    let (key, clustering, values): (Vec<_>, Vec<_>, Vec<_>) = match name {
        "one" => (
            vec![column(["text", "k", "", "", ""])],
            vec![column(["int", "c", "uniform(1..6)", "", "uniform(1..50)"])],
            vec![
                column(["text", "v", "", "", ""]),
                column(["bigint", "w", "", "", ""]),
            ],
        ),
        "two" => (
            vec![
                column(["int", "k", "", "", ""]),
                column(["uuid", "l", "", "", ""]),
            ],
            vec![
                column(["text", "c", "fixed(3)", "fixed(2)", "uniform(1..100)"]),
                column(["blob", "d", "gaussian(1..5)", "fixed(2)", ""]),
            ],
            vec![column(["double", "v", "", "", ""])],
        ),
        _ => (
            vec![column(["timestamp", "k", "", "", ""])],
            vec![
                column(["bigint", "c", "fixed(2)", "", ""]),
                column(["uuid", "d", "fixed(2)", "", ""]),
                column(["inet", "e", "uniform(1..3)", "", ""]),
            ],
            vec![
                column(["blob", "v", "", "", ""]),
                column(["int", "w", "", "", ""]),
                column(["boolean", "x", "", "", ""]),
            ],
        ),
    };
    Shape::new(key, clustering, values, contents)
}
