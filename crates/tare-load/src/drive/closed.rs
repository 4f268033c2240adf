//! The closed loop: so many operations in flight, the next one sent when one is answered.

use std::rc::Rc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{stopped, Worker};

/// Runs until the end of the measured part or until stopped.
pub async fn run(worker: Rc<Worker>, stop: &mut watch::Receiver<bool>) {
    let mut loops = JoinSet::new();
    for task in 0..worker.part_of(worker.spec.threads) {
        loops.spawn_local(one_in_flight(Rc::clone(&worker), task as u64));
    }
    tokio::select! {
        () = Rc::clone(&worker).keep_time() => {}
        () = stopped(stop) => {}
    }
    worker.stopped.set(true);
    // Operations still in flight were neither answered in time nor failed: they do not count.
    loops.shutdown().await;
}

async fn one_in_flight(worker: Rc<Worker>, task: u64) {
    let mut random = worker.random(task);
    let mut request = worker.shape.request();
    while !worker.stopped.get() {
        worker.shape.draw(&mut random, &mut request);
        let sent = worker.clock.now();
        // Failures are counted by the recorder; the loop goes on.
        let _ = worker.perform(&request, sent, sent).await;
    }
}
