//! The members of a deployment, what each of them is, and which may serve what.
mod discover;
mod host;
mod stand_in;

use std::net::SocketAddr;
use std::time::Duration;

use crate::error::Error;
use crate::hello::{Hello, Role};
use crate::options::{Options, ReadMode, ReadPreference};
use crate::uri::Uri;

pub use host::Host;

/// What the members make up together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
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
    /// The shortest time that a `hello` took there and back.
    pub round_trip: Duration,
    /// Why it could not be reached.
    pub unreachable: Option<String>,
}

/// A deployment as its members describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    pub shape: Shape,
    /// In the order in which they were named; their positions name them elsewhere.
    pub members: Vec<Member>,
    /// Whether the servers keep sessions, without which no write can be sent again safely.
    pub sessions: bool,
}

impl Topology {
    /// Find the members behind a connection string. All hosts are tried; one that answers is
    /// enough.
    ///
    /// # Errors
    /// No host can be used, or they are of another set than they should be.
    pub fn discover(uri: &Uri) -> Result<Topology, Error> {
        discover::discover(uri)
    }

    /// What answers in MongoDB's stead, with its version and what that means; none where nothing says
    /// that it is another program.
    ///
    /// # Errors
    /// The member that is asked does not answer.
    pub fn stand_in(&self, options: &Options) -> Result<Option<String>, Error> {
        stand_in::stand_in(&self.members, options)
    }

    /// The member that takes writes; none while there is no primary.
    pub fn writable(&self) -> Option<usize> {
        match self.shape {
            Shape::Set(_) => self.position(Role::Primary),
            Shape::Single | Shape::Sharded => self.reachable().next(),
        }
    }

    fn position(&self, role: Role) -> Option<usize> {
        self.members.iter().position(|member| member.role == role)
    }

    fn reachable(&self) -> impl Iterator<Item = usize> + '_ {
        let members = self.members.iter().enumerate();
        members.filter_map(|(position, member)| member.address.map(|_| position))
    }

    /// The members that may serve a read (server selection specification): none where there is
    /// nobody of the kind asked for.
    pub fn readable(&self, preference: &ReadPreference) -> Vec<usize> {
        if !matches!(self.shape, Shape::Set(_)) {
            return self.near(self.reachable().collect(), preference.threshold);
        }
        let of = |role| -> Vec<usize> {
            let members = self.members.iter().enumerate();
            let fitting = members.filter(|(_, member)| member.role == role);
            fitting.map(|(position, _)| position).collect()
        };
        let primary = of(Role::Primary);
        let secondaries = of(Role::Secondary);
        let or = |first: Vec<usize>, second: Vec<usize>| match first.is_empty() {
            true => second,
            false => first,
        };
        let eligible = match preference.mode {
            ReadMode::Primary => primary,
            ReadMode::PrimaryPreferred => or(primary, secondaries),
            ReadMode::Secondary => secondaries,
            ReadMode::SecondaryPreferred => or(secondaries, primary),
            ReadMode::Nearest => [primary, secondaries].concat(),
        };
        self.near(eligible, preference.threshold)
    }

    /// Those whose round trip is not much longer than the shortest.
    fn near(&self, positions: Vec<usize>, threshold: Duration) -> Vec<usize> {
        let time = |position: &usize| self.members[*position].round_trip;
        let Some(shortest) = positions.iter().map(time).min() else {
            return positions;
        };
        let longest = shortest + threshold;
        positions
            .into_iter()
            .filter(|position| time(position) <= longest)
            .collect()
    }

    /// Whether a read that goes to this member must say that it may be no primary: a server that is
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

/// Whether one primary was elected after another (discovery specification: "updateRSFromPrimary").
fn later(one: &Hello, other: &Hello) -> bool {
    (one.election, one.version) > (other.election, other.version)
}

#[cfg(test)]
mod tests;
