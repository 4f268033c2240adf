//! Runs a workload: connects, starts the workers, gathers what they record, ends them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use crate::cgroup::available_cpus;
use crate::collect::Collector;
use crate::errors::Fatal;
use crate::observe::{Observer, Ready};
use crate::order::Order;
use crate::wire::Wire;
use crate::workers::Workers;
use crate::workload::Workload;

/// Most workers that are chosen without being asked for. One carries some 300 000 operations per
/// second.
const MOST_WORKERS: usize = 4;
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

/// Runs a workload; the observer has been told everything when this returns.
pub fn run<P: Wire, W: Workload<P>>(
    order: &Order<P::Cluster>,
    workload: W,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<(), Fatal> {
    let workload = Arc::new(workload);
    let prepared = Arc::new(P::prepare(order, workload.statements())?);
    workload.check(&prepared.statements)?;
    let operations = workload.operations();
    let mut collector = Collector::new(order, operations.len(), workers_of(order));
    let workers = Workers::start(order, &workload, &prepared, &collector)?;
    if stop.is_asked() {
        workers.end()?;
        collector.run.stopped = true;
        return observer.finished(&collector.run);
    }
    observer.ready(&Ready {
        nodes: prepared.nodes.iter().flatten().count(),
        links: workers.links,
        unreachable: prepared.unreachable.clone(),
        stand_in: prepared.stand_in.clone(),
        operations,
        protocol: P::protocol(&order.cluster),
        workers: collector.workers,
        slots: order.pace.slots(),
    })?;
    collector.begin(order);
    workers.go(&collector.run.clock);
    let outcome = collector.collect(&workers, observer, stop);
    workers.end()?;
    outcome?;
    observer.finished(&collector.run)
}

/// One worker while the client has few CPUs, as it may share them with what it measures.
fn workers_of<C>(order: &Order<C>) -> usize {
    let chosen = order
        .workers
        .unwrap_or_else(|| (available_cpus() / 4).clamp(1, MOST_WORKERS));
    chosen.clamp(1, order.pace.slots().max(1))
}
