//! The operations of one worker thread: which comes next in a slot, and what follows an answer.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tare_cql::{Rows, Statement};
use tare_draw::ycsb::{Chooser, Discrete};
use tare_draw::{Rng, Xoshiro};
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{Answer, Begin, Follow, Outcome, Source};

use crate::fields::Fields;
use crate::operations::Measured;
use crate::settings::{Action, Phase, ScanLength};
use crate::verify::Verifier;
use crate::workload::Shared;

/// Threads of YCSB on one worker thread of ours.
pub struct CoreSource {
    shared: Arc<Shared>,
    slots: Vec<Slot>,
    rng: Xoshiro,
    fields: Fields,
    /// None in the load phase.
    run: Option<Draws>,
    verifier: Verifier,
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
    number: i64,
    key: Vec<u8>,
    /// Rows that a scan wants, and its statement.
    rows: i32,
    statement: usize,
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

impl CoreSource {
    pub fn new(
        shared: Arc<Shared>,
        threads: Range<usize>,
        statements: &[Statement],
        rng: Xoshiro,
    ) -> CoreSource {
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
            fields: Fields::new(core, &shared.statements.order),
            run: draws.map(|(keys, actions)| Draws {
                actions,
                keys,
                scan: core.scan.clone(),
            }),
            verifier: Verifier::new(core, statements),
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

    fn load(&mut self, slot: usize, request: &mut Request) -> usize {
        let number = self.shared.loads.next();
        self.take_key(slot, number);
        self.slots[slot].step = Step::Load;
        self.slots[slot].tries = 0;
        self.write_insert(slot, request);
        self.at.insert
    }

    fn transaction(&mut self, slot: usize, action: Action, request: &mut Request) -> usize {
        match action {
            Action::Insert => {
                let number = self.shared.inserts.next();
                self.take_key(slot, number);
                self.slots[slot].step = Step::Insert;
                self.write_insert(slot, request);
                return self.at.insert;
            }
            Action::Read | Action::ReadModifyWrite => self.write_read(slot, action, request),
            Action::Update => {
                self.take_chosen_key(slot);
                self.slots[slot].step = Step::Update;
                self.write_update(slot, request);
            }
            Action::Scan => self.write_scan(slot, request),
        }
        match action {
            Action::Read => self.at.read,
            Action::Update => self.at.update,
            Action::Scan => self.at.scan,
            Action::Insert => self.at.insert,
            Action::ReadModifyWrite => self.at.modify,
        }
    }

    fn take_chosen_key(&mut self, slot: usize) {
        let last = self.shared.inserts.last();
        let number = match &mut self.run {
            Some(draws) => draws.keys.next(&mut self.rng, last),
            None => 0,
        };
        self.take_key(slot, number);
    }

    fn take_key(&mut self, slot: usize, number: i64) {
        let slot = &mut self.slots[slot];
        slot.number = number;
        slot.key.clear();
        self.shared.settings.core.keys.write(number, &mut slot.key);
    }

    fn write_insert(&mut self, slot: usize, request: &mut Request) {
        let key = &self.slots[slot].key;
        request.execute(self.shared.statements.insert.unwrap_or(0)).value(key);
        self.fields.write_all(key, &mut self.rng, request);
    }

    fn write_read(&mut self, slot: usize, action: Action, request: &mut Request) {
        self.take_chosen_key(slot);
        let statements = &self.shared.statements;
        let (place, step) = match action {
            Action::Read => (statements.read, Step::Read),
            _ => (statements.read_to_modify, Step::ReadToModify),
        };
        let field = self.fields.choose(&mut self.rng);
        let statement = place.map_or(0, |place| place.of(field));
        let slot = &mut self.slots[slot];
        (slot.step, slot.statement, slot.read) = (step, statement, None);
        request.execute(statement).value(&slot.key);
    }

    fn write_update(&mut self, slot: usize, request: &mut Request) {
        let key = &self.slots[slot].key;
        let field = self.fields.choose(&mut self.rng);
        let place = self.shared.statements.update;
        request.execute(place.map_or(0, |place| place.of(field)));
        if self.shared.settings.core.write_all {
            self.fields.write_all(key, &mut self.rng, request);
        } else {
            self.fields.write_one(field, key, &mut self.rng, request);
        }
        request.value(key);
    }

    fn write_scan(&mut self, slot: usize, request: &mut Request) {
        self.take_chosen_key(slot);
        let rows = match self.run.as_ref().map(|draws| &draws.scan) {
            Some(ScanLength::Uniform(law)) => law.next(&mut self.rng),
            Some(ScanLength::Zipfian(law)) => law.next(&mut self.rng),
            None => 1,
        };
        let field = self.fields.choose(&mut self.rng);
        let slot = &mut self.slots[slot];
        slot.statement = self.shared.statements.scan.map_or(0, |place| place.of(field));
        (slot.step, slot.rows) = (Step::Scan, rows as i32);
        request.execute(slot.statement).value(&slot.key).value(&slot.rows.to_be_bytes());
    }

    /// An insert of a load: tried again as often as was asked for; then its thread gives up.
    fn loaded(&mut self, slot: usize, outcome: Outcome) -> Follow {
        let Err(kind) = outcome else {
            return Follow::Done(outcome);
        };
        let core = &self.shared.settings.core;
        let slot = &mut self.slots[slot];
        slot.tries += 1;
        if slot.tries <= core.insert_retries {
            eprintln!("Retrying insertion, retry count: {}", slot.tries);
            let spread = 0.8 + 0.4 * self.rng.next_f64();
            let after = Duration::from_secs_f64(core.insert_retry_seconds as f64 * spread);
            return Follow::Retry { kind, after };
        }
        eprintln!(
            "Error inserting, not retrying any more. number of attempts: {}Insertion Retry Limit: {}",
            slot.tries, core.insert_retries
        );
        slot.left = 0;
        Follow::Done(outcome)
    }

    /// YCSB acknowledges an insert of a run whether it went well or not.
    fn acknowledge(&mut self, slot: usize) {
        self.unacknowledged.push(self.slots[slot].number);
        let inserts = &self.shared.inserts;
        self.unacknowledged.retain(|&number| inserts.acknowledge(number).is_err());
    }

    fn verify(&mut self, slot: usize, rows: Option<&Rows<'_>>, notes: &mut Notes<'_>) {
        if !self.shared.settings.core.integrity {
            return;
        }
        let slot = &self.slots[slot];
        let begun = std::time::Instant::now();
        let core = &self.shared.settings.core;
        let outcome = match rows {
            Some(rows) => self.verifier.check(core, slot.number, slot.statement, rows),
            None => Err(ErrorKind::Other),
        };
        notes.took(self.at.verify, begun.elapsed().as_nanos() as u64, outcome);
        if outcome == Err(ErrorKind::WrongValue) {
            let why = "the row is not what dataintegrity=true writes";
            self.shared.tell("verifying", &slot.key, why);
        }
    }

    /// A failure that is kept apart gets its latency there, too.
    fn note_apart(&self, of: Measured, sent: u64, outcome: Outcome, notes: &mut Notes<'_>) {
        if let Err(kind) = outcome {
            if let Some(position) = self.shared.operations.position_apart(of, kind) {
                notes.also(position, sent, Ok(()));
            }
        }
    }

    fn call_done(&self, of: Measured, outcome: Outcome, notes: &mut Notes<'_>) -> Follow {
        self.note_apart(of, notes.begun, outcome, notes);
        Follow::Done(outcome)
    }

    /// The read of a read-modify-write is over; whatever came of it, the update follows.
    fn write_back(
        &mut self,
        slot: usize,
        outcome: Outcome,
        request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        notes.also(self.at.read, notes.begun, outcome);
        self.note_apart(Measured::Read, notes.begun, outcome, notes);
        self.slots[slot].read = outcome.err();
        self.slots[slot].step = Step::WriteBack;
        self.write_update(slot, request);
        Follow::Send
    }

    fn modified(&mut self, slot: usize, outcome: Outcome, notes: &mut Notes<'_>) -> Follow {
        notes.also(self.at.update, notes.sent, outcome);
        self.note_apart(Measured::Update, notes.sent, outcome, notes);
        let read = self.slots[slot].read.map_or(Ok(()), Err);
        Follow::Done(read.and(outcome))
    }

    /// More pages of a scan, which the Java driver fetches until it has all rows.
    fn scanned(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        outcome: Outcome,
        request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        if let Answer::Rows(rows) = answer {
            if let Some(state) = rows.paging_state() {
                let slot = &self.slots[slot];
                request.execute(slot.statement).value(&slot.key).value(&slot.rows.to_be_bytes());
                request.paging_state(state);
                return Follow::Send;
            }
        }
        self.call_done(Measured::Scan, outcome, notes)
    }
}

impl Source for CoreSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        if self.slots[slot].left == 0 {
            return Begin::Finished;
        }
        self.slots[slot].left -= 1;
        let action = self.run.as_ref().map(|draws| *draws.actions.next(&mut self.rng));
        let operation = match action {
            Some(action) => self.transaction(slot, action, request),
            None => self.load(slot, request),
        };
        Begin::Send { operation }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let step = self.slots[slot].step;
        let rows = match answer {
            Answer::Rows(rows) => Some(rows),
            _ => None,
        };
        let mut outcome = match answer {
            Answer::Failed { kind, server } => {
                let why = match server {
                    Some(server) => server.to_string(),
                    None => kind.name().to_owned(),
                };
                self.shared.tell(step.verb(), &self.slots[slot].key, &why);
                Err(*kind)
            }
            Answer::Void | Answer::Rows(_) => Ok(()),
        };
        let found = rows.filter(|rows| !rows.is_empty());
        if matches!(step, Step::Read | Step::ReadToModify) {
            if outcome.is_ok() && found.is_none() {
                outcome = Err(ErrorKind::NotFound);
            }
            self.verify(slot, found, notes);
        }
        match step {
            Step::Load => self.loaded(slot, outcome),
            Step::Read => self.call_done(Measured::Read, outcome, notes),
            Step::Update => self.call_done(Measured::Update, outcome, notes),
            Step::Insert => {
                self.acknowledge(slot);
                self.call_done(Measured::Insert, outcome, notes)
            }
            Step::Scan => self.scanned(slot, answer, outcome, request, notes),
            Step::ReadToModify => self.write_back(slot, outcome, request, notes),
            Step::WriteBack => self.modified(slot, outcome, notes),
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
