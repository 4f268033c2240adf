//! Against a real server: set TARE_TEST_CQL=host:port and run with `--ignored`.
//!
//! More of the environment: TARE_TEST_CQL_USER and TARE_TEST_CQL_PASSWORD where it authenticates,
//! TARE_TEST_CQL_AUTHORITY (a PEM file) where it speaks TLS, TARE_TEST_CQL_NAME for the name in its
//! certificate.
use std::os::fd::AsFd;

use rustix::event::{poll, PollFd, PollFlags};
use tare_cql::{
    connect, token, BatchKind, Cluster, ColumnType, Compression, Consistency, Credentials, Flush,
    Link, Options, Parameters, Password, Protocol, Received, ReplyKind, Request, ServerErrorKind,
    Statement, Template, TlsOptions,
};

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn contact() -> String {
    variable("TARE_TEST_CQL").expect("TARE_TEST_CQL=host:port must name a Cassandra node")
}

fn options(protocol: Protocol, compression: Compression) -> Options {
    let credentials = variable("TARE_TEST_CQL_USER").map(|user| Credentials {
        user,
        password: Password(variable("TARE_TEST_CQL_PASSWORD").unwrap_or_default()),
    });
    let tls = variable("TARE_TEST_CQL_AUTHORITY").map(|path| TlsOptions {
        authorities: Some(path.into()),
        server_name: variable("TARE_TEST_CQL_NAME"),
        ..TlsOptions::default()
    });
    let connect_timeout = std::time::Duration::from_secs(20);
    Options {
        protocol,
        compression,
        credentials,
        tls,
        connect_timeout,
        ..Options::default()
    }
}

const WAYS: [(Protocol, Compression); 4] = [
    (Protocol::V4, Compression::None),
    (Protocol::V4, Compression::Lz4),
    (Protocol::V5, Compression::None),
    (Protocol::V5, Compression::Lz4),
];

/// A table of its own for each test; tests run at the same time.
fn cluster(options: &Options, keyspace: &str) -> Cluster {
    let mut cluster = Cluster::discover(&[contact()], options).unwrap();
    cluster
        .query(&format!(
            "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = \
             {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
        ))
        .unwrap();
    cluster
        .query(&format!(
            "CREATE TABLE IF NOT EXISTS {keyspace}.t (k text, n int, v blob, PRIMARY KEY (k, n))"
        ))
        .unwrap();
    cluster
}

/// An answer, copied.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Void,
    Rows(Vec<Vec<Option<Vec<u8>>>>, Option<Vec<u8>>),
    Error(ServerErrorKind),
}

fn copy(reply: tare_cql::Reply<'_>) -> Answer {
    match reply.kind().unwrap() {
        ReplyKind::Void => Answer::Void,
        ReplyKind::Rows(rows) => Answer::Rows(
            rows.iter()
                .map(|row| {
                    row.unwrap()
                        .cells()
                        .map(|cell| cell.map(<[u8]>::to_vec))
                        .collect()
                })
                .collect(),
            rows.paging_state().map(<[u8]>::to_vec),
        ),
        ReplyKind::Error(error) => Answer::Error(error.kind()),
        other => panic!("unexpected {other:?}"),
    }
}

/// Flush and wait until `count` answers have come.
fn drive(link: &mut Link, count: usize) -> Vec<(u32, Answer)> {
    let mut answers = Vec::new();
    let mut blocked = link.flush().unwrap() == Flush::Blocked;
    while answers.len() < count {
        let flags = if blocked {
            PollFlags::IN | PollFlags::OUT
        } else {
            PollFlags::IN
        };
        poll(&mut [PollFd::from_borrowed_fd(link.as_fd(), flags)], None).unwrap();
        assert_ne!(link.read().unwrap(), Received::Closed);
        link.replies(|tag, reply| answers.push((tag, copy(reply))))
            .unwrap();
        blocked = blocked && link.flush().unwrap() == Flush::Blocked;
    }
    answers
}

fn send(link: &mut Link, request: &mut Request) -> Answer {
    request.finish().unwrap();
    link.queue((request.opcode(), request.body()), 1).unwrap();
    drive(link, 1).remove(0).1
}

fn template(statement: &Statement, options: &Options) -> Template {
    let parameters = Parameters {
        skip_metadata: true,
        ..Parameters::at(Consistency::One)
    };
    Template::new(statement, &parameters, options.protocol).unwrap()
}

#[test]
#[ignore = "needs a node: TARE_TEST_CQL=HOST:PORT cargo test -p tare-cql --test server -- --ignored"]
fn the_cluster_describes_itself() {
    for (protocol, compression) in WAYS {
        let mut cluster = cluster(&options(protocol, compression), "tare_cql_describe");
        assert_eq!(cluster.partitioner, "Murmur3Partitioner");
        assert!(cluster.nodes[0].contact_point && cluster.nodes[0].is_reachable());
        assert!(!cluster.nodes[0].tokens.is_empty());
        assert!(!cluster.nodes[0].release_version.is_empty());
        assert!(cluster.ring("tare_cql_describe").unwrap().is_known());
        assert!(!cluster.ring("system").unwrap().owners(0).is_empty() || cluster.nodes.len() > 1);
        assert!(cluster.ring("no_such_keyspace").is_err());
        let columns = cluster
            .query("SELECT * FROM system_schema.columns")
            .unwrap();
        assert!(columns.len() > 300, "{} rows", columns.len());
    }
}

