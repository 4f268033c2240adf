//! The coordinator's side of the workers: starts, releases and ends them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::sync::Arc;

use crate::clock::Clock;
use crate::collect::Collector;
use crate::errors::Fatal;
use crate::order::{Order, Pace};
use crate::prepared::Prepared;
use crate::record::{Interval, Recorder};
use crate::timeline::Timeline;
use crate::wire::Wire;
use crate::worker::{Routes, Start, Worker};
use crate::workload::{Seat, Workload};

/// Operations per second that one connection carries well.
const RATE_PER_LINK: f64 = 20_000.0;

/// The worker threads and the ends of their channels.
pub struct Workers {
    threads: Vec<std::thread::JoinHandle<()>>,
    pub intervals: Receiver<Interval>,
    recycled: Vec<SyncSender<Interval>>,
    clocks: Vec<Sender<Clock>>,
    /// Ends the workers, whoever asked for it.
    pub over: Arc<AtomicBool>,
    pub links: usize,
}

impl Workers {
    /// Starts the workers and waits until they are connected.
    pub fn start<P: Wire, W: Workload<P>>(
        order: &Order<P::Cluster>,
        workload: &Arc<W>,
        prepared: &Arc<Prepared<P>>,
        collector: &Collector,
    ) -> Result<Workers, Fatal> {
        let count = collector.workers;
        let (sink, intervals) = channel();
        let (ready, readiness) = channel();
        let mut workers = Workers {
            threads: Vec::new(),
            intervals,
            recycled: Vec::new(),
            clocks: Vec::new(),
            over: Arc::default(),
            links: 0,
        };
        for number in 0..count {
            let (clock_in, clock) = channel();
            let (recycle, recycled) = sync_channel(2);
            workers.clocks.push(clock_in);
            workers.recycled.push(recycle);
            let context = WorkerContext {
                number,
                workers: count,
                order: order.clone(),
                prepared: Arc::clone(prepared),
                timeline: collector.run.timeline,
                clock,
                recycled,
                sink: sink.clone(),
                ready: ready.clone(),
                over: Arc::clone(&workers.over),
            };
            let workload = Arc::clone(workload);
            let thread = std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || context.work(&*workload))
                .map_err(|e| Fatal::internal("worker thread", e))?;
            workers.threads.push(thread);
        }
        drop((sink, ready));
        for _ in 0..count {
            let lost = |_| Fatal::internal("worker thread", "ended early");
            match readiness.recv().map_err(lost).and_then(|links| links) {
                Ok(links) => workers.links += links,
                Err(fatal) => {
                    workers.clocks.clear();
                    return Err(fatal);
                }
            }
        }
        Ok(workers)
    }

    pub fn go(&self, clock: &Clock) {
        for worker in &self.clocks {
            // A worker that is gone shows when it is joined.
            let _ = worker.send(clock.clone());
        }
    }

    /// Gives an interval's memory back to the worker that it came from, if that has room for it.
    pub fn recycle(&self, interval: Interval) {
        let Some(&(worker, _)) = interval.cpu.last() else {
            return;
        };
        if let Some(recycled) = self.recycled.get(worker) {
            let _ = recycled.try_send(interval);
        }
    }

    pub fn end(self) -> Result<(), Fatal> {
        self.over.store(true, Ordering::Relaxed);
        drop(self.clocks);
        for thread in self.threads {
            // The leftovers of a worker that broke off must not pass for a result.
            let broken = |_| Fatal::internal("worker thread", "ended by a panic");
            thread.join().map_err(broken)?;
        }
        Ok(())
    }
}

/// What one worker thread takes with it.
struct WorkerContext<P: Wire> {
    number: usize,
    workers: usize,
    order: Order<P::Cluster>,
    prepared: Arc<Prepared<P>>,
    timeline: Timeline,
    clock: Receiver<Clock>,
    recycled: Receiver<Interval>,
    sink: Sender<Interval>,
    ready: Sender<Result<usize, Fatal>>,
    over: Arc<AtomicBool>,
}

impl<P: Wire> WorkerContext<P> {
    fn work<W: Workload<P>>(self, workload: &W) {
        let cluster = &self.order.cluster;
        let links = links_of::<P>(&self.order, self.workers);
        let prepared = &self.prepared;
        let routes = Routes::<P>::open(&prepared.nodes, prepared.map.clone(), cluster, links);
        let told = match &routes {
            Ok(routes) => Ok(routes.links()),
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
            connections_per_slice: self.order.connections_per_slice,
            stop: self.over,
            templates: prepared.templates.as_slice().into(),
            cluster: cluster.clone(),
            recovery: Arc::clone(&prepared.recovery),
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

/// Connections per node of one worker.
fn links_of<P: Wire>(order: &Order<P::Cluster>, workers: usize) -> usize {
    let wanted = order.links.unwrap_or_else(|| {
        let wanted = match &order.pace {
            // As many as its rate needs, if a connection carries many at a time.
            Pace::Open { rate, .. } if P::IN_FLIGHT_PER_LINK > 1 => {
                (rate.highest() / RATE_PER_LINK).ceil() as usize
            }
            pace => pace.slots().div_ceil(P::IN_FLIGHT_PER_LINK),
        };
        wanted.clamp(1, P::MOST_LINKS)
    });
    wanted.max(1).div_ceil(workers)
}
