//! A whole command: schema, warm-up, one run or a search for the thread count, results.

mod load;
mod order;
mod schema;
mod search;
pub mod table;

use std::sync::Arc;

use tare_cql::Cluster;
use tare_engine::errors::Fatal;
use tare_engine::observe::{Chorus, Observer};
use tare_engine::run::Stop;

use crate::output::printer::Printer;
use crate::output::report::Report;
use crate::output::results::Outcome;
use crate::output::rows::header;
use crate::settings::command::{Length, Truncate};
use crate::settings::rate::Threads;
use crate::settings::Settings;
use crate::workload::trouble::Trouble;
use load::{Load, Operations};

/// Warm-up operations per node at most, and threads at most.
const MOST_WARMUP: u64 = 50_000;
const WARMUP_THREADS: usize = 100;

/// A command under way.
pub struct Session<'a, 'b> {
    settings: &'a Settings,
    printer: Printer,
    cluster: Cluster,
    load: Load,
    stop: Stop,
    others: &'a mut [&'b mut dyn Observer],
}

/// Runs the command; whether it succeeded. `others` see every run but the warm-up.
pub fn run(
    settings: &Settings,
    mut printer: Printer,
    stop: Stop,
    others: &mut [&mut dyn Observer],
) -> Result<bool, Fatal> {
    if !settings.log.no_settings {
        printer.lines(&settings.dump())?;
    }
    let mut cluster = connect(settings, &mut printer)?;
    schema::create(settings, &mut cluster, &mut printer)?;
    if settings.command.count() == Some(0) {
        printer.line("N=0: SCHEMA CREATED, NOTHING ELSE DONE.")?;
        return Ok(true);
    }
    let load = Load::prepare(settings, &mut cluster)?;
    let mut session = Session {
        settings,
        printer,
        cluster,
        load,
        stop,
        others,
    };
    session.warm_up()?;
    let succeeded = session.measure()?;
    session
        .printer
        .line(if succeeded { "END" } else { "FAILURE" })?;
    Ok(succeeded)
}

fn connect(settings: &Settings, printer: &mut Printer) -> Result<Cluster, Fatal> {
    let points = settings.nodes.contact_points(settings.port.native);
    let cluster = Cluster::discover(&points, &order::options(settings))
        .map_err(|e| Fatal::unreachable(points.join(", "), e))?;
    printer.line(&format!(
        "Connected to cluster: {}, max pending requests per connection {}, max connections per \
         host {}",
        cluster.name, settings.mode.pending, settings.mode.connections
    ))?;
    for node in &cluster.nodes {
        printer.line(&format!(
            "Datacenter: {}; Host: /{}; Rack: {}",
            node.datacenter, node.address, node.rack
        ))?;
    }
    Ok(cluster)
}

impl Session<'_, '_> {
    /// The share of the operations that goes ahead to warm the server up, each kind by itself.
    fn warm_up(&mut self) -> Result<(), Fatal> {
        let command = &self.settings.command;
        let nodes = self.settings.nodes.nodes.len() as u64;
        let iterations = command.count().unwrap_or(0) / 4;
        let iterations = iterations.min(MOST_WARMUP).saturating_mul(nodes);
        if command.no_warmup {
            return Ok(());
        }
        let threads = match self.settings.rate.threads {
            Threads::Count(count) => count.min(WARMUP_THREADS),
            Threads::Search { most, .. } => most.min(WARMUP_THREADS),
        };
        for (place, name) in self.load.names().into_iter().enumerate() {
            let line = format!("Warming up {name} with {iterations} iterations...");
            self.printer.line(&line)?;
            // By time or by uncertainty there is no count, and so the tool warms nothing up.
            if iterations == 0 {
                continue;
            }
            let only = Operations::Only(place);
            if self
                .once(threads, Length::Count(iterations), only, false)?
                .is_none()
            {
                return Err(Fatal::internal("warm-up", "Failed to execute warmup"));
            }
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<bool, Fatal> {
        let truncate = self.settings.command.truncate;
        match self.settings.rate.threads {
            Threads::Count(threads) => {
                if truncate != Truncate::Never {
                    schema::truncate(self.settings, &mut self.cluster, &mut self.printer)?;
                }
                let length = self.settings.command.length;
                Ok(self.once(threads, length, Operations::All, true)?.is_some())
            }
            Threads::Search { auto, least, most } => {
                if truncate == Truncate::Once {
                    schema::truncate(self.settings, &mut self.cluster, &mut self.printer)?;
                }
                self.printer.line("Thread count was not specified")?;
                self.search(auto, least, most)
            }
        }
    }

    /// One run of the engine; none if an operation failed that must not, or it was stopped.
    fn once(
        &mut self,
        threads: usize,
        length: Length,
        operations: Operations,
        told: bool,
    ) -> Result<Option<Outcome>, Fatal> {
        let settings = self.settings;
        let trouble = Arc::new(Trouble::new(settings.errors.ignore, settings.log.level));
        let waits = told && settings.log.hdr_file.is_some() && settings.rate.per_second().is_some();
        let plan = self
            .load
            .plan(settings, length, operations, &trouble, waits, !told)?;
        let names = self.load.names_of(operations);
        let order = order::order(settings, &self.cluster, threads, length, told);
        if told {
            self.printer.line(&running(&names, threads, length))?;
            self.printer.line(&header())?;
        }
        let mut report = Report::new(
            plan.report(names, settings),
            told.then_some(&mut self.printer),
        );
        let mut voices: Vec<&mut dyn Observer> = vec![&mut report];
        if told {
            voices.extend(
                self.others
                    .iter_mut()
                    .map(|one| &mut **one as &mut dyn Observer),
            );
        }
        plan.run(&order, &mut Chorus(voices), &self.stop)?;
        let (outcome, stopped) = (report.outcome(), self.stop.is_asked());
        let saturation = std::mem::take(&mut report.saturation);
        drop(report);
        if let Some(why) = trouble.why() {
            self.printer.line(&format!("java.io.IOException: {why}"))?;
            return Ok(None);
        }
        if told {
            self.tell(&outcome, &saturation)?;
        }
        if stopped {
            eprintln!("Stopped by a signal: the results are of what was done until then.");
            return Ok(None);
        }
        Ok(Some(outcome))
    }

    fn tell(&mut self, outcome: &Outcome, saturation: &[String]) -> Result<(), Fatal> {
        if !self.settings.log.no_summary {
            self.printer.lines(&outcome.block())?;
        }
        if outcome.total.retries > 0 {
            eprintln!(
                "Retried requests: {}; the latency of an operation spans all of its tries.",
                outcome.total.retries
            );
        }
        for reason in saturation {
            eprintln!("The client was the limit: {reason}");
        }
        Ok(())
    }
}

/// `Running [READ, WRITE] with 32 threads 15 seconds`.
fn running(names: &[String], threads: usize, length: Length) -> String {
    let what = match names {
        [name] => name.clone(),
        names => format!("[{}]", names.join(", ")),
    };
    let until = match length {
        Length::Count(count) => format!("for {count} iteration"),
        Length::Duration(amount, unit) => format!("{amount} {}", unit.name().to_lowercase()),
        Length::Uncertainty { target, .. } => format!("until stderr of mean < {target}"),
    };
    format!("Running {what} with {threads} threads {until}")
}
