//! The coordinator: connects, starts the workers, merges what they record, tells it, stops them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_cql::{Parameters, Ring, Statement, Template};

use crate::cgroup::{available_cpus, Throttling};
use crate::clock::Clock;
use crate::errors::Fatal;
use crate::observe::{Control, Observer, Ready};
use crate::order::{Order, Pace};
use crate::record::{Interval, Recorder};
use crate::timeline::{Part, Timeline};
use crate::totals::{Outlook, Totals};
use crate::worker::{Routes, Start, Worker};
use crate::workload::{Seat, StatementText, Workload};

/// Most workers that are chosen without being asked for. One carries some 300 000 operations per
/// second.
const MOST_WORKERS: usize = 4;
/// Operations in flight that one connection carries well, and operations per second.
const IN_FLIGHT_PER_LINK: usize = 64;
const RATE_PER_LINK: f64 = 20_000.0;
const MOST_LINKS: usize = 8;

/// Asks a run to stop, from anywhere.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Stops at SIGTERM and SIGINT. To be made once in a process.
    pub fn on_signals() -> Result<Stop, Fatal> {
        let stop = Stop::default();
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
            signal_hook::flag::register(signal, Arc::clone(&stop.0))
                .map_err(|e| Fatal::internal("signal handler", e))?;
        }
        Ok(stop)
    }

    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A prepared cluster, as the workers need it.
struct Prepared {
    /// In the order of the ring; none where a node cannot be reached.
    nodes: Vec<Option<SocketAddr>>,
    ring: Option<Ring>,
    statements: Vec<Statement>,
    templates: Vec<Template>,
    texts: Vec<StatementText>,
    unreachable: Vec<String>,
}

/// Runs a workload; the observer has been told everything when this returns.
pub fn run<W: Workload>(
    order: &Order,
    workload: W,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<(), Fatal> {
    let workload = Arc::new(workload);
    let prepared = Arc::new(prepare(order, workload.statements())?);
    workload.check(&prepared.statements)?;
    let operations = workload.operations();
    let mut collector = Collector::new(order, operations.len(), workers_of(order));
    let crew = Crew::start(order, &workload, &prepared, &collector)?;
    if stop.is_asked() {
        crew.end()?;
        collector.outlook.stopped = true;
        return observer.finished(&collector.totals, &collector.outlook);
    }
    observer.ready(&Ready {
        nodes: prepared.nodes.iter().flatten().count(),
        links: crew.links,
        unreachable: prepared.unreachable.clone(),
        operations,
        protocol: protocol(order),
        workers: collector.workers,
        slots: order.pace.slots(),
    })?;
    collector.begin(order);
    crew.go(collector.outlook.clock);
    let outcome = collector.collect(&crew, observer, stop);
    crew.end()?;
    outcome?;
    observer.finished(&collector.totals, &collector.outlook)
}

/// Connects the control plane, prepares everything, and lets go of it.
fn prepare(order: &Order, texts: Vec<StatementText>) -> Result<Prepared, Fatal> {
    let contact_points = &order.cluster.contact_points;
    let places = contact_points.join(", ");
    let mut cluster = tare_cql::Cluster::discover(contact_points, &order.cluster.options)
        .map_err(|e| Fatal::unreachable(&places, e))?;
    let mut statements = Vec::new();
    for text in &texts {
        let statement = cluster
            .prepare(&text.cql, order.keyspace.as_deref())
            .map_err(|e| Fatal::schema(&text.cql, e))?;
        statements.push(statement);
    }
    let keyspace = statements.first().map(|statement| statement.keyspace.clone());
    let ring = match keyspace.or_else(|| order.keyspace.clone()) {
        Some(keyspace) if cluster.nodes.len() > 1 => cluster.ring(&keyspace).ok(),
        _ => None,
    };
    let parts = statements.iter().zip(&texts);
    let templates = parts
        .map(|(statement, text)| template(statement, text, &order.cluster.options))
        .collect::<Result<_, _>>()?;
    Ok(Prepared {
        templates,
        nodes: cluster
            .nodes
            .iter()
            .map(|node| node.is_reachable().then_some(node.address))
            .collect(),
        ring,
        statements,
        texts,
        unreachable: cluster
            .nodes
            .iter()
            .filter(|node| !node.is_reachable())
            .map(|node| node.address.to_string())
            .collect(),
    })
}

fn protocol(order: &Order) -> String {
    let options = &order.cluster.options;
    let mut text = format!("v{}", options.protocol.number());
    if options.compression == tare_cql::Compression::Lz4 {
        text.push_str(", lz4");
    }
    if options.tls.is_some() {
        text.push_str(", TLS");
    }
    text
}

/// One worker while the client has few CPUs, as it may share them with what it measures.
fn workers_of(order: &Order) -> usize {
    let chosen = order
        .workers
        .unwrap_or_else(|| (available_cpus() / 4).clamp(1, MOST_WORKERS));
    chosen.clamp(1, order.pace.slots().max(1))
}

/// Connections per node of one worker.
fn links_of(order: &Order, workers: usize) -> usize {
    let wanted = order.links.unwrap_or_else(|| {
        let wanted = match &order.pace {
            Pace::Open { rate, .. } => (rate.highest() / RATE_PER_LINK).ceil() as usize,
            pace => pace.slots().div_ceil(IN_FLIGHT_PER_LINK),
        };
        wanted.clamp(1, MOST_LINKS)
    });
    wanted.max(1).div_ceil(workers)
}

/// The worker threads and the ends of their channels.
struct Crew {
    threads: Vec<std::thread::JoinHandle<()>>,
    intervals: Receiver<Interval>,
    recycle: Vec<SyncSender<Interval>>,
    clocks: Vec<Sender<Clock>>,
    /// Ends the workers, by whomever it was asked for.
    over: Arc<AtomicBool>,
    links: usize,
}

impl Crew {
    /// Starts the workers and waits until they are connected.
    fn start<W: Workload>(
        order: &Order,
        workload: &Arc<W>,
        prepared: &Arc<Prepared>,
        collector: &Collector,
    ) -> Result<Crew, Fatal> {
        let workers = collector.workers;
        let (sink, intervals) = channel();
        let (ready, readiness) = channel();
        let mut crew = Crew {
            threads: Vec::new(),
            intervals,
            recycle: Vec::new(),
            clocks: Vec::new(),
            over: Arc::default(),
            links: 0,
        };
        for number in 0..workers {
            let (clock_in, clock) = channel();
            let (recycle, recycled) = sync_channel(2);
            crew.clocks.push(clock_in);
            crew.recycle.push(recycle);
            let outfit = Outfit {
                number,
                workers,
                order: order.clone(),
                prepared: Arc::clone(prepared),
                timeline: collector.outlook.timeline,
                clock,
                recycled,
                sink: sink.clone(),
                ready: ready.clone(),
                over: Arc::clone(&crew.over),
            };
            let workload = Arc::clone(workload);
            let thread = std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || outfit.work(&*workload))
                .map_err(|e| Fatal::internal("worker thread", e))?;
            crew.threads.push(thread);
        }
        drop((sink, ready));
        for _ in 0..workers {
            let lost = |_| Fatal::internal("worker thread", "ended early");
            match readiness.recv().map_err(lost).and_then(|links| links) {
                Ok(links) => crew.links += links,
                Err(fatal) => {
                    crew.clocks.clear();
                    return Err(fatal);
                }
            }
        }
        Ok(crew)
    }

    fn go(&self, clock: Clock) {
        for worker in &self.clocks {
            // A worker that is gone shows when it is joined.
            let _ = worker.send(clock);
        }
    }

    fn end(self) -> Result<(), Fatal> {
        self.over.store(true, Ordering::Relaxed);
        drop(self.clocks);
        for thread in self.threads {
            // What a worker left behind when it broke off must not pass for a result.
            let broken = |_| Fatal::internal("worker thread", "ended by a panic");
            thread.join().map_err(broken)?;
        }
        Ok(())
    }
}

