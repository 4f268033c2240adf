//! Tests of whole command lines: those of papers, those of the tool, wrong ones, random ones.

use proptest::prelude::*;

use super::command::{Detail, Kind, Length, Unit};
use super::population::Seeds;
use super::rate::{Limit, Threads};
use super::*;
use crate::cut;

fn read(line: &str) -> Result<Settings, Usage> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Settings::read(cut(&words)?)
}

fn error(line: &str) -> String {
    read(line).unwrap_err().0
}

fn ratios(settings: &Settings) -> Vec<(Kind, f64)> {
    match &settings.command.detail {
        Detail::Predefined { ratios, .. } => ratios.clone(),
        Detail::Profile { .. } => Vec::new(),
    }
}

fn sequence(settings: &Settings) -> (i64, i64, bool) {
    match settings.population.seeds {
        Seeds::Sequence {
            first, last, wrap, ..
        } => (first, last, wrap),
        Seeds::Distribution(_) => panic!("not a sequence"),
    }
}

/// Table 1 of Shirinbab et al. 2020, as printed (only the addresses that it leaves out are added).
mod shirinbab {
    use super::*;

    #[test]
    fn populate() {
        let settings = read(
            "write n=40000000 -pop seq=1..40000000 -node 10.0.0.1,10.0.0.2,10.0.0.3 -schema \
             replication(strategy=NetworkTopologyStrategy, datacenter1=3)",
        )
        .unwrap();
        assert_eq!(settings.command.length, Length::Count(40_000_000));
        assert_eq!(sequence(&settings), (1, 40_000_000, true));
        assert_eq!(settings.rate.threads, Threads::Count(200));
        assert_eq!(
            settings.schema.replication,
            "org.apache.cassandra.locator.NetworkTopologyStrategy"
        );
        let three = [("datacenter1".to_owned(), "3".to_owned())];
        assert_eq!(settings.schema.replication_options, three);
    }

    #[test]
    fn mixed_as_printed_with_the_signs_of_its_type_setting() {
        let settings = read(
            "mixed ratio\u{2216}(write=1, read=3\u{2216}) duration=30m -pop seq=1..40000000 \
             -schema keyspace=\"keyspace1\" -rate threads=100 limit=op/s \u{2013}node 10.0.0.1",
        )
        .unwrap();
        assert_eq!(ratios(&settings), [(Kind::Read, 3.0), (Kind::Write, 1.0)]);
        assert_eq!(settings.command.length, Length::Duration(30, Unit::Minutes));
        assert_eq!(settings.rate.threads, Threads::Count(100));
        assert_eq!(settings.rate.limit, Limit::None);
        assert!(settings.rate.note.unwrap().contains("op/s"));
        assert_eq!(settings.schema.keyspace, "keyspace1");
        assert_eq!(settings.nodes.nodes, ["10.0.0.1"]);
    }

    #[test]
    fn read_and_write_loads_with_a_rate_where_the_table_says_op_s() {
        for command in ["read", "write"] {
            let settings = read(&format!(
                "{command} duration=30m -pop seq=1..40000000 -schema keyspace=keyspace1 -rate \
                 threads=100 limit=20000/s -node 10.0.0.1"
            ))
            .unwrap();
            assert_eq!(settings.rate.limit, Limit::Throttle(20_000));
            assert_eq!(sequence(&settings), (1, 40_000_000, true));
        }
    }
}

/// Section 4.5 of the thesis on Cassandra in Docker (BTH 2016), as printed.
mod docker_thesis {
    use super::*;

    fn check(kind: Kind, command: &str) {
        for threads in [450, 150] {
            let settings = read(&format!(
                "{command} duration=20m cl=ONE -pop  dist=UNIFORM\\(1..50000000\\) -rate \
                 threads\\={threads} -node 194.47.131.212"
            ))
            .unwrap();
            assert_eq!(settings.command.kind, kind);
            assert_eq!(settings.command.consistency, tare_cql::Consistency::One);
            assert_eq!(settings.command.length, Length::Duration(20, Unit::Minutes));
            assert_eq!(settings.rate.threads, Threads::Count(threads));
            match settings.population.seeds {
                Seeds::Distribution(draw) => assert_eq!(draw.text, "UNIFORM(1..50000000)"),
                Seeds::Sequence { .. } => panic!("not drawn"),
            }
        }
    }

