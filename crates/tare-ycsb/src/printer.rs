//! Prints what the engine sees the way YCSB does, while the run goes on and at its end.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use tare_engine::errors::Fatal;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::{Interval, OperationRecord};
use tare_engine::totals::{RunState, Totals};

use crate::operations::Operations;
use crate::output::block::{blocks, Block};
use crate::output::export::Exporter;
use crate::output::logs::Logs;
use crate::output::series::Series;
use crate::output::status::{line, Standing};
use crate::output::summary::{self, Overall};
use crate::settings::{MeasureKind, Phase, Settings};
use crate::verdict::Verdict;

const NS_PER_MS: u64 = 1_000_000;

/// The observer of a run.
pub struct Printer {
    settings: Arc<Settings>,
    operations: Operations,
    /// Where the summary goes, if not to stdout.
    file: Option<File>,
    logs: Option<Logs>,
    series: Series,
    /// What happened since the last status line.
    window: Vec<OperationRecord>,
    standing: Standing,
    /// Milliseconds from the first send at which the next status line is due.
    due: u64,
    /// The program that answers in the database's stead.
    stand_in: Option<String>,
    /// Known when the run is over.
    pub verdict: Option<Verdict>,
}

impl Printer {
    /// Opens what will be written to, so that a bad path ends the run before it begins.
    pub fn new(settings: Arc<Settings>, operations: Operations) -> Result<Printer, Fatal> {
        let file = match &settings.measure.file {
            Some(path) => {
                let place = path.display().to_string();
                Some(File::create(path).map_err(|why| Fatal::file(place, why))?)
            }
            None => None,
        };
        let names = operations.names().len();
        let scheduled = settings.target.is_some();
        Ok(Printer {
            operations,
            file,
            logs: None,
            series: Series::default(),
            window: vec![OperationRecord::new(scheduled); names],
            standing: Standing {
                now: 0,
                before: 0,
                done: 0,
                done_before: 0,
                left: settings.operations().unwrap_or(0),
            },
            due: every(&settings),
            stand_in: None,
            verdict: None,
            settings,
        })
    }

    fn blocks(&self, records: &[OperationRecord], totals: &Totals, cleanups: u64) -> Vec<Block> {
        let measure = &self.settings.measure;
        blocks(
            records,
            &totals.counts.operations,
            &self.operations,
            measure,
            cleanups,
        )
    }

    /// Prints the status line, writes the logs, and begins a new window.
    fn status(&mut self, run: &RunState, cleanups: u64) -> Result<(), Fatal> {
        let blocks = self.blocks(&self.window, &run.totals, cleanups);
        self.print_status(run.clock.unix(self.standing.now * NS_PER_MS), &blocks);
        if let Some(logs) = &mut self.logs {
            let begin = Duration::from_millis(self.standing.before);
            let length = Duration::from_millis(self.standing.now - self.standing.before);
            let written = logs.add(begin, length, &blocks);
            written.map_err(|why| Fatal::file("hdrhistogram.output.path", why))?;
        }
        let scheduled = self.settings.target.is_some();
        self.window.fill_with(|| OperationRecord::new(scheduled));
        self.standing.before = self.standing.now;
        self.standing.done_before = self.standing.done;
        Ok(())
    }

    fn print_status(&self, unix: f64, blocks: &[Block]) {
        let Some(status) = &self.settings.status else {
            return;
        };
        let kind = self.settings.measure.kind;
        let line = line(&status.label, unix, self.standing, blocks, kind);
        eprintln!("{line}");
        if kind == MeasureKind::Series {
            println!("{line}");
        }
    }

    fn take(&mut self, interval: &Interval) {
        for (window, record) in self.window.iter_mut().zip(&interval.counts.operations) {
            window.add(record);
        }
        // A load does not count the insert with which a thread gives up.
        let failed = match self.settings.phase {
            Phase::Load => 0,
            Phase::Run => interval.counts.failed,
        };
        self.standing.done += interval.counts.answered + failed;
        let all = self.settings.operations();
        self.standing.left = all.map_or(0, |all| all.saturating_sub(self.standing.done));
    }

    fn summary(&mut self, totals: &Totals) -> io::Result<()> {
        let cleanups = self.settings.threads as u64;
        let blocks = self.blocks(&totals.counts.operations, totals, cleanups);
        let overall = Overall {
            milliseconds: (totals.seconds * 1000.0) as u64,
            operations: self.standing.done,
        };
        let out: Box<dyn Write> = match self.file.take() {
            Some(file) => Box::new(io::BufWriter::new(file)),
            None => Box::new(io::stdout().lock()),
        };
        let measure = &self.settings.measure;
        let mut exporter = Exporter::new(measure.form, out);
        if let Some(name) = &self.stand_in {
            exporter.whole("STAND-IN", name, 1)?;
        }
        summary::write(&mut exporter, overall, &blocks, &self.series, measure)?;
        exporter.finish().map(drop)
    }
}

/// Milliseconds between two status lines.
fn every(settings: &Settings) -> u64 {
    let every = settings.status.as_ref().map(|status| status.every);
    every.unwrap_or(Duration::from_secs(10)).as_millis() as u64
}

impl Observer for Printer {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        for node in &ready.unreachable {
            eprintln!("[WARN] node {node} is part of the cluster but cannot be reached from here");
        }
        if let Some(name) = &ready.stand_in {
            eprintln!("[WARN] {name} answers: no number here says anything of the database");
        }
        self.stand_in.clone_from(&ready.stand_in);
        eprintln!("DBWrapper: report latency for each error is {} and specific error codes to track for latency are: [{}]",
            self.settings.measure.tracks_all(),
            self.settings.measure.tracked_names(),
        );
        Ok(())
    }

    fn measuring(&mut self, unix: f64) -> Result<(), Fatal> {
        if let Some(longest) = self.settings.longest {
            eprintln!(
                "Maximum execution time specified as: {} secs",
                longest.as_secs()
            );
        }
        let prefix = self.settings.measure.logs.as_deref();
        self.logs = prefix.map(|prefix| Logs::new(prefix, unix));
        self.print_status(unix, &[]);
        Ok(())
    }

    fn interval(&mut self, interval: &Interval, run: &RunState) -> Result<Control, Fatal> {
        self.take(interval);
        if self.settings.measure.kind == MeasureKind::Series {
            let blocks = self.blocks(&interval.counts.operations, &run.totals, 0);
            self.series.add(interval.slot.begin / NS_PER_MS, &blocks);
        }
        self.standing.now = interval.end / NS_PER_MS;
        if interval.end == interval.slot.end && self.standing.now >= self.due {
            self.due += every(&self.settings);
            self.status(run, 0)?;
        }
        Ok(Control::GoOn)
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        let longest = self
            .settings
            .longest
            .map(|longest| longest.as_millis() as u64);
        if longest.is_some_and(|longest| self.standing.now >= longest) {
            eprintln!("Maximum time elapsed. Requesting stop for the workload.");
            eprintln!("Stop requested for workload. Now Joining!");
        }
        self.status(run, self.settings.threads as u64)?;
        self.summary(&run.totals)
            .map_err(|why| Fatal::file("the summary", why))?;
        let (totals, done) = (&run.totals, self.standing.done);
        let mut verdict = Verdict::of(&self.settings, &self.operations, totals, done);
        verdict.on_stand_in(self.stand_in.as_deref());
        verdict.print(totals);
        self.verdict = Some(verdict);
        Ok(())
    }
}
