//! Populating: every row written once, so many in flight, failed writes tried again.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{stopped, Worker};
use crate::errors::ErrorKind;
use crate::record::Times;
use crate::workload::Class;

/// Tries per row, as in cassandra-stress, and the pause before the second one; it doubles.
const TRIES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Runs until all of this worker's rows are written or until stopped.
pub async fn run(worker: Rc<Worker>, stop: &mut watch::Receiver<bool>) {
    let next = Rc::new(Cell::new(worker.number as u64));
    let mut loops = JoinSet::new();
    for task in 0..worker.part_of(worker.spec.threads) {
        loops.spawn_local(write_rows(
            Rc::clone(&worker),
            Rc::clone(&next),
            task as u64,
        ));
    }
    let timekeeper = tokio::task::spawn_local(Rc::clone(&worker).keep_time());
    tokio::select! {
        () = async { while loops.join_next().await.is_some() {} } => {}
        () = stopped(stop) => {}
    }
    timekeeper.abort();
    loops.shutdown().await;
}

async fn write_rows(worker: Rc<Worker>, next: Rc<Cell<u64>>, task: u64) {
    let mut random = worker.random(task);
    let mut request = worker.shape.request();
    loop {
        let row = next.get();
        if row >= worker.spec.records {
            return;
        }
        next.set(row + worker.workers as u64);
        worker.shape.insert(row, &mut random, &mut request);
        let sent = worker.clock.now();
        let mut outcome = Err(ErrorKind::Other);
        for attempt in 0..TRIES {
            outcome = worker.connection.execute(&worker.shape, &request).await;
            if outcome.is_ok() {
                break;
            }
            tokio::time::sleep(FIRST_PAUSE * 2u32.pow(attempt)).await;
        }
        let times = Times {
            intended: sent,
            sent,
            done: worker.clock.now(),
        };
        worker
            .recorder
            .borrow_mut()
            .done(Class::Write, times, outcome);
    }
}
