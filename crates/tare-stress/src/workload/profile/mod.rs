//! The operations of a user profile: insert, queries and token range queries.

pub mod plan;
pub mod ranges;
mod rows;
mod source;
mod walk;

use std::sync::Arc;

use tare_cql::{Consistency, Statement};
use tare_draw::stress::{Distribution, Ratio, Shape};
use tare_engine::workload::{Seat, StatementText, Workload};

use super::predefined::PAGE_SIZE;
use super::Shared;
use plan::{Action, Operation};
use ranges::Ranges;
use source::ProfileSource;

/// What every worker needs to make the operations.
#[derive(Debug, Clone)]
pub struct ProfileLoad {
    pub shared: Arc<Shared>,
    pub operations: Vec<Operation>,
    pub clustering: Distribution,
    /// Share of the columns that a row read by a query is thought to have (`-insert`).
    pub row_share: Ratio,
    pub consistency: Consistency,
    pub serial: Consistency,
    pub shape: Shape,
    /// The token ranges of the ring, for token range queries.
    pub ranges: Arc<Ranges>,
    pub warmup: bool,
    pub seed: u64,
}

impl Workload for ProfileLoad {
    type Source = ProfileSource;

    fn statements(&self) -> Vec<StatementText> {
        let text = |operation: &Operation| StatementText {
            serial: Some(self.serial),
            page_size: Some(match &operation.action {
                Action::Range { page_size } if self.warmup => (*page_size).min(100),
                Action::Range { page_size } => *page_size,
                _ => PAGE_SIZE,
            }),
            ..StatementText::new(&operation.cql, self.consistency)
        };
        self.operations.iter().map(text).collect()
    }

    fn operations(&self) -> Vec<String> {
        self.operations.iter().map(|one| one.name.clone()).collect()
    }

    fn source(&self, seat: Seat, _statements: &[Statement]) -> ProfileSource {
        ProfileSource::new(self.clone(), &seat)
    }
}
