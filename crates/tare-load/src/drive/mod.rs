//! Driving one worker: the closed loop, the open loop, populating, and what they share.

pub mod closed;
pub mod open;
pub mod populate;
mod timer;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::sync::watch;

use crate::clock::Clock;
use crate::errors::ErrorKind;
use crate::record::{Recorder, Times};
use crate::session::Connection;
use crate::spec::Spec;
use crate::timeline::Timeline;
use crate::workload::random::Random;
use crate::workload::{Request, Shape};

/// Pause after an operation that failed for want of a connection; without it, a dead cluster
/// would keep the client spinning.
const NO_CONNECTION_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// Everything that the tasks of one worker share; they all run on one thread.
pub struct Worker {
    /// 0-based number of this worker, and how many there are.
    pub number: usize,
    pub workers: usize,
    pub spec: Spec,
    pub shape: Shape,
    pub connection: Connection,
    pub clock: Clock,
    pub timeline: Timeline,
    pub recorder: RefCell<Recorder>,
    pub stopped: Cell<bool>,
}

impl Worker {
    /// A random stream of its own for each task of each worker of each client.
    fn random(&self, task: u64) -> Random {
        let client = self
            .spec
            .client
            .bytes()
            .fold(0, |sum: u64, byte| sum.wrapping_mul(257) + u64::from(byte));
        Random::new(&[self.spec.seed, client, self.number as u64, task])
    }

    /// This worker's part of a number that is spread over all workers.
    fn part_of(&self, total: usize) -> usize {
        total / self.workers + usize::from(self.number < total % self.workers)
    }

    /// Sends one request that was meant to be sent at `intended` and records it.
    async fn perform(&self, request: &Request, intended: u64, sent: u64) -> Result<(), ErrorKind> {
        let outcome = self.connection.execute(&self.shape, request).await;
        let done = self.clock.now();
        let times = Times {
            intended,
            sent,
            done,
        };
        self.recorder
            .borrow_mut()
            .done(request.class(), times, outcome);
        if outcome == Err(ErrorKind::Connection) {
            tokio::time::sleep(NO_CONNECTION_PAUSE).await;
        }
        outcome
    }

    /// Seals intervals on time even when no operation ends, until the run's end.
    async fn keep_time(self: Rc<Self>) {
        loop {
            let border = self.recorder.borrow().border();
            tokio::time::sleep_until(self.clock.instant(border).into()).await;
            let now = self.clock.now();
            if now >= self.timeline.end {
                return;
            }
            self.recorder.borrow_mut().advance(now);
        }
    }
}

/// Waits until the run's origin; false if stopped before.
pub async fn wait_for_start(clock: &Clock, stop: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = tokio::time::sleep_until(clock.instant(0).into()) => true,
        () = stopped(stop) => false,
    }
}

/// Waits until somebody asks to stop (or nobody could any more).
pub async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a reason to stop, too.
    let _ = stop.wait_for(|stop| *stop).await;
}
