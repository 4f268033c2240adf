//! What a connection is opened with: protocol version, compression, TLS, credentials, timeout.
use std::fmt;
use std::time::Duration;

pub use tare_net::{Password, TlsOptions};

/// The version of the native protocol. There is no silent fall-back from one to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Protocol {
    /// Spoken by Cassandra 2.2 and later and by ScyllaDB.
    #[default]
    V4,
    /// Spoken by Cassandra 4.0 and later: segments with checksums, result metadata ids.
    V5,
}

impl Protocol {
    /// The version number in a frame header (without the direction bit).
    pub fn number(self) -> u8 {
        match self {
            Protocol::V4 => 4,
            Protocol::V5 => 5,
        }
    }
}

/// Compression of frame bodies (v4) or of segments (v5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    #[default]
    None,
    Lz4,
}

/// A user name and password for SASL PLAIN (`PasswordAuthenticator`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    pub user: String,
    pub password: Password,
}

/// What every connection to the cluster is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub protocol: Protocol,
    pub compression: Compression,
    pub tls: Option<TlsOptions>,
    pub credentials: Option<Credentials>,
    /// Time to connect and shake hands, and to wait for each answer on the control plane.
    pub connect_timeout: Duration,
    /// Use the contact points alone, as given, without asking where the nodes are and without
    /// token routing: for nodes behind address translation or a load balancer.
    pub contact_points_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            protocol: Protocol::default(),
            compression: Compression::default(),
            tls: None,
            credentials: None,
            connect_timeout: Duration::from_secs(5),
            contact_points_only: false,
        }
    }
}

/// Consistency levels, with their numbers on the wire (v4 section 3, `[consistency]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Consistency {
    Any = 0x0000,
    One = 0x0001,
    Two = 0x0002,
    Three = 0x0003,
    Quorum = 0x0004,
    All = 0x0005,
    LocalQuorum = 0x0006,
    EachQuorum = 0x0007,
    Serial = 0x0008,
    LocalSerial = 0x0009,
    LocalOne = 0x000A,
}

const NAMES: [(&str, Consistency); 11] = [
    ("ANY", Consistency::Any),
    ("ONE", Consistency::One),
    ("TWO", Consistency::Two),
    ("THREE", Consistency::Three),
    ("QUORUM", Consistency::Quorum),
    ("ALL", Consistency::All),
    ("LOCAL_QUORUM", Consistency::LocalQuorum),
    ("EACH_QUORUM", Consistency::EachQuorum),
    ("SERIAL", Consistency::Serial),
    ("LOCAL_SERIAL", Consistency::LocalSerial),
    ("LOCAL_ONE", Consistency::LocalOne),
];

impl Consistency {
    /// The level of a name such as `LOCAL_QUORUM`, in any case.
    pub fn parse(name: &str) -> Option<Consistency> {
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, level)| *level)
    }

    /// The level's name as CQL writes it.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }
}

impl fmt::Display for Consistency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consistency_names_and_numbers_agree_with_the_specification() {
        for (number, (name, level)) in NAMES.iter().enumerate() {
            assert_eq!(*level as usize, number);
            assert_eq!(level.name(), *name);
            assert_eq!(Consistency::parse(&name.to_lowercase()), Some(*level));
        }
        assert_eq!(Consistency::parse("MOST"), None);
    }
}
