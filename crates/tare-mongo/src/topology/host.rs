//! The name and port of a member, and the addresses behind it.
use std::fmt;
use std::net::SocketAddr;

use crate::error::Error;

/// A host name (or an address) and a port, as members and connection strings write them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host {
    /// In lower case: names of hosts have no case.
    pub name: String,
    pub port: u16,
}

impl Host {
    pub fn new(name: &str, port: u16) -> Host {
        Host {
            name: name.to_ascii_lowercase(),
            port,
        }
    }

    /// `name`, `name:port`, `[address]:port`; without a port the one given.
    ///
    /// # Errors
    /// Why it is none of these.
    pub fn parse(text: &str, port: u16) -> Result<Host, String> {
        let (name, given) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, behind) = rest
                    .split_once(']')
                    .ok_or_else(|| format!("`{text}`: the ] is missing"))?;
                let given = match behind.strip_prefix(':') {
                    None if !behind.is_empty() => {
                        return Err(format!("`{text}`: a colon and a port may follow the ]"))
                    }
                    given => given,
                };
                (name, given)
            }
            None => match text.split_once(':') {
                Some((name, given)) => (name, Some(given)),
                None => (text, None),
            },
        };
        if name.is_empty() {
            return Err(format!("`{text}`: a name is missing"));
        }
        if text.contains('/') || text.ends_with(".sock") {
            return Err(format!("`{text}`: Unix sockets are not offered"));
        }
        let port = match given {
            None => port,
            Some(given) => given
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| format!("`{text}`: the port is no number from 1 to 65535"))?,
        };
        Ok(Host::new(name, port))
    }

    /// The addresses behind the name.
    ///
    /// # Errors
    /// It has none.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, Error> {
        let name = (self.name.as_str(), self.port);
        tare_net::addresses(name).map_err(|why| Error::Host {
            given: self.to_string(),
            why,
        })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(out, "[{}]:{}", self.name, self.port)
        } else {
            write!(out, "{}:{}", self.name, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_back_as_they_are_written() {
        for text in ["a:27017", "10.0.0.1:5", "[::1]:27018"] {
            assert_eq!(Host::parse(text, 1).unwrap().to_string(), text);
        }
        assert_eq!(
            Host::parse("DB.Example", 27017).unwrap(),
            Host::new("db.example", 27017)
        );
        for text in [
            "",
            ":1",
            "a:",
            "a:0",
            "a:x",
            "[::1",
            "/tmp/mongodb-27017.sock",
        ] {
            assert!(Host::parse(text, 1).is_err(), "{text}");
        }
    }
}