/// What one worker thread takes with it.
struct Outfit {
    number: usize,
    workers: usize,
    order: Order,
    prepared: Arc<Prepared>,
    timeline: Timeline,
    clock: Receiver<Clock>,
    recycled: Receiver<Interval>,
    sink: Sender<Interval>,
    ready: Sender<Result<usize, Fatal>>,
    over: Arc<AtomicBool>,
}

impl Outfit {
    fn work<W: Workload>(self, workload: &W) {
        let options = &self.order.cluster.options;
        let links = links_of(&self.order, self.workers);
        let prepared = &self.prepared;
        let routes = Routes::open(&prepared.nodes, prepared.ring.clone(), options, links);
        let told = match &routes {
            Ok(routes) => Ok(routes.len()),
            Err(fatal) => Err(fatal.clone()),
        };
        // The coordinator gives up on the first failure and may already be gone.
        let (Ok(()), Ok(routes)) = (self.ready.send(told), routes) else {
            return;
        };
        let Ok(clock) = self.clock.recv() else {
            return;
        };
        let slots = seats(self.order.pace.slots(), self.number, self.workers);
        let seat = Seat {
            worker: self.number,
            workers: self.workers,
            slots: slots.clone(),
        };
        let source = workload.source(seat, &prepared.statements);
        let scheduled = self.order.pace.is_scheduled();
        let operations = workload.operations().len();
        let recorder = Recorder::new(self.number, self.timeline, operations, scheduled, self.sink);
        let start = Start {
            number: self.number,
            workers: self.workers,
            slots: slots.len(),
            pace: self.order.pace.clone(),
            timeout: self.order.timeout.as_nanos() as u64,
            seed: self.order.seed,
            clock,
            timeline: self.timeline,
            stop: self.over,
            templates: prepared.templates.as_slice().into(),
            protocol: options.protocol,
            prepares: prepares(prepared, options),
            recycled: self.recycled,
        };
        Worker::new(start, source, routes, recorder).run();
    }
}

