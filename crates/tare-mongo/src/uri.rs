//! Connection strings: `mongodb://user:password@host:port,host:port/database?option=value`.
//!
//! Follows MongoDB's specifications of connection strings, URI options and authentication. A value
//! that its option does not allow is left out with a remark. A contradiction is an error. What this
//! client does not offer is refused ([`BadUri::refused`]).
mod settings;
mod text;
mod tls;

use std::time::Duration;

use crate::options::{
    Credentials, Mechanism, Options, ReadConcern, ReadMode, ReadPreference, WriteConcern,
};
use crate::topology::Host;
use settings::Settings;
use text::{decoded, pairs};

/// The port of a host that names none.
const PORT: u16 = 27017;
/// Connections of a driver's pool to one member, where nothing else is asked for.
const POOL: usize = 100;
/// What a pool without a limit is limited to.
const MOST_LINKS: usize = 10_000;

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
    /// Writes carry a session and a number, so that the server recognises a resent one.
    pub retry_writes: bool,
    /// Reads are resent once after a passing failure.
    pub retry_reads: bool,
    /// Time after which an unanswered request counts as lost; none waits for ever.
    pub socket_timeout: Option<Duration>,
    /// Time to find members.
    pub selection_timeout: Duration,
    /// Time between two looks at every member.
    pub heartbeat: Duration,
    /// What was left out of the string, and why.
    pub remarks: Vec<String>,
    /// Options of drivers, with their values, that change nothing here.
    pub idle: Vec<(String, String)>,
}

/// A connection string that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {why}")]
pub struct BadUri {
    /// The option, or the part of the string.
    pub part: String,
    pub why: String,
    /// Whether a driver would take it: the string is valid, but this client does not offer it.
    pub refused: bool,
}

fn bad(part: &str, why: impl Into<String>) -> BadUri {
    BadUri {
        part: part.to_owned(),
        why: why.into(),
        refused: false,
    }
}

fn refused(part: &str, why: impl Into<String>) -> BadUri {
    BadUri {
        refused: true,
        ..bad(part, why)
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
            return Err(refused("the scheme", why));
        }
        let rest = text.strip_prefix("mongodb://").ok_or_else(|| {
            let why = "expected mongodb://host:port/database?options";
            bad("the scheme", why)
        })?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        let mut uri = Uri {
            hosts: hosts.split(',').map(host).collect::<Result<_, _>>()?,
            database: database(path)?,
            ..Uri::plain()
        };
        let user = user.map(credentials).transpose()?;
        let mut settings = Settings::default();
        for (name, value) in pairs(query)? {
            settings.take(&mut uri, &name, &value)?;
        }
        settings.settle(&mut uri, user)?;
        Ok(uri)
    }

    /// What holds where a string says nothing.
    fn plain() -> Uri {
        Uri {
            hosts: Vec::new(),
            database: None,
            options: Options::default(),
            read: ReadPreference::default(),
            read_concern: None,
            write: WriteConcern::default(),
            replica_set: None,
            direct: false,
            pool: POOL,
            retry_writes: true,
            retry_reads: true,
            socket_timeout: None,
            selection_timeout: Duration::from_secs(30),
            heartbeat: Duration::from_secs(10),
            remarks: Vec::new(),
            idle: Vec::new(),
        }
    }
}

fn host(text: &str) -> Result<Host, BadUri> {
    let name = decoded("the hosts", text)?;
    if !text.is_empty() && (name.contains('/') || name.ends_with(".sock")) {
        let why = format!("`{name}`: Unix sockets are not offered; name a host and its port");
        return Err(refused("the hosts", why));
    }
    Host::parse(&name, PORT).map_err(|why| bad("the hosts", why))
}

/// The database of the path, without characters that no database's name can have.
fn database(path: &str) -> Result<Option<String>, BadUri> {
    let name = decoded("the database", path)?;
    if let Some(wrong) = name.chars().find(|c| "/\\ \"$".contains(*c)) {
        let why = format!(
            "no name can hold {wrong:?}; in a user's name or password, write / as %2F and @ as %40"
        );
        return Err(bad("the database", why));
    }
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// A user's name and password.
fn credentials(given: &str) -> Result<(String, String), BadUri> {
    let (user, password) = given.split_once(':').unwrap_or((given, ""));
    if user.is_empty() {
        return Err(bad("the user", "there is an @ but no name before it"));
    }
    for (part, text) in [("the user", user), ("the password", password)] {
        if text.contains(['@', ':']) {
            return Err(bad(
                part,
                "it holds an @ or a colon; write them as %40 and %3A",
            ));
        }
    }
    Ok((
        decoded("the user", user)?,
        decoded("the password", password)?,
    ))
}

#[cfg(test)]
mod tests;
