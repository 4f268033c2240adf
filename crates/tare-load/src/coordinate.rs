//! The coordinator: starts the workers, merges what they record, tells it, and stops them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use tokio::signal::unix::{signal, Signal, SignalKind};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver};
use tokio::sync::watch;

use crate::cgroup::{available_cpus, Throttling};
use crate::clock::Clock;
use crate::errors::Fatal;
use crate::hlog::Hlog;
use crate::progress::{tell, Event, Progress};
use crate::record::Interval;
use crate::result::{Frame, Totals};
use crate::spec::{Phase, Spec};
use crate::timeline::{Part, Timeline};
use crate::worker::{self, Channels, Readiness};
use crate::workload::{Class, Shape};

/// Most workers. One carries more than 100 000 operations per second.
const MOST_WORKERS: usize = 4;

/// SIGTERM and SIGINT.
struct Signals {
    term: Signal,
    int: Signal,
}

impl Signals {
    fn new() -> Result<Signals, Fatal> {
        let listen = |kind| signal(kind).map_err(|e| Fatal::new("internal", "signal handler", e));
        Ok(Signals {
            term: listen(SignalKind::terminate())?,
            int: listen(SignalKind::interrupt())?,
        })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
        }
    }
}

/// Runs the whole specification; the result has been told when this returns.
/// `workers` null chooses by the CPUs that the client may use.
pub async fn run(spec: Spec, workers: Option<usize>) -> Result<(), Fatal> {
    let mut signals = Signals::new()?;
    let workers = workers.unwrap_or_else(|| default_workers(available_cpus()));
    let workers = workers.clamp(1, spec.threads);
    let hlog = open_hlog(&spec)?;
    let (ready_in, ready) = unbounded_channel();
    let (intervals_in, intervals) = unbounded_channel();
    let (start, start_out) = watch::channel(None);
    let (stop, stop_out) = watch::channel(false);
    let mut threads = Vec::new();
    for number in 0..workers {
        let channels = Channels {
            ready: ready_in.clone(),
            intervals: intervals_in.clone(),
            start: start_out.clone(),
            stop: stop_out.clone(),
        };
        let thread = worker::spawn(spec.clone(), number, workers, channels)
            .map_err(|e| Fatal::new("internal", "worker thread", e))?;
        threads.push(thread);
    }
    drop((ready_in, intervals_in));
    let mut collector = Collector::new(spec, workers, hlog);
    tokio::select! {
        readiness = all_ready(ready, workers) => {
            let (nodes, connections) = readiness?;
            say(&Event::Ready { version: env!("CARGO_PKG_VERSION"), connections, nodes })?;
        }
        () = signals.received() => {
            collector.stopped = true;
            return collector.finish();
        }
    }
    collector.begin()?;
    start.send_replace(Some(collector.clock));
    collector.collect(intervals, &mut signals, &stop).await?;
    for thread in threads {
        // What a worker left behind when it broke off must not pass for a result.
        let broken = |_| Fatal::new("internal", "worker thread", "ended by a panic");
        thread.join().map_err(broken)?;
    }
    collector.finish()
}

/// One worker while the client has few CPUs, as it may share them with what it measures.
fn default_workers(cpus: usize) -> usize {
    (cpus / 2).clamp(1, MOST_WORKERS)
}

fn open_hlog(spec: &Spec) -> Result<Option<Hlog<BufWriter<File>>>, Fatal> {
    let open = |path: &String| {
        Hlog::create(Path::new(path)).map_err(|e| Fatal::new("file", path.as_str(), e))
    };
    spec.hlog.as_ref().map(open).transpose()
}

/// Waits for all workers; the first failure is the answer.
async fn all_ready(
    mut ready: UnboundedReceiver<Readiness>,
    workers: usize,
) -> Result<(usize, usize), Fatal> {
    let (mut nodes, mut connections) = (usize::MAX, 0);
    for _ in 0..workers {
        let lost = || Fatal::new("internal", "worker thread", "ended early");
        let (seen, open) = ready.recv().await.ok_or_else(lost)??;
        nodes = nodes.min(seen);
        connections += open;
    }
    Ok((nodes, connections))
}

/// Nobody listening on standard output is a reason to end: nothing else is of use then.
fn say(event: &Event) -> Result<(), Fatal> {
    tell(event).map_err(|e| Fatal::new("file", "standard output", e))
}

