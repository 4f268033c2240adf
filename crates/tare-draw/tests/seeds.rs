//! Which partitions a load visits: sequences, drawn populations, revisits, lookback.

mod lines;

use std::collections::{HashMap, HashSet};

use lines::{hex, lines, number, pair};

use tare_draw::stress::{
    salt, Column, ColumnSpec, Contents, Distribution, Kind, Partition, Population, Release, Seed,
    Seeds, Shape, Visit, PROFILE,
};
use tare_draw::Xoshiro;

fn distribution(text: &str) -> Distribution {
    Distribution::parse(text).expect(text)
}

fn sequence(first: i64, last: i64, wrap: bool) -> Population {
    Population::Sequence {
        first,
        last,
        wrap,
        lookback: None,
    }
}

/// A sequence that ends, whose reads follow its writes.
fn followed(first: i64, last: i64) -> Population {
    Population::Sequence {
        first,
        last,
        wrap: false,
        lookback: Some(distribution("fixed(1)")),
    }
}

fn seeds(population: Population, visits: &str, revisit: &str) -> Seeds {
    Seeds::new(population, distribution(visits), distribution(revisit)).expect("seeds")
}

/// Seeds of which each is visited once.
fn once(population: Population) -> Seeds {
    seeds(population, "fixed(1)", "uniform(1..1M)")
}

fn numbers(seeds: &Seeds, count: usize) -> Vec<i64> {
    let mut rng = Xoshiro::new(1);
    (0..count)
        .map_while(|_| seeds.next_write(&mut rng).map(|seed| seed.number()))
        .collect()
}

const RELEASES: [(Release, &str); 2] = [
    (
        Release::V3_11,
        include_str!("golden/stress-release-3.11.txt"),
    ),
    (Release::V4_0, include_str!("golden/stress-release-4.0.txt")),
];

#[test]
fn each_release_has_its_own_seeds() {
    for (release, golden) in RELEASES {
        for fields in lines(golden, "seeds") {
            let population = match fields[1].split_once('=') {
                Some(("seq", range)) => {
                    let (first, last) = range.split_once("..").expect("a range");
                    sequence(number(first), number(last), true)
                }
                Some((_, text)) => Population::Distribution(distribution(text)),
                None => panic!("{fields:?}"),
            };
            let seeds = seeds(population, "fixed(1)", fields[0]).for_release(release);
            let theirs: Vec<i64> = fields[2..].iter().map(|field| number(field)).collect();
            assert_eq!(
                numbers(&seeds, theirs.len()),
                theirs,
                "{release:?} {:?}",
                &fields[..2]
            );
        }
    }
}

#[test]
fn each_release_has_its_own_booleans() {
    for (release, golden) in RELEASES {
        for fields in lines(golden, "column") {
            let salt = salt(PROFILE, fields[1]);
            let spec = ColumnSpec::default();
            let column = Column::new(fields[1], Kind::Boolean, salt, &spec);
            let mut column = column.expect("a column").for_release(release);
            column.set_seed(number(fields[5]));
            for field in &fields[7..] {
                let mut value = Vec::new();
                column.write(&mut value);
                let (wire, folded) = pair(field);
                assert_eq!(hex(&value), wire, "{release:?} {:?}", &fields[..6]);
                assert_eq!(column.fold(&value, 17), number(folded));
            }
        }
    }
}

#[test]
fn lookback_meets_the_partitions_that_a_later_release_writes() {
    let seeds = once(followed(1, 9)).for_release(Release::V4_0);
    let mut rng = Xoshiro::new(1);
    let written = seeds.next_write(&mut rng).expect("a seed");
    seeds.answered(&written);
    let read = seeds.next_read(&mut rng).expect("a seed");
    assert_eq!(read.number(), written.number());
}

#[test]
fn a_sequence_wraps_or_ends() {
    let wrapping = once(sequence(5, 7, true));
    assert_eq!(numbers(&wrapping, 7), [5, 6, 7, 5, 6, 7, 5]);
    let ending = once(sequence(5, 7, false));
    assert_eq!(numbers(&ending, 7), [5, 6, 7]);
}

