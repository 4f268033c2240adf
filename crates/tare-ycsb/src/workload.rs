//! CoreWorkload as a load of the engine: what its worker threads share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use tare_cql::Statement;
use tare_draw::ycsb::{AcknowledgedCounter, Counter};
use tare_draw::Xoshiro;
use tare_engine::workload::{Seat, StatementText, Workload};

use crate::operations::Operations;
use crate::settings::Settings;
use crate::source::CoreSource;
use crate::statements::Statements;

/// Failures that are told one by one; the rest is only counted.
const TOLD: u64 = 10;

/// One run's load.
pub struct CoreWorkload(Arc<Shared>);

/// What all worker threads see.
pub struct Shared {
    pub settings: Arc<Settings>,
    pub statements: Statements,
    pub operations: Operations,
    /// Record numbers of a load.
    pub loads: Counter,
    /// Record numbers of the inserts of a run, and which of them reads may ask for.
    pub inserts: AcknowledgedCounter,
    failures: AtomicU64,
}

impl CoreWorkload {
    pub fn new(settings: Arc<Settings>) -> CoreWorkload {
        CoreWorkload(Arc::new(Shared {
            statements: Statements::new(&settings),
            operations: Operations::new(&settings),
            loads: Counter::new(settings.core.insert_start as i64),
            inserts: AcknowledgedCounter::new(settings.core.records as i64),
            failures: AtomicU64::new(0),
            settings,
        }))
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Shared {
    /// Tells the first failures on stderr, as YCSB's bindings log every one.
    pub fn tell(&self, what: &str, key: &[u8], why: &str) {
        let before = self.failures.fetch_add(1, Ordering::Relaxed);
        if before < TOLD {
            eprintln!("Error {what} key: {}: {why}", String::from_utf8_lossy(key));
        } else if before == TOLD {
            eprintln!("Further failures are counted and not told.");
        }
    }
}

impl Workload for CoreWorkload {
    type Source = CoreSource;

    fn statements(&self) -> Vec<StatementText> {
        self.0.statements.texts.clone()
    }

    fn operations(&self) -> Vec<String> {
        self.0.operations.names()
    }

    fn source(&self, seat: Seat, statements: &[Statement]) -> CoreSource {
        let rng = Xoshiro::stream(self.0.settings.seed, seat.worker as u64);
        CoreSource::new(Arc::clone(&self.0), seat.slots, statements, rng)
    }
}
