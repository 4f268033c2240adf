//! Connection strings: `mongodb://user:password@host:port,host:port/database?option=value`.
use std::path::PathBuf;
use std::time::Duration;

use tare_net::TlsOptions;

use crate::options::{
    Credentials, Mechanism, Options, ReadConcern, ReadMode, ReadPreference, WriteAck, WriteConcern,
};
use crate::topology::Host;

/// The port of a host that names none.
const PORT: u16 = 27017;
/// Connections of a driver's pool to one member, where nothing else is asked for.
const POOL: usize = 100;

/// A connection string, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Uri {
    /// What to start from, in the order given.
    pub hosts: Vec<Host>,
    /// The database of the path; none where it is missing or empty.
    pub database: Option<String>,
    pub options: Options,
    pub read: ReadPreference,
    pub read_concern: ReadConcern,
    pub write: WriteConcern,
    /// Name that the replica set must have.
    pub replica_set: Option<String>,
    /// Use the one host alone, whatever it is a member of. A single host without `replicaSet` is
    /// used so unless `directConnection=false`, as by the Java driver.
    pub direct: bool,
    /// Most connections to one member.
    pub pool: usize,
    /// Writes carry a session and a number, so that the server knows one that is sent again.
    pub retry_writes: bool,
    /// Time after which an unanswered request counts as lost; none waits for ever.
    pub socket_timeout: Option<Duration>,
    /// Time to find members.
    pub selection_timeout: Duration,
    /// What was accepted but has no meaning here.
    pub remarks: Vec<String>,
}

/// A connection string that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {why}")]
pub struct BadUri {
    /// The option, or the part of the string.
    pub part: String,
    pub why: String,
}

fn bad(part: &str, why: impl Into<String>) -> BadUri {
    BadUri {
        part: part.to_owned(),
        why: why.into(),
    }
}

impl Uri {
    /// The hosts, for messages.
    pub fn place(&self) -> String {
        let hosts: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
        hosts.join(", ")
    }

    /// Take a connection string apart.
    ///
    /// # Errors
    /// The part that cannot be used and why; never the password.
    pub fn parse(text: &str) -> Result<Uri, BadUri> {
        if text.starts_with("mongodb+srv://") {
            let why = "names in DNS (mongodb+srv) are not looked up; name the hosts of the set";
            return Err(bad("the scheme", why));
        }
        let rest = text.strip_prefix("mongodb://").ok_or_else(|| {
            bad(
                "the scheme",
                "expected mongodb://host:port/database?options",
            )
        })?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        let hosts: Vec<Host> = hosts
            .split(',')
            .map(|host| Host::parse(host, PORT).map_err(|why| bad("the hosts", why)))
            .collect::<Result<_, _>>()?;
        let database = decoded("the database", database)?;
        let mut uri = Uri {
            hosts,
            database: Some(database).filter(|name| !name.is_empty()),
            options: Options::default(),
            read: ReadPreference::default(),
            read_concern: None,
            write: WriteConcern::default(),
            replica_set: None,
            direct: false,
            pool: POOL,
            retry_writes: true,
            socket_timeout: None,
            selection_timeout: Duration::from_secs(30),
            remarks: Vec::new(),
        };
        uri.credentials(user)?;
        let mut tls = Tls::default();
        let mut direct = None;
        for (name, value) in pairs(query)? {
            if !tls.take(&name, &value)? && !uri.access(&name, &value)? {
                uri.take(&name, &value, &mut direct)?;
            }
        }
        uri.options.tls = tls.options()?;
        uri.direct = direct.unwrap_or(uri.hosts.len() == 1 && uri.replica_set.is_none());
        if uri.direct && uri.hosts.len() > 1 {
            return Err(bad("directConnection", "true needs exactly one host"));
        }
        Ok(uri)
    }

    fn credentials(&mut self, given: Option<&str>) -> Result<(), BadUri> {
        let Some(given) = given else {
            return Ok(());
        };
        let (user, password) = given.split_once(':').unwrap_or((given, ""));
        if user.is_empty() {
            return Err(bad("the user", "there is an @ but no name before it"));
        }
        self.options.credentials = Some(Credentials {
            user: decoded("the user", user)?,
            password: decoded("the password", password)?,
            source: self.database.clone().unwrap_or_else(|| "admin".to_owned()),
            mechanism: None,
        });
        Ok(())
    }

