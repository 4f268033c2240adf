//! The operations of one worker thread: which comes next in a slot, and what follows an answer.

mod begin;
mod follow;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tare_draw::ycsb::{Chooser, Discrete};
use tare_draw::Xoshiro;
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::wire::Wire;
use tare_engine::workload::{Answer, Begin, Follow, Source};

use crate::dialect::{Dialect, Writer};
use crate::operations::Measured;
use crate::settings::{Action, ScanLength};
use crate::workload::Shared;

/// Threads of YCSB on one worker thread of ours.
pub struct CoreSource<D: Dialect> {
    shared: Arc<Shared<D>>,
    slots: Vec<Slot>,
    rng: Xoshiro,
    writer: D::Writer,
    /// None in the load phase.
    run: Option<Draws>,
    /// Inserted records that could not be acknowledged yet.
    unacknowledged: Vec<i64>,
    at: Positions,
}

/// What a run draws from.
struct Draws {
    actions: Discrete<Action>,
    keys: Chooser,
    scan: ScanLength,
}

/// Positions of the engine's operations.
struct Positions {
    read: usize,
    update: usize,
    insert: usize,
    scan: usize,
    modify: usize,
    verify: usize,
}

/// One of YCSB's threads.
#[derive(Debug, Default)]
struct Slot {
    /// Operations that it may still begin.
    left: u64,
    step: Step,
    /// As this client counts; `Shared::record` says which record it is.
    number: i64,
    key: Vec<u8>,
    /// Rows that a scan wants, and its statement.
    rows: i32,
    statement: usize,
    /// A scan goes on: there was something before.
    goes_on: bool,
    /// Records that its insert holds.
    records: u64,
    tries: u64,
    /// What the read of a read-modify-write came to.
    read: Option<ErrorKind>,
}

/// What a slot waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Load,
    Read,
    Update,
    Insert,
    Scan,
    /// The two requests of a read-modify-write.
    ReadToModify,
    WriteBack,
}

impl<D: Dialect> CoreSource<D> {
    pub fn new(
        shared: Arc<Shared<D>>,
        threads: Range<usize>,
        statements: &[<D::Wire as Wire>::Statement],
        rng: Xoshiro,
    ) -> CoreSource<D> {
        let settings = &shared.settings;
        let operations = threads.map(|thread| settings.operations_of(thread).unwrap_or(u64::MAX));
        let slots = operations.map(|left| Slot {
            left,
            ..Slot::default()
        });
        let core = &settings.core;
        let draws = core.chooser.clone().zip(core.discrete().ok());
        let position = |operation| shared.operations.position(operation);
        CoreSource {
            slots: slots.collect(),
            rng,
            writer: shared.dialect.writer(core, statements),
            run: draws.map(|(keys, actions)| Draws {
                actions,
                keys,
                scan: core.scan.clone(),
            }),
            unacknowledged: Vec::new(),
            at: Positions {
                read: position(Measured::Read),
                update: position(Measured::Update),
                insert: position(Measured::Insert),
                scan: position(Measured::Scan),
                modify: position(Measured::ReadModifyWrite),
                verify: position(Measured::Verify),
            },
            shared,
        }
    }
}

impl<D: Dialect> Source<D::Wire> for CoreSource<D> {
    fn begin(&mut self, slot: usize, request: &mut Request<D::Wire>) -> Begin {
        if self.slots[slot].left == 0 {
            return Begin::Finished;
        }
        self.slots[slot].left -= 1;
        let action = self
            .run
            .as_ref()
            .map(|draws| *draws.actions.next(&mut self.rng));
        let operation = match action {
            Some(action) => self.transaction(slot, action, request),
            None => self.load(slot, request),
        };
        Begin::Send { operation }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_, D::Wire>,
        request: &mut Request<D::Wire>,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let step = self.slots[slot].step;
        let rows = match answer {
            Answer::Rows(rows) => Some(rows),
            _ => None,
        };
        let mut outcome = match answer {
            Answer::Failed { kind, server } => {
                let waited = Duration::from_nanos(notes.now.saturating_sub(notes.begun));
                let reads = matches!(step, Step::Read | Step::Scan | Step::ReadToModify);
                let server_said = server.as_ref();
                let again = self
                    .writer
                    .again(reads, *kind, server_said, notes.retries, waited);
                if let Some(after) = again {
                    return Follow::Retry { kind: *kind, after };
                }
                let why = match server {
                    Some(server) => server.to_string(),
                    None => kind.name().to_owned(),
                };
                self.shared.tell(step.verb(), &self.slots[slot].key, &why);
                Err(*kind)
            }
            Answer::Void | Answer::Rows(_) => Ok(()),
        };
        let found = rows.filter(|rows| !D::Writer::is_empty(rows));
        if matches!(step, Step::Read | Step::ReadToModify) {
            if outcome.is_ok() && found.is_none() {
                outcome = Err(ErrorKind::NotFound);
            }
            outcome = outcome.and(self.verify(slot, found, notes));
        }
        match step {
            Step::Load => self.loaded(slot, outcome, notes),
            Step::Read => self.call_done(Measured::Read, outcome, notes),
            Step::Update => {
                let outcome = outcome.and_then(|()| D::Writer::updated(rows));
                self.call_done(Measured::Update, outcome, notes)
            }
            Step::Insert => {
                self.acknowledge(slot);
                self.call_done(Measured::Insert, outcome, notes)
            }
            Step::Scan => self.scanned(slot, rows, outcome, request, notes),
            Step::ReadToModify => self.write_back(slot, outcome, request, notes),
            Step::WriteBack => {
                let outcome = outcome.and_then(|()| D::Writer::updated(rows));
                self.modified(slot, outcome, notes)
            }
        }
    }
}

impl Step {
    /// What YCSB's bindings call it where they tell a failure.
    fn verb(self) -> &'static str {
        match self {
            Step::Load | Step::Insert => "inserting",
            Step::Read | Step::ReadToModify => "reading",
            Step::Update | Step::WriteBack => "updating",
            Step::Scan => "scanning with start",
        }
    }
}