#[test]
fn reads_and_writes_share_a_sequence_without_lookback() {
    let seeds = once(sequence(1, 4, false));
    let mut rng = Xoshiro::new(1);
    assert_eq!(seeds.next_read(&mut rng).map(|seed| seed.number()), Some(1));
    assert_eq!(
        seeds.next_write(&mut rng).map(|seed| seed.number()),
        Some(2)
    );
}

#[test]
fn a_drawn_population_stays_within_its_distribution_and_a_counted_one_counts_for_all() {
    let drawn = once(Population::Distribution(distribution("uniform(3..9)")));
    let found: HashSet<i64> = numbers(&drawn, 500).into_iter().collect();
    assert_eq!(found, (3..=9).collect());
    let counted = once(Population::Distribution(distribution("seq(1..3)")));
    assert_eq!(numbers(&counted, 5), [1, 2, 3, 1, 2]);
}

#[test]
fn workers_share_one_sequence() {
    let seeds = once(sequence(1, 4000, false));
    let found: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| numbers(&seeds, 4000)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker"))
            .collect()
    });
    let all: HashSet<i64> = found.iter().flatten().copied().collect();
    assert_eq!(all.len(), 4000);
    assert_eq!(found.iter().map(Vec::len).sum::<usize>(), 4000);
}

#[test]
fn lookback_reads_only_what_is_written_without_a_gap() {
    let seeds = once(followed(11, 20));
    assert!(seeds.looks_back());
    let mut rng = Xoshiro::new(1);
    let written: Vec<Seed> = (0..4).filter_map(|_| seeds.next_write(&mut rng)).collect();
    let mut read = || seeds.next_read(&mut rng).map(|seed| seed.number());
    assert_eq!(read(), Some(11), "nothing is written yet");
    assert!(!seeds.is_begun());
    seeds.answered(&written[1]);
    seeds.answered(&written[2]);
    assert_eq!(read(), Some(11), "the first one is still under way");
    assert!(!seeds.is_begun());
    seeds.answered(&written[0]);
    assert_eq!(read(), Some(13), "one behind the third");
    assert!(seeds.is_begun());
}

/// A table with up to 20 rows in a partition.
fn shape() -> Shape {
    let column = |name: &str, cluster: &str| {
        let spec = ColumnSpec {
            cluster: Some(distribution(cluster)),
            ..ColumnSpec::default()
        };
        Column::new(name, Kind::Bigint, salt(PROFILE, name), &spec).expect(name)
    };
    Shape::new(
        vec![column("k", "fixed(1)")],
        vec![column("c", "uniform(10..20)")],
        vec![column("v", "fixed(1)")],
        Contents::Arbitrary,
    )
}

#[test]
fn partitions_of_many_visits_are_written_whole_and_each_row_once() {
    let seeds = seeds(sequence(1, 30, false), "fixed(4)", "uniform(1..10)");
    let mut rng = Xoshiro::new(7);
    let mut partition = Partition::new(shape());
    let mut written: HashMap<i64, Vec<Vec<u8>>> = HashMap::new();
    let c = partition.shape().position("c").expect("the column c");
    while let Some(seed) = seeds.next_write(&mut rng) {
        let visit = Visit::Write { chance: 1.0 };
        if partition.begin(&seed, visit, 1.0, &mut rng) {
            while let Some(row) = partition.next_row(&mut rng) {
                let value = row.get(c).expect("a value").to_vec();
                written.entry(seed.number()).or_default().push(value);
            }
        }
        seeds.wrote(&seed, partition.ending().expect("the visit's end"));
    }
    // Every partition that was left behind in the pool at the end of the sequence may lack its last
    // visits; all others are whole.
    let mut whole = 0;
    for (number, rows) in &written {
        let distinct: HashSet<_> = rows.iter().collect();
        assert_eq!(distinct.len(), rows.len(), "partition {number}");
        let all = {
            let mut count = 0;
            partition.begin(
                &Seed::new(*number, -1),
                Visit::Read { rows: 100 },
                1.0,
                &mut rng,
            );
            while partition.next_row(&mut rng).is_some() {
                count += 1;
            }
            count
        };
        assert!(rows.len() <= all);
        whole += usize::from(rows.len() == all);
    }
    assert_eq!(written.len(), 30);
    assert!(whole >= 20, "{whole} partitions are whole");
}