    #[test]
    fn mixed_write_and_read_at_full_and_at_two_thirds_of_the_threads() {
        check(Kind::Mixed, "mixed ratio\\(write=1,read=3\\)");
        check(Kind::Write, "write");
        check(Kind::Read, "read");
    }

    #[test]
    fn the_data_is_written_by_a_plain_count() {
        let settings = read("write n=50000000 -node 194.47.131.212").unwrap();
        assert_eq!(sequence(&settings), (1, 50_000_000, true));
        assert_eq!(settings.rate.threads, Threads::Count(200));
    }
}

/// The settings as the real tool prints them, but for a slip in one of its words.
#[test]
fn settings_are_printed_as_by_the_tool() {
    let nodes = "-node 127.0.0.1,127.0.0.2,127.0.0.3";
    let lines = [
        (
            include_str!("../../tests/golden/settings-3.11.2-mixed.txt"),
            "mixed ratio(read=3,write=1) duration=15s no-warmup cl=QUORUM -pop \
             dist=UNIFORM(1..50000) -rate threads=32",
        ),
        (
            include_str!("../../tests/golden/settings-3.11.2-read.txt"),
            "read duration=10s no-warmup cl=ONE -pop dist=UNIFORM(1..50000) -rate threads=16 \
             fixed=500/s",
        ),
        (
            include_str!("../../tests/golden/settings-3.11.2-write.txt"),
            "write n=50000 no-warmup cl=QUORUM -schema replication(factor=3) -rate threads=16",
        ),
    ];
    for (golden, line) in lines {
        let printed = read(&format!("{line} {nodes}")).unwrap().dump();
        let golden: Vec<String> = golden
            .lines()
            .map(|l| l.replace("Pptions", "Options"))
            .collect();
        assert_eq!(printed, golden);
    }
}

#[test]
fn defaults_are_the_tools() {
    let write = read("write n=10k").unwrap();
    assert_eq!(write.rate.threads, Threads::Count(200));
    assert_eq!(sequence(&write), (1, 10_000, true));
    assert_eq!(write.command.consistency, tare_cql::Consistency::LocalOne);
    assert_eq!(write.errors.tries, 10);
    assert_eq!(write.nodes.nodes, ["localhost"]);
    let read = read("read").unwrap();
    let auto = Threads::Search {
        auto: true,
        least: 4,
        most: 1000,
    };
    assert_eq!(read.rate.threads, auto);
    let uncertainty = Length::Uncertainty {
        target: 0.02,
        least: 30,
        most: 200,
    };
    assert_eq!(read.command.length, uncertainty);
    match read.population.seeds {
        Seeds::Distribution(draw) => assert_eq!(draw.text, "gaussian(1..1000000)"),
        Seeds::Sequence { .. } => panic!("not drawn"),
    }
}

#[test]
fn names_are_read_in_any_case_and_by_their_aliases() {
    assert_eq!(
        read("INSERT N=5 CL=quorum").unwrap().command.kind,
        Kind::Write
    );
    assert_eq!(
        read("counteradd n=5").unwrap().command.kind,
        Kind::CounterWrite
    );
    assert_eq!(
        read("Counter_Read n=5").unwrap().command.kind,
        Kind::CounterRead
    );
}

#[test]
fn an_error_names_what_is_wrong_and_the_nearest_name() {
    for (line, why) in [
        ("reed n=5", "did you mean read?"),
        (
            "read n=5 -rates threads=5",
            "Unknown option -rates; did you mean -rate?",
        ),
        ("read n=5 -rate thread=5", "did you mean threads=?"),
        ("read n=5 n=6", "specified more than once"),
        (
            "read n=5 -node a -node b",
            "-node is defined multiple times",
        ),
        ("read n=5 duration=5m", "cannot stand together"),
        ("read n=5 cl=SOME", "must be ONE"),
        (
            "read n=5 -rate threads=5 throttle=5/s fixed=5/s",
            "choose one",
        ),
        ("read n=5 -rate threads=0", "must be 1 to"),
        ("read n=5 -pop seq=9..1", "ends before it begins"),
        ("read n=5 -pop dist=GAUS(1..5)", "must be a distribution"),
        ("read n=5 -col n=UNIFORM(1..5)", "not implemented for CQL"),
        ("read n=5 -col names=a,a", "a name twice"),
        ("mixed ratio(read=0) n=5", "non-zero ratio"),
        ("mixed ratio(reed=1) n=5", "did you mean read?"),
        ("read n=5 -errors ignore fail-fast", "contradict"),
        (
            "write n=5 -schema replication(strategy=SimpelStrategy)",
            "did you mean SimpleStrategy?",
        ),
        (
            "write n=5 -schema compaction(strategy='x)",
            "signs that no name or number has",
        ),
        ("read n=5 -log interval=0s", "greater than zero"),
        (
            "user profile=/no/such/file.yaml ops(insert=1) n=5",
            "/no/such/file.yaml",
        ),
        ("user n=5", "profile="),
    ] {
        assert!(error(line).contains(why), "{line}: {}", error(line));
    }
}

