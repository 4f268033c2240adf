//! What the engine tells while it runs and when it is done.

use crate::errors::Fatal;
use crate::record::Interval;
use crate::totals::{RunState, Totals};

/// Said once, when everything is connected and prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// Nodes with an open connection, and connections to all of them.
    pub nodes: usize,
    pub links: usize,
    /// Nodes that the cluster reports but that cannot be reached from here.
    pub unreachable: Vec<String>,
    /// The program that answers in the database's stead: the measurements then say nothing of the
    /// database.
    pub stand_in: Option<String>,
    /// Names of what is recorded, by position.
    pub operations: Vec<String>,
    /// "v4", "v5, lz4, TLS", ...
    pub protocol: String,
    pub workers: usize,
    pub slots: usize,
}

/// Whether the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    GoOn,
    Stop,
}

/// Prints, writes or serves what the engine sees. Called on the coordinator's thread, in the
/// order of the methods here; an error ends the run.
pub trait Observer {
    fn ready(&mut self, _ready: &Ready) -> Result<(), Fatal> {
        Ok(())
    }

    /// The measured part begins at this Unix time (seconds).
    fn measuring(&mut self, _unix: f64) -> Result<(), Fatal> {
        Ok(())
    }

    /// An interval is over in all workers. `run` holds the measured part so far, this interval
    /// included if it belongs to it.
    fn interval(&mut self, _interval: &Interval, _run: &RunState) -> Result<Control, Fatal> {
        Ok(Control::GoOn)
    }

    /// The run is over; also called for a run that was stopped early.
    fn finished(&mut self, _run: &RunState) -> Result<(), Fatal> {
        Ok(())
    }
}

/// Keeps the totals of a run.
#[derive(Debug, Default)]
pub struct Keeper(pub Option<Totals>);

impl Observer for Keeper {
    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        self.0 = Some(run.totals.clone());
        Ok(())
    }
}

/// Several observers as one: each is told everything, in order; the run stops if any wants it.
pub struct Chorus<'a>(pub Vec<&'a mut dyn Observer>);

impl Observer for Chorus<'_> {
    fn ready(&mut self, ready: &Ready) -> Result<(), Fatal> {
        self.0.iter_mut().try_for_each(|one| one.ready(ready))
    }

    fn measuring(&mut self, unix: f64) -> Result<(), Fatal> {
        self.0.iter_mut().try_for_each(|one| one.measuring(unix))
    }

    fn interval(&mut self, interval: &Interval, run: &RunState) -> Result<Control, Fatal> {
        let mut control = Control::GoOn;
        for one in &mut self.0 {
            if one.interval(interval, run)? == Control::Stop {
                control = Control::Stop;
            }
        }
        Ok(control)
    }

    fn finished(&mut self, run: &RunState) -> Result<(), Fatal> {
        self.0.iter_mut().try_for_each(|one| one.finished(run))
    }
}
