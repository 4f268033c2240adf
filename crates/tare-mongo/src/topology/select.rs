//! Which members may serve an operation (server selection and maxStalenessSeconds specifications).
use std::time::Duration;

use super::{Shape, Topology};
use crate::hello::Role;
use crate::options::{ReadMode, ReadPreference};

/// How much a round trip weighs in the average of all.
const NEWEST: f64 = 0.2;
/// The lowest maximum of staleness that any member can be told by.
const LEAST_STALENESS: Duration = Duration::from_secs(90);
/// A member that has nothing to write does so after this time all the same.
const IDLE_WRITES: Duration = Duration::from_secs(10);

/// The average of a member's round trips, with one more.
pub fn average(known: Option<Duration>, newest: Duration) -> Duration {
    known.map_or(newest, |known| {
        newest.mul_f64(NEWEST) + known.mul_f64(1.0 - NEWEST)
    })
}

/// What an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'a> {
    Write,
    Read(&'a ReadPreference),
}

impl Topology {
    /// The positions of the members that may serve this, near or far. Members in `avoided` have
    /// just failed and serve only where no other may.
    ///
    /// # Errors
    /// The read preference cannot be met by any member of any set.
    pub fn suitable(
        &self,
        operation: Operation<'_>,
        avoided: &[usize],
    ) -> Result<Vec<usize>, String> {
        if let Operation::Read(preference) = operation {
            self.check(preference)?;
        }
        let all: Vec<usize> = (0..self.members.len()).collect();
        let fresh: Vec<usize> = all
            .iter()
            .copied()
            .filter(|at| !avoided.contains(at))
            .collect();
        let found = self.fitting(operation, &fresh);
        Ok(match found.is_empty() {
            true => self.fitting(operation, &all),
            false => found,
        })
    }

    fn check(&self, preference: &ReadPreference) -> Result<(), String> {
        let Some(staleness) = preference.staleness else {
            return Ok(());
        };
        if preference.mode == ReadMode::Primary {
            return Err("the primary is never stale; name another readPreference".into());
        }
        let least = LEAST_STALENESS.max(self.heartbeat + IDLE_WRITES);
        if matches!(self.shape, Shape::Set(_)) && staleness < least {
            let (given, least) = (staleness.as_secs(), least.as_secs());
            return Err(format!(
                "maxStalenessSeconds={given} is less than can be told; at least {least}"
            ));
        }
        Ok(())
    }

    fn fitting(&self, operation: Operation<'_>, among: &[usize]) -> Vec<usize> {
        let of = |role: Role| -> Vec<usize> {
            let fits = |at: &usize| self.members[*at].role == role;
            among.iter().copied().filter(fits).collect()
        };
        let preference = match (&self.shape, operation) {
            (Shape::Unknown, _) => return Vec::new(),
            (Shape::Single, _) => {
                let known = |at: &usize| self.members[*at].role != Role::Unknown;
                return among.iter().copied().filter(known).collect();
            }
            (Shape::Sharded, _) => return of(Role::Router),
            (Shape::Set(_), Operation::Write) => return of(Role::Primary),
            (Shape::Set(_), Operation::Read(preference)) => preference,
        };
        let primary = of(Role::Primary);
        let secondaries = || self.wanted(of(Role::Secondary), preference);
        match preference.mode {
            ReadMode::Primary => primary,
            ReadMode::PrimaryPreferred if !primary.is_empty() => primary,
            ReadMode::PrimaryPreferred | ReadMode::Secondary => secondaries(),
            ReadMode::SecondaryPreferred => match secondaries() {
                none if none.is_empty() => primary,
                some => some,
            },
            ReadMode::Nearest => self.wanted([primary, of(Role::Secondary)].concat(), preference),
        }
    }

    /// Those that are fresh enough and carry the tags that are asked for.
    fn wanted(&self, among: Vec<usize>, preference: &ReadPreference) -> Vec<usize> {
        let fresh: Vec<usize> = among
            .into_iter()
            .filter(|at| match preference.staleness {
                Some(most) => {
                    self.staleness(*at) <= i64::try_from(most.as_millis()).unwrap_or(i64::MAX)
                }
                None => true,
            })
            .collect();
        if preference.tags.is_empty() {
            return fresh;
        }
        let mut carrying = preference.tags.iter().map(|tags| -> Vec<usize> {
            let carries = |at: &usize| {
                let own = &self.members[*at].tags;
                tags.iter().all(|tag| own.contains(tag))
            };
            fresh.iter().copied().filter(carries).collect()
        });
        carrying.find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Most milliseconds by which a member's last write lies behind the primary's or, without a
    /// primary, the freshest secondary's.
    fn staleness(&self, at: usize) -> i64 {
        let member = &self.members[at];
        let behind = match self.members.iter().find(|it| it.role == Role::Primary) {
            Some(_) if member.role == Role::Primary => return 0,
            Some(primary) => {
                (member.seen - member.last_write) - (primary.seen - primary.last_write)
            }
            None => {
                let secondaries = self.members.iter().filter(|it| it.role == Role::Secondary);
                let freshest = secondaries.map(|it| it.last_write).max();
                freshest.unwrap_or(member.last_write) - member.last_write
            }
        };
        behind + i64::try_from(self.heartbeat.as_millis()).unwrap_or(i64::MAX / 2)
    }

    /// Those of them whose round trip is not much longer than the shortest.
    pub fn near(&self, positions: Vec<usize>, threshold: Duration) -> Vec<usize> {
        let time = |position: &usize| self.members[*position].round_trip;
        let Some(shortest) = positions.iter().map(time).min() else {
            return positions;
        };
        let longest = shortest + threshold;
        let near = |position: &usize| time(position) <= longest;
        positions.into_iter().filter(near).collect()
    }
}
