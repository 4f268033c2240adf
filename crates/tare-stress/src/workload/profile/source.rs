//! One worker's operations of a user profile.

use tare_cql::BatchKind;
use tare_draw::stress::{Partition, Ratio, Sampler, Seed, Visit};
use tare_draw::Xoshiro;
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{Answer, Begin, Follow, Seat, Source};

use super::plan::Action;
use super::rows::Rows;
use super::walk::Walk;
use super::ProfileLoad;
use crate::profile::Fields;
use crate::workload::chooser::{Chooser, Run};
use crate::workload::predefined::cells::hex;
use crate::workload::turns::Turns;

/// Statements of one batch (native protocol v4, section 4.1.7: a short).
const MOST_IN_BATCH: usize = 65_535;

pub struct ProfileSource {
    load: ProfileLoad,
    chooser: Chooser,
    /// The operation that writes what queries follow.
    write: Option<usize>,
    /// By operation, for those that insert.
    draws: Vec<Option<Draws>>,
    row_share: Ratio,
    partition: Partition,
    rng: Xoshiro,
    slots: Vec<Slot>,
}

/// What an insert draws.
#[derive(Debug, Clone)]
struct Draws {
    partitions: Sampler,
    select: Ratio,
    row_share: Ratio,
}

/// One thread of the tool.
#[derive(Debug, Clone, Default)]
struct Slot {
    run: Run,
    turns: Turns,
    operation: usize,
    rows: Rows,
    partitions: u64,
    /// Rows that are sent, or have been read.
    done: usize,
    key: Vec<u8>,
    range: Option<Walk>,
    /// What is written for the first time, where reads follow the writes.
    written: Vec<Seed>,
}

impl ProfileSource {
    pub fn new(load: ProfileLoad, seat: &Seat) -> ProfileSource {
        let ratios = load.operations.iter().map(|operation| operation.ratio);
        let draws = load
            .operations
            .iter()
            .map(|operation| match &operation.action {
                Action::Insert {
                    partitions,
                    select,
                    row_share,
                    ..
                } => Some(Draws {
                    partitions: Sampler::new(partitions.clone()),
                    select: select.clone(),
                    row_share: row_share.clone(),
                }),
                _ => None,
            });
        ProfileSource {
            chooser: Chooser::new(ratios, Some(load.clustering.clone())),
            write: load
                .operations
                .iter()
                .position(|operation| matches!(operation.action, Action::Insert { .. })),
            draws: draws.collect(),
            row_share: load.row_share.clone(),
            partition: Partition::new(load.shape.clone()),
            rng: Xoshiro::stream(load.seed, seat.worker as u64),
            slots: vec![Slot::default(); seat.slots.len()],
            load,
        }
    }

    /// Makes the rows of an insert; false when nothing is left to write.
    fn make_rows(&mut self, slot: usize, operation: usize) -> bool {
        let (Some(draws), shared) = (&mut self.draws[operation], &self.load.shared) else {
            return false;
        };
        let rng = &mut self.rng;
        let wanted = u64::try_from(draws.partitions.draw_from(rng)).unwrap_or(0);
        let partitions = shared.permits.take(wanted);
        let arguments = &self.load.operations[operation].arguments;
        let state = &mut self.slots[slot];
        state.rows.clear();
        state.partitions = 0;
        state.done = 0;
        while state.partitions < partitions {
            let Some(seed) = shared.seeds.next_write(rng) else {
                break;
            };
            let visit = Visit::Write {
                chance: draws.select.next(rng),
            };
            let share = draws.row_share.next(rng);
            let begun = self.partition.begin(&seed, visit, share, rng);
            while let Some(row) = begun.then(|| self.partition.next_row(rng)).flatten() {
                state
                    .rows
                    .row(arguments.iter().map(|position| row.get(*position)));
            }
            if let Some(ending) = self.partition.ending() {
                shared.seeds.wrote(&seed, ending);
                if ending.first && shared.seeds.looks_back() {
                    state.written.push(seed);
                }
            }
            state.partitions += u64::from(begun);
        }
        state.key = self.partition.key().concat();
        state.rows.len() > 0
    }

    /// The slot's writes are over, well or not: reads may follow them.
    fn answered(&mut self, slot: usize) {
        for seed in self.slots[slot].written.drain(..) {
            self.load.shared.seeds.answered(&seed);
        }
    }