#[test]
fn a_partition_under_way_is_not_begun_twice() {
    // Two partitions only, both waiting for their second visit: nothing else can be given.
    let seeds = seeds(sequence(1, 2, true), "fixed(2)", "uniform(1..100)");
    let found: HashSet<i64> = numbers(&seeds, 2).into_iter().collect();
    assert_eq!(found, HashSet::from([1, 2]));
}

#[test]
fn a_population_that_is_all_under_way_does_not_stop_the_load() {
    // One visit on the average, so that partitions wait only after their first visit has ended.
    let seeds = seeds(
        sequence(1, 3, true),
        "gaussian(1..2,1,0.1)",
        "uniform(1..100)",
    );
    assert_eq!(numbers(&seeds, 20).len(), 20);
}

#[test]
fn shuffled_contents_hold_the_same_rows() {
    let rows = |contents: Contents, seed: u64| {
        let spec = ColumnSpec {
            cluster: Some(distribution("fixed(12)")),
            ..ColumnSpec::default()
        };
        let column =
            |name: &str| Column::new(name, Kind::Int, salt(PROFILE, name), &spec).expect(name);
        let shape = Shape::new(vec![column("k")], vec![column("c")], vec![], contents);
        let c = shape.position("c").expect("the column c");
        let mut partition = Partition::new(shape);
        let mut rng = Xoshiro::new(seed);
        partition.begin(&Seed::new(3, -1), Visit::Read { rows: 12 }, 1.0, &mut rng);
        let mut found = Vec::new();
        while let Some(row) = partition.next_row(&mut rng) {
            found.push(row.get(c).expect("a value").to_vec());
        }
        found
    };
    let plain = rows(Contents::Arbitrary, 1);
    let (one, other) = (rows(Contents::Shuffled, 1), rows(Contents::Shuffled, 2));
    assert_eq!(plain.len(), 12);
    assert_ne!(one, other);
    let sorted = |mut rows: Vec<Vec<u8>>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(one), sorted(plain.clone()));
    assert_eq!(sorted(other), sorted(plain));
}

#[test]
fn a_read_of_few_rows_takes_about_as_many() {
    let mut partition = Partition::new(shape());
    let mut rng = Xoshiro::new(5);
    let mut count = 0;
    for number in 1..=1000 {
        let seed = Seed::new(number, -1);
        assert!(partition.begin(&seed, Visit::Read { rows: 3 }, 1.0, &mut rng));
        while partition.next_row(&mut rng).is_some() {
            count += 1;
        }
    }
    // A mean of 3, its standard deviation over 1000 reads about 0.05.
    assert!((2700..3300).contains(&count), "{count} rows in 1000 reads");
}

#[test]
fn what_cannot_be_visited_is_refused() {
    let refused = |population, visits, revisit| {
        Seeds::new(population, distribution(visits), distribution(revisit))
            .expect_err("refused")
            .to_string()
    };
    let sound = sequence(1, 10, true);
    assert!(refused(sequence(5, 1, true), "fixed(1)", "fixed(1)").contains("backwards"));
    assert!(refused(sound.clone(), "fixed(0)", "fixed(1)").contains("at least one visit"));
    assert!(refused(sound, "fixed(1)", "uniform(1..3B)").contains("2147483647"));
    let lookback = Population::Sequence {
        first: 1,
        last: 10,
        wrap: true,
        lookback: Some(distribution("uniform(1..11)")),
    };
    assert!(refused(lookback, "fixed(1)", "fixed(1)").contains("expected 0 to 10"));
}