#[test]
#[ignore = "needs a node: TARE_TEST_CQL=HOST:PORT cargo test -p tare-cql --test server -- --ignored"]
fn rows_written_are_read_back_on_every_protocol_and_compression() {
    for (protocol, compression) in WAYS {
        let options = options(protocol, compression);
        let mut cluster = cluster(&options, "tare_cql_rows");
        let insert = cluster
            .prepare(
                "INSERT INTO t (k, n, v) VALUES (?, ?, ?)",
                Some("tare_cql_rows"),
            )
            .unwrap();
        assert_eq!(
            (insert.table.as_str(), &insert.partition_key[..]),
            ("t", &[0][..])
        );
        assert_eq!(insert.columns[2].kind, ColumnType::Blob);
        let select = cluster
            .prepare("SELECT n, v FROM tare_cql_rows.t WHERE k = ?", None)
            .unwrap();
        let (write, read) = (template(&insert, &options), template(&select, &options));
        let mut link = connect(cluster.nodes[0].address, &options).unwrap();
        let mut request = Request::new();
        let key = format!("{protocol:?}{compression:?}");
        for number in 0..500_u32 {
            request.execute(&write);
            request.value(key.as_bytes());
            request.value(&number.to_be_bytes());
            // Incompressible, compressible, and larger than one segment of v5.
            match number {
                0 => request.value(&vec![7; 300_000]),
                1 => request.value_with(|out| out.extend(noise(200_000))),
                2 => request.null(),
                3 => request.unset(),
                _ => request.value(&number.to_le_bytes()),
            }
            request.finish().unwrap();
            assert_eq!(request.token(), Some(token(key.as_bytes())));
            link.queue((request.opcode(), request.body()), number)
                .unwrap();
        }
        let answers = drive(&mut link, 500);
        assert!(
            answers.iter().all(|(_, answer)| *answer == Answer::Void),
            "{answers:?}"
        );
        let mut tags: Vec<_> = answers.iter().map(|(tag, _)| *tag).collect();
        tags.sort_unstable();
        assert!(tags.iter().copied().eq(0..500));
        assert_eq!(link.in_flight(), 0);

        request.execute(&read);
        request.value(key.as_bytes());
        let Answer::Rows(rows, None) = send(&mut link, &mut request) else {
            panic!("no rows")
        };
        assert_eq!(rows.len(), 500);
        assert_eq!(rows[0][1].as_deref(), Some(&vec![7; 300_000][..]));
        assert_eq!(rows[1][1], Some(noise(200_000)));
        assert_eq!((&rows[2][1], &rows[3][1]), (&None, &None));
        assert_eq!(rows[499][0].as_deref(), Some(&499_u32.to_be_bytes()[..]));
    }
}

/// Bytes that do not compress.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

#[test]
#[ignore = "needs a node: TARE_TEST_CQL=HOST:PORT cargo test -p tare-cql --test server -- --ignored"]
fn pages_batches_timestamps_and_errors() {
    for (protocol, compression) in WAYS {
        let options = options(protocol, compression);
        let mut cluster = cluster(&options, "tare_cql_pages");
        cluster.query("TRUNCATE tare_cql_pages.t").unwrap();
        let insert = cluster
            .prepare(
                "INSERT INTO tare_cql_pages.t (k, n, v) VALUES (?, ?, ?)",
                None,
            )
            .unwrap();
        let write = template(&insert, &options);
        let mut link = connect(cluster.nodes[0].address, &options).unwrap();
        let mut request = Request::new();
        let parameters = Parameters::at(Consistency::One);
        request.batch(BatchKind::Unlogged, &parameters, protocol);
        for number in 0..25_u32 {
            request.statement(&write);
            request.value(b"page");
            request.value(&number.to_be_bytes());
            request.value(b"x");
        }
        request.timestamp(1_000_000);
        assert_eq!(send(&mut link, &mut request), Answer::Void);

        let select = cluster
            .prepare(
                "SELECT n, WRITETIME(v) FROM tare_cql_pages.t WHERE k = ?",
                None,
            )
            .unwrap();
        let ten = Parameters {
            page_size: Some(10),
            serial: Some(Consistency::Serial),
            ..parameters
        };
        let read = Template::new(&select, &ten, protocol).unwrap();
        let (mut sizes, mut state) = (Vec::new(), None::<Vec<u8>>);
        loop {
            request.execute(&read);
            request.value(b"page");
            if let Some(state) = &state {
                request.paging_state(state);
            }
            let Answer::Rows(rows, next) = send(&mut link, &mut request) else {
                panic!("rows")
            };
            assert_eq!(
                rows[0][1].as_deref(),
                Some(&1_000_000_i64.to_be_bytes()[..])
            );
            sizes.push(rows.len());
            state = next;
            if state.is_none() {
                break;
            }
        }
        assert_eq!(sizes, [10, 10, 5]);

        // Too few replicas for the level: an error that is told, and the link goes on.
        let three = Parameters {
            consistency: Consistency::Three,
            ..parameters
        };
        request.execute(&Template::new(&select, &three, protocol).unwrap());
        request.value(b"page");
        let answer = send(&mut link, &mut request);
        assert_eq!(answer, Answer::Error(ServerErrorKind::Unavailable));
        // An id that the node does not know.
        let foreign = Statement {
            id: vec![9; 16],
            ..select.clone()
        };
        request.execute(&template(&foreign, &options));
        request.value(b"page");
        let answer = send(&mut link, &mut request);
        assert_eq!(answer, Answer::Error(ServerErrorKind::Unprepared));
        assert!(cluster
            .prepare("SELECT nothing FROM nowhere.at_all", None)
            .is_err());
    }
}

