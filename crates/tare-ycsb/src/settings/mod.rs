//! What one run of YCSB is to do, read from its properties and checked.

mod binding;
mod choosers;
mod core;
mod known_properties;
mod measure;
mod mongodb;
mod read;
#[cfg(test)]
pub(crate) mod tests;

use std::time::Duration;

pub use binding::CqlBinding;
pub use choosers::ScanLength;
pub use core::{Action, Core};
pub use measure::{Form, From as MeasuredFrom, Kind as MeasureKind, Measure};
pub use mongodb::{veiled, MongoBinding, STAND_IN};
pub use read::BadProperty;

use crate::properties::Properties;
use read::Reader;

/// More slots than this are no threads of YCSB's.
const MOST_THREADS: u64 = 1_000_000;
/// A year; no run is longer.
const LONGEST_RUN: u64 = 31_536_000;

/// What is done: records are inserted, or transactions are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Load,
    Run,
}

/// Which of YCSB's bindings is stood in for, and what it needs to know.
#[derive(Debug, Clone)]
pub enum Binding {
    Cql(Box<CqlBinding>),
    Mongo(Box<MongoBinding>),
}

impl Binding {
    /// The Java class that YCSB would load, which its output names.
    pub fn class(&self, reader: &Reader<'_>) -> &'static str {
        match self {
            Binding::Cql(binding) => binding.kind.class(),
            Binding::Mongo(_) => reader.text("db").and_then(mongodb::class).unwrap_or(""),
        }
    }

    fn read(reader: &Reader<'_>, threads: u64) -> Result<Binding, BadProperty> {
        match reader.text("db").and_then(mongodb::class) {
            Some(_) => MongoBinding::read(reader, threads)
                .map(Box::new)
                .map(Binding::Mongo),
            None => CqlBinding::read(reader).map(Box::new).map(Binding::Cql),
        }
    }

    /// Every property that it knows.
    fn names(&self) -> Vec<String> {
        match self {
            Binding::Cql(binding) => binding.kind.names(),
            Binding::Mongo(_) => mongodb::NAMES.map(str::to_owned).to_vec(),
        }
    }
}

/// How the status lines look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub every: Duration,
    /// What stands before each line.
    pub label: String,
}

/// Everything that a run needs to know.
#[derive(Debug)]
pub struct Settings {
    pub phase: Phase,
    pub threads: usize,
    /// Operations per second of all threads; none is as fast as possible.
    pub target: Option<u64>,
    pub longest: Option<Duration>,
    pub status: Option<Status>,
    pub core: Core,
    pub binding: Binding,
    /// The Java class that YCSB would load for the binding.
    pub class: &'static str,
    pub measure: Measure,
    pub seed: u64,
    pub workers: Option<usize>,
    /// Record the READ and the UPDATE within a READ-MODIFY-WRITE, and VERIFY, too, as YCSB does.
    pub parts: bool,
    /// What is worth saying before anything starts.
    pub remarks: Vec<String>,
}

impl Settings {
    /// Reads and checks all properties; nothing has been started when one is refused.
    pub fn read(properties: &Properties) -> Result<Settings, BadProperty> {
        let reader = Reader::new(properties);
        let phase = match reader.truth_or("dotransactions", true) {
            true => Phase::Run,
            false => Phase::Load,
        };
        let threads = reader.whole_in("threadcount", 1, 1..=MOST_THREADS)?;
        let binding = Binding::read(&reader, threads)?;
        known_properties::check(&reader, properties, &binding)?;
        let core = Core::read(&reader, phase)?;
        let longest = match reader.whole_in("maxexecutiontime", 0, 0..=LONGEST_RUN)? {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        };
        let mut settings = Settings {
            phase,
            threads: threads as usize,
            target: Some(reader.whole_or("target", 0)?).filter(|&target| target > 0),
            longest,
            status: status(&reader)?,
            core,
            class: binding.class(&reader),
            binding,
            measure: Measure::read(&reader)?,
            seed: seed(&reader)?,
            workers: reader
                .whole("tare.workers")?
                .map(|workers| workers.clamp(1, 1024) as usize),
            parts: true,
            remarks: Vec::new(),
        };
        settings.check_end(&reader)?;
        settings.limit_threads(&reader);
        settings.remarks = reader.into_remarks();
        Ok(settings)
    }

    /// Operations of the whole run; none is without end.
    pub fn operations(&self) -> Option<u64> {
        match self.phase {
            Phase::Load => Some(self.core.insert_count),
            Phase::Run => self.core.operations,
        }
    }

    /// How many operations a thread of this number does: the first ones do what is left over.
    pub fn operations_of(&self, thread: usize) -> Option<u64> {
        let threads = self.threads as u64;
        let all = self.operations()?;
        Some(all / threads + u64::from((thread as u64) < all % threads))
    }

    /// YCSB would load for ever where it is not told how many records there are.
    fn check_end(&self, reader: &Reader<'_>) -> Result<(), BadProperty> {
        let counted =
            reader.whole_or("recordcount", 0)? > 0 || reader.text("insertcount").is_some();
        if self.phase == Phase::Load && !counted && self.longest.is_none() {
            let why = "say how many records to load, such as -p recordcount=1000000";
            return Err(BadProperty::new("recordcount", 0, why));
        }
        if self.operations() == Some(0) {
            let why = "there is nothing to load";
            return Err(BadProperty::new("insertcount", 0, why));
        }
        Ok(())
    }

    fn limit_threads(&mut self, reader: &Reader<'_>) {
        let most = self.operations().unwrap_or(u64::MAX);
        if self.threads as u64 > most {
            self.threads = most as usize;
            reader.remark(format!(
                "more threads than operations: {most} threads are used, as YCSB does"
            ));
        }
    }
}

fn status(reader: &Reader<'_>) -> Result<Option<Status>, BadProperty> {
    let every = reader.whole_in("status.interval", 10, 1..=86_400)?;
    Ok(reader.truth_or("status", false).then(|| Status {
        every: Duration::from_secs(every),
        label: reader.text_or("label", "").to_owned(),
    }))
}

/// The seed of all draws; YCSB has none, so that without one every run differs.
fn seed(reader: &Reader<'_>) -> Result<u64, BadProperty> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let drawn = now.map_or(0, |now| now.as_nanos() as u64);
    reader.whole_or("tare.seed", drawn)
}
