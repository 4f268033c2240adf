//! Begins operations: draws what they are about and writes their first requests.

use tare_engine::request::Request;

use super::{CoreSource, Step};
use crate::dialect::{Dialect, Purpose, Writer};
use crate::settings::{Action, ScanLength};

impl<D: Dialect> CoreSource<D> {
    pub(super) fn load(&mut self, slot: usize, request: &mut Request<D::Wire>) -> usize {
        let number = self.shared.loads.next();
        self.take_key(slot, number);
        self.slots[slot].step = Step::Load;
        (self.slots[slot].tries, self.slots[slot].records) = (0, 1);
        self.write_insert(slot, request);
        while self.slots[slot].left > 0 && self.slots[slot].records < self.writer.batch() {
            let number = self.shared.loads.next();
            self.take_key(slot, number);
            let slot = &mut self.slots[slot];
            slot.left -= 1;
            slot.records += 1;
            let rng = &mut self.rng;
            self.writer.insert_another(&slot.key, rng, request);
        }
        self.at.insert
    }

    pub(super) fn transaction(
        &mut self,
        slot: usize,
        action: Action,
        request: &mut Request<D::Wire>,
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

    fn write_insert(&mut self, slot: usize, request: &mut Request<D::Wire>) {
        let key = &self.slots[slot].key;
        self.writer.insert(key, &mut self.rng, request);
    }

    fn write_read(&mut self, slot: usize, action: Action, request: &mut Request<D::Wire>) {
        self.take_chosen_key(slot);
        let (purpose, step) = match action {
            Action::Read => (Purpose::Read, Step::Read),
            _ => (Purpose::Modify, Step::ReadToModify),
        };
        let slot = &mut self.slots[slot];
        let rng = &mut self.rng;
        slot.statement = self.writer.read(&slot.key, purpose, rng, request);
        (slot.step, slot.read) = (step, None);
    }

    pub(super) fn write_update(&mut self, slot: usize, request: &mut Request<D::Wire>) {
        let key = &self.slots[slot].key;
        self.writer.update(key, &mut self.rng, request);
    }

    fn write_scan(&mut self, slot: usize, request: &mut Request<D::Wire>) {
        self.take_chosen_key(slot);
        let rows = match self.run.as_ref().map(|draws| &draws.scan) {
            Some(ScanLength::Uniform(distribution)) => distribution.next(&mut self.rng),
            Some(ScanLength::Zipfian(distribution)) => distribution.next(&mut self.rng),
            None => 1,
        } as i32;
        let slot = &mut self.slots[slot];
        let rng = &mut self.rng;
        slot.statement = self.writer.scan(&slot.key, rows, rng, request);
        (slot.step, slot.rows, slot.goes_on) = (Step::Scan, rows, false);
    }
}
