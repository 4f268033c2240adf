//! One worker's operations on the predefined tables.

use tare_cql::Rows;
use tare_draw::stress::{Partition, Position, Ratio, Sampler, Seed, Visit};
use tare_draw::Xoshiro;
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{Answer, Begin, Follow, Outcome, Seat, Source};

use super::cells::{expect, hex, matches};
use super::Predefined;
use crate::settings::command::Kind;
use crate::workload::chooser::{Chooser, Run};
use crate::workload::turns::Turns;

/// One worker's operations.
pub struct PredefinedSource {
    plan: Predefined,
    chooser: Chooser,
    /// The operation that writes what reads follow.
    write: Option<usize>,
    partition: Partition,
    add: Sampler,
    row_share: Ratio,
    rng: Xoshiro,
    slots: Vec<Slot>,
}

/// One thread of the tool.
#[derive(Debug, Clone, Default)]
struct Slot {
    run: Run,
    turns: Turns,
    operation: usize,
    key: Vec<u8>,
    /// The cells that a read must find: for each its length, or -1 for null, and its bytes.
    expected: Vec<u8>,
    /// What is written for the first time, where reads follow the writes.
    written: Option<Seed>,
}

impl Source for PredefinedSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        let shared = &self.plan.shared;
        if shared.trouble.is_over() {
            return Begin::Finished;
        }
        let state = &mut self.slots[slot];
        let drawn = self.chooser.next(&mut state.run, &mut self.rng);
        let reads = !self.plan.ratios[drawn].0.writes();
        let operation = state.turns.next(drawn, reads, self.write, &shared.seeds);
        let kind = self.plan.ratios[operation].0;
        if shared.permits.take(1) == 0 {
            return Begin::Finished;
        }
        let seed = match kind.writes() {
            true => shared.seeds.next_write(&mut self.rng),
            false => shared.seeds.next_read(&mut self.rng),
        };
        let Some(seed) = seed else {
            return Begin::Finished;
        };
        state.operation = operation;
        request.execute(operation);
        self.write(slot, kind, &seed, request);
        Begin::Send { operation }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        _request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let state = &self.slots[slot];
        let kind = self.plan.ratios[state.operation].0;
        let (units, outcome) = match answer {
            Answer::Failed { kind, server } => {
                let (shared, key) = (&self.plan.shared, || hex(&state.key));
                let follow = shared.failed(*kind, server.as_ref(), notes, key);
                if let Follow::Done(_) = follow {
                    self.answered(slot);
                }
                return follow;
            }
            Answer::Void => (1, Ok(())),
            Answer::Rows(rows) => (rows.len() as u64, self.check(kind, state, rows)),
        };
        if outcome.is_err() {
            let why = || "Data returned was not validated".to_owned();
            self.plan
                .shared
                .trouble
                .failed(notes.retries + 1, || hex(&state.key), why);
        }
        self.plan.shared.count(state.operation, units, units, notes);
        self.answered(slot);
        Follow::Done(outcome)
    }
}

impl PredefinedSource {
    pub fn new(plan: Predefined, seat: &Seat) -> PredefinedSource {
        let ratios = plan.ratios.iter().map(|(_, ratio)| *ratio);
        PredefinedSource {
            chooser: Chooser::new(ratios, plan.clustering.clone()),
            write: plan.ratios.iter().position(|(kind, _)| kind.writes()),
            partition: Partition::new(plan.shape.clone()),
            add: Sampler::new(plan.add.clone()),
            row_share: plan.row_share.clone(),
            rng: Xoshiro::stream(plan.seed, seat.worker as u64),
            slots: vec![Slot::default(); seat.slots.len()],
            plan,
        }
    }

    /// The slot's write is over, well or not: reads may follow it.
    fn answered(&mut self, slot: usize) {
        if let Some(seed) = self.slots[slot].written.take() {
            self.plan.shared.seeds.answered(&seed);
        }
    }

    /// Writes the values of an operation, and remembers what its answer must be.
    fn write(&mut self, slot: usize, kind: Kind, seed: &Seed, request: &mut Request) {
        let state = &mut self.slots[slot];
        let columns = self.plan.columns.names.len();
        let visit = match kind.writes() {
            true => Visit::Write { chance: 1.0 },
            false => Visit::Read { rows: 1 },
        };
        let share = self.row_share.next(&mut self.rng);
        self.partition.begin(seed, visit, share, &mut self.rng);
        state.key.clone_from(&self.partition.key()[0]);
        match kind {
            Kind::Write => {
                if let Some(row) = self.partition.next_row(&mut self.rng) {
                    for column in 0..columns {
                        match row.get(Position::Cell(column)) {
                            Some(value) => request.value(value),
                            None => request.null(),
                        };
                    }
                }
                if let Some(ending) = self.partition.ending() {
                    let seeds = &self.plan.shared.seeds;
                    seeds.wrote(seed, ending);
                    state.written = (ending.first && seeds.looks_back()).then(|| seed.clone());
                }
            }
            Kind::CounterWrite => {
                for _ in 0..columns {
                    request.value(&self.add.draw_from(&mut self.rng).to_be_bytes());
                }
                let follows = self.plan.shared.seeds.looks_back();
                state.written = follows.then(|| seed.clone());
            }
            Kind::Read if self.plan.validate => {
                state.expected.clear();
                if let Some(row) = self.partition.next_row(&mut self.rng) {
                    for column in 0..columns {
                        expect(&mut state.expected, row.get(Position::Cell(column)));
                    }
                }
            }
            _ => {}
        }
        request.value(&state.key);
    }

    /// A counter read must find something; any other read exactly the row that was written.
    fn check(&self, kind: Kind, state: &Slot, rows: &Rows<'_>) -> Outcome {
        if kind == Kind::CounterRead {
            return if rows.is_empty() {
                Err(ErrorKind::NotFound)
            } else {
                Ok(())
            };
        }
        if !self.plan.validate {
            return Ok(());
        }
        match rows.iter().next() {
            None => Err(ErrorKind::NotFound),
            Some(Ok(row)) if rows.len() == 1 => {
                // With SELECT * the key comes first; the tool compares it, too, and so never
                // validates a slice. Here it is passed over.
                let passed = usize::from(self.plan.columns.slice);
                match matches(&state.expected, row.cells().skip(passed)) {
                    true => Ok(()),
                    false => Err(ErrorKind::WrongValue),
                }
            }
            Some(_) => Err(ErrorKind::WrongValue),
        }
    }
}
