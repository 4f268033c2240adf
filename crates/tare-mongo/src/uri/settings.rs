//! The options of a connection string, one by one.
use std::time::Duration;

use super::tls::Tls;
use super::{
    bad, refused, BadUri, Credentials, Mechanism, ReadMode, Uri, WriteConcern, MOST_LINKS,
};
use crate::options::{Tags, WriteAck};
use tare_net::Password;

/// Shortest time between two looks at a member (discovery and monitoring specification).
const SHORTEST_HEARTBEAT: u32 = 500;

/// Whether a text is a value of an option.
type IsValid = fn(&str) -> bool;

/// Options of drivers that mean nothing here, and what their values are.
const IDLE: [(&str, IsValid); 14] = [
    ("authmechanismproperties", |_| true),
    ("enableoverloadretargeting", |value| truth(value).is_ok()),
    ("maxadaptiveretries", |value| value.parse::<u32>().is_ok()),
    ("maxconnecting", |value| {
        value.parse::<u32>().is_ok_and(|count| count > 0)
    }),
    ("maxidletimems", |value| value.parse::<u32>().is_ok()),
    ("minpoolsize", |value| value.parse::<u32>().is_ok()),
    ("servermonitoringmode", |value| {
        ["auto", "poll", "stream"].contains(&value)
    }),
    ("serverselectiontryonce", |value| truth(value).is_ok()),
    ("timeoutms", |value| value.parse::<u32>().is_ok()),
    ("uuidrepresentation", |_| true),
    ("waitqueuetimeoutms", |value| value.parse::<u32>().is_ok()),
    ("zlibcompressionlevel", |value| {
        value
            .parse::<i32>()
            .is_ok_and(|level| (-1..=9).contains(&level))
    }),
    ("loadbalanced", |value| truth(value).is_ok()),
    ("compressors", |value| value.is_empty()),
];

/// What is settled only when all options are known.
#[derive(Default)]
pub(super) struct Settings {
    /// Names in lower case of the options that have come.
    seen: Vec<String>,
    tls: Tls,
    direct: Option<bool>,
    source: Option<String>,
    mechanism: Option<(String, Mechanism)>,
    acknowledged: Option<WriteAck>,
    journal: Option<bool>,
    /// Milliseconds that a server waits for members, and whether the option's own name said so.
    patience: Option<(u32, bool)>,
    proxy: Vec<String>,
    balanced: bool,
}

/// One option as it was given, and the lower case of its name.
#[derive(Clone, Copy)]
struct Given<'a> {
    name: &'a str,
    known: &'a str,
    value: &'a str,
}

impl Settings {
    /// The next option of the string.
    pub fn take(&mut self, uri: &mut Uri, name: &str, value: &str) -> Result<(), BadUri> {
        let known = name.to_ascii_lowercase();
        if self.seen.contains(&known) && known != "readpreferencetags" {
            if known.starts_with("proxy") {
                return Err(bad(name, "it is given twice"));
            }
            uri.remarks
                .push(format!("option {name} is given twice; the last one counts"));
        }
        let given = Given {
            name,
            known: &known,
            value,
        };
        if !self.tls.take(uri, name, value)?
            && !self.credentials(given)?
            && !self.concerns(uri, given)
            && !reads(uri, given)
            && !self.connections(uri, given)?
        {
            idle(uri, given);
        }
        self.seen.push(known);
        Ok(())
    }

