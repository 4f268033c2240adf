//! What the engine is asked to do: which cluster, at which pace, for how long.

use std::sync::Arc;
use std::time::Duration;

use crate::slices::Slices;

/// One run of one load client. `C` describes the cluster of its protocol.
#[derive(Debug, Clone)]
pub struct Order<C = Cluster> {
    pub cluster: C,
    /// Keyspace that the statements are prepared in; none where they name their own.
    pub keyspace: Option<String>,
    pub pace: Pace,
    /// Load at the start that is not part of the result.
    pub warmup: Duration,
    /// Length of the measured part; none lasts until the sources have finished.
    pub measure: Option<Duration>,
    /// Time between two intervals.
    pub interval: Duration,
    /// Drive the cluster in these slices alone; then `warmup`, `measure` and `interval` follow from
    /// them.
    pub slices: Option<Arc<Slices>>,
    /// Opens a connection for each operation and closes it afterwards, at most so many per slice.
    /// None: connections last. For one slot in a closed loop, as connecting blocks.
    pub connections_per_slice: Option<u64>,
    /// Unix time of the first send, seconds; none is at once.
    pub start_at: Option<f64>,
    /// Time after which an unanswered request counts as timed out.
    pub timeout: Duration,
    /// Worker threads; none chooses by the CPUs that the client may use.
    pub workers: Option<usize>,
    /// Connections to every node, of all workers together; none chooses by the load.
    pub links: Option<usize>,
    /// Seed of everything that the engine draws (arrival times).
    pub seed: u64,
}

impl<C> Order<C> {
    /// At once, until the sources have finished, with an interval a second and 5 s for a request.
    pub fn new(cluster: C, pace: Pace) -> Order<C> {
        Order {
            cluster,
            keyspace: None,
            pace,
            warmup: Duration::ZERO,
            measure: None,
            interval: Duration::from_secs(1),
            slices: None,
            connections_per_slice: None,
            start_at: None,
            timeout: Duration::from_secs(5),
            workers: None,
            links: None,
            seed: 0,
        }
    }
}

/// Where a CQL cluster is and how it is spoken to.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    /// `host:port` of nodes.
    pub contact_points: Vec<String>,
    pub options: tare_cql::Options,
}

/// How operations are spread over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// So many slots; each begins its next operation when one is done.
    Closed { slots: usize },
    /// Operations fall due by one common schedule, regardless of earlier ones. At most `most`
    /// are in flight; those that must wait for a free slot are late.
    Open {
        rate: Rate,
        arrivals: Arrivals,
        most: usize,
    },
    /// Every slot has deadlines of its own, `first + n * tick` with one tick for all; a slot that
    /// is late sends at once until it has caught up (YCSB's `-target`).
    PerSlot {
        slots: usize,
        /// Operations per second of all slots together.
        rate: f64,
        /// Spread the first deadlines of the slots at random over one tick.
        stagger: bool,
    },
}

impl Pace {
    /// Most operations in flight.
    pub fn slots(&self) -> usize {
        match *self {
            Pace::Closed { slots } | Pace::PerSlot { slots, .. } => slots,
            Pace::Open { most, .. } => most,
        }
    }

    /// Whether operations have an intended time of their own.
    pub fn is_scheduled(&self) -> bool {
        !matches!(self, Pace::Closed { .. })
    }
}

/// The gaps between due times of the open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Exponential gaps: independent users.
    #[default]
    Poisson,
    /// Equal gaps.
    Fixed,
}

/// A rate over time: straight lines between corners, constant after the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    corners: Vec<Corner>,
}

/// One corner of a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// Seconds from the first send.
    pub at: f64,
    /// Operations per second. Two corners at one time are a step.
    pub rate: f64,
}

impl Rate {
    pub fn constant(rate: f64) -> Rate {
        Rate {
            corners: vec![Corner { at: 0.0, rate }],
        }
    }