#[test]
#[ignore = "needs a node: TARE_TEST_CQL=HOST:PORT cargo test -p tare-cql --test server -- --ignored"]
fn an_abandoned_answer_is_dropped() {
    let options = options(Protocol::V4, Compression::None);
    let mut cluster = cluster(&options, "tare_cql_abandon");
    let select = cluster
        .prepare("SELECT * FROM tare_cql_abandon.t WHERE k = ?", None)
        .unwrap();
    let read = template(&select, &options);
    let mut link = connect(cluster.nodes[0].address, &options).unwrap();
    let mut request = Request::new();
    request.execute(&read);
    request.value(b"a");
    request.finish().unwrap();
    let unwanted = link.queue((request.opcode(), request.body()), 1).unwrap();
    link.queue((request.opcode(), request.body()), 2).unwrap();
    link.abandon(unwanted);
    assert_eq!(drive(&mut link, 1).remove(0).0, 2);
    assert_eq!(link.outstanding().count(), 0);
}

#[test]
#[ignore = "needs a node: TARE_TEST_CQL=HOST:PORT cargo test -p tare-cql --test server -- --ignored"]
fn the_tokens_are_the_servers_own() {
    let options = options(Protocol::V4, Compression::None);
    let mut cluster = cluster(&options, "tare_cql_tokens");
    cluster
        .query(
            "CREATE TABLE IF NOT EXISTS tare_cql_tokens.c \
             (a text, b blob, v int, PRIMARY KEY ((a, b)))",
        )
        .unwrap();
    let mut link = connect(cluster.nodes[0].address, &options).unwrap();
    let mut request = Request::new();
    let single = cluster
        .prepare("INSERT INTO tare_cql_tokens.t (k, n) VALUES (?, 1)", None)
        .unwrap();
    // The markers stand in another order than the key.
    let double = cluster
        .prepare(
            "INSERT INTO tare_cql_tokens.c (v, b, a) VALUES (1, ?, ?)",
            None,
        )
        .unwrap();
    assert_eq!(double.partition_key, [1, 0]);
    for length in 1..70 {
        let bytes = noise(length);
        let text: String = bytes
            .iter()
            .map(|byte| char::from(byte & 0x7F | 0x40))
            .collect();
        request.execute(&template(&single, &options));
        request.value(text.as_bytes());
        assert_eq!(send(&mut link, &mut request), Answer::Void);
        let mine = request.token().unwrap();
        let cql = format!("SELECT token(k) AS t FROM tare_cql_tokens.t WHERE k = '{text}'");
        let table = cluster.query(&cql.replace("'\u{7f}", "'")).unwrap();
        assert_eq!(
            table.rows().next().unwrap().bigint("t"),
            Some(mine),
            "{text}"
        );

        request.execute(&template(&double, &options));
        request.value(&bytes);
        request.value(text.as_bytes());
        assert_eq!(send(&mut link, &mut request), Answer::Void);
        let mine = request.token().unwrap();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let table = cluster
            .query(&format!(
                "SELECT token(a, b) AS t FROM tare_cql_tokens.c WHERE a = '{text}' AND b = 0x{hex}"
            ))
            .unwrap();
        assert_eq!(
            table.rows().next().unwrap().bigint("t"),
            Some(mine),
            "{hex}"
        );
    }
}

#[test]
#[ignore = "needs a node with passwords: TARE_TEST_CQL=HOST:PORT TARE_TEST_CQL_USER=U TARE_TEST_CQL_PASSWORD=P cargo test -p tare-cql --test server -- --ignored"]
fn a_wrong_password_is_an_authentication_error() {
    let right = options(Protocol::V5, Compression::None);
    let Some(credentials) = right.credentials.clone() else {
        return;
    };
    let wrong = Credentials {
        password: Password("no".to_owned() + &credentials.password.0),
        ..credentials
    };
    for credentials in [Some(wrong), None] {
        let options = Options {
            credentials,
            ..right.clone()
        };
        let refused = Cluster::discover(&[contact()], &options);
        assert!(
            matches!(
                refused,
                Err(tare_cql::Error::Net(tare_net::Error::Authentication { .. }))
            ),
            "{refused:?}"
        );
    }
}
