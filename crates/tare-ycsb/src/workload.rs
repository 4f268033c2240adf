//! CoreWorkload as a load of the engine: what its worker threads share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use tare_draw::ycsb::{AcknowledgedCounter, Counter};
use tare_draw::Xoshiro;
use tare_engine::wire::Wire;
use tare_engine::workload::{Seat, Workload};

use crate::dialect::{Cql, Dialect, Mongo};
use crate::operations::Operations;
use crate::settings::{BadProperty, CqlBinding, MongoBinding, Phase, Settings};
use crate::source::CoreSource;

/// Failures that are told one by one; the rest is only counted.
const TOLD: u64 = 10;

/// One run's load.
pub struct CoreWorkload<D = Cql>(Arc<Shared<D>>);

/// What all worker threads see.
pub struct Shared<D> {
    pub settings: Arc<Settings>,
    pub dialect: D,
    pub operations: Operations,
    /// Record numbers of a load.
    pub loads: Counter,
    /// Record numbers of the inserts of a run, and which of them reads may ask for.
    pub inserts: AcknowledgedCounter,
    /// The first record that the run itself writes.
    first_own: i64,
    failures: AtomicU64,
}

impl CoreWorkload {
    /// The load of a CQL cluster.
    pub fn cql(settings: Arc<Settings>, binding: &CqlBinding) -> CoreWorkload {
        let dialect = Cql::new(&settings.core, settings.phase, binding);
        CoreWorkload::of(settings, dialect)
    }
}

impl CoreWorkload<Mongo> {
    /// The load of a MongoDB deployment.
    ///
    /// # Errors
    /// A field's name that a document cannot have.
    pub fn mongo(
        settings: Arc<Settings>,
        binding: &MongoBinding,
    ) -> Result<CoreWorkload<Mongo>, BadProperty> {
        let dialect = Mongo::new(&settings.core, settings.phase, binding)?;
        Ok(CoreWorkload::of(settings, dialect))
    }
}

impl<D> CoreWorkload<D> {
    fn of(settings: Arc<Settings>, dialect: D) -> CoreWorkload<D> {
        let core = &settings.core;
        let first_own = match settings.phase {
            Phase::Load => core.insert_start as i64,
            Phase::Run => core.records as i64,
        };
        CoreWorkload(Arc::new(Shared {
            dialect,
            operations: Operations::new(&settings),
            loads: Counter::new(settings.core.insert_start as i64),
            inserts: AcknowledgedCounter::new(settings.core.records as i64),
            first_own,
            failures: AtomicU64::new(0),
            settings,
        }))
    }

    pub fn shared(&self) -> &Arc<Shared<D>> {
        &self.0
    }
}

impl<D> Shared<D> {
    /// The record that a number stands for. Counters and choosers count the records that the run
    /// writes as if this client and this run were alone. Of n clients, each has every n-th record,
    /// after those of earlier runs.
    #[inline]
    pub fn record(&self, number: i64) -> i64 {
        match number < self.first_own {
            true => number,
            false => {
                let core = &self.settings.core;
                self.first_own + core.inserted_before + core.share.nth(number - self.first_own)
            }
        }
    }

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

impl<D: Dialect> Workload<D::Wire> for CoreWorkload<D> {
    type Source = CoreSource<D>;

    fn statements(&self) -> Vec<<D::Wire as Wire>::Text> {
        self.0.dialect.texts()
    }

    fn operations(&self) -> Vec<String> {
        self.0.operations.names()
    }

    fn source(&self, seat: Seat, statements: &[<D::Wire as Wire>::Statement]) -> CoreSource<D> {
        let rng = Xoshiro::stream(self.0.settings.seed, seat.worker as u64);
        CoreSource::new(Arc::clone(&self.0), seat.slots, statements, rng)
    }
}