    /// A rate through corners in order of time. None if there is no corner, a rate is negative or
    /// not finite, the last rate is 0, or times fall.
    pub fn through(corners: Vec<Corner>) -> Option<Rate> {
        let ordered = corners.windows(2).all(|pair| pair[0].at <= pair[1].at);
        let sane = corners
            .iter()
            .all(|c| c.at.is_finite() && c.at >= 0.0 && c.rate.is_finite() && c.rate >= 0.0);
        let lasting = corners.last().is_some_and(|corner| corner.rate > 0.0);
        (ordered && sane && lasting).then_some(Rate { corners })
    }

    /// Seconds at which so many operations have fallen due: the inverse of the integral.
    pub fn time_of(&self, operations: f64) -> f64 {
        let first = self.corners[0];
        let mut before = first.at * first.rate;
        if operations <= before || self.corners.len() == 1 {
            return operations / first.rate;
        }
        for pair in self.corners.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let length = b.at - a.at;
            let area = length * (a.rate + b.rate) / 2.0;
            if operations <= before + area && area > 0.0 {
                return a.at + within(operations - before, a.rate, (b.rate - a.rate) / length);
            }
            before += area;
        }
        let last = self.corners[self.corners.len() - 1];
        last.at + (operations - before) / last.rate
    }

    pub fn highest(&self) -> f64 {
        self.corners.iter().map(|c| c.rate).fold(0.0, f64::max)
    }
}

/// Seconds until the area under `rate + slope * t` is `area`, by the stable root of the
/// quadratic.
fn within(area: f64, rate: f64, slope: f64) -> f64 {
    let root = (rate * rate + 2.0 * slope * area).max(0.0).sqrt();
    2.0 * area / (rate + root)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(corners: &[(f64, f64)]) -> Rate {
        let corners = corners.iter().map(|&(at, rate)| Corner { at, rate });
        Rate::through(corners.collect()).unwrap()
    }

    #[test]
    fn a_constant_rate_has_equal_gaps() {
        assert_eq!(Rate::constant(1000.0).time_of(500.0), 0.5);
    }

    #[test]
    fn a_ramp_from_zero_has_sent_a_quarter_at_half_time() {
        let ramp = rate(&[(0.0, 0.0), (10.0, 100.0)]);
        assert!((ramp.time_of(125.0) - 5.0).abs() < 1e-9);
        assert!((ramp.time_of(500.0) - 10.0).abs() < 1e-9);
        assert!((ramp.time_of(600.0) - 11.0).abs() < 1e-9);
    }

    #[test]
    fn a_step_changes_the_rate_at_once() {
        let step = rate(&[(0.0, 10.0), (5.0, 10.0), (5.0, 100.0)]);
        assert!((step.time_of(50.0) - 5.0).abs() < 1e-9);
        assert!((step.time_of(150.0) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_pause_is_passed_over() {
        let pause = rate(&[
            (0.0, 10.0),
            (1.0, 10.0),
            (1.0, 0.0),
            (3.0, 0.0),
            (3.0, 10.0),
        ]);
        assert!((pause.time_of(10.5) - 3.05).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        let through = |corners: &[(f64, f64)]| {
            Rate::through(
                corners
                    .iter()
                    .map(|&(at, rate)| Corner { at, rate })
                    .collect(),
            )
        };
        assert_eq!(through(&[]), None);
        assert_eq!(through(&[(0.0, 10.0), (1.0, 0.0)]), None);
        assert_eq!(through(&[(1.0, 10.0), (0.0, 10.0)]), None);
        assert_eq!(through(&[(0.0, f64::NAN)]), None);
    }

    proptest! {
        #[test]
        fn due_times_never_go_back(
            rates in proptest::collection::vec(0.1f64..1e5, 1..6), n in 1.0f64..1e5,
        ) {
            let corners = rates.iter().enumerate();
            let corners = corners.map(|(i, &rate)| Corner { at: i as f64, rate }).collect();
            let rate = Rate::through(corners).unwrap();
            prop_assert!(rate.time_of(n) <= rate.time_of(n + 1.0));
        }
    }
}
