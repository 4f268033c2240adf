//! What is recorded: the engine's operations, and the names under which YCSB prints them.

use tare_engine::errors::ErrorKind;

use crate::settings::{Action, Binding, MeasuredFrom, Phase, Settings};

/// One of YCSB's measured operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
    Verify,
}

impl Measured {
    pub fn name(self) -> &'static str {
        match self {
            Measured::Read => "READ",
            Measured::Update => "UPDATE",
            Measured::Insert => "INSERT",
            Measured::Scan => "SCAN",
            Measured::ReadModifyWrite => "READ-MODIFY-WRITE",
            Measured::Verify => "VERIFY",
        }
    }

    /// Whether it is a call to the database, whose failures have a name of their own.
    pub fn is_call(self) -> bool {
        !matches!(self, Measured::ReadModifyWrite | Measured::Verify)
    }
}

/// Failures of one operation that are recorded apart, as if they were an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    pub of: Measured,
    pub status: &'static str,
}

/// The operations of a run by their position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operations {
    measured: Vec<Measured>,
    /// Their positions follow those of `measured`.
    apart: Vec<Apart>,
    statuses: Statuses,
}

/// Whose names of failures are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statuses {
    Cql,
    Mongo,
}

impl Operations {
    pub fn new(settings: &Settings) -> Operations {
        let core = &settings.core;
        let mut measured = Vec::new();
        if settings.phase == Phase::Load {
            measured.push(Measured::Insert);
        } else {
            let modifies = core.has(Action::ReadModifyWrite);
            let parts = modifies && settings.parts;
            let wanted = [
                (core.has(Action::Read) || parts, Measured::Read),
                (core.has(Action::Update) || parts, Measured::Update),
                (core.has(Action::Insert), Measured::Insert),
                (core.has(Action::Scan), Measured::Scan),
                (modifies, Measured::ReadModifyWrite),
                (
                    core.integrity && settings.parts && (core.has(Action::Read) || modifies),
                    Measured::Verify,
                ),
            ];
            let wanted = wanted.into_iter().filter(|(is_wanted, _)| *is_wanted);
            measured.extend(wanted.map(|(_, operation)| operation));
        }
        let mut operations = Operations {
            measured,
            apart: Vec::new(),
            statuses: match settings.binding {
                Binding::Cql(_) => Statuses::Cql,
                Binding::Mongo(_) => Statuses::Mongo,
            },
        };
        if keeps_apart(settings) {
            operations.apart = operations.failures();
        }
        operations
    }

    fn failures(&self) -> Vec<Apart> {
        let calls = self.measured.iter().filter(|operation| operation.is_call());
        let both = calls.flat_map(|&of| ["ERROR", "NOT_FOUND"].map(|status| Apart { of, status }));
        both.filter(|apart| apart.of == self.statuses.not_found() || apart.status == "ERROR")
            .collect()
    }

    pub fn names(&self) -> Vec<String> {
        let measured = self
            .measured
            .iter()
            .map(|operation| operation.name().to_owned());
        let apart = self
            .apart
            .iter()
            .map(|apart| format!("{}-{}", apart.of.name(), apart.status));
        measured.chain(apart).collect()
    }

    pub fn measured(&self) -> &[Measured] {
        &self.measured
    }

    /// Position of an operation; the first one's where it does not take part.
    pub fn position(&self, operation: Measured) -> usize {
        self.measured
            .iter()
            .position(|other| *other == operation)
            .unwrap_or(0)
    }

    /// Failures that are recorded apart, with their positions.
    pub fn apart(&self) -> impl Iterator<Item = (usize, Apart)> + '_ {
        let first = self.measured.len();
        self.apart
            .iter()
            .enumerate()
            .map(move |(i, apart)| (first + i, *apart))
    }

    /// Where a failure of this kind is recorded besides, if failures are recorded apart.
    pub fn position_apart(&self, of: Measured, kind: ErrorKind) -> Option<usize> {
        let wanted = Apart {
            of,
            status: self.status(of, kind),
        };
        self.apart()
            .find(|(_, apart)| *apart == wanted)
            .map(|(position, _)| position)
    }
}

/// The engine keeps an operation's failures together, whatever their status. They are kept apart
/// where statuses are told apart or intended times are wanted.
fn keeps_apart(settings: &Settings) -> bool {
    let tracks = ["ERROR", "NOT_FOUND"]
        .iter()
        .any(|status| settings.measure.tracked.has(status));
    let intends = settings.measure.from != MeasuredFrom::Sent && settings.target.is_some();
    tracks || intends
}

impl Statuses {
    /// The operation for which the binding reports that nothing was found: reads with CQL;
    /// updates with MongoDB, where an empty read is an error.
    fn not_found(self) -> Measured {
        match self {
            Statuses::Cql => Measured::Read,
            Statuses::Mongo => Measured::Update,
        }
    }
}

impl Operations {
    /// The name of YCSB's status for a failure, as the binding reports it.
    pub fn status(&self, operation: Measured, kind: ErrorKind) -> &'static str {
        match (operation, kind) {
            (Measured::Verify, ErrorKind::WrongValue) => "UNEXPECTED_STATE",
            (of, ErrorKind::NotFound) if of == self.statuses.not_found() => "NOT_FOUND",
            _ => "ERROR",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings;

    fn names(properties: &str) -> Vec<String> {
        Operations::new(&settings(properties)).names()
    }

    #[test]
    fn only_what_takes_part_is_recorded() {
        assert_eq!(names("dotransactions=false recordcount=9"), ["INSERT"]);
        assert_eq!(names(""), ["READ", "UPDATE"]);
        let f = "readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5";
        assert_eq!(names(f), ["READ", "UPDATE", "READ-MODIFY-WRITE"]);
        assert_eq!(names("dataintegrity=true"), ["READ", "UPDATE", "VERIFY"]);
    }

    #[test]
    fn failures_are_apart_where_their_status_or_intended_time_is_wanted() {
        let apart = [
            "READ",
            "UPDATE",
            "READ-ERROR",
            "READ-NOT_FOUND",
            "UPDATE-ERROR",
        ];
        assert_eq!(names("reportlatencyforeacherror=true"), apart);
        assert_eq!(names("latencytrackederrors=NOT_FOUND"), apart);
        assert_eq!(names("measurement.interval=both target=100"), apart);
        assert_eq!(names("measurement.interval=both"), ["READ", "UPDATE"]);
    }

    #[test]
    fn a_failure_finds_its_place() {
        let all = Operations::new(&settings("reportlatencyforeacherror=true"));
        assert_eq!(
            all.position_apart(Measured::Read, ErrorKind::NotFound),
            Some(3)
        );
        assert_eq!(
            all.position_apart(Measured::Update, ErrorKind::Timeout),
            Some(4)
        );
        let mongo = Operations::new(&settings("db=mongodb"));
        assert_eq!(mongo.status(Measured::Read, ErrorKind::NotFound), "ERROR");
        assert_eq!(
            mongo.status(Measured::Update, ErrorKind::NotFound),
            "NOT_FOUND"
        );
        let none = Operations::new(&settings(""));
        assert_eq!(
            none.position_apart(Measured::Read, ErrorKind::NotFound),
            None
        );
    }
}
