//! When an answer is due: a queue in virtual time, so that the stub's own delays do not add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::script::{Fault, Script, Servers};
use crate::service::Draws;

/// What becomes of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fate {
    /// When its answer is to be sent, nanoseconds on the clock of the arrivals. None: never.
    pub due: Option<u64>,
    /// Its service time, nanoseconds.
    pub service: f64,
    pub fault: Option<Fault>,
}

/// The scripted server: gives every request its fate, in the order of their arrivals.
#[derive(Debug, Clone)]
pub struct Queue {
    draws: Draws,
    slowdown: f64,
    /// When each server is free again; empty: no request waits.
    free: BinaryHeap<Reverse<u64>>,
    /// Nanoseconds between answers at capacity, and when the next may be sent.
    gap: Option<f64>,
    next: f64,
    /// Begin and end of each stall after the first arrival, in order.
    stalls: Vec<(u64, u64)>,
    silent_from: Option<u64>,
    faults: Vec<(Fault, f64, f64)>,
    first: Option<u64>,
}

impl Queue {
    pub fn new(script: &Script) -> Queue {
        let servers = match script.servers {
            Servers::Count(servers) => servers,
            Servers::Unlimited => 0,
        };
        let mut stalls: Vec<(u64, u64)> = script
            .stalls
            .iter()
            .map(|stall| (nanoseconds(stall.at), nanoseconds(stall.at + stall.length)))
            .collect();
        stalls.sort_unstable();
        Queue {
            draws: Draws::new(script.service.clone(), script.seed),
            slowdown: script.slowdown,
            free: (0..servers).map(|_| Reverse(0)).collect(),
            gap: script.capacity.map(|rate| 1e9 / rate),
            next: 0.0,
            stalls,
            silent_from: script.silent_from.map(nanoseconds),
            faults: script
                .errors
                .iter()
                .map(|&(fault, share)| (fault, share, 0.5))
                .collect(),
            first: None,
        }
    }

    /// When the first request of the load arrived.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// The fate of a request that arrived at `arrival`, nanoseconds on any steady clock.
    pub fn admit(&mut self, arrival: u64) -> Fate {
        let first = *self.first.get_or_insert(arrival);
        let service = self.draws.next() * self.slowdown;
        let fault = self.fault();
        let served = self.serve(arrival, service.round() as u64);
        let limited = self.limit(served);
        let due = self.hold(limited, first);
        let silent = self.silent_from.is_some_and(|from| arrival >= first + from);
        let lost = silent || fault == Some(Fault::Lost);
        Fate {
            due: (!lost).then_some(due),
            service,
            fault,
        }
    }

    /// The completion: of the server that is free first, or at once.
    fn serve(&mut self, arrival: u64, service: u64) -> u64 {
        match self.free.pop() {
            None => arrival + service,
            Some(Reverse(free)) => {
                let done = arrival.max(free) + service;
                self.free.push(Reverse(done));
                done
            }
        }
    }

    /// At most the capacity.
    fn limit(&mut self, served: u64) -> u64 {
        let Some(gap) = self.gap else {
            return served;
        };
        let due = self.next.max(served as f64);
        self.next = due + gap;
        due.round() as u64
    }

    /// Past the stall that it falls in; stalls may follow each other.
    fn hold(&self, due: u64, first: u64) -> u64 {
        self.stalls.iter().fold(due, |due, &(begin, end)| {
            let within = due >= first + begin && due < first + end;
            if within {
                first + end
            } else {
                due
            }
        })
    }

    /// The first kind of fault whose share has come to a whole request.
    fn fault(&mut self) -> Option<Fault> {
        let mut found = None;
        for (fault, share, due) in &mut self.faults {
            *due += *share;
            if *due >= 1.0 && found.is_none() {
                *due -= 1.0;
                found = Some(*fault);
            }
        }
        found
    }
}