#[test]
fn what_is_refused_says_why() {
    for (line, why) in [
        ("read n=5 -mode thrift", "Thrift was removed"),
        ("read n=5 -mode simplenative cql3", "-mode native cql3"),
        (
            "read n=5 -mode native cql3 unprepared",
            "unprepared statements are not sent",
        ),
        ("read n=5 -mode native cql3 compression=snappy", "use lz4"),
        ("read n=5 -mode native cql3 user=ann", "belong together"),
        ("read n=5 -sendto host", "no stress daemon"),
        ("read n=5 -graph file=x.html", "tare report"),
        ("read n=5 -transport truststore=/no/such", "/no/such"),
        ("legacy n=5", "Cassandra 1.x"),
    ] {
        assert!(error(line).contains(why), "{line}: {}", error(line));
    }
}

#[test]
fn a_java_key_store_is_refused_with_the_command_that_converts_it() {
    let store = std::env::temp_dir().join(format!("tare-stress-{}.jks", std::process::id()));
    std::fs::write(&store, [0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2]).unwrap();
    let error = error(&format!(
        "read n=5 -transport truststore={}",
        store.display()
    ));
    std::fs::remove_file(&store).unwrap();
    assert!(error.contains("keytool -importkeystore"), "{error}");
}

#[test]
fn passwords_are_never_printed() {
    let settings = read(
        "read n=5 -mode native cql3 user=ann password=s3cret -transport truststore-password=t0p",
    )
    .unwrap();
    let printed = settings.dump().join("\n");
    assert!(printed.contains("Username: ann"));
    assert!(
        !printed.contains("s3cret") && !printed.contains("t0p"),
        "{printed}"
    );
}

/// Words that a command line is made of, whole and broken.
fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "read",
        "write",
        "mixed",
        "n=5",
        "n=",
        "duration=9h",
        "err<0.1",
        "n>3",
        "n<9",
        "cl=ONE",
        "-pop",
        "-rate",
        "-col",
        "-insert",
        "-errors",
        "-mode",
        "-log",
        "-schema",
        "-node",
        "-port",
        "-transport",
        "-tokenrange",
        "-graph",
        "threads=4",
        "threads>=4",
        "auto",
        "throttle=5/s",
        "limit=op/s",
        "fixed=9/s",
        "seq=1..5",
        "dist=GAUSSIAN(1..10)",
        "no-wrap",
        "n=FIXED(5)",
        "size=UNIFORM(1..9)",
        "names=a,b",
        "replication(factor=3)",
        "ratio(read=1)",
        "native",
        "cql3",
        "=",
        "(",
        ")",
        ",",
        "help",
        "print",
        "dist=EXP(1..5)",
        "wrap",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "\\PC{0,12}", 1 => "[a-z=<>(),.0-9~/-]{0,20}"]
}

proptest! {
    #[test]
    fn no_command_line_makes_it_panic(words in prop::collection::vec(word(), 0..12)) {
        if let Ok(sections) = cut(&words) {
            let _ = crate::help::answer(&sections);
            if let Ok(settings) = Settings::read(sections) {
                let _ = settings.dump();
            }
        }
    }

    #[test]
    fn white_space_around_signs_never_matters(
        spaces in prop::collection::vec(0usize..3, 6), threads in 1usize..1000,
    ) {
        let gap = |n: usize| " ".repeat(spaces[n]);
        let spaced = format!(
            "mixed ratio{}({}read{}=3,{}write=1{}) n=100 -rate threads{}= {threads}",
            gap(0), gap(1), gap(2), gap(3), gap(4), gap(5),
        );
        let settings = read(&spaced).unwrap();
        prop_assert_eq!(ratios(&settings), vec![(Kind::Read, 3.0), (Kind::Write, 1.0)]);
        prop_assert_eq!(settings.rate.threads, Threads::Count(threads));
    }
}
