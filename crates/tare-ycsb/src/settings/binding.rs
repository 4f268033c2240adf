//! The properties of the bindings `cassandra-cql` and `scylla`: where the cluster is, how it is
//! spoken to.

use std::path::PathBuf;
use std::time::Duration;

use tare_cql::{Compression, Consistency, Credentials, Options, Password, Protocol, TlsOptions};
use tare_engine::order::Cluster;

use super::read::{BadProperty, Reader};

/// Names under which the two bindings are asked for.
const CASSANDRA: [&str; 4] = [
    "cassandra-cql",
    "cassandra2-cql",
    "site.ycsb.db.CassandraCQLClient",
    "com.yahoo.ycsb.db.CassandraCQLClient",
];
const SCYLLA: [&str; 2] = ["scylla", "site.ycsb.db.scylla.ScyllaCQLClient"];
/// Time after which a request without an answer has failed: the Java driver's default.
const READ_TIMEOUT_MS: u64 = 12_000;
/// Time to connect: the Java driver's default.
const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// A day; no timeout is longer.
const LONGEST_MS: u64 = 86_400_000;

/// Which of YCSB's bindings is stood in for. They speak alike; their properties' names differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Cassandra,
    Scylla,
}

/// What a binding needs to know.
#[derive(Debug, Clone)]
pub struct CqlBinding {
    pub kind: Kind,
    pub cluster: Cluster,
    pub keyspace: String,
    pub read: Consistency,
    pub write: Consistency,
    pub timeout: Duration,
    /// Connections to every node; none leaves it to the engine.
    pub links: Option<usize>,
}

impl Kind {
    pub fn of(name: Option<&str>) -> Result<Kind, BadProperty> {
        let Some(name) = name else {
            let why =
                "no binding is named: use run cassandra-cql, run scylla or run mongodb (or load)";
            return Err(BadProperty::new("db", "", why));
        };
        if CASSANDRA.contains(&name) {
            Ok(Kind::Cassandra)
        } else if SCYLLA.contains(&name) {
            Ok(Kind::Scylla)
        } else {
            let why = "this binding is not offered; cassandra-cql, scylla and mongodb are";
            Err(BadProperty::new("db", name, why))
        }
    }

    /// The Java class that YCSB would load, which its output names.
    pub fn class(self) -> &'static str {
        match self {
            Kind::Cassandra => CASSANDRA[2],
            Kind::Scylla => SCYLLA[1],
        }
    }

    /// The name of a property of the driver: `cassandra.keyspace`, `scylla.keyspace`.
    fn own(self, name: &str) -> String {
        match self {
            Kind::Cassandra => format!("cassandra.{name}"),
            Kind::Scylla => format!("scylla.{name}"),
        }
    }

    /// The names of the properties that say where the cluster is.
    fn place(self, name: &str) -> String {
        match self {
            Kind::Cassandra => name.to_owned(),
            Kind::Scylla => format!("scylla.{name}"),
        }
    }

    /// Every property that this binding knows.
    pub fn names(self) -> Vec<String> {
        let own = [
            "keyspace",
            "username",
            "password",
            "readconsistencylevel",
            "writeconsistencylevel",
            "maxconnections",
            "coreconnections",
            "connecttimeoutmillis",
            "readtimeoutmillis",
            "tracing",
            "useSSL",
        ];
        let mut names: Vec<String> = own.iter().map(|name| self.own(name)).collect();
        names.extend(["hosts", "port"].map(|name| self.place(name)));
        if self == Kind::Scylla {
            names.extend(["scylla.lwt", "scylla.local_dc"].map(str::to_owned));
        }
        names
    }
}

impl CqlBinding {
    pub fn read(reader: &Reader<'_>) -> Result<CqlBinding, BadProperty> {
        let kind = Kind::of(reader.text("db"))?;
        refuse_unoffered(reader, kind)?;
        let milliseconds = |name: &str, default| {
            let name = kind.own(name);
            reader
                .whole_in(&name, default, 1..=LONGEST_MS)
                .map(Duration::from_millis)
        };
        let connect_timeout = milliseconds("connecttimeoutmillis", CONNECT_TIMEOUT_MS)?;
        Ok(CqlBinding {
            kind,
            cluster: Cluster {
                contact_points: contact_points(reader, kind)?,
                options: Options {
                    protocol: protocol(reader)?,
                    compression: compression(reader)?,
                    tls: tls(reader, kind)?,
                    credentials: credentials(reader, kind),
                    connect_timeout,
                    contact_points_only: reader.truth_or("tare.contact_points_only", false),
                },
            },
            keyspace: reader.text_or(&kind.own("keyspace"), "ycsb").to_owned(),
            read: consistency(reader, &kind.own("readconsistencylevel"))?,
            write: consistency(reader, &kind.own("writeconsistencylevel"))?,
            timeout: milliseconds("readtimeoutmillis", READ_TIMEOUT_MS)?,
            links: links(reader, kind)?,
        })
    }
}