    /// Makes the arguments of a query; false when nothing is left to read.
    fn make_arguments(&mut self, slot: usize, operation: usize, fields: Fields) -> bool {
        let shared = &self.load.shared;
        if shared.permits.take(1) == 0 {
            return false;
        }
        let arguments = &self.load.operations[operation].arguments;
        let rng = &mut self.rng;
        let wanted = match fields {
            Fields::SameRow => 1,
            Fields::MultiRow => arguments.len().max(1),
        };
        loop {
            let Some(seed) = shared.seeds.next_read(rng) else {
                return false;
            };
            let visit = Visit::Read {
                rows: wanted as i64,
            };
            let share = self.row_share.next(rng);
            if self.partition.begin(&seed, visit, share, rng) {
                break;
            }
        }
        let state = &mut self.slots[slot];
        state.rows.clear();
        while let Some(row) = self.partition.next_row(rng) {
            state
                .rows
                .row(arguments.iter().map(|position| row.get(*position)));
            if state.rows.len() == wanted {
                break;
            }
        }
        if fields == Fields::MultiRow {
            state.rows.mix(arguments, rng);
        }
        state.key = self.partition.key().concat();
        (state.partitions, state.done) = (0, 0);
        true
    }

    /// The next page of this thread's token range; false when all have been read.
    fn walk_on(&mut self, slot: usize) -> bool {
        let state = &mut self.slots[slot];
        (state.partitions, state.done) = (0, 0);
        if state.range.is_none() {
            state.range = self.load.ranges.next().map(Walk::new);
        }
        state.range.is_some() && self.load.shared.permits.take(1) == 1
    }

    /// Writes the request of the slot's operation, or what is left of it.
    fn write(&self, slot: usize, request: &mut Request) -> usize {
        let state = &self.slots[slot];
        let left = state.rows.len() - state.done.min(state.rows.len());
        match &self.load.operations[state.operation].action {
            Action::Insert { batch, .. } if state.rows.len() > 1 => {
                let count = left.min(MOST_IN_BATCH);
                self.write_batch(slot, *batch, count, request);
                count
            }
            Action::Range { .. } => {
                request.execute(state.operation);
                if let Some(walk) = &state.range {
                    walk.write(request);
                }
                0
            }
            _ => {
                request.execute(state.operation);
                state.rows.write(0, request);
                1
            }
        }
    }

    fn write_batch(&self, slot: usize, kind: BatchKind, count: usize, request: &mut Request) {
        let state = &self.slots[slot];
        request.batch(kind, self.load.consistency);
        for row in state.done..state.done + count {
            request.statement(state.operation);
            state.rows.write(row, request);
        }
    }
}

impl Source for ProfileSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        if self.load.shared.trouble.is_over() {
            return Begin::Finished;
        }
        let state = &mut self.slots[slot];
        let drawn = self.chooser.next(&mut state.run, &mut self.rng);
        let queries = matches!(self.load.operations[drawn].action, Action::Query { .. });
        let seeds = &self.load.shared.seeds;
        let operation = state.turns.next(drawn, queries, self.write, seeds);
        let ready = match &self.load.operations[operation].action {
            Action::Insert { .. } => self.make_rows(slot, operation),
            Action::Query { fields } => self.make_arguments(slot, operation, *fields),
            Action::Range { .. } => self.walk_on(slot),
        };
        if !ready {
            return Begin::Finished;
        }
        self.slots[slot].operation = operation;
        let sent = self.write(slot, request);
        if matches!(
            self.load.operations[operation].action,
            Action::Insert { .. }
        ) {
            self.slots[slot].done = sent;
        }
        Begin::Send { operation }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let operation = self.slots[slot].operation;
        if let Answer::Failed { kind, server } = answer {
            let key = || hex(&self.slots[slot].key);
            let follow = self.load.shared.failed(*kind, server.as_ref(), notes, key);
            if let Follow::Done(_) = follow {
                self.answered(slot);
            }
            return follow;
        }
        let (partitions, rows) = match (&self.load.operations[operation].action, answer) {
            (Action::Insert { .. }, _) => {
                if self.slots[slot].done < self.slots[slot].rows.len() {
                    let sent = self.write(slot, request);
                    self.slots[slot].done += sent;
                    return Follow::Send;
                }
                (
                    self.slots[slot].partitions,
                    self.slots[slot].rows.len() as u64,
                )
            }
            (Action::Range { .. }, Answer::Rows(rows)) => {
                let walk = self.slots[slot].range.as_mut();
                let (partitions, through) = walk.map_or((0, true), |walk| walk.read(rows));
                // A warm-up reads the first page of a range alone.
                if through || self.load.warmup {
                    self.slots[slot].range = None;
                }
                (partitions, rows.len() as u64)
            }
            (_, Answer::Rows(rows)) => {
                let state = &mut self.slots[slot];
                state.done += rows.len();
                if let Some(page) = rows.paging_state() {
                    request.execute(operation);
                    state.rows.write(0, request);
                    request.paging_state(page);
                    return Follow::Send;
                }
                (state.done.min(1) as u64, state.done as u64)
            }
            _ => (0, 0),
        };
        self.load.shared.count(operation, partitions, rows, notes);
        self.answered(slot);
        Follow::Done(Ok(()))
    }
}
