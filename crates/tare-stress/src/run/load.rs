//! The workload of a command, made anew for every run.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use tare_cql::Cluster;
use tare_draw::stress::{Population, Seeds, Shape};
use tare_engine::errors::Fatal;
use tare_engine::observe::Observer;
use tare_engine::order::Order;
use tare_engine::run::{self, Stop};

use super::table::Table;
use crate::output::report;
use crate::settings::command::{Detail, Length};
use crate::settings::population;
use crate::settings::Settings;
use crate::workload::permits::Permits;
use crate::workload::predefined::{self, Predefined};
use crate::workload::profile::plan::{self, Operation};
use crate::workload::profile::ranges::Ranges;
use crate::workload::profile::ProfileLoad;
use crate::workload::tally::Tally;
use crate::workload::trouble::Trouble;
use crate::workload::Shared;

/// What is made once: the table, and the statements of a profile.
pub struct Load {
    shape: Shape,
    /// Empty for the predefined tables.
    operations: Vec<Operation>,
    names: Vec<String>,
    tokens: Vec<i64>,
    /// Another one in every process, as in the tool: several clients must not walk in step.
    seed: u64,
}

/// All operations, or one of them to warm up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {
    All,
    Only(usize),
}

/// A workload for one run.
pub struct Plan {
    work: Work,
    length: Length,
    shared: Arc<Shared>,
}

enum Work {
    Predefined(Box<Predefined>),
    Profile(Box<ProfileLoad>),
}

/// A number of the operating system's randomness.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn failed(why: impl std::fmt::Display) -> Fatal {
    Fatal::spec("command line", why)
}

impl Load {
    pub fn prepare(settings: &Settings, cluster: &mut Cluster) -> Result<Load, Fatal> {
        let contents = settings.population.order;
        match &settings.command.detail {
            Detail::Predefined {
                ratios, key_size, ..
            } => Ok(Load {
                shape: predefined::shape(&settings.columns, *key_size, contents).map_err(failed)?,
                operations: Vec::new(),
                names: ratios.iter().map(|(kind, _)| kind.operation()).collect(),
                tokens: Vec::new(),
                seed: random(),
            }),
            Detail::Profile {
                ratios, profile, ..
            } => {
                let table = Table::read(cluster, &profile.keyspace, &profile.table)?;
                let shape = plan::shape(profile, &table, contents).map_err(failed)?;
                let mut operations =
                    plan::operations(ratios, profile, &table, &shape, &settings.insert)
                        .map_err(failed)?;
                for operation in &mut operations {
                    let statement = cluster
                        .prepare(&operation.cql, Some(&profile.keyspace))
                        .map_err(|e| Fatal::schema(&operation.cql, e))?;
                    plan::bind(operation, &statement, &shape).map_err(failed)?;
                }
                Ok(Load {
                    names: operations
                        .iter()
                        .map(|operation| operation.name.clone())
                        .collect(),
                    tokens: cluster
                        .nodes
                        .iter()
                        .flat_map(|node| node.tokens.clone())
                        .collect(),
                    shape,
                    operations,
                    seed: random(),
                })
            }
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    pub fn names_of(&self, operations: Operations) -> Vec<String> {
        match operations {
            Operations::All => self.names(),
            Operations::Only(place) => vec![self.names[place].clone()],
        }
    }

    /// A workload that begins at the first seed.
    pub fn plan(
        &self,
        settings: &Settings,
        length: Length,
        operations: Operations,
        trouble: &Arc<Trouble>,
        waits: bool,
        warmup: bool,
    ) -> Result<Plan, Fatal> {
        let count = self.names_of(operations).len();
        let units = !self.operations.is_empty();
        let shared = Arc::new(Shared {
            seeds: seeds(settings)?,
            permits: Permits::new(match length {
                Length::Count(count) => Some(count),
                _ => None,
            }),
            trouble: Arc::clone(trouble),
            tally: (waits || units).then(|| Arc::new(Tally::new(count, waits))),
            tries: settings.errors.tries,
        });
        let keep =
            |place: usize| operations == Operations::All || operations == Operations::Only(place);
        let work = match &settings.command.detail {
            Detail::Predefined {
                ratios,
                clustering,
                add,
                ..
            } => {
                let kept = ratios.iter().enumerate().filter(|(place, _)| keep(*place));
                Work::Predefined(Box::new(Predefined {
                    shared: Arc::clone(&shared),
                    ratios: kept.map(|(_, ratio)| *ratio).collect(),
                    clustering: clustering.as_ref().map(|draw| draw.distribution.clone()),
                    columns: settings.columns.clone(),
                    add: add.distribution.clone(),
                    row_share: settings.insert.row_population.ratio.clone(),
                    consistency: settings.command.consistency,
                    serial: settings.command.serial,
                    shape: self.shape.clone(),
                    validate: !settings.errors.skip_read_validation,
                    seed: self.seed,
                }))
            }
            Detail::Profile { clustering, .. } => {
                let kept = self
                    .operations
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| keep(*place));
                let range = &settings.token_range;
                Work::Profile(Box::new(ProfileLoad {
                    shared: Arc::clone(&shared),
                    operations: kept.map(|(_, operation)| operation.clone()).collect(),
                    clustering: clustering.distribution.clone(),
                    row_share: settings.insert.row_population.ratio.clone(),
                    consistency: settings.command.consistency,
                    serial: settings.command.serial,
                    shape: self.shape.clone(),
                    ranges: Arc::new(Ranges::new(self.tokens.clone(), range.split, range.wrap)),
                    warmup,
                    seed: self.seed,
                }))
            }
        };
        Ok(Plan {
            work,
            length,
            shared,
        })
    }
}

impl Plan {
    pub fn report(&self, names: Vec<String>, settings: &Settings) -> report::Plan {
        report::Plan {
            names,
            fixed: settings.rate.is_fixed(),
            length: self.length,
            single_rows: matches!(self.work, Work::Predefined(_)),
            tally: self.shared.tally.clone(),
            trouble: Arc::clone(&self.shared.trouble),
            hdr_file: settings.log.hdr_file.clone(),
        }
    }

    pub fn run(self, order: &Order, observer: &mut dyn Observer, stop: &Stop) -> Result<(), Fatal> {
        match self.work {
            Work::Predefined(load) => run::run(order, *load, observer, stop),
            Work::Profile(load) => run::run(order, *load, observer, stop),
        }
    }
}

fn seeds(settings: &Settings) -> Result<Seeds, Fatal> {
    let population = match &settings.population.seeds {
        population::Seeds::Sequence {
            first,
            last,
            wrap,
            lookback,
        } => Population::Sequence {
            first: *first,
            last: *last,
            wrap: *wrap,
            lookback: lookback.as_ref().map(|draw| draw.distribution.clone()),
        },
        population::Seeds::Distribution(draw) => {
            Population::Distribution(draw.distribution.clone())
        }
    };
    let visits = settings.insert.visits.distribution.clone();
    Seeds::new(
        population,
        visits,
        settings.insert.revisit.distribution.clone(),
    )
    .map_err(failed)
}
