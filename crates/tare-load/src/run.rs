//! Runs a specification: makes the engine's order and workload of it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tare_engine::errors::Fatal;
use tare_engine::observe::{Chorus, Observer};
use tare_engine::order::{Cluster, Corner, Order, Pace, Rate};
use tare_engine::run::Stop;

use crate::lines::Lines;
use crate::spec::{self, Phase, Spec};
use crate::statements::Mixed;
use crate::stress::StressRows;

/// Most operations in flight in the open loop, unless told otherwise.
const MOST_IN_FLIGHT: usize = 20_000;
/// Longest wait for a connection: an unreachable cluster must be told within seconds.
const CONNECT: Duration = Duration::from_secs(3);
/// How long the program stays after its slices: the CPU time of its container is read after the
/// last one, and the kernel forgets it with the last process.
const LINGER: Duration = Duration::from_millis(500);

/// Settings of a run that its specification does not hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Worker threads; none chooses by the CPUs.
    pub workers: Option<usize>,
    /// Most operations in flight in the open loop. Beyond it sends wait, which shows as lateness.
    pub in_flight: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            workers: None,
            in_flight: MOST_IN_FLIGHT,
        }
    }
}

/// Runs it to its end; the result is on standard output when this returns. `beside` watch, too.
pub fn run(
    spec: &Spec,
    workers: Option<usize>,
    beside: &mut [Box<dyn Observer>],
    stop: &Stop,
) -> Result<(), Fatal> {
    let mut lines = Lines::new(spec)?;
    let mut voices: Vec<&mut dyn Observer> = vec![&mut lines];
    voices.extend(beside.iter_mut().map(|one| &mut **one as &mut dyn Observer));
    let limits = Limits {
        workers,
        ..Limits::default()
    };
    drive(spec, &limits, &mut Chorus(voices), stop)?;
    if spec.slices.is_some() {
        thread::sleep(LINGER);
    }
    Ok(())
}

/// Runs it under an observer.
pub fn drive(
    spec: &Spec,
    limits: &Limits,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<(), Fatal> {
    let order = order(spec, limits, cluster(spec));
    match &spec.workload {
        spec::Workload::Ycsb(ycsb) => match &spec.mongodb {
            Some(url) => {
                let slots = order.pace.slots();
                let (workload, deployment) = crate::ycsb::mongodb(url, ycsb, spec, slots)?;
                let links = deployment.uri.pool.min(slots);
                let order = Order {
                    links: Some(links),
                    ..self::order(spec, limits, deployment)
                };
                tare_engine::run::run(&order, workload, observer, stop)
            }
            None => {
                let workload = crate::ycsb::workload(ycsb, spec, order.pace.slots())?;
                tare_engine::run::run(&order, workload, observer, stop)
            }
        },
        spec::Workload::Stress(stress) => {
            let workload = StressRows::new(stress, spec)?;
            tare_engine::run::run(&order, workload, observer, stop)
        }
        spec::Workload::Statements(statements) => {
            let workload = Mixed::new(statements, spec);
            tare_engine::run::run(&order, workload, observer, stop)
        }
    }
}

fn cluster(spec: &Spec) -> Cluster {
    Cluster {
        contact_points: spec.targets.clone(),
        options: tare_cql::Options {
            connect_timeout: CONNECT,
            tls: spec.tls.as_ref().map(|tls| tare_cql::TlsOptions {
                authorities: Some(tls.authorities.clone()),
                server_name: tls.server_name.clone(),
                ..tare_cql::TlsOptions::default()
            }),
            ..tare_cql::Options::default()
        },
    }
}

/// The engine's order for a specification, on a cluster of any protocol.
pub fn order<C>(spec: &Spec, limits: &Limits, cluster: C) -> Order<C> {
    let populate = spec.phase == Phase::Populate;
    let seconds = Duration::from_secs_f64;
    Order {
        keyspace: Some(spec.keyspace.clone()),
        warmup: if populate {
            Duration::ZERO
        } else {
            seconds(spec.warmup_s)
        },
        measure: (!populate).then(|| seconds(spec.measure_s)),
        interval: seconds(spec.interval_s),
        slices: spec
            .slices
            .as_ref()
            .and_then(spec::Slicing::slices)
            .map(Arc::new),
        connections_per_slice: spec.connections_per_slice,
        start_at: spec.start_at,
        timeout: seconds(spec.timeout_s),
        workers: limits.workers,
        seed: spec.stream(),
        ..Order::new(cluster, pace(spec, limits.in_flight))
    }
}

fn pace(spec: &Spec, most: usize) -> Pace {
    match rate(spec).filter(|_| spec.phase == Phase::Run) {
        None => Pace::Closed {
            slots: spec.threads,
        },
        Some(rate) => Pace::Open {
            rate,
            arrivals: match spec.arrivals {
                spec::Arrivals::Poisson => tare_engine::order::Arrivals::Poisson,
                spec::Arrivals::Fixed => tare_engine::order::Arrivals::Fixed,
            },
            most,
        },
    }
}

/// The rate over the whole run; a schedule's times count from the measured part, before which
/// its first rate holds.
fn rate(spec: &Spec) -> Option<Rate> {
    if let Some(rate) = spec.rate {
        return Some(Rate::constant(rate));
    }
    let first = spec.schedule.first()?;
    let begin = Corner {
        at: 0.0,
        rate: first.rate,
    };
    let corners = spec.schedule.iter().map(|corner| Corner {
        at: spec.warmup_s + corner.at_s,
        rate: corner.rate,
    });
    Rate::through(std::iter::once(begin).chain(corners).collect())
}
