//! Mixes of prepared statements with typed generators: what neither YCSB nor cassandra-stress
//! can say.

mod form;
mod marker;
mod number_sampler;
mod plan;
mod sequence;
pub mod specification;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tare_cql::Statement;
use tare_draw::ycsb::Discrete;
use tare_draw::Xoshiro;
use tare_engine::errors::{ErrorKind, Fatal};
use tare_engine::record::Notes;
use tare_engine::request::Request;
use tare_engine::workload::{
    Answer, Begin, Follow, Outcome, Seat, Source, StatementText, Workload,
};

use crate::populate::{again, Rows};
use crate::spec::{Mix, Phase, Spec};
use plan::{Pending, Plan, Planned};
use specification::{Operation, Statements, Wanted};

/// The workload as the engine sees it.
pub struct Mixed {
    spec: Arc<Spec>,
    /// What the phase executes.
    operations: Vec<Operation>,
    plan: OnceLock<Plan>,
    populated: Rows,
}

impl Mixed {
    pub fn new(statements: &Statements, spec: &Spec) -> Mixed {
        let operations = match spec.phase {
            Phase::Run => statements.operations.clone(),
            Phase::Populate => statements.populate.iter().cloned().collect(),
        };
        Mixed {
            spec: Arc::new(spec.clone()),
            operations,
            plan: OnceLock::new(),
            populated: Rows::of(spec),
        }
    }
}

impl Workload for Mixed {
    type Source = MixedSource;

    fn statements(&self) -> Vec<StatementText> {
        let text = |operation: &Operation| StatementText {
            serial: operation.serial_consistency,
            page_size: operation.page_size,
            ..StatementText::new(operation.cql.as_str(), operation.consistency)
        };
        self.operations.iter().map(text).collect()
    }

    fn operations(&self) -> Vec<String> {
        self.operations.iter().map(|one| one.name.clone()).collect()
    }

    /// Compares the generators with the bind markers of the prepared statements.
    fn check(&self, statements: &[Statement]) -> Result<(), Fatal> {
        let plan = Plan::new(&self.operations, statements, self.spec.client.share)
            .map_err(|(place, why)| Fatal::spec(format!("workload.operations.{place}"), why))?;
        // Checked once; a second time would say the same.
        let _ = self.plan.set(plan);
        Ok(())
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> MixedSource {
        let weights = self
            .operations
            .iter()
            .map(|operation| operation.weight)
            .collect();
        MixedSource {
            plan: self.plan.get().cloned().unwrap_or_default(),
            mixes: mixes(&self.spec, &self.operations, weights),
            mix: 0,
            populate: (self.spec.phase == Phase::Populate).then(|| self.populated.clone()),
            random: Xoshiro::stream(self.spec.stream(), seat.worker as u64),
            drawn: Vec::new(),
            pending: Pending::new(),
        }
    }
}

/// Which mix is drawn from when: (nanoseconds of the run, mix), in order of time.
fn mixes(spec: &Spec, operations: &[Operation], weights: Vec<f64>) -> Vec<(u64, Discrete<usize>)> {
    let discrete = |weights: Vec<f64>| Discrete::new(weights.into_iter().zip(0..).collect());
    let origin = Duration::from_secs_f64(spec.warmup_s).as_nanos() as u64;
    let begins = |mix: &Mix| match mix.at_s > 0.0 {
        true => origin + (mix.at_s * 1e9) as u64,
        false => 0,
    };
    let weights_of = |mix: &Mix| {
        let weight = |operation: &Operation| mix.weights.get(&operation.name).copied();
        operations
            .iter()
            .map(|operation| weight(operation).unwrap_or(0.0))
            .collect()
    };
    let timed = spec.mixes.iter().map(|mix| (begins(mix), weights_of(mix)));
    let all: Vec<(u64, Vec<f64>)> = match spec.mixes.is_empty() || spec.phase == Phase::Populate {
        true => vec![(0, weights)],
        false => timed.collect(),
    };
    all.into_iter()
        .filter_map(|(at, weights)| Some((at, discrete(weights).ok()?)))
        .collect()
}

/// One worker's operations.
pub struct MixedSource {
    plan: Plan,
    mixes: Vec<(u64, Discrete<usize>)>,
    /// Position of the mix that is in force.
    mix: usize,
    populate: Option<Rows>,
    random: Xoshiro,
    /// Per slot: the operation and the numbers that it drew.
    drawn: Vec<(usize, Vec<i64>)>,
    pending: Pending,
}

impl MixedSource {
    /// The operation to begin, and the row that it fills while populating.
    fn choose(&mut self, now: u64) -> Option<(usize, Option<u64>)> {
        if let Some(populated) = &self.populate {
            let row = populated.next()?;
            return (!self.plan.operations.is_empty()).then_some((0, Some(row)));
        }
        while self
            .mixes
            .get(self.mix + 1)
            .is_some_and(|&(at, _)| at <= now)
        {
            self.mix += 1;
        }
        let (_, mix) = self.mixes.get(self.mix)?;
        Some((*mix.next(&mut self.random), None))
    }

    fn outcome(planned: &Planned, rows: Option<usize>) -> Outcome {
        match (planned.wanted, rows) {
            (Wanted::Any, _) => Ok(()),
            (_, None | Some(0)) => Err(ErrorKind::NotFound),
            (Wanted::One, Some(rows)) if rows > 1 => Err(ErrorKind::WrongValue),
            _ => Ok(()),
        }
    }
}

impl Source for MixedSource {
    fn begin(&mut self, slot: usize, request: &mut Request) -> Begin {
        let Some((operation, row)) = self.choose(request.now()) else {
            return Begin::Finished;
        };
        if self.drawn.len() <= slot {
            self.drawn.resize(slot + 1, (0, Vec::new()));
        }
        let (chosen, numbers) = &mut self.drawn[slot];
        *chosen = operation;
        let planned = &mut self.plan.operations[operation];
        request.execute(operation);
        planned.write(&mut self.random, row, numbers, request);
        Begin::Send { operation }
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: &Answer<'_>,
        _request: &mut Request,
        notes: &mut Notes<'_>,
    ) -> Follow {
        let (operation, numbers) = &self.drawn[slot];
        let planned = &self.plan.operations[*operation];
        let outcome = match answer {
            Answer::Failed { kind, .. } if self.populate.is_some() => return again(*kind, notes),
            Answer::Failed { kind, .. } => Err(*kind),
            Answer::Void => Self::outcome(planned, None),
            Answer::Rows(rows) => Self::outcome(planned, Some(rows.len())),
        };
        if self.populate.is_none() {
            planned.acknowledge(numbers, &mut self.pending);
        }
        Follow::Done(outcome)
    }
}
