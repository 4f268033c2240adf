//! Begins operations: draws what they are about and writes their first requests.

use tare_engine::request::Request;

use super::{CoreSource, Step};
use crate::settings::{Action, ScanLength};

impl CoreSource {
    pub(super) fn load(&mut self, slot: usize, request: &mut Request) -> usize {
        let number = self.shared.loads.next();
        self.take_key(slot, number);
        self.slots[slot].step = Step::Load;
        self.slots[slot].tries = 0;
        self.write_insert(slot, request);
        self.at.insert
    }

    pub(super) fn transaction(
        &mut self,
        slot: usize,
        action: Action,
        request: &mut Request,
    ) -> usize {
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

    pub(super) fn take_key(&mut self, slot: usize, number: i64) {
        let slot = &mut self.slots[slot];
        slot.number = number;
        slot.key.clear();
        let record = self.shared.record(number);
        self.shared.settings.core.keys.write(record, &mut slot.key);
    }

    fn write_insert(&mut self, slot: usize, request: &mut Request) {
        let key = &self.slots[slot].key;
        request
            .execute(self.shared.statements.insert.unwrap_or(0))
            .value(key);
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

    pub(super) fn write_update(&mut self, slot: usize, request: &mut Request) {
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
        slot.statement = self
            .shared
            .statements
            .scan
            .map_or(0, |place| place.of(field));
        (slot.step, slot.rows) = (Step::Scan, rows as i32);
        request
            .execute(slot.statement)
            .value(&slot.key)
            .value(&slot.rows.to_be_bytes());
    }
}
