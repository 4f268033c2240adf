//! Tells a run as JSON lines, and writes its interval histogram log.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use tare_engine::errors::Fatal;
use tare_engine::hlog::Hlog;
use tare_engine::observe::{Control, Observer, Ready};
use tare_engine::record::Interval;
use tare_engine::timeline::Part;
use tare_engine::totals::RunState;

use crate::progress::{say, Event, Progress};
use crate::result::{result, Frame};
use crate::spec::{Phase, Spec};
use crate::steady;

/// The observer of `tare-load run`.
pub struct Lines<'a> {
    spec: &'a Spec,
    operations: Vec<String>,
    /// The program that answers in the database's stead.
    stand_in: Option<String>,
    hlog: Option<Hlog<BufWriter<File>>>,
    /// Successful operations per second, by interval of the measured part.
    series: Vec<f64>,
}

impl<'a> Lines<'a> {
    /// Opens the log before anything starts.
    pub fn new(spec: &'a Spec) -> Result<Lines<'a>, Fatal> {
        let open = |path: &String| {
            Hlog::create(Path::new(path)).map_err(|e| Fatal::file(path.as_str(), e))
        };
        Ok(Lines {
            spec,
            operations: Vec::new(),
            stand_in: None,
            hlog: spec.hlog.as_ref().map(open).transpose()?,
            series: Vec::new(),
        })
    }

    fn file_error(&self) -> impl Fn(std::io::Error) -> Fatal + '_ {
        |error| Fatal::file(self.spec.hlog.as_deref().unwrap_or_default(), error)
    }

    /// Where in the run an interval is, for people.
    fn phase(&self, part: Part) -> &'static str {
        match self.spec.phase {
            Phase::Populate => "populate",
            Phase::Run => part.name(),
        }
    }
}

impl Observer for Lines<'_> {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.operations = ready.operations.clone();
        self.stand_in.clone_from(&ready.stand_in);
        say(&Event::Ready {
            version: env!("CARGO_PKG_VERSION"),
            connections: ready.links,
            nodes: ready.nodes,
            protocol: &ready.protocol,
            workers: ready.workers,
            stand_in: ready.stand_in.as_deref(),
        })
    }

    fn measuring(&mut self, unix: f64) -> Result<(), Fatal> {
        if let Some(mut hlog) = self.hlog.take() {
            hlog.begin(unix, Some("nanoseconds"))
                .map_err(self.file_error())?;
            self.hlog = Some(hlog);
        }
        match self.spec.phase {
            Phase::Populate => Ok(()),
            Phase::Run => say(&Event::MeasureStart { unix }),
        }
    }

    fn interval(&mut self, interval: &Interval, run: &RunState) -> Result<Control, Fatal> {
        let origin = match interval.slot.part {
            Part::Warmup => 0,
            Part::Measure => run.timeline.measure,
        };
        if interval.slot.part == Part::Measure {
            self.series.push(interval.throughput());
            if let Some(mut hlog) = self.hlog.take() {
                hlog.write(interval, origin, &self.operations)
                    .map_err(self.file_error())?;
                self.hlog = Some(hlog);
            }
        }
        let phase = self.phase(interval.slot.part);
        let progress = Progress::of(interval, phase, &run.clock, origin, &self.operations);
        say(&Event::Interval(progress))?;
        Ok(Control::GoOn)
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        say(&Event::Result(&result(
            &run.totals,
            &Frame {
                client: &self.spec.client.name,
                hlog: self.spec.hlog.as_deref(),
                start_unix: run.start_unix(),
                operations: &self.operations,
                stopped: run.stopped,
                stand_in: self.stand_in.as_deref(),
                steadiness: steady::judge(&self.series),
            },
        )))
    }
}
