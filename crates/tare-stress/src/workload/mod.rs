//! The operations of cassandra-stress as workloads of the engine.

pub mod chooser;
pub mod permits;
pub mod predefined;
pub mod profile;
pub mod tally;
pub mod trouble;
pub mod turns;

use std::sync::Arc;
use std::time::Duration;

use tare_cql::ServerError;
use tare_draw::stress::Seeds;
use tare_engine::errors::ErrorKind;
use tare_engine::record::Notes;
use tare_engine::workload::Follow;

use permits::Permits;
use tally::Tally;
use trouble::Trouble;

/// What the workers of one run share.
#[derive(Debug)]
pub struct Shared {
    pub seeds: Seeds,
    pub permits: Permits,
    pub trouble: Arc<Trouble>,
    /// Units and waiting times by operation, where they are wanted.
    pub tally: Option<Arc<Tally>>,
    /// Tries of one operation, the first one included.
    pub tries: u32,
}

impl Shared {
    /// Counts an operation that is done.
    fn count(&self, operation: usize, partitions: u64, rows: u64, notes: &mut Notes<'_>) {
        notes.units(partitions, rows);
        if let Some(tally) = &self.tally {
            let wait = notes.begun.saturating_sub(notes.intended);
            tally.count(operation, partitions, rows, wait);
        }
    }

    /// What follows a failed request: another try at once, or the end of the operation.
    fn failed(
        &self,
        kind: ErrorKind,
        server: Option<&ServerError>,
        notes: &Notes<'_>,
        key: impl FnOnce() -> String,
    ) -> Follow {
        let why = || match server {
            Some(error) => error.to_string(),
            None => format!("({})", kind.name()),
        };
        let tries = notes.retries + 1;
        if tries < self.tries && !self.trouble.is_over() {
            self.trouble.retried(why);
            return Follow::Retry {
                kind,
                after: Duration::ZERO,
            };
        }
        self.trouble
            .failed(tries, key, || format!("Error executing: {}", why()));
        Follow::Done(Err(kind))
    }
}
