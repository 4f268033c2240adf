//! The open loop: operations sent when they fall due, whatever became of earlier ones.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{watch, Notify};

use super::timer::Timer;
use super::{stopped, Worker};
use crate::spec::Arrivals;
use crate::workload::random::Random;
use crate::workload::Request;

/// Most operations in flight per worker. Beyond it sends wait, which shows as lateness; one
/// connection has 32768 stream ids and each operation holds some kilobytes.
const MOST_IN_FLIGHT: usize = 20_000;
/// Sends made in one go before the runtime may look at its sockets again.
const BURST: usize = 32;

/// Intended send times of one worker, nanoseconds from the run's origin.
pub struct Schedule {
    arrivals: Arrivals,
    gap: f64,
    next: f64,
    random: Random,
}

impl Schedule {
    /// `rate` is of all workers together; fixed arrivals of the workers interleave.
    pub fn new(arrivals: Arrivals, rate: f64, number: usize, workers: usize, seed: Random) -> Self {
        let gap = 1e9 * workers as f64 / rate;
        let mut schedule = Schedule {
            arrivals,
            gap,
            next: 0.0,
            random: seed,
        };
        schedule.next = match arrivals {
            Arrivals::Fixed => gap * number as f64 / workers as f64,
            Arrivals::Poisson => schedule.random.exponential() * gap,
        };
        schedule
    }

    /// The send time that is next, which stays next until `pass`.
    pub fn next(&self) -> u64 {
        self.next as u64
    }

    pub fn pass(&mut self) {
        self.next += match self.arrivals {
            Arrivals::Fixed => self.gap,
            Arrivals::Poisson => self.random.exponential() * self.gap,
        };
    }
}

struct Flight {
    count: Cell<usize>,
    landed: Notify,
    /// Requests whose buffers can be used again.
    spare: RefCell<Vec<Request>>,
}

/// Runs until the end of the measured part, then waits for the last answers; or until stopped.
pub async fn run(worker: Rc<Worker>, rate: f64, stop: &mut watch::Receiver<bool>) {
    let flight = Rc::new(Flight {
        count: Cell::new(0),
        landed: Notify::new(),
        spare: RefCell::new(Vec::new()),
    });
    let timekeeper = tokio::task::spawn_local(Rc::clone(&worker).keep_time());
    let grace = Duration::from_secs_f64(worker.spec.timeout_s) + Duration::from_millis(100);
    tokio::select! {
        () = async {
            send_all(&worker, rate, &flight).await;
            tokio::time::sleep_until(worker.clock.instant(worker.timeline.end).into()).await;
            // Every operation ends by its own timeout; the grace is for the timers' own delay.
            let _ = tokio::time::timeout(grace, drain(&flight)).await;
        } => {}
        () = stopped(stop) => {}
    }
    timekeeper.abort();
    worker.stopped.set(true);
}

async fn send_all(worker: &Rc<Worker>, rate: f64, flight: &Rc<Flight>) {
    let Ok(timer) = Timer::new() else { return };
    let mut schedule = Schedule::new(
        worker.spec.arrivals,
        rate,
        worker.number,
        worker.workers,
        worker.random(u64::MAX),
    );
    let mut random = worker.random(0);
    loop {
        let mut burst = 0;
        let mut now = worker.clock.now();
        while schedule.next() <= now && schedule.next() < worker.timeline.end {
            send(worker, flight, schedule.next(), &mut random);
            schedule.pass();
            burst += 1;
            if burst % BURST == 0 {
                tokio::task::yield_now().await;
                now = worker.clock.now();
            }
            while flight.count.get() >= MOST_IN_FLIGHT {
                flight.landed.notified().await;
            }
            // What could not be sent by the end of the run is left unsent, and counted so.
            if now >= worker.timeline.end {
                break;
            }
        }
        if now >= worker.timeline.end || schedule.next() >= worker.timeline.end {
            return count_unsent(worker, schedule);
        }
        let wait = Duration::from_nanos(schedule.next().saturating_sub(worker.clock.now()));
        if timer.wait(wait).await.is_err() {
            return;
        }
    }
}

/// Sends that fell due before the end but were never made.
fn count_unsent(worker: &Worker, mut schedule: Schedule) {
    while schedule.next() < worker.timeline.end {
        worker.recorder.borrow_mut().due(schedule.next());
        schedule.pass();
    }
}

fn send(worker: &Rc<Worker>, flight: &Rc<Flight>, intended: u64, random: &mut Random) {
    worker.recorder.borrow_mut().due(intended);
    let spare = flight.spare.borrow_mut().pop();
    let mut request = spare.unwrap_or_else(|| worker.shape.request());
    worker.shape.draw(random, &mut request);
    flight.count.set(flight.count.get() + 1);
    let (worker, flight) = (Rc::clone(worker), Rc::clone(flight));
    tokio::task::spawn_local(async move {
        let sent = worker.clock.now();
        worker.recorder.borrow_mut().sent(intended, sent);
        // Failures are counted by the recorder.
        let _ = worker.perform(&request, intended, sent).await;
        flight.count.set(flight.count.get() - 1);
        flight.spare.borrow_mut().push(request);
        flight.landed.notify_one();
    });
}

async fn drain(flight: &Flight) {
    while flight.count.get() > 0 {
        flight.landed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, rate: f64, number: usize, workers: usize) -> Vec<u64> {
        let random = Random::new(&[number as u64]);
        let mut schedule = Schedule::new(arrivals, rate, number, workers, random);
        let mut times = Vec::new();
        while schedule.next() < 10_000_000_000 {
            times.push(schedule.next());
            schedule.pass();
        }
        times
    }

    #[test]
    fn fixed_arrivals_of_all_workers_interleave_evenly() {
        let mut all: Vec<u64> = (0..4)
            .flat_map(|number| times(Arrivals::Fixed, 1000.0, number, 4))
            .collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..10_000).map(|i| i * 1_000_000).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps() {
        let times = times(Arrivals::Poisson, 1000.0, 0, 1);
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|w| (w[1] - w[0]) as f64 / 1e6)
            .collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let above_one = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / n;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        assert!((above_one - (-1.0f64).exp()).abs() < 0.02, "{above_one}");
    }

    #[test]
    fn the_rate_is_shared_by_the_workers() {
        let share = times(Arrivals::Poisson, 1000.0, 1, 4).len() as f64;
        assert!((share - 2500.0).abs() < 250.0, "{share}");
    }
}
