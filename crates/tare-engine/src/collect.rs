//! Gathers what the workers record: merges it in order, sums it up, tells it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::cgroup::Throttling;
use crate::clock::Clock;
use crate::errors::Fatal;
use crate::observe::{Control, Observer};
use crate::order::Order;
use crate::record::Interval;
use crate::run::Stop;
use crate::steal::CpuTime;
use crate::timeline::{Part, Timeline};
use crate::totals::{RunState, Totals};
use crate::workers::Workers;

/// Merges the workers' intervals in order and sums up the measured part.
pub struct Collector {
    pub workers: usize,
    pub run: RunState,
    throttling: Option<Throttling>,
    throttled_before: u64,
    stolen_before: CpuTime,
    pending: BTreeMap<u64, (usize, Interval)>,
    /// The last intervals of the workers that have ended.
    ended: Vec<u64>,
}

impl Collector {
    pub fn new<C>(order: &Order<C>, operations: usize, workers: usize) -> Collector {
        Collector {
            workers,
            run: RunState {
                clock: Clock::starting(None, None),
                timeline: Timeline::new(order),
                stopped: false,
                totals: Totals::new(operations, order.pace.is_scheduled()),
            },
            throttling: Throttling::find(Path::new("/")),
            throttled_before: 0,
            stolen_before: CpuTime::default(),
            pending: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// Sets the clock; the workers start by it.
    pub fn begin<C>(&mut self, order: &Order<C>) {
        self.run.clock = Clock::starting(order.start_at, order.slices.clone());
    }

    /// Takes intervals until all workers are done.
    pub fn collect(
        &mut self,
        workers: &Workers,
        observer: &mut dyn Observer,
        stop: &Stop,
    ) -> Result<(), Fatal> {
        let border = self.run.clock.instant(self.run.timeline.measure);
        let mut warm = false;
        loop {
            if stop.is_asked() && !self.run.stopped {
                self.run.stopped = true;
                workers.over.store(true, Ordering::Relaxed);
            }
            let now = Instant::now();
            if !warm && now >= border {
                warm = true;
                self.throttled_before = self.throttled();
                self.stolen_before = CpuTime::now();
                observer.measuring(self.run.start_unix())?;
            }
            let look_up = Duration::from_millis(50);
            let wait = match warm {
                true => look_up,
                false => look_up.min(border.saturating_duration_since(now)),
            };
            match workers.intervals.recv_timeout(wait) {
                Ok(interval) => {
                    if self.take(interval, workers, observer)? == Control::Stop {
                        workers.over.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // A worker that was stopped earlier than others leaves intervals incomplete.
        for (_, interval) in std::mem::take(&mut self.pending).into_values() {
            self.account(&interval, observer)?;
        }
        Ok(())
    }

    fn throttled(&self) -> u64 {
        self.throttling.as_ref().map_or(0, Throttling::nanoseconds)
    }

    fn take(
        &mut self,
        interval: Interval,
        workers: &Workers,
        observer: &mut dyn Observer,
    ) -> Result<Control, Fatal> {
        let index = interval.slot.index;
        if interval.last {
            self.ended.push(index);
        }
        if let Some((count, merged)) = self.pending.get_mut(&index) {
            merged.add(&interval);
            *count += 1;
            workers.recycle(interval);
        } else {
            self.pending.insert(index, (1, interval));
        }
        let mut control = Control::GoOn;
        while let Some(merged) = self.complete() {
            if self.account(&merged, observer)? == Control::Stop {
                control = Control::Stop;
            }
            workers.recycle(merged);
        }
        Ok(control)
    }

    /// The earliest interval, if every worker that had not ended before has sealed it.
    fn complete(&mut self) -> Option<Interval> {
        let (&index, &(count, _)) = self.pending.first_key_value()?;
        let gone = self.ended.iter().filter(|&&last| last < index).count();
        let complete = count + gone >= self.workers;
        let (_, merged) = complete.then(|| self.pending.remove(&index)).flatten()?;
        Some(merged)
    }

    fn account(
        &mut self,
        interval: &Interval,
        observer: &mut dyn Observer,
    ) -> Result<Control, Fatal> {
        if interval.end <= interval.slot.begin {
            return Ok(Control::GoOn);
        }
        self.run.totals.add(interval);
        if interval.slot.part == Part::Measure {
            self.run.totals.throttled = self.throttled().saturating_sub(self.throttled_before);
            self.run.totals.stolen = CpuTime::now().since(&self.stolen_before);
        }
        observer.interval(interval, &self.run)
    }
}