/// Worker `number`'s part of `slots`.
fn seats(slots: usize, number: usize, workers: usize) -> std::ops::Range<usize> {
    let first = |number: usize| slots * number / workers;
    first(number)..first(number + 1)
}

fn template(
    statement: &Statement,
    text: &StatementText,
    options: &tare_cql::Options,
) -> Result<Template, Fatal> {
    let parameters = Parameters {
        serial: text.serial,
        page_size: text.page_size,
        // The columns are known since the statement was prepared.
        skip_metadata: true,
        ..Parameters::at(text.consistency)
    };
    Template::new(statement, &parameters, options.protocol)
        .map_err(|e| Fatal::schema(&text.cql, e))
}

/// Bodies of PREPARE (native protocol v4, section 4.1.5; v5 adds flags).
fn prepares(prepared: &Prepared, options: &tare_cql::Options) -> Vec<Vec<u8>> {
    let body = |text: &StatementText| {
        let mut body = Vec::new();
        tare_cql::wire::put_int(&mut body, text.cql.len() as i32);
        body.extend_from_slice(text.cql.as_bytes());
        if options.protocol == tare_cql::Protocol::V5 {
            tare_cql::wire::put_int(&mut body, 0);
        }
        body
    };
    prepared.texts.iter().map(body).collect()
}

/// Merges the workers' intervals in order and sums up the measured part.
struct Collector {
    workers: usize,
    outlook: Outlook,
    totals: Totals,
    throttling: Option<Throttling>,
    throttled_before: u64,
    pending: BTreeMap<u64, (usize, Interval)>,
}

impl Collector {
    fn new(order: &Order, operations: usize, workers: usize) -> Collector {
        Collector {
            workers,
            outlook: Outlook {
                clock: Clock::starting(None),
                timeline: Timeline::new(order),
                stopped: false,
            },
            totals: Totals::new(operations, order.pace.is_scheduled()),
            throttling: Throttling::find(Path::new("/")),
            throttled_before: 0,
            pending: BTreeMap::new(),
        }
    }

    /// Sets the clock; the workers start by it.
    fn begin(&mut self, order: &Order) {
        self.outlook.clock = Clock::starting(order.start_at);
    }

    /// Takes intervals until all workers are done.
    fn collect(
        &mut self,
        crew: &Crew,
        observer: &mut dyn Observer,
        stop: &Stop,
    ) -> Result<(), Fatal> {
        let border = self.outlook.clock.instant(self.outlook.timeline.measure);
        let mut warm = false;
        loop {
            if stop.is_asked() && !self.outlook.stopped {
                self.outlook.stopped = true;
                crew.over.store(true, Ordering::Relaxed);
            }
            let now = Instant::now();
            if !warm && now >= border {
                warm = true;
                self.throttled_before = self.throttled();
                observer.measuring(self.outlook.start_unix())?;
            }
            let look_up = Duration::from_millis(50);
            let wait = match warm {
                true => look_up,
                false => look_up.min(border.saturating_duration_since(now)),
            };
            match crew.intervals.recv_timeout(wait) {
                Ok(interval) => {
                    if self.take(interval, crew, observer)? == Control::Stop {
                        crew.over.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // A worker that was stopped earlier than others leaves intervals incomplete.
        for (_, interval) in std::mem::take(&mut self.pending).into_values() {
            self.account(&interval, observer)?;
        }
        Ok(())
    }

    fn throttled(&self) -> u64 {
        self.throttling.as_ref().map_or(0, Throttling::nanoseconds)
    }

    fn take(
        &mut self,
        interval: Interval,
        crew: &Crew,
        observer: &mut dyn Observer,
    ) -> Result<Control, Fatal> {
        let index = interval.slot.index;
        if let Some((count, merged)) = self.pending.get_mut(&index) {
            merged.add(&interval);
            *count += 1;
            recycle(crew, interval);
        } else {
            self.pending.insert(index, (1, interval));
        }
        if self.pending.get(&index).map(|(count, _)| *count) != Some(self.workers) {
            return Ok(Control::GoOn);
        }
        let Some((_, merged)) = self.pending.remove(&index) else {
            return Ok(Control::GoOn);
        };
        let control = self.account(&merged, observer)?;
        recycle(crew, merged);
        Ok(control)
    }

    fn account(
        &mut self,
        interval: &Interval,
        observer: &mut dyn Observer,
    ) -> Result<Control, Fatal> {
        if interval.end <= interval.slot.begin {
            return Ok(Control::GoOn);
        }
        self.totals.add(interval);
        if interval.slot.part == Part::Measure {
            self.totals.throttled = self.throttled().saturating_sub(self.throttled_before);
        }
        observer.interval(interval, &self.outlook, &self.totals)
    }
}

/// Gives an interval's memory back to the worker that it came from, if that has room for it.
fn recycle(crew: &Crew, interval: Interval) {
    let Some(&(worker, _)) = interval.cpu.last() else {
        return;
    };
    if let Some(recycle) = crew.recycle.get(worker) {
        let _ = recycle.try_send(interval);
    }
}
