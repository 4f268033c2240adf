//! One worker: a thread with its own runtime, its own session and its own recorder.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::clock::Clock;
use crate::drive::{self, Worker};
use crate::errors::Fatal;
use crate::record::{Interval, Recorder};
use crate::session::Connection;
use crate::spec::{Phase, Spec};
use crate::timeline::Timeline;
use crate::workload::Shape;

/// Tasks that run before the sockets and timers are looked at again: answers that have arrived
/// must not wait long for their time stamp.
const EVENT_INTERVAL: u32 = 16;

/// What a worker tells once it is connected: (nodes, connections), or why it is not.
pub type Readiness = Result<(usize, usize), Fatal>;

/// The worker's ends of the channels to the coordinator.
pub struct Channels {
    pub ready: UnboundedSender<Readiness>,
    pub intervals: UnboundedSender<Interval>,
    pub start: watch::Receiver<Option<Clock>>,
    pub stop: watch::Receiver<bool>,
}

/// Starts worker `number` of `workers`.
pub fn spawn(
    spec: Spec,
    number: usize,
    workers: usize,
    channels: Channels,
) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .event_interval(EVENT_INTERVAL)
        .build()?;
    std::thread::Builder::new()
        .name(format!("worker-{number}"))
        .spawn(move || LocalSet::new().block_on(&runtime, work(spec, number, workers, channels)))
}

async fn work(spec: Spec, number: usize, workers: usize, mut channels: Channels) {
    let shape = Shape::new(&spec);
    let connection = match Connection::open(&spec, &shape, workers).await {
        Ok(connection) => connection,
        Err(fatal) => {
            // The coordinator gives up on the first failure and may already be gone.
            let _ = channels.ready.send(Err(fatal));
            return;
        }
    };
    let readiness = (connection.nodes, connection.connections);
    if channels.ready.send(Ok(readiness)).is_err() {
        return;
    }
    let clock = match channels.start.wait_for(Option::is_some).await {
        Ok(clock) => *clock,
        Err(_) => None,
    };
    let Some(clock) = clock else { return };
    if !drive::wait_for_start(&clock, &mut channels.stop).await {
        return;
    }
    let timeline = Timeline::new(&spec);
    let rate = spec.rate.filter(|_| spec.phase == Phase::Run);
    let recorder = Recorder::new(number, timeline, rate.is_some(), channels.intervals);
    let worker = Rc::new(Worker {
        number,
        workers,
        spec,
        shape,
        connection,
        clock,
        timeline,
        recorder: RefCell::new(recorder),
        stopped: Cell::new(false),
    });
    match (worker.spec.phase, rate) {
        (Phase::Populate, _) => drive::populate::run(Rc::clone(&worker), &mut channels.stop).await,
        (Phase::Run, Some(rate)) => {
            drive::open::run(Rc::clone(&worker), rate, &mut channels.stop).await;
        }
        (Phase::Run, None) => drive::closed::run(Rc::clone(&worker), &mut channels.stop).await,
    }
    let now = worker.clock.now();
    worker.recorder.borrow_mut().finish(now);
}
