//! Runs a specification: makes the engine's order and workload of it.

use std::time::Duration;

use tare_engine::errors::Fatal;
use tare_engine::order::{Cluster, Corner, Order, Pace, Rate};
use tare_engine::run::Stop;

use crate::lines::Lines;
use crate::spec::{self, Phase, Spec};
use crate::statements::Mixed;
use crate::workload::{stress::Stress, ycsb::Ycsb, Shaped};

/// Most operations in flight in the open loop. Beyond it sends wait, which shows as lateness.
const MOST_IN_FLIGHT: usize = 20_000;
/// Longest wait for a connection: an unreachable cluster must be told within seconds.
const CONNECT: Duration = Duration::from_secs(3);

/// Runs it to its end; standard output has been told the result when this returns.
pub fn run(spec: &Spec, workers: Option<usize>, stop: &Stop) -> Result<(), Fatal> {
    let order = order(spec, workers);
    let mut lines = Lines::new(spec)?;
    match &spec.workload {
        spec::Workload::Ycsb(ycsb) => {
            let workload = Shaped::new(Ycsb::new(spec, ycsb), spec);
            tare_engine::run::run(&order, workload, &mut lines, stop)
        }
        spec::Workload::Stress(stress) => {
            let workload = Shaped::new(Stress::new(spec, stress), spec);
            tare_engine::run::run(&order, workload, &mut lines, stop)
        }
        spec::Workload::Statements(statements) => {
            let workload = Mixed::new(statements, spec);
            tare_engine::run::run(&order, workload, &mut lines, stop)
        }
    }
}

/// The engine's order for a specification.
pub fn order(spec: &Spec, workers: Option<usize>) -> Order {
    let populate = spec.phase == Phase::Populate;
    let seconds = Duration::from_secs_f64;
    Order {
        client: spec.client.clone(),
        cluster: Cluster {
            contact_points: spec.targets.clone(),
            options: tare_cql::Options {
                connect_timeout: CONNECT,
                ..tare_cql::Options::default()
            },
        },
        keyspace: Some(spec.keyspace.clone()),
        pace: pace(spec),
        warmup: if populate { Duration::ZERO } else { seconds(spec.warmup_s) },
        measure: (!populate).then(|| seconds(spec.measure_s)),
        interval: seconds(spec.interval_s),
        start_at: spec.start_at,
        timeout: seconds(spec.timeout_s),
        workers,
        links: None,
        seed: spec.seed,
    }
}

fn pace(spec: &Spec) -> Pace {
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
            most: MOST_IN_FLIGHT,
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