fn refuse_unoffered(reader: &Reader<'_>, kind: Kind) -> Result<(), BadProperty> {
    let tracing = kind.own("tracing");
    if reader.truth_or(&tracing, false) {
        let why =
            "tracing every request would measure the tracing; trace single statements in cqlsh";
        return Err(BadProperty::new(&tracing, "true", why));
    }
    if kind == Kind::Scylla {
        if reader.truth_or("scylla.lwt", false) {
            let why = "light-weight transactions are not offered";
            return Err(BadProperty::new("scylla.lwt", "true", why));
        }
        if let Some(dc) = reader.text("scylla.local_dc").filter(|dc| !dc.is_empty()) {
            let why = "requests go to all datacenters; name the hosts of one and set \
                       tare.contact_points_only=true";
            return Err(BadProperty::new("scylla.local_dc", dc, why));
        }
    }
    Ok(())
}

fn contact_points(reader: &Reader<'_>, kind: Kind) -> Result<Vec<String>, BadProperty> {
    let name = kind.place("hosts");
    let port = reader.whole_in(&kind.place("port"), 9042, 1..=65_535)?;
    let hosts = reader.text(&name).unwrap_or("");
    let hosts = hosts
        .split(',')
        .map(str::trim)
        .filter(|host| !host.is_empty());
    let points: Vec<String> = hosts.map(|host| with_port(host, port)).collect();
    if points.is_empty() {
        let why = format!("missing: name the nodes, such as -p {name}=10.0.0.1,10.0.0.2");
        return Err(BadProperty::new(&name, "", why));
    }
    Ok(points)
}

/// `host:port`; a host that brings its own port keeps it, an IPv6 address gets its brackets.
fn with_port(host: &str, port: u64) -> String {
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return format!("[{host}]:{port}");
    }
    let own = host.rsplit_once(':').map(|(_, port)| port);
    if own.is_some_and(|own| own.parse::<u16>().is_ok()) {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    }
}

fn consistency(reader: &Reader<'_>, name: &str) -> Result<Consistency, BadProperty> {
    let level = reader.text_or(name, "QUORUM");
    let why = "expected a consistency level such as ONE, QUORUM, LOCAL_QUORUM or ALL";
    Consistency::parse(level.trim()).ok_or_else(|| BadProperty::new(name, level, why))
}

fn credentials(reader: &Reader<'_>, kind: Kind) -> Option<Credentials> {
    let user = reader
        .text(&kind.own("username"))
        .filter(|user| !user.is_empty())?;
    Some(Credentials {
        user: user.to_owned(),
        password: Password(reader.text_or(&kind.own("password"), "").to_owned()),
    })
}

/// The Java driver opens its core connections at once and more under load; ours are all opened.
fn links(reader: &Reader<'_>, kind: Kind) -> Result<Option<usize>, BadProperty> {
    let mut most = None;
    for name in ["coreconnections", "maxconnections"] {
        let name = kind.own(name);
        if reader.text(&name).is_some() {
            most = most.max(Some(reader.whole_in(&name, 1, 1..=1024)? as usize));
        }
    }
    Ok(most)
}

fn tls(reader: &Reader<'_>, kind: Kind) -> Result<Option<TlsOptions>, BadProperty> {
    if !reader.truth_or(&kind.own("useSSL"), false) {
        return Ok(None);
    }
    let path = |name: &str| reader.text(name).map(PathBuf::from);
    let verify = reader.truth_or("tare.tls.verify", true);
    let authorities = path("tare.tls.authorities");
    if verify && authorities.is_none() {
        let why =
            "missing: a PEM file of the authorities to trust (YCSB takes them from the JVM's \
                   trust store), or tare.tls.verify=false for a test cluster";
        return Err(BadProperty::new("tare.tls.authorities", "", why));
    }
    Ok(Some(TlsOptions {
        authorities,
        certificate: path("tare.tls.certificate").zip(path("tare.tls.key")),
        server_name: reader.text("tare.tls.server_name").map(str::to_owned),
        verify,
    }))
}

fn protocol(reader: &Reader<'_>) -> Result<Protocol, BadProperty> {
    match reader.text_or("tare.protocol", "v4") {
        "v4" | "4" => Ok(Protocol::V4),
        "v5" | "5" => Ok(Protocol::V5),
        other => Err(BadProperty::new(
            "tare.protocol",
            other,
            "expected v4 or v5",
        )),
    }
}

fn compression(reader: &Reader<'_>) -> Result<Compression, BadProperty> {
    match reader.text_or("tare.compression", "none") {
        "none" => Ok(Compression::None),
        "lz4" => Ok(Compression::Lz4),
        other => Err(BadProperty::new(
            "tare.compression",
            other,
            "expected none or lz4",
        )),
    }
}