    fn credentials(&mut self, given: Given) -> Result<bool, BadUri> {
        let Given { name, known, value } = given;
        match known {
            "authsource" if value.is_empty() => {
                return Err(bad(name, "it names no database; leave it out"));
            }
            "authsource" => self.source = Some(value.to_owned()),
            "authmechanism" => {
                let mechanism = Mechanism::parse(value).ok_or_else(|| {
                    let why =
                        format!("{value:?} is not offered; expected SCRAM-SHA-1 or SCRAM-SHA-256");
                    refused(name, why)
                })?;
                self.mechanism = Some((name.to_owned(), mechanism));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// When a write or a read is done.
    fn concerns(&mut self, uri: &mut Uri, given: Given) -> bool {
        let Given { name, known, value } = given;
        match known {
            "w" => self.acknowledged = Some(WriteAck::parse(value)),
            "j" | "journal" => self.journal = uri.valid(name, truth(value)).or(self.journal),
            "wtimeout" | "wtimeoutms" => {
                let current = known == "wtimeoutms";
                let replaced = self.patience.is_some_and(|(_, current)| current);
                if let Some(time) = uri.valid(name, milliseconds(value)) {
                    if current || !replaced {
                        self.patience = Some((time, current));
                    }
                }
                if !current {
                    uri.remarks
                        .push(format!("option {name} is called wtimeoutMS today"));
                }
            }
            "readconcernlevel" => uri.read_concern = Some(value.to_owned()),
            _ => return false,
        }
        true
    }

    /// Options of the connections.
    fn connections(&mut self, uri: &mut Uri, given: Given) -> Result<bool, BadUri> {
        let Given { name, known, value } = given;
        match known {
            "replicaset" => uri.replica_set = Some(value.to_owned()),
            "directconnection" => self.direct = uri.valid(name, truth(value)).or(self.direct),
            "maxpoolsize" => {
                if let Some(size) = uri.valid(name, count(value)) {
                    uri.pool = match size as usize {
                        0 => MOST_LINKS,
                        size => size.min(MOST_LINKS),
                    };
                }
            }
            "retrywrites" => {
                uri.retry_writes = uri.valid(name, truth(value)).unwrap_or(uri.retry_writes);
            }
            "retryreads" => {
                uri.retry_reads = uri.valid(name, truth(value)).unwrap_or(uri.retry_reads);
            }
            "connecttimeoutms" => {
                if let Some(time @ 1..) = uri.valid(name, milliseconds(value)) {
                    uri.options.connect_timeout = duration(time);
                }
            }
            "sockettimeoutms" => {
                if let Some(time) = uri.valid(name, milliseconds(value)) {
                    uri.socket_timeout = Some(duration(time)).filter(|time| !time.is_zero());
                }
            }
            "serverselectiontimeoutms" => {
                if let Some(time) = uri.valid(name, milliseconds(value)) {
                    uri.selection_timeout = duration(time);
                }
            }
            "heartbeatfrequencyms" => {
                let long = milliseconds(value).and_then(|time| match time {
                    SHORTEST_HEARTBEAT.. => Ok(time),
                    _ => Err(format!("it is at least {SHORTEST_HEARTBEAT}")),
                });
                if let Some(time) = uri.valid(name, long) {
                    uri.heartbeat = duration(time);
                }
            }
            "appname" => uri.options.application = value.to_owned(),
            "compressors" if !value.is_empty() => {
                return Err(refused(name, "compression is not offered; leave it out"));
            }
            "loadbalanced" if value == "true" => self.balanced = true,
            "srvmaxhosts" | "srvservicename" | "srvallowedhostssuffix" => {
                return Err(bad(name, "it is of mongodb+srv alone; leave it out"));
            }
            "proxyhost" | "proxyport" | "proxyusername" | "proxypassword" => {
                self.proxy.push(known.to_owned());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Put the gathered options into place, and find contradictions.
    pub fn settle(self, uri: &mut Uri, user: Option<(String, String)>) -> Result<(), BadUri> {
        self.load_balancer(uri)?;
        self.socks()?;
        let patience = self.patience.map(|(time, _)| i64::from(time));
        uri.write = WriteConcern::of(self.acknowledged, self.journal, patience)?;
        if uri.read.mode == ReadMode::Primary {
            let part = match (uri.read.tags.is_empty(), uri.read.staleness) {
                (false, _) => Some("readPreferenceTags"),
                (true, Some(_)) => Some("maxStalenessSeconds"),
                (true, None) => None,
            };
            if let Some(part) = part {
                let why = "the primary is one member, and never stale; name another readPreference";
                return Err(bad(part, why));
            }
        }
        uri.options.tls = self.tls.options(uri)?;
        match (user, self.mechanism) {
            (Some((user, password)), mechanism) => {
                let source = self.source.or_else(|| uri.database.clone());
                uri.options.credentials = Some(Credentials {
                    user,
                    password: Password(password),
                    source: source.unwrap_or_else(|| "admin".to_owned()),
                    mechanism: mechanism.map(|(_, mechanism)| mechanism),
                });
            }
            (None, Some((name, _))) => {
                return Err(bad(&name, "there is no user to prove anything of"));
            }
            // A source without a user proves nothing.
            (None, None) => {}
        }
        uri.direct = self
            .direct
            .unwrap_or(uri.hosts.len() == 1 && uri.replica_set.is_none());
        if uri.direct && uri.hosts.len() > 1 {
            return Err(bad("directConnection", "true needs exactly one host"));
        }
        Ok(())
    }

    fn load_balancer(&self, uri: &Uri) -> Result<(), BadUri> {
        let name = "loadBalanced";
        if !self.balanced {
            return Ok(());
        }
        if uri.hosts.len() > 1 {
            return Err(bad(name, "true needs exactly one host"));
        }
        if uri.replica_set.is_some() || self.direct == Some(true) {
            let why = "true excludes replicaSet and directConnection";
            return Err(bad(name, why));
        }
        Err(refused(name, "load balancers of this kind are not offered"))
    }

    fn socks(&self) -> Result<(), BadUri> {
        let has = |name: &str| self.proxy.iter().any(|given| given == name);
        if self.proxy.is_empty() {
            return Ok(());
        }
        if !has("proxyhost") {
            return Err(bad(
                "proxyHost",
                "missing, where other options of a proxy are given",
            ));
        }
        if has("proxyusername") != has("proxypassword") {
            let why = "a proxy's user and password are given together or not at all";
            return Err(bad("proxyUsername", why));
        }
        let why = "connections through a SOCKS5 proxy are not offered; name the members' hosts";
        Err(refused("proxyHost", why))
    }
}

/// Which members may serve a read.
fn reads(uri: &mut Uri, given: Given) -> bool {
    let Given { name, known, value } = given;
    match known {
        "readpreference" => {
            let why =
                "expected primary, primaryPreferred, secondary, secondaryPreferred or nearest";
            let mode = ReadMode::parse(value).ok_or_else(|| why.to_owned());
            uri.read.mode = uri.valid(name, mode).unwrap_or(uri.read.mode);
        }
        "readpreferencetags" => {
            let tags = uri.valid(name, tags(value));
            uri.read.tags.extend(tags);
        }
        "maxstalenessseconds" => match value {
            "-1" => uri.read.staleness = None,
            value => {
                if let Some(seconds) = uri.valid(name, count(value)) {
                    uri.read.staleness = Some(Duration::from_secs(u64::from(seconds)));
                }
            }
        },
        "localthresholdms" => {
            if let Some(time) = uri.valid(name, milliseconds(value)) {
                uri.read.threshold = duration(time);
            }
        }
        _ => return false,
    }
    true
}

/// An option that changes nothing here, whether it is known or not.
fn idle(uri: &mut Uri, given: Given) {
    let Given { name, known, value } = given;
    match IDLE.iter().find(|(idle, _)| *idle == known) {
        Some((_, is_valid)) if is_valid(value) => {
            uri.idle.push((name.to_owned(), value.to_owned()));
        }
        Some(_) => {
            let why = format!("{value:?} is no value of it");
            uri.valid::<()>(name, Err(why));
        }
        None => uri.remarks.push(format!(
            "option {name} of the connection string has no meaning here"
        )),
    }
}

impl Uri {
    /// The value, or a remark that the option is left out.
    pub(super) fn valid<T>(&mut self, name: &str, value: Result<T, String>) -> Option<T> {
        value
            .map_err(|why| {
                self.remarks
                    .push(format!("option {name} is left out: {why}"))
            })
            .ok()
    }
}

pub(super) fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("expected true or false, not {value:?}")),
    }
}

fn count(value: &str) -> Result<u32, String> {
    value
        .parse()
        .map_err(|_| format!("expected a number, not {value:?}"))
}

fn milliseconds(value: &str) -> Result<u32, String> {
    value
        .parse()
        .map_err(|_| format!("expected milliseconds, not {value:?}"))
}

fn duration(milliseconds: u32) -> Duration {
    Duration::from_millis(u64::from(milliseconds))
}

/// `name:value,name:value`; an empty list fits every member.
fn tags(value: &str) -> Result<Tags, String> {
    let pairs = value.split(',').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair
                .split_once(':')
                .ok_or_else(|| format!("expected name:value, not {pair:?}"))?;
            Ok((name.to_owned(), value.to_owned()))
        })
        .collect()
}
