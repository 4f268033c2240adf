//! What follows an answer: records the parts of operations, checks rows, tries again.

use std::time::Duration;

use tare_draw::Rng;
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::wire::Wire;
use tare_engine::workload::{Follow, Outcome};

use super::{CoreSource, Step};
use crate::dialect::{Dialect, Scanned, Writer};
use crate::operations::Measured;

impl<D: Dialect> CoreSource<D> {
    /// An insert of a load: tried again as often as was asked for; then its thread gives up.
    pub(super) fn loaded(
        &mut self,
        slot: usize,
        outcome: Outcome,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let Err(kind) = outcome else {
            // All but the last one of a batch were taken without being sent, in no time.
            notes.done_before(self.at.insert, self.slots[slot].records - 1);
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
    pub(super) fn acknowledge(&mut self, slot: usize) {
        self.unacknowledged.push(self.slots[slot].number);
        let inserts = &self.shared.inserts;
        self.unacknowledged
            .retain(|&number| inserts.acknowledge(number).is_err());
    }

    /// Checks what a read found. YCSB records the check on its own; where parts are not recorded,
    /// it is the read's outcome.
    pub(super) fn verify(
        &mut self,
        slot: usize,
        found: Option<&<D::Wire as Wire>::Found<'_>>,
        notes: &mut Notes<'_>,
    ) -> Outcome {
        if !self.shared.settings.core.integrity {
            return Ok(());
        }
        let slot = &self.slots[slot];
        let begun = std::time::Instant::now();
        let core = &self.shared.settings.core;
        let outcome = match found {
            Some(found) => {
                let record = self.shared.record(slot.number);
                self.writer.check(core, record, slot.statement, found)
            }
            None => Err(ErrorKind::Other),
        };
        let parts = self.shared.settings.parts;
        if parts {
            notes.took(self.at.verify, begun.elapsed().as_nanos() as u64, outcome);
        }
        if outcome == Err(ErrorKind::WrongValue) {
            let why = "the row is not what dataintegrity=true writes";
            self.shared.tell("verifying", &slot.key, why);
        }
        match parts {
            true => Ok(()),
            false => outcome,
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

    pub(super) fn call_done(
        &self,
        of: Measured,
        outcome: Outcome,
        notes: &mut Notes<'_>,
    ) -> Follow {
        self.note_apart(of, notes.begun, outcome, notes);
        Follow::Done(outcome)
    }

    /// The read of a read-modify-write is over; whatever came of it, the update follows.
    pub(super) fn write_back(
        &mut self,
        slot: usize,
        outcome: Outcome,
        request: &mut Request<D::Wire>,
        notes: &mut Notes<'_>,
    ) -> Follow {
        if self.shared.settings.parts {
            notes.also(self.at.read, notes.begun, outcome);
        }
        self.note_apart(Measured::Read, notes.begun, outcome, notes);
        self.slots[slot].read = outcome.err();
        self.slots[slot].step = Step::WriteBack;
        self.write_update(slot, request);
        Follow::Send
    }

    pub(super) fn modified(
        &mut self,
        slot: usize,
        outcome: Outcome,
        notes: &mut Notes<'_>,
    ) -> Follow {
        if self.shared.settings.parts {
            notes.also(self.at.update, notes.sent, outcome);
        }
        self.note_apart(Measured::Update, notes.sent, outcome, notes);
        let read = self.slots[slot].read.map_or(Ok(()), Err);
        Follow::Done(read.and(outcome))
    }

    /// A scan is over when there is no more of it.
    pub(super) fn scanned(
        &mut self,
        slot: usize,
        found: Option<&<D::Wire as Wire>::Found<'_>>,
        outcome: Outcome,
        request: &mut Request<D::Wire>,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let Some(found) = found else {
            return self.call_done(Measured::Scan, outcome, notes);
        };
        let slot = &mut self.slots[slot];
        let scan = Scanned {
            statement: slot.statement,
            key: &slot.key,
            rows: slot.rows,
        };
        if self.writer.more(scan, found, request) {
            slot.goes_on = true;
            return Follow::Send;
        }
        let outcome = match D::Writer::is_empty(found) && !slot.goes_on {
            true => outcome.and(D::Writer::nothing_scanned()),
            false => outcome,
        };
        self.call_done(Measured::Scan, outcome, notes)
    }
}