/// Merges the workers' intervals in order and sums up the measured part.
struct Collector {
    spec: Spec,
    workers: usize,
    hlog: Option<Hlog<BufWriter<File>>>,
    clock: Clock,
    timeline: Timeline,
    operations: Vec<(Class, &'static str)>,
    throttling: Option<Throttling>,
    throttled_before: u64,
    totals: Totals,
    pending: BTreeMap<u64, (usize, Interval)>,
    stopped: bool,
}

impl Collector {
    fn new(spec: Spec, workers: usize, hlog: Option<Hlog<BufWriter<File>>>) -> Collector {
        let open_loop = spec.rate.is_some() && spec.phase == Phase::Run;
        Collector {
            workers,
            hlog,
            clock: Clock::starting(spec.start_at),
            timeline: Timeline::new(&spec),
            operations: operations(&spec),
            throttling: Throttling::find(Path::new("/")),
            throttled_before: 0,
            totals: Totals::new(open_loop),
            pending: BTreeMap::new(),
            stopped: false,
            spec,
        }
    }

    /// Sets the clock; the workers start by it.
    fn begin(&mut self) -> Result<(), Fatal> {
        self.clock = Clock::starting(self.spec.start_at);
        let start = self.clock.unix(self.timeline.measure);
        match &mut self.hlog {
            Some(hlog) => hlog.begin(start).map_err(|e| self.hlog_error(e)),
            None => Ok(()),
        }
    }

    fn hlog_error(&self, error: std::io::Error) -> Fatal {
        Fatal::new("file", self.spec.hlog.as_deref().unwrap_or_default(), error)
    }

    /// Takes intervals until all workers are done.
    async fn collect(
        &mut self,
        mut intervals: UnboundedReceiver<Interval>,
        signals: &mut Signals,
        stop: &watch::Sender<bool>,
    ) -> Result<(), Fatal> {
        let border = self.clock.instant(self.timeline.measure);
        let mut warm = self.spec.phase == Phase::Populate;
        loop {
            tokio::select! {
                biased;
                () = signals.received(), if !self.stopped => {
                    self.stopped = true;
                    stop.send_replace(true);
                }
                () = tokio::time::sleep_until(border.into()), if !warm && !self.stopped => {
                    warm = true;
                    self.throttled_before = self.throttled();
                    say(&Event::MeasureStart { unix: self.clock.unix(self.timeline.measure) })?;
                }
                interval = intervals.recv() => match interval {
                    Some(interval) => self.take(interval)?,
                    None => break,
                },
            }
        }
        // A worker that was stopped earlier than others leaves intervals incomplete.
        for (_, interval) in std::mem::take(&mut self.pending).into_values() {
            self.account(&interval)?;
        }
        Ok(())
    }

    fn throttled(&self) -> u64 {
        self.throttling.as_ref().map_or(0, Throttling::nanoseconds)
    }

    fn take(&mut self, interval: Interval) -> Result<(), Fatal> {
        let index = interval.slot.index;
        let complete = match self.pending.get_mut(&index) {
            Some((count, merged)) => {
                merged.add(&interval);
                *count += 1;
                *count == self.workers
            }
            None => {
                self.pending.insert(index, (1, interval));
                self.workers == 1
            }
        };
        match complete.then(|| self.pending.remove(&index)).flatten() {
            Some((_, merged)) => self.account(&merged),
            None => Ok(()),
        }
    }

    fn account(&mut self, interval: &Interval) -> Result<(), Fatal> {
        if interval.end <= interval.slot.begin {
            return Ok(());
        }
        if interval.slot.part != Part::Warmup {
            self.totals.add(interval);
            if let Some(hlog) = &mut self.hlog {
                hlog.write(interval, self.timeline.measure, &self.operations)
                    .map_err(|e| self.hlog_error(e))?;
            }
        }
        let progress = Progress::of(interval, &self.clock, self.timeline.measure);
        say(&Event::Interval(progress))
    }

    fn finish(self) -> Result<(), Fatal> {
        let frame = Frame {
            client: &self.spec.client,
            hlog: self.spec.hlog.as_deref(),
            start_unix: self.clock.unix(self.timeline.measure),
            operations: &self.operations,
            throttled: self.throttled().saturating_sub(self.throttled_before),
            stopped: self.stopped,
        };
        say(&Event::Result(&self.totals.result(&frame)))
    }
}

/// The operations that the run has, with their names.
fn operations(spec: &Spec) -> Vec<(Class, &'static str)> {
    let shape = Shape::new(spec);
    let (read, write) = spec.workload.mix();
    let happens = |class: &Class| match (spec.phase, class) {
        (Phase::Populate, class) => *class == Class::Write,
        (Phase::Run, Class::Read) => read > 0.0,
        (Phase::Run, Class::Write) => write > 0.0,
    };
    let classes = Class::ALL.into_iter().filter(happens);
    classes
        .map(|class| (class, shape.operation(class, spec.phase)))
        .collect()
}