fn nanoseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos())
        .unwrap_or(u64::MAX / 4)
        .min(u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::script::Stall;
    use crate::service::Service;

    const SECOND: u64 = 1_000_000_000;

    fn dues(script: &Script, arrivals: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        let mut queue = Queue::new(script);
        arrivals
            .into_iter()
            .map(|arrival| queue.admit(arrival).due)
            .collect()
    }

    fn constant(nanoseconds: f64, servers: Servers) -> Script {
        Script {
            service: Service::Constant(nanoseconds),
            servers,
            ..Script::default()
        }
    }

    #[test]
    fn one_server_makes_requests_wait_for_each_other() {
        let script = constant(10.0, Servers::Count(1));
        assert_eq!(dues(&script, [5, 6, 100]), [Some(15), Some(25), Some(110)]);
    }

    #[test]
    fn two_servers_serve_two_at_a_time() {
        let script = constant(10.0, Servers::Count(2));
        assert_eq!(dues(&script, [5, 5, 5]), [Some(15), Some(15), Some(25)]);
    }

    #[test]
    fn without_a_limit_no_request_waits() {
        let script = constant(10.0, Servers::Unlimited);
        assert_eq!(dues(&script, [5, 5, 5]), [Some(15), Some(15), Some(15)]);
    }

    /// M/M/1: the time in the system is exponential with mean 1 / (mu - lambda).
    #[test]
    fn poisson_arrivals_at_an_exponential_server_are_m_m_1() {
        let script = Script {
            service: Service::Exponential { mean: 500.0 },
            servers: Servers::Count(1),
            ..Script::default()
        };
        let mut queue = Queue::new(&script);
        let mut gaps = Draws::new(Service::Exponential { mean: 1000.0 }, 99);
        let mut now = 0.0;
        let mut times: Vec<u64> = (0..400_000)
            .map(|_| {
                now += gaps.next();
                queue
                    .admit(now as u64)
                    .due
                    .map_or(0, |due| due - now as u64)
            })
            .collect();
        times.sort_unstable();
        for share in [0.5_f64, 0.9, 0.99] {
            let expected = -(1.0 - share).ln() / (1.0 / 500.0 - 1.0 / 1000.0);
            let found = times[(share * times.len() as f64) as usize] as f64;
            assert!(
                (found / expected - 1.0).abs() < 0.02,
                "{share}: {found}, theory {expected}"
            );
        }
    }

    /// Those that arrive in the first 0.6 s of a stall of 2 s are 1% of all in 60 s, and wait 1.4 s
    /// or longer; those of the first 0.06 s are 0.1%, and wait 1.94 s or longer.
    #[test]
    fn a_stall_holds_every_answer_until_its_end() {
        let stall = Stall {
            at: Duration::from_secs(10),
            length: Duration::from_secs(2),
        };
        let script = Script {
            stalls: vec![stall],
            ..Script::default()
        };
        let arrivals = (0..60_000).map(|n| 7 + n * 1_000_000);
        let mut waits: Vec<u64> = arrivals
            .clone()
            .zip(dues(&script, arrivals))
            .filter_map(|(arrival, due)| due.map(|due| due - arrival))
            .collect();
        waits.sort_unstable();
        let quantile = |share: f64| waits[(share * waits.len() as f64) as usize] as f64 / 1e9;
        assert!((quantile(0.99) - 1.4).abs() < 0.002);
        assert!((quantile(0.999) - 1.94).abs() < 0.002);
        assert_eq!(waits.iter().filter(|wait| **wait > 0).count(), 2_000);
    }

    #[test]
    fn errors_are_spread_evenly() {
        let errors = vec![(Fault::Unavailable, 0.01), (Fault::Overloaded, 0.5)];
        let mut queue = Queue::new(&Script {
            errors,
            ..Script::default()
        });
        let faults: Vec<_> = (0..10_000).filter_map(|n| queue.admit(n).fault).collect();
        let count = |wanted| faults.iter().filter(|fault| **fault == wanted).count();
        assert_eq!(count(Fault::Unavailable), 100);
        assert!(count(Fault::Overloaded).abs_diff(5_000) <= 1);
    }

    #[test]
    fn capacity_bounds_the_rate_and_nothing_below_it() {
        let script = Script {
            capacity: Some(1_000.0),
            ..Script::default()
        };
        let fast = dues(&script, (0..1_000).map(|n| n * 1_000));
        assert_eq!(fast[999].map(|due| due / 1_000_000), Some(999));
        let slow = dues(&script, (0..10).map(|n| n * SECOND));
        assert_eq!(slow[9], Some(9 * SECOND));
    }

    #[test]
    fn a_slower_server_is_slower_by_that_factor() {
        let script = Script {
            slowdown: 1.01,
            ..constant(1_000_000.0, Servers::Unlimited)
        };
        assert_eq!(dues(&script, [0]), [Some(1_010_000)]);
    }

    #[test]
    fn a_silent_server_and_a_lost_request_have_no_answer() {
        let script = Script {
            silent_from: Some(Duration::from_secs(1)),
            ..Script::default()
        };
        assert_eq!(
            dues(&script, [5, 4 + SECOND, 5 + SECOND]),
            [Some(5), Some(4 + SECOND), None]
        );
        let script = Script {
            errors: vec![(Fault::Lost, 1.0)],
            ..Script::default()
        };
        assert_eq!(dues(&script, [5]), [None]);
    }
}
