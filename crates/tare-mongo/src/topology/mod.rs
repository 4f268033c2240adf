//! The members of a deployment, what each of them is, and which may serve what.
mod description;
mod discover;
mod host;
mod select;
mod stand_in;

use std::net::SocketAddr;
use std::time::Duration;

use crate::error::Error;
use crate::hello::Role;
use crate::options::{Options, ReadPreference, Tags};
use crate::uri::Uri;

pub(crate) use description::speaks;
pub use description::{Answer, Description, Failure, Kind, Server, What};
pub use discover::Discovery;
pub use host::Host;
pub use select::{average, Operation};

/// What the members make up together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Nobody has answered yet.
    Unknown,
    /// One server, whatever it is a member of.
    Single,
    /// A replica set of this name.
    Set(String),
    /// Routers of a sharded cluster.
    Sharded,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub host: Host,
    /// Where it was reached; none where it was not.
    pub address: Option<SocketAddr>,
    pub role: Role,
    /// The average of its round trips.
    pub round_trip: Duration,
    pub tags: Tags,
    /// When it last wrote, and when it said so, in milliseconds since 1970.
    pub last_write: i64,
    pub seen: i64,
    /// Why it could not be reached.
    pub unreachable: Option<String>,
}

/// A deployment as its members describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    pub shape: Shape,
    /// In the order in which they were named; elsewhere their positions identify them.
    pub members: Vec<Member>,
    /// Whether the servers keep sessions, without which no write can be sent again safely.
    pub sessions: bool,
    /// Time between two looks at every member.
    pub heartbeat: Duration,
}

impl Topology {
    /// Find the members behind a connection string. All hosts are tried; one that answers is
    /// enough.
    ///
    /// # Errors
    /// No host can be used, or the hosts belong to another set.
    pub fn discover(uri: &Uri) -> Result<Topology, Error> {
        Discovery::new(uri).look()
    }

    /// The program that answers in MongoDB's stead, with its version and what that means; none
    /// where nothing says that it is another program.
    ///
    /// # Errors
    /// The member that is asked does not answer.
    pub fn stand_in(&self, options: &Options) -> Result<Option<String>, Error> {
        stand_in::stand_in(&self.members, options)
    }

    /// The member that takes writes; none while there is no primary.
    pub fn writable(&self) -> Option<usize> {
        let found = self.suitable(Operation::Write, &[]);
        found.unwrap_or_default().first().copied()
    }

    /// The members that may serve a read and are near: none where there is nobody of the kind asked
    /// for.
    pub fn readable(&self, preference: &ReadPreference) -> Vec<usize> {
        let found = self.suitable(Operation::Read(preference), &[]);
        self.near(found.unwrap_or_default(), preference.threshold)
    }

    /// Whether a read that goes to this member must permit a secondary: a server that is
    /// spoken to directly refuses reads otherwise.
    pub fn must_allow_secondaries(&self) -> bool {
        let single = self.shape == Shape::Single;
        single
            && self
                .members
                .iter()
                .any(|member| member.role == Role::Secondary)
    }
}

#[cfg(test)]
mod tests;