    /// Options of who may read and write, and when that is done; false for another one.
    fn access(&mut self, name: &str, value: &str) -> Result<bool, BadUri> {
        match name.to_ascii_lowercase().as_str() {
            "w" => self.write.acknowledged = Some(acknowledgement(name, value)?),
            "j" | "journal" => self.write.journal = Some(truth(name, value)?),
            "wtimeout" | "wtimeoutms" => self.write.timeout = time(name, value)?,
            "readpreference" => {
                let why =
                    "expected primary, primaryPreferred, secondary, secondaryPreferred or nearest";
                self.read.mode = ReadMode::parse(value).ok_or_else(|| bad(name, why))?;
            }
            "readconcernlevel" => self.read_concern = Some(value.to_owned()),
            "localthresholdms" => {
                self.read.threshold = time(name, value)?.unwrap_or_default();
            }
            "authsource" | "authmechanism" => {
                let Some(credentials) = &mut self.options.credentials else {
                    return Err(bad(name, "there is no user to prove anything of"));
                };
                if name.eq_ignore_ascii_case("authSource") {
                    credentials.source = value.to_owned();
                } else {
                    let why = "expected SCRAM-SHA-1 or SCRAM-SHA-256";
                    let mechanism = Mechanism::parse(value).ok_or_else(|| bad(name, why))?;
                    credentials.mechanism = Some(mechanism);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options of the connections.
    fn take(&mut self, name: &str, value: &str, direct: &mut Option<bool>) -> Result<(), BadUri> {
        match name.to_ascii_lowercase().as_str() {
            "replicaset" => self.replica_set = Some(value.to_owned()),
            "directconnection" => *direct = Some(truth(name, value)?),
            "maxpoolsize" => self.pool = pool(name, value)?,
            "retrywrites" => self.retry_writes = truth(name, value)?,
            "connecttimeoutms" => {
                if let Some(timeout) = time(name, value)? {
                    self.options.connect_timeout = timeout;
                }
            }
            "sockettimeoutms" => self.socket_timeout = time(name, value)?,
            "serverselectiontimeoutms" => {
                self.selection_timeout = time(name, value)?.unwrap_or_default();
            }
            "appname" => self.options.application = value.to_owned(),
            "compressors" if !value.is_empty() => {
                return Err(bad(name, "compression is not offered; leave it out"));
            }
            "maxstalenessseconds" if value != "-1" => {
                return Err(bad(
                    name,
                    "how stale a member is, is not watched; leave it out",
                ));
            }
            "readpreferencetags" => {
                return Err(bad(name, "tags are not offered; leave it out"));
            }
            "loadbalanced" if truth(name, value)? => {
                return Err(bad(name, "load balancers of this kind are not offered"));
            }
            _ => self.remarks.push(format!(
                "option {name} of the connection string has no meaning here"
            )),
        }
        Ok(())
    }
}

fn acknowledgement(name: &str, value: &str) -> Result<WriteAck, BadUri> {
    match value.parse::<i32>() {
        Ok(0) => Err(bad(
            name,
            "writes that nobody acknowledges have nothing to time; use w=1",
        )),
        Ok(count) if count < 0 => Err(bad(name, "expected a number of members, or majority")),
        Ok(count) => Ok(WriteAck::Members(count)),
        Err(_) if value == "majority" => Ok(WriteAck::Majority),
        Err(_) => Ok(WriteAck::Tag(value.to_owned())),
    }
}

fn pool(name: &str, value: &str) -> Result<usize, BadUri> {
    match value.parse() {
        Ok(size) if (1..=10_000).contains(&size) => Ok(size),
        _ => Err(bad(
            name,
            "expected a number of connections from 1 to 10000",
        )),
    }
}

fn truth(name: &str, value: &str) -> Result<bool, BadUri> {
    match value {
        "true" | "1" | "yes" => Ok(true),
        "false" | "0" | "no" => Ok(false),
        _ => Err(bad(name, format!("expected true or false, not {value:?}"))),
    }
}

/// Milliseconds; 0 is no limit.
fn time(name: &str, value: &str) -> Result<Option<Duration>, BadUri> {
    match value.parse::<u32>() {
        Ok(0) => Ok(None),
        Ok(milliseconds) => Ok(Some(Duration::from_millis(u64::from(milliseconds)))),
        Err(_) => Err(bad(name, format!("expected milliseconds, not {value:?}"))),
    }
}

/// The options of a query, decoded, in their order.
fn pairs(query: &str) -> Result<Vec<(String, String)>, BadUri> {
    let mut found = Vec::new();
    // `;` separates, too, in the oldest strings.
    for pair in query.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| bad(pair, "expected option=value"))?;
        found.push((decoded(name, name)?, decoded(name, value)?));
    }
    Ok(found)
}

/// Percent signs resolved (RFC 3986).
fn decoded(part: &str, text: &str) -> Result<String, BadUri> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => {
                return Err(bad(
                    part,
                    "a % without two hexadecimal digits; write it as %25",
                ))
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| bad(part, "it is not UTF-8"))
}

/// The TLS options as they come.
#[derive(Default)]
struct Tls {
    on: Option<bool>,
    authorities: Option<PathBuf>,
    key: Option<PathBuf>,
    careless: bool,
}

impl Tls {
    /// False for an option that is not of TLS.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, BadUri> {
        match name.to_ascii_lowercase().as_str() {
            "tls" | "ssl" => self.on = Some(truth(name, value)?),
            "tlscafile" => self.authorities = Some(PathBuf::from(value)),
            "tlscertificatekeyfile" => self.key = Some(PathBuf::from(value)),
            "tlsinsecure" | "tlsallowinvalidcertificates" => {
                self.careless = truth(name, value)?;
            }
            "tlsallowinvalidhostnames" if truth(name, value)? => {
                let why = "the name is checked with the certificate; for a test cluster, \
                           tlsInsecure=true checks neither";
                return Err(bad(name, why));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn options(self) -> Result<Option<TlsOptions>, BadUri> {
        let asked = self.authorities.is_some() || self.key.is_some();
        if !self.on.unwrap_or(asked) {
            return Ok(None);
        }
        if self.authorities.is_none() && !self.careless {
            let why = "missing: a PEM file of the authorities to trust";
            return Err(bad("tlsCAFile", why));
        }
        Ok(Some(TlsOptions {
            authorities: self.authorities,
            // One file holds both, as the other drivers have it.
            certificate: self.key.clone().zip(self.key),
            server_name: None,
            verify: !self.careless,
        }))
    }
}

#[cfg(test)]
mod tests;
