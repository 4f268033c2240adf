//! `-mode`: native protocol, prepared statements, credentials, compression.

use tare_cql::{Compression, Credentials, Password, Protocol};

use super::describe::Dump;
use super::forms::{among, text, whole, Form, ANY, DIGITS, SOME};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const VERSION_FORM: Form = (
    |text| ["3", "4", "5"].contains(&text) || text.eq_ignore_ascii_case("NEWEST_SUPPORTED"),
    "4 or 5",
);
const COMPRESSION_FORM: Form = (
    |text| among(text, &["none", "lz4", "snappy"]),
    "none or lz4",
);

const NATIVE: Choice = Choice::flag("native", "the native protocol");
const CQL3: Choice = Choice::flag("cql3", "CQL 3");
const PREPARED: Choice = Choice::flag("prepared", "prepared statements (always)");
const UNPREPARED: Choice = Choice::flag("unprepared", "refused: statements are prepared");
const VERSION: Choice = Choice::value(
    "protocolVersion=",
    VERSION_FORM,
    "version of the native protocol: 4 or 5",
)
.or("NEWEST_SUPPORTED");
const COMPRESSION: Choice = Choice::value(
    "compression=",
    COMPRESSION_FORM,
    "compression of frames: none or lz4",
)
.or("none");
const PORT: Choice = Choice::value("port=", DIGITS, "read and without use, as in the tool");
const USER: Choice = Choice::value("user=", SOME, "username");
const PASSWORD: Choice = Choice::value("password=", SOME, "password");
const PROVIDER: Choice = Choice::value("auth-provider=", ANY, "PlainTextAuthProvider alone");
const PENDING: Choice = Choice::value(
    "maxPending=",
    DIGITS,
    "read and without use: 32768 requests may be pending",
)
.or("128");
const CONNECTIONS: Choice = Choice::value(
    "connectionsPerHost=",
    DIGITS,
    "number of connections per host",
)
.or("8");

pub const GROUPS: &[Group] = &[&[
    NATIVE,
    CQL3,
    PREPARED,
    UNPREPARED,
    VERSION,
    COMPRESSION,
    PORT,
    USER,
    PASSWORD,
    PROVIDER,
    PENDING,
    CONNECTIONS,
]];

#[derive(Debug, Clone)]
pub struct Mode {
    pub protocol: Protocol,
    pub compression: Compression,
    pub credentials: Option<Credentials>,
    pub pending: u32,
    /// Connections per host, as said or by the tool's default.
    pub connections: usize,
    /// The same if it was said.
    pub connections_given: Option<usize>,
    provider: Option<String>,
}

impl Mode {
    pub fn read(parameters: Option<&[String]>) -> Result<Mode, Usage> {
        let parameters = parameters.unwrap_or_default();
        refuse_other_protocols(parameters)?;
        let given = select("-mode", parameters, GROUPS)?;
        if given.flag(UNPREPARED.name) {
            return Err(Usage::new(
                "-mode: unprepared statements are not sent, for parsing them costs the server \
                 what no driver pays; leave unprepared out",
            ));
        }
        let provider = given.value(PROVIDER.name).map(str::to_owned);
        if provider
            .as_ref()
            .is_some_and(|name| !name.ends_with("PlainTextAuthProvider"))
        {
            return Err(Usage::new(
                "-mode: auth-provider= must be com.datastax.driver.core.PlainTextAuthProvider: \
                 only user and password are spoken",
            ));
        }
        let connections: usize = whole(&given, &CONNECTIONS)?;
        if !(1..=1024).contains(&connections) {
            return Err(Usage::new("-mode: connectionsPerHost= must be 1 to 1024"));
        }
        Ok(Mode {
            protocol: protocol(text(&given, &VERSION).unwrap_or_default())?,
            compression: compression(text(&given, &COMPRESSION).unwrap_or_default())?,
            credentials: credentials(given.value(USER.name), given.value(PASSWORD.name))?,
            pending: whole(&given, &PENDING)?,
            connections,
            connections_given: given.value(CONNECTIONS.name).map(|_| connections),
            provider,
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        let compression = match self.compression {
            Compression::None => "NONE",
            Compression::Lz4 => "LZ4",
        };
        let credentials = self.credentials.as_ref();
        out.say("API", "JAVA_DRIVER_NATIVE");
        out.say("Connection Style", "CQL_PREPARED");
        out.say("CQL Version", "CQL3");
        out.say("Protocol Version", format!("V{}", self.protocol.number()));
        out.say_or_null("Username", credentials.map(|known| &known.user));
        out.say_or_null("Password", credentials.map(|_| "*suppressed*"));
        out.say_or_null("Auth Provide Class", self.provider.as_ref());
        out.say("Max Pending Per Connection", self.pending);
        out.say("Connections Per Host", self.connections);
        out.say("Compression", compression);
    }
}

fn refuse_other_protocols(parameters: &[String]) -> Result<(), Usage> {
    let given = |name: &str| parameters.iter().any(|p| p.eq_ignore_ascii_case(name));
    if given("thrift") || given("smart") {
        return Err(Usage::new(
            "-mode: Thrift was removed in Cassandra 4.0 and is not spoken; use -mode native cql3",
        ));
    }
    if given("simplenative") {
        return Err(Usage::new(
            "-mode: simplenative was an internal client of the tool; use -mode native cql3",
        ));
    }
    Ok(())
}

fn protocol(text: &str) -> Result<Protocol, Usage> {
    match text {
        "5" => Ok(Protocol::V5),
        "3" => Err(Usage::new(
            "-mode: protocolVersion=3 is not spoken; use 4 or 5",
        )),
        _ => Ok(Protocol::V4),
    }
}

fn compression(text: &str) -> Result<Compression, Usage> {
    match text.to_ascii_lowercase().as_str() {
        "lz4" => Ok(Compression::Lz4),
        "snappy" => Err(Usage::new(
            "-mode: compression=snappy was dropped with protocol v5 and is not spoken; use lz4",
        )),
        _ => Ok(Compression::None),
    }
}

fn credentials(user: Option<&str>, password: Option<&str>) -> Result<Option<Credentials>, Usage> {
    match (user, password) {
        (None, None) => Ok(None),
        (Some(user), Some(password)) => Ok(Some(Credentials {
            user: user.to_owned(),
            password: Password(password.to_owned()),
        })),
        _ => Err(Usage::new("-mode: user= and password= belong together")),
    }
}
