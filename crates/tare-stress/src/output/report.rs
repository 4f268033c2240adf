//! Watches a run of the engine: prints a row at every interval, logs histograms, ends it in time.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer};
use tare_engine::record::Interval;
use tare_engine::totals::RunState;

use super::histograms::HistogramLog;
use super::printer::Printer;
use super::results::Outcome;
use super::rows::row;
use super::timing::Timing;
use super::uncertainty::Uncertainty;
use crate::settings::command::Length;
use crate::workload::tally::Tally;
use crate::workload::trouble::Trouble;

/// What a report needs to know of the run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Names of the operations, by position.
    pub names: Vec<String>,
    /// Response time is what is reported.
    pub fixed: bool,
    pub length: Length,
    /// Each operation is of one partition and one row.
    pub single_rows: bool,
    pub tally: Option<Arc<Tally>>,
    pub trouble: Arc<Trouble>,
    pub hdr_file: Option<PathBuf>,
}

/// What became of a run.
pub struct Report<'a> {
    plan: Plan,
    /// None while warming up, when nothing is told.
    printer: Option<&'a mut Printer>,
    /// Sums so far, by operation; none for an operation not seen yet.
    summaries: Vec<Option<Timing>>,
    total: Timing,
    uncertainty: Uncertainty,
    log: Option<HistogramLog<BufWriter<File>>>,
    /// Why the client itself may have been the limit.
    pub saturation: Vec<String>,
    /// Whether it was stopped from outside.
    pub stopped: bool,
}

impl<'a> Report<'a> {
    pub fn new(plan: Plan, printer: Option<&'a mut Printer>) -> Report<'a> {
        Report {
            summaries: vec![None; plan.names.len()],
            total: Timing::new(plan.fixed),
            uncertainty: Uncertainty::default(),
            log: None,
            saturation: Vec::new(),
            stopped: false,
            printer,
            plan,
        }
    }

    /// What the run came to, operations in the order of their names.
    pub fn outcome(&self) -> Outcome {
        let mut operations: Vec<(String, Timing)> = self
            .plan
            .names
            .iter()
            .zip(&self.summaries)
            .filter_map(|(name, summary)| Some((name.clone(), summary.clone()?)))
            .collect();
        operations.sort_by(|a, b| a.0.cmp(&b.0));
        Outcome {
            operations,
            total: self.total.clone(),
            uncertainty: self.uncertainty.relative(),
        }
    }

    /// The interval of one operation, and the units and waiting times that only the tally has.
    fn take(&mut self, operation: usize, interval: &Interval) -> Taken {
        let record = &interval.counts.operations[operation];
        let (begin, end) = (interval.slot.begin, interval.end);
        let mut timing = Timing::of(record, self.plan.fixed, begin, end);
        let units = self.plan.tally.as_ref().map(|tally| tally.take(operation));
        match &units {
            Some(units) if !self.plan.single_rows => {
                (timing.partitions, timing.rows) = (units.partitions, units.rows);
            }
            _ => (timing.partitions, timing.rows) = (record.ok, record.ok),
        }
        Taken {
            operation,
            timing,
            waits: units.and_then(|units| units.waits),
        }
    }

    fn print(&mut self, taken: &[Taken], total: &Timing) -> Result<(), Fatal> {
        let uncertainty = self.uncertainty.relative();
        let Some(printer) = &mut self.printer else {
            return Ok(());
        };
        if taken.len() > 1 {
            for Taken {
                operation, timing, ..
            } in taken
            {
                let summary = self.summaries[*operation].as_ref().unwrap_or(timing);
                printer.line(&row(
                    &self.plan.names[*operation],
                    timing,
                    summary,
                    uncertainty,
                ))?;
            }
        }
        printer.line(&row("total", total, &self.total, uncertainty))
    }

    fn log(&mut self, taken: &[Taken], run: &RunState) -> Result<(), Fatal> {
        let Some(path) = self
            .plan
            .hdr_file
            .as_ref()
            .filter(|_| self.printer.is_some())
        else {
            return Ok(());
        };
        let failed = |e| Fatal::file(path.display().to_string(), e);
        if self.log.is_none() {
            self.log = Some(HistogramLog::create(path, run.start_unix()).map_err(failed)?);
        }
        if let Some(log) = &mut self.log {
            for Taken {
                operation,
                timing,
                waits,
            } in taken
            {
                let name = &self.plan.names[*operation];
                log.write(name, timing, waits.as_ref()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// One operation in one interval.
struct Taken {
    operation: usize,
    timing: Timing,
    waits: Option<hdrhistogram::Histogram<u64>>,
}

impl Observer for Report<'_> {
    fn interval(&mut self, interval: &Interval, run: &RunState) -> Result<Control, Fatal> {
        let mut current = Timing::new(self.plan.fixed);
        (current.begin, current.end) = (interval.slot.begin, interval.end);
        let mut taken = Vec::new();
        for operation in 0..self.plan.names.len() {
            let mut part = self.take(operation, interval);
            let seen = self.summaries[operation].is_some() || !part.timing.service.is_empty();
            if !seen {
                continue;
            }
            current.add(&part.timing);
            let fixed = self.plan.fixed;
            let summary = self.summaries[operation].get_or_insert_with(|| Timing::new(fixed));
            summary.add(&part.timing);
            part.operation = operation;
            taken.push(part);
        }
        self.total.add(&current);
        self.uncertainty.update(current.adjusted_row_rate());
        if current.operations() > 0 {
            taken.sort_by(|a, b| self.plan.names[a.operation].cmp(&self.plan.names[b.operation]));
            self.print(&taken, &current)?;
            self.log(&taken, run)?;
        }
        let enough = match self.plan.length {
            Length::Uncertainty {
                target,
                least,
                most,
            } => self.uncertainty.is_enough(target, least, most),
            _ => false,
        };
        match enough || self.plan.trouble.is_over() {
            true => Ok(Control::Stop),
            false => Ok(Control::GoOn),
        }
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        self.stopped = run.stopped;
        self.saturation = run.totals.saturation();
        Ok(())
    }
}
